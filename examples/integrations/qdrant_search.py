"""A table into Qdrant: pip install qdrant-client.

    python examples/integrations/qdrant_search.py TABLE.csv [FOLDER] [URL]

Every row is a point, its columns the payload; rows without text are left out. Without a URL it is Qdrant's local mode,
in memory.
"""

from __future__ import annotations

import sys

import pandas
from qdrant_client import QdrantClient
from qdrant_client.models import Distance, FieldCondition, Filter, MatchValue, PointStruct, VectorParams

import isotrope

SHAPE = {"columns": "Subject,Body", "join": ". ", "strip_html": True}


def main(table: str, folder: str = "small", url: str = ":memory:") -> None:
    """Write, then search with a condition."""
    encoder = isotrope.load(folder)
    frame = pandas.read_csv(table, keep_default_na=False)
    vectors = isotrope.encode(frame, encoder, **SHAPE)  # a row for each row, zeros where there is no text
    client = QdrantClient(url) if url == ":memory:" else QdrantClient(url=url)
    client.create_collection("tickets", vectors_config=VectorParams(size=encoder.dim, distance=Distance.COSINE))
    rows = zip(frame.to_dict("records"), vectors, strict=True)
    points = [
        PointStruct(id=number, vector=vector.tolist(), payload=row)
        for number, (row, vector) in enumerate(rows)
        if vector.any()
    ]
    client.upsert("tickets", points)

    query = encoder.encode("I can't get into my account").tolist()
    only = Filter(must=[FieldCondition(key="queue", match=MatchValue(value="access"))])
    for hit in client.query_points("tickets", query, query_filter=only, limit=3).points:
        print(f"{hit.score:.2f}  {hit.payload['Subject']}")


if __name__ == "__main__":
    main(*sys.argv[1:])
