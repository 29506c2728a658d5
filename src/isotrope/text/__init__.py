"""Raw text in, batches of sentences out."""

from isotrope.text.bundled import bundled_pairs_path, bundled_sentences
from isotrope.text.files import read_table
from isotrope.text.sources import Counts, read_sentences

__all__ = ["Counts", "bundled_pairs_path", "bundled_sentences", "read_sentences", "read_table"]
