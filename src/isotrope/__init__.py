"""Isotrope: sentence embeddings from raw text.

    load            a model's name or folder -> an encoder
    train           raw text and a recipe -> a tuned encoder
    train_seeds     the same under several seeds: mean and deviation
    tune            raw text and a budget -> several recipes tried, the best encoder kept, or the untuned one
    report          a run, or several side by side: one page with the verdict, neighbours, a map, charts
    push            the encoder of a run to the Hugging Face Hub, with a model card
    encode          a file or table of sentences -> vectors
    export          an encoder for other runtimes: OpenVINO, ONNX, static; in int8, or with shorter vectors
    index           a table made searchable by meaning; an index grows
    search          the rows of an index nearest to a query
    serve           encoders over HTTP: OpenAI's embeddings API, similarity, search, and a page
    paraphrases     the pairs of texts that are most similar
    duplicates      groups of rows that say the same
    cluster         groups of rows by meaning, and the words that name each
    evaluate        encoders side by side on graded, classified or translated text
    compare         whether one encoder is better than another on your own text, without labels
    compare_all     the same for several encoders: a leaderboard
    inspect         the geometry of an encoder's vectors
    layers          which layer, which pooling
    fit_baseline    what tuned encoders are measured against: whitening, flow, TF-IDF ...
    make_views      other wordings of sentences: back-translation, synonyms, masked-LM substitutes
    clean_pairs     translations, cleaned
    aligned_pairs   translations out of tables that are parallel row by row
    entailment_pairs    pairs and triplets out of NLI data
    finetune        an encoder fine-tuned and tested on GLUE tasks
    pretrain        a small BERT from raw text
    doctor          what is installed and what works here
    demo            the bundled encoder before and after tuning
    recipes         the papers as TOML: `recipes.names()`, `recipes.load(...)`
    reproduce       a table or figure of a paper, run and set beside what is published
    reproductions   the tables and figures of the papers
    check_claims    what the papers claim about the order of their rows, and whether it holds
    sweep           a recipe under every combination of some settings

Each does what the command of its name does. `help(isotrope.train)` has arguments and an example.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from isotrope import recipes
    from isotrope.baselines import fit_baseline
    from isotrope.demonstration import demo
    from isotrope.diagnosis import doctor
    from isotrope.encoders import Encoder, Pooling, load
    from isotrope.encoders.encoding import encode
    from isotrope.evaluation import compare, compare_all, evaluate, inspect, layers
    from isotrope.evaluation.finetuning import finetune
    from isotrope.exporting.running import Exported, export
    from isotrope.io.cache import cache_contents, clear_cache
    from isotrope.io.errors import IsotropeError
    from isotrope.papers.checking import check_claims
    from isotrope.papers.published import reproductions
    from isotrope.papers.reproduction import reproduce
    from isotrope.papers.sweeping import sweep
    from isotrope.reporting.publishing import push
    from isotrope.reporting.report import Report, report
    from isotrope.retrieval.clustering import cluster
    from isotrope.retrieval.duplicates import duplicates, paraphrases
    from isotrope.retrieval.indexing import index
    from isotrope.retrieval.searching import Index, search
    from isotrope.serving.server import serve
    from isotrope.text.aligned import aligned_pairs
    from isotrope.text.pairs import clean_pairs, entailment_pairs
    from isotrope.training.leaderboard import Tuning
    from isotrope.training.pretrain import Pretraining, pretrain
    from isotrope.training.result import Run
    from isotrope.training.run import train
    from isotrope.training.seeds import Seeds, train_seeds
    from isotrope.training.tuning import tune
    from isotrope.views.text import make_views

__version__ = "0.1.0"
__all__ = [
    "Encoder",
    "Exported",
    "Index",
    "IsotropeError",
    "Pooling",
    "Pretraining",
    "Report",
    "Run",
    "Seeds",
    "Tuning",
    "aligned_pairs",
    "cache_contents",
    "check_claims",
    "clean_pairs",
    "clear_cache",
    "cluster",
    "compare",
    "compare_all",
    "demo",
    "doctor",
    "duplicates",
    "encode",
    "entailment_pairs",
    "evaluate",
    "export",
    "finetune",
    "fit_baseline",
    "index",
    "inspect",
    "layers",
    "load",
    "make_views",
    "paraphrases",
    "pretrain",
    "push",
    "recipes",
    "report",
    "reproduce",
    "reproductions",
    "search",
    "serve",
    "sweep",
    "train",
    "train_seeds",
    "tune",
]
_HOME = {
    "Encoder": "encoders",
    "Exported": "exporting.running",
    "Index": "retrieval.searching",
    "IsotropeError": "io.errors",
    "Pooling": "encoders",
    "Pretraining": "training.pretrain",
    "Report": "reporting.report",
    "Run": "training.result",
    "Seeds": "training.seeds",
    "Tuning": "training.leaderboard",
    "aligned_pairs": "text.aligned",
    "cache_contents": "io.cache",
    "check_claims": "papers.checking",
    "clean_pairs": "text.pairs",
    "clear_cache": "io.cache",
    "cluster": "retrieval.clustering",
    "compare": "evaluation",
    "compare_all": "evaluation",
    "demo": "demonstration",
    "doctor": "diagnosis",
    "duplicates": "retrieval.duplicates",
    "encode": "encoders.encoding",
    "entailment_pairs": "text.pairs",
    "evaluate": "evaluation",
    "export": "exporting.running",
    "finetune": "evaluation.finetuning",
    "fit_baseline": "baselines",
    "index": "retrieval.indexing",
    "inspect": "evaluation",
    "layers": "evaluation",
    "load": "encoders",
    "make_views": "views.text",
    "paraphrases": "retrieval.duplicates",
    "pretrain": "training.pretrain",
    "push": "reporting.publishing",
    "report": "reporting.report",
    "reproduce": "papers.reproduction",
    "reproductions": "papers.published",
    "search": "retrieval.searching",
    "serve": "serving.server",
    "sweep": "papers.sweeping",
    "train": "training.run",
    "train_seeds": "training.seeds",
    "tune": "training.tuning",
}


def __getattr__(name: str) -> Any:
    """Loads torch and transformers when they are first asked for, so that `isotrope --help` answers at once."""
    if name == "recipes":
        return importlib.import_module("isotrope.recipes")
    if name in _HOME:
        return getattr(importlib.import_module(f"isotrope.{_HOME[name]}"), name)
    raise AttributeError(f"module 'isotrope' has no attribute '{name}'")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
