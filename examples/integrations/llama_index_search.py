"""A saved folder in LlamaIndex: pip install llama-index-core llama-index-embeddings-huggingface.

python examples/integrations/llama_index_search.py FOLDER
"""

from __future__ import annotations

import sys

from llama_index.core import VectorStoreIndex
from llama_index.core.schema import TextNode
from llama_index.embeddings.huggingface import HuggingFaceEmbedding

TEXTS = ["The train is late.", "A dog barks.", "Interest rates rise."]


def main(folder: str) -> None:
    """An index in memory, and the nearest node."""
    embeddings = HuggingFaceEmbedding(model_name=folder)
    index = VectorStoreIndex([TextNode(text=text) for text in TEXTS], embed_model=embeddings)
    found = index.as_retriever(similarity_top_k=1).retrieve("The bank asks for more.")
    print(found[0].get_content())


if __name__ == "__main__":
    main(*sys.argv[1:])
