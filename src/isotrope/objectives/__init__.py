"""What pulls and pushes: pure functions of tensors that know no encoder and no text.

| function                           | from                                                    |
|------------------------------------|---------------------------------------------------------|
| `nt_xent`                          | SG (paper 1, section 3.1), ConSERT (paper 2)            |
| `self_guided`                      | SG-OPT (paper 1, section 3.2)                           |
| `bootstrap`, `symmetric_bootstrap` | BSL (paper 3, equations 1 and 2)                        |
| `info_nce`                         | parallel sentences with a queue (paper 4), SimCSE       |
| `anchor`                           | L^reg of SG (paper 1, section 3.1)                      |
| `nli_classification`               | the supervised part of ConSERT (paper 2)                |
| `gather`                           | any of them over the batches of all processes           |
"""

from isotrope.objectives.bootstrap import bootstrap, symmetric_bootstrap
from isotrope.objectives.classification import nli_classification, nli_width_factor
from isotrope.objectives.contrastive import info_nce, nt_xent
from isotrope.objectives.distributed import gather
from isotrope.objectives.regularisers import anchor
from isotrope.objectives.self_guided import VARIANTS, self_guided
from isotrope.objectives.similarity import cosine

__all__ = [
    "VARIANTS",
    "anchor",
    "bootstrap",
    "cosine",
    "gather",
    "info_nce",
    "nli_classification",
    "nli_width_factor",
    "nt_xent",
    "self_guided",
    "symmetric_bootstrap",
]
