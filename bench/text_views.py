"""Paper 3, Table 4, second part, at small scale: BSL with each kind of text view, in Markdown.

    python bench/text_views.py --data DIR [--seeds 1,2,3] [--kinds back-translation,synonym,...]

The bundled encoder on the sentences of STS-B (all splits, without grades), on entailment pairs of NLI, or on both;
checkpoints are chosen on the development split. Views come out of the cache when they were made before, finished runs
are not run again, interrupted ones go on.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from runs import figures, mean_and_spread, nli_table, print_head, print_row, sentences_of_stsb, write_sentences

NLI = ("snli_train_sample", "lingnli", "mnli_taxinli")


TWO = {"views.first.column": "view1", "views.second.column": "view2"}  # as the paper has it; else the text and one view


def made(**wording: Any) -> dict[str, Any]:
    return {"views.texts.view1": {"pivot": "default", **wording}}


KINDS: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {  # settings, and which text
    "back-translation": ({}, ("sentences",)),
    "two back-translations": (TWO, ("sentences",)),
    "synonym": (made(kind="synonyms", rate=0.3), ("sentences",)),
    "mlm": (made(kind="mlm", rate=0.2, model="bundled"), ("sentences",)),
    "entailment": (TWO, ("pairs",)),
    "two back-translations and entailment": (TWO, ("sentences", "pairs")),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--output", type=Path, default=Path("runs/text_views"))
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    files = {
        "sentences": write_sentences(sentences_of_stsb(options.data), options.output / "sentences.txt"),
        "pairs": nli_table([options.data / "nli" / f"{name}.tsv.gz" for name in NLI], options.output / "pairs.tsv"),
    }
    print_head("views", "dev", "test")
    for kind in options.kinds.split(","):
        settings, texts = KINDS[kind]
        found = [
            figures(
                options.output / f"{kind.replace(' ', '-')}-{seed}",
                options.data,
                sentences=[files[text] for text in texts],
                recipe="bsl:bundled",
                seed=int(seed),
                dev="stsb",
                set=settings,
            )
            for seed in options.seeds.split(",")
        ]
        print_row(kind, *(mean_and_spread([one[f"stsb {split}"] for one in found]) for split in ("dev", "test")))


if __name__ == "__main__":
    main()
