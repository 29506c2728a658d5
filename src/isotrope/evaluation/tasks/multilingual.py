"""Semantic textual similarity in and across other languages."""

from __future__ import annotations

from isotrope.evaluation.data.pairs import PairSource
from isotrope.evaluation.tasks.graded import GradedSpec

# The Hub has neither track 4b nor this order of the languages; what else it has there is not SemEval's.
TRACKS = {
    "track1.ar-ar": "ar-ar",
    "track2.ar-en": "en-ar",
    "track3.es-es": "es-es",
    "track4a.es-en": "es-en",
    "track5.en-en": "en-en",
    "track6.tr-en": "en-tr",
}
LANGUAGES = {language: language for language in ("de", "en", "es", "fr", "it", "nl", "pl", "pt", "ru", "zh")}


class SemEval2017(GradedSpec):
    """SemEval-2017 task 1, a part for each track. Paper 3 reports Spearman, paper 1 Pearson."""

    kind: str = "sts17"

    heading = "SemEval-2017"
    suites = ("papers", "multilingual")
    metrics = ("spearman", "pearson")
    in_parts = True
    source = PairSource("sts17", "sts17/sts17.tsv", "mteb/sts17-crosslingual-sts", "track", TRACKS, has_splits=False)


class SemEval2017Translated(GradedSpec):
    """SemEval-2017's English track, one side in German or French (paper 3): a part for each.

    Reimers & Gurevych 2020 had it translated by machine and mended by people. A file of one's own has the name of the
    part: sts17/sts17_en-de.tsv.
    """

    kind: str = "sts17-translated"

    heading = "SemEval-2017"
    suites = ("papers", "multilingual")
    metrics = ("spearman", "pearson")
    in_parts = True
    source = PairSource(
        "sts17-translated",
        "sts17/sts17_*.tsv",
        "mteb/sts17-crosslingual-sts",
        configs={"en-de": "en-de", "en-fr": "fr-en"},
        has_splits=False,
    )


class SemEval2014Spanish(GradedSpec):
    """SemEval-2014 task 10 in Spanish (paper 1, Table 2, by Pearson), news and Wikipedia."""

    kind: str = "sts14-es"

    heading = "SemEval-2014, Spanish"
    suites = ("papers", "multilingual")
    metrics = ("pearson", "spearman")
    source = PairSource("sts14-es", "sts/sts14_es.tsv", subtask="subtask", has_splits=False)


class STSBMulti(GradedSpec):
    """STS-B translated by machine, a part for each language."""

    kind: str = "stsb-multi"

    heading = "STS-B in other languages"
    suites = ("multilingual",)
    in_parts = True
    source = PairSource("stsb-multi", "stsb_multi/stsb_*.tsv", "PhilipMay/stsb_multi_mt", configs=LANGUAGES)


class ChineseSTSB(GradedSpec):
    """The Chinese STS-B of paper 4."""

    kind: str = "cnsd-stsb"

    heading = "STS-B in other languages"
    suites = ("papers", "multilingual")
    source = PairSource("cnsd-stsb", "zh/cnsd_stsb.tsv", "mteb/STSB")
