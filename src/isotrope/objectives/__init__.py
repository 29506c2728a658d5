"""What pulls and pushes: pure functions of tensors that know no encoder and no text, each with its spec.

| function                           | from                                                    |
|------------------------------------|---------------------------------------------------------|
| `nt_xent`                          | SG (paper 1, section 3.1), ConSERT (paper 2)            |
| `self_guided`                      | SG-OPT (paper 1, section 3.2)                           |
| `bootstrap`, `symmetric_bootstrap` | BSL (paper 3, equations 1 and 2)                        |
| `info_nce`                         | parallel sentences with a queue (paper 4), SimCSE       |
| `anchor`                           | L^reg of SG (paper 1, section 3.1)                      |
| `nli_classification`               | the supervised part of ConSERT (paper 2)                |
| `negatives.left_out`               | guided negatives (GISTEmbed)                            |
| `distillation`                     | a teacher's vectors, similarities, ranking (RankCSE)    |
| `gather`                           | any of them over the batches of all processes           |
"""

from isotrope.objectives.base import CalledObjective, Objective
from isotrope.objectives.bootstrap import bootstrap, symmetric_bootstrap
from isotrope.objectives.distributed import gather
from isotrope.objectives.info_nce import info_nce
from isotrope.objectives.nt_xent import nt_xent
from isotrope.objectives.regularisers import anchor
from isotrope.objectives.self_guided import self_guided
from isotrope.objectives.similarity import cosine
from isotrope.objectives.supervision.nli import nli_classification, nli_width_factor
from isotrope.parts import Registry

OBJECTIVES: Registry[Objective] = Registry(
    "objectives", "isotrope.objectives", Objective, called=CalledObjective, default="nt-xent"
)

__all__ = [
    "OBJECTIVES",
    "Objective",
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
