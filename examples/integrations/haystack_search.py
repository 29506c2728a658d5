"""A saved folder in Haystack: pip install haystack-ai sentence-transformers-haystack.

python examples/integrations/haystack_search.py FOLDER
"""

from __future__ import annotations

import sys

from haystack import Document
from haystack.components.retrievers.in_memory import InMemoryEmbeddingRetriever
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack_integrations.components.embedders.sentence_transformers import (
    SentenceTransformersDocumentEmbedder,
    SentenceTransformersTextEmbedder,
)

TEXTS = ["The train is late.", "A dog barks.", "Interest rates rise."]


def main(folder: str) -> None:
    """Documents are embedded and stored, a query is embedded and looked up."""
    documents = SentenceTransformersDocumentEmbedder(model=folder, progress_bar=False)
    query = SentenceTransformersTextEmbedder(model=folder, progress_bar=False)
    documents.warm_up()
    query.warm_up()
    store = InMemoryDocumentStore(embedding_similarity_function="cosine")
    store.write_documents(documents.run([Document(content=text) for text in TEXTS])["documents"])
    vector = query.run("The bank asks for more.")["embedding"]
    print(InMemoryEmbeddingRetriever(store, top_k=1).run(vector)["documents"][0].content)


if __name__ == "__main__":
    main(*sys.argv[1:])
