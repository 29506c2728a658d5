"""The model card that is saved with every encoder."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from torch import nn

if TYPE_CHECKING:
    from isotrope.encoders.encoder import Encoder
    from isotrope.encoders.foreign import ForeignEncoder

TEMPLATE = """---
library_name: sentence-transformers
pipeline_tag: sentence-similarity
tags:
- sentence-transformers
- feature-extraction
- isotrope
---
# {title}

A sentence encoder: text in, a vector of {dim} numbers out; cosine similarity compares them.

```python
from sentence_transformers import SentenceTransformer

model = SentenceTransformer("PATH-TO-THIS-FOLDER"{trusted})
vectors = model.encode(["A man is playing a guitar.", "Someone plays an instrument."])
print(model.similarity(vectors, vectors))
```
{needed}
| | |
|---|---|
{facts}

## How it was made
{made}
"""
OWN_CODE = """
It holds isotrope's own {modules}: isotrope must be installed, and sentence-transformers must be told
`trust_remote_code=True`, as above. `isotrope.encoders.load_any` loads it without being told.
"""


def model_card(encoder: Encoder, made: str | None = None) -> str:
    """Markdown with the Hub's front matter. `made` tells how the encoder came about."""
    name = _short(encoder.name) or "a transformer"
    layers = encoder.backbone.layers if encoder.pooling.layer is None else encoder.pooling.layer
    facts = {
        "backbone": f"{type(encoder.backbone.model).__name__}, {layers} layers, {encoder.backbone.dim} wide",
        "started from": name,
        "pooling": str(encoder.pooling),
        "longest input": f"{encoder.max_seq_length} tokens",
    }
    return _card(f"{name}, {encoder.pooling} pooling", encoder.dim, facts, encoder.after_pooling, made)


def foreign_card(encoder: ForeignEncoder, made: str | None = None) -> str:
    """The card of an encoder that is a row of sentence-transformers modules."""
    name = _short(encoder.name) or "a sentence encoder"
    facts = {"modules": ", ".join(type(module).__name__ for module in encoder.model), "started from": name}
    return _card(name, encoder.dim, facts, encoder.model, made)


def _card(title: str, dim: int, facts: dict[str, str], modules: Iterable[nn.Module], made: str | None) -> str:
    own = [type(module).__name__ for module in modules if type(module).__module__.startswith("isotrope.")]
    return TEMPLATE.format(
        title=title,
        dim=dim,
        trusted=", trust_remote_code=True" if own else "",
        needed=OWN_CODE.format(modules=" and ".join(own)) if own else "",
        facts="\n".join(f"| {fact} | {value} |" for fact, value in facts.items()),
        made=made or "Saved by isotrope without further training.",
    )


def _short(name: str) -> str:
    return name.rstrip("/").rpartition("/")[2]
