"""A saved folder in txtai: pip install txtai.

python examples/integrations/txtai_search.py FOLDER
"""

from __future__ import annotations

import sys

from txtai import Embeddings

TEXTS = ["The train is late.", "A dog barks.", "Interest rates rise."]


def main(folder: str) -> None:
    """`sentence-transformers` reads the folder with its own pooling."""
    index = Embeddings(path=folder, method="sentence-transformers", content=True)
    index.index(TEXTS)
    print(index.search("The bank asks for more.", 1)[0]["text"])


if __name__ == "__main__":
    main(*sys.argv[1:])
