"""Raw text in, batches of sentences out."""

from isotrope.text.bundled import bundled_pairs_path, bundled_sentences
from isotrope.text.files import Counts, read_sentences, read_table

__all__ = ["Counts", "bundled_pairs_path", "bundled_sentences", "read_sentences", "read_table"]
