"""A table into Postgres with pgvector: pip install 'psycopg[binary]' pgvector.

    python examples/integrations/pgvector_search.py postgresql://user@host/base TABLE.csv [FOLDER]

The server must have the extension: the package postgresql-NN-pgvector, of newer Debians or of the PostgreSQL project.
"""

from __future__ import annotations

import sys

import pandas
import psycopg
from pgvector.psycopg import register_vector

import isotrope

SHAPE = {"columns": "Subject,Body", "join": ". ", "strip_html": True}


def main(base: str, table: str, folder: str = "small") -> None:
    """Write, index, then search with a condition."""
    encoder = isotrope.load(folder)
    frame = pandas.read_csv(table, keep_default_na=False)
    vectors = isotrope.encode(frame, encoder, **SHAPE)  # a row for each row, zeros where there is no text
    with psycopg.connect(base, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        register_vector(connection)
        connection.execute("DROP TABLE IF EXISTS tickets")
        connection.execute(
            f"CREATE TABLE tickets (id int, queue text, subject text, body text, embedding vector({encoder.dim}))"
        )
        with connection.cursor() as cursor, cursor.copy("COPY tickets FROM STDIN WITH (FORMAT BINARY)") as copy:
            copy.set_types(["int4", "text", "text", "text", "vector"])
            for row, vector in zip(frame.itertuples(index=False), vectors, strict=True):
                copy.write_row([int(row.id), row.queue, row.Subject, row.Body, vector if vector.any() else None])
        connection.execute("CREATE INDEX ON tickets USING hnsw (embedding vector_cosine_ops)")

        query = encoder.encode("I can't get into my account")
        found = connection.execute(
            "SELECT 1 - (embedding <=> %s), subject FROM tickets WHERE queue = %s ORDER BY embedding <=> %s LIMIT 3",
            (query, "access", query),
        )
        for cosine, subject in found:
            print(f"{cosine:.2f}  {subject}")


if __name__ == "__main__":
    main(*sys.argv[1:])
