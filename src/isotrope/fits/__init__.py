"""What is fitted behind an encoder in closed form, on its vectors of raw text: no gradient, no labels.

| fit         | what it does to the vectors                                                          |
|-------------|--------------------------------------------------------------------------------------|
| `smoothing` | moves each towards its near neighbours: what is alike in this text comes together    |
| `whitening` | lets every direction vary as much as any other (Su et al., 2021)                     |

Each ends in a sentence-transformers Dense module, so the encoder loads without isotrope.
"""

from isotrope.fits.base import CalledFit, FitSpec
from isotrope.parts import Registry

FITS: Registry[FitSpec] = Registry("fits", "isotrope.fits", FitSpec, called=CalledFit, default="smoothing")

__all__ = ["FITS", "FitSpec"]
