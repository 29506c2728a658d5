"""A sentence encoder all of whose vectors are alike, for bench/domains.py: what is it taken for, at what cost?

    python bench/cone.py FOLDER
    python bench/domains.py --data DIR --models FOLDER --recipes raw,default

The folder is `minilm` without its normalisation, and with a constant added to all vectors: its mean cosine is that of a
raw encoder, its ranking of pairs is not. The recipe `raw` is what an encoder gets that is taken for raw.
"""

from __future__ import annotations

import argparse
import copy

import torch

import isotrope
from isotrope.evaluation.geometry import mean_cosine
from isotrope.text import bundled_sentences
from isotrope.training.automatic import SENTENCES, is_raw


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    folder = parser.parse_args().folder
    encoder = copy.deepcopy(isotrope.load("minilm")).with_after_pooling([])
    bias = encoder.backbone.model.encoder.layer[-1].output.LayerNorm.bias
    with torch.no_grad():
        bias.add_(torch.randn(bias.shape, generator=torch.Generator().manual_seed(0)), alpha=0.5)
    encoder.save(folder)
    alike = float(mean_cosine(encoder.encode(bundled_sentences()[:SENTENCES])))
    print(f"{folder}: mean cosine {alike:.2f}, taken for {'a raw' if is_raw(encoder) else 'a sentence'} encoder")


if __name__ == "__main__":
    main()
