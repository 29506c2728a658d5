"""A saved folder in LangChain: pip install langchain-huggingface.

python examples/integrations/langchain_search.py FOLDER
"""

from __future__ import annotations

import sys

from langchain_core.vectorstores import InMemoryVectorStore
from langchain_huggingface import HuggingFaceEmbeddings

TEXTS = ["The train is late.", "A dog barks.", "Interest rates rise."]


def main(folder: str) -> None:
    """Any vector store of LangChain takes the embeddings."""
    embeddings = HuggingFaceEmbeddings(model_name=folder, encode_kwargs={"normalize_embeddings": True})
    store = InMemoryVectorStore.from_texts(TEXTS, embeddings)
    print(store.similarity_search("The bank asks for more.", k=1)[0].page_content)


if __name__ == "__main__":
    main(*sys.argv[1:])
