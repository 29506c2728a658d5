"""Raw text in, batches of sentences out."""

from isotrope.text.files import Counts, read_sentences, read_table

__all__ = ["Counts", "read_sentences", "read_table"]
