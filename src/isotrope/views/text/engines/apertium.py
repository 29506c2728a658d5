"""Rule-based translation by the program `apertium` and whichever language pairs are installed with it.

Its tagger learns as it reads: what it makes of a sentence can depend on those before it in the same process, in one of
some hundred. The same sentences in the same order always give the same.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from functools import cached_property
from itertools import chain
from typing import Any

from isotrope.io.errors import IsotropeError
from isotrope.views.text.engines.cores import on_all_cores
from isotrope.views.text.engines.languages import three_letters

PROGRAM = "apertium"
PART = 128  # sentences that one process gets; a fixed number, so that nothing depends on how many cores there are
MARK = re.compile(r"[*@#](?=\w)")  # before a word that the dictionaries lack, or can't inflect
RESERVED = re.compile(r"[\[\]{}^$/\\@<>]")  # by the program's stream format


class Apertium:
    """A pipeline of small programs for each part of the sentences."""

    name = "apertium"

    def lacks(self, source: str, target: str) -> str:
        """What is missing here to translate, or ""."""
        pair = "-".join(sorted(map(three_letters, (source, target)), key=lambda code: (code != "eng", code)))
        if shutil.which(PROGRAM) is None:
            return f"apertium is not installed: apt install apertium apertium-{pair}"
        if not self._mode(source, target):
            return f"apertium lacks the pair {source}-{target}: apt install apertium-{pair}, if there is such a package"
        return ""

    def parameters(self, source: str, target: str) -> dict[str, Any]:
        """What decides how it translates."""
        return {"apertium": _run("-V").split()[-1], "mode": self._mode(source, target)}

    def translate(self, sentences: Sequence[str], source: str, target: str) -> list[str]:
        """One translation for each sentence, "" for those that the program breaks down on."""
        mode = self._mode(source, target)
        parts = [sentences[start : start + PART] for start in range(0, len(sentences), PART)]
        return list(chain.from_iterable(on_all_cores(lambda part: _translate(mode, part), parts)))

    def flaw(self, sentence: str, translation: str) -> str:
        """Whether words were left as they are: they are marked."""
        return "unknown words" if len(MARK.findall(translation)) > len(MARK.findall(sentence)) else ""

    def _mode(self, source: str, target: str) -> str:
        """What the program calls the direction: by three letters each, or by two in older pairs."""
        names = (f"{three_letters(source)}-{three_letters(target)}", f"{source}-{target}")
        return next((name for name in names if name in self._modes), "")

    @cached_property
    def _modes(self) -> list[str]:
        return _run("-l").split()


def _translate(mode: str, sentences: Sequence[str]) -> list[str]:
    """Some sentences make one of the programs in the pipeline crash, which ends the output there: such a one is passed
    over, and another pipeline takes up the rest.
    """
    translations: list[str] = []
    while len(translations) < len(sentences):
        translations += _answers(mode, sentences[len(translations) :]) or [""]
    return translations


def _answers(mode: str, sentences: Sequence[str]) -> list[str]:
    """Translations of the first sentences, as many as were answered.

    Sentences end in a null character, on which the programs start afresh; before it is the sentence's number in
    brackets, as formatting that is to be passed through, by which the answer is known to belong to it.
    """
    asked = "".join(f"{_escaped(sentence)}[{number}]\0" for number, sentence in enumerate(sentences))
    answers = []
    for number, answer in enumerate(_run("-z", "-f", "none", mode, given=asked).split("\0")):
        if not answer.endswith(f"[{number}]"):
            break
        answers.append(_unescaped(answer.removesuffix(f"[{number}]")))
    return answers


def _escaped(sentence: str) -> str:
    """In the program's stream format; a tilde has a meaning of its own there, but not as formatting."""
    return RESERVED.sub(r"\\\g<0>", sentence).replace("~", "[~]")


def _unescaped(answer: str) -> str:
    return " ".join(re.sub(r"\\(.)|[\[\]]", r"\1", answer).split())


def _run(*arguments: str, given: str = "") -> str:
    done = subprocess.run([PROGRAM, *arguments], input=given.encode(), capture_output=True, check=False)
    if done.returncode:
        said = " ".join((done.stderr or done.stdout).decode(errors="replace").split())[:200]
        raise IsotropeError(f"apertium {' '.join(arguments)} failed: {said or f'exit code {done.returncode}'}")
    return done.stdout.decode(errors="replace")
