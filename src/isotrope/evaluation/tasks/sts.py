"""Semantic textual similarity in English: the seven sets that papers 2 and 3 average over."""

from __future__ import annotations

from isotrope.evaluation.data.pairs import PairSource
from isotrope.evaluation.tasks.graded import GradedSpec


class EnglishSTS(GradedSpec):
    """What the seven have in common."""

    heading = "STS"
    suites = ("papers", "sts")


def _of_semeval(year: int) -> PairSource:
    name = f"sts{year}"
    return PairSource(name, f"sts/{name}.tsv", f"mteb/{name}-sts", subtask="subtask", has_splits=False)


class STSBenchmark(EnglishSTS):
    """STS-B (Cer et al. 2017)."""

    kind: str = "stsb"

    source = PairSource("stsb", "stsb/stsb.tsv", "mteb/stsbenchmark-sts")


class STS12(EnglishSTS):
    """SemEval-2012 task 6."""

    kind: str = "sts12"

    source = _of_semeval(12)


class STS13(EnglishSTS):
    """*SEM 2013 shared task."""

    kind: str = "sts13"

    source = _of_semeval(13)


class STS14(EnglishSTS):
    """SemEval-2014 task 10."""

    kind: str = "sts14"

    source = _of_semeval(14)


class STS15(EnglishSTS):
    """SemEval-2015 task 2."""

    kind: str = "sts15"

    source = _of_semeval(15)


class STS16(EnglishSTS):
    """SemEval-2016 task 1."""

    kind: str = "sts16"

    source = _of_semeval(16)


class SICKR(EnglishSTS):
    """SICK relatedness (Marelli et al. 2014)."""

    kind: str = "sickr"

    source = PairSource("sickr", "sick/sick.tsv", "mteb/sickr-sts", published=4927)
