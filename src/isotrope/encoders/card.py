"""The model card that is saved with every encoder."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
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
{known}---
# {title}

A sentence encoder: it turns text into vectors of {dim} numbers, to be compared by cosine similarity.

```python
from sentence_transformers import SentenceTransformer

model = SentenceTransformer("{place}"{trusted})
vectors = model.encode(["A man is playing a guitar.", "Someone plays an instrument."])
print(model.similarity(vectors, vectors))
```
{needed}
| | |
|---|---|
{facts}

{sections}{heading}
{made}
"""
MADE = "## How it was made"
HERE = "PATH-TO-THIS-FOLDER"
OWN_CODE = """
It contains isotrope's own {modules}: isotrope must be installed, and sentence-transformers needs
`trust_remote_code=True`, as above. `isotrope.encoders.load_any` loads it without that.
"""


@dataclass(frozen=True)
class Publication:
    """What the card of a published encoder says beyond one that lies on a disk.

    Attributes:
        name: `org/name`, by which it is loaded.
        base: what it started from, by its name on the Hub; nothing where that is unknown.
        licence: of what it started from, as the Hub writes it.
        sections: further Markdown by its heading: results, data, verdict.
    """

    name: str
    base: str = ""
    licence: str = ""
    sections: Mapping[str, str] = field(default_factory=dict)

    @property
    def known(self) -> str:
        """Lines of the front matter."""
        lines = {"license": self.licence, "base_model": self.base}
        return "".join(f"{key}: {json.dumps(value)}\n" for key, value in lines.items() if value)


def card_of(encoder: Encoder | ForeignEncoder, made: str | None = None, publication: Publication | None = None) -> str:
    """The card of any encoder."""
    from isotrope.encoders.foreign import ForeignEncoder

    if isinstance(encoder, ForeignEncoder):
        return foreign_card(encoder, made, publication)
    return model_card(encoder, made, publication)


def made_by(card: str) -> str:
    """What a card of ours says about how its encoder was made; nothing for other cards."""
    return card.partition(f"\n{MADE}\n")[2].strip()


def model_card(encoder: Encoder, made: str | None = None, publication: Publication | None = None) -> str:
    """Markdown with the Hub's front matter. `made` tells how the encoder came about."""
    name = _short(encoder.name) or "a transformer"
    layers = encoder.backbone.layers if encoder.pooling.layer is None else encoder.pooling.layer
    facts = {
        "backbone": f"{type(encoder.backbone.model).__name__}, {layers} layers, {encoder.backbone.dim} wide",
        "started from": name,
        "pooling": str(encoder.pooling),
        "longest input": f"{encoder.max_seq_length} tokens",
    }
    title = f"{name}, {encoder.pooling} pooling"
    return _card(title, encoder.dim, facts, encoder.after_pooling, made, publication)


def foreign_card(encoder: ForeignEncoder, made: str | None = None, publication: Publication | None = None) -> str:
    """The card of an encoder that is a row of sentence-transformers modules."""
    name = _short(encoder.name) or "a sentence encoder"
    facts = {"modules": ", ".join(type(module).__name__ for module in encoder.model), "started from": name}
    return _card(name, encoder.dim, facts, encoder.model, made, publication)


def _card(
    title: str,
    dim: int,
    facts: dict[str, str],
    modules: Iterable[nn.Module],
    made: str | None,
    publication: Publication | None,
) -> str:
    sections = publication.sections if publication else {}
    own = [type(module).__name__ for module in modules if type(module).__module__.startswith("isotrope.")]
    return TEMPLATE.format(
        known=publication.known if publication else "",
        title=publication.name.rpartition("/")[2] if publication else title,
        place=publication.name if publication else HERE,
        sections="".join(f"## {heading}\n{text.strip()}\n\n" for heading, text in sections.items() if text.strip()),
        dim=dim,
        trusted=", trust_remote_code=True" if own else "",
        needed=OWN_CODE.format(modules=" and ".join(own)) if own else "",
        facts="\n".join(f"| {fact} | {value} |" for fact, value in facts.items()),
        heading=MADE,
        made=(made or "Saved by isotrope without any training.").strip(),
    )


def _short(name: str) -> str:
    return name.rstrip("/").rpartition("/")[2]
