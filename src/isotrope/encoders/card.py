"""The model card that is saved with every encoder."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from isotrope.encoders.encoder import Encoder

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

model = SentenceTransformer("PATH-TO-THIS-FOLDER")
vectors = model.encode(["A man is playing a guitar.", "Someone plays an instrument."])
print(model.similarity(vectors, vectors))
```

| | |
|---|---|
| backbone | {architecture}, {layers} layers, {width} wide |
| started from | {name} |
| pooling | {pooling} |
| longest input | {length} tokens |

## How it was made
{made}
"""


def model_card(encoder: Encoder, made: str | None = None) -> str:
    """Markdown with the Hub's front matter. `made` tells how the encoder came about."""
    name = encoder.name.rstrip("/").rpartition("/")[2] or "a transformer"
    return TEMPLATE.format(
        title=f"{name}, {encoder.pooling} pooling",
        dim=encoder.dim,
        architecture=type(encoder.backbone.model).__name__,
        layers=encoder.backbone.layers if encoder.pooling.layer is None else encoder.pooling.layer,
        width=encoder.backbone.dim,
        name=name,
        pooling=encoder.pooling,
        length=encoder.max_seq_length,
        made=made or "Saved by isotrope without further training.",
    )
