"""Documents: a folder of Markdown or text files. Whole sections are learnt from, by crops; paragraphs are searched.

    python examples/tutorials/documents.py [FOLDER] [OUTPUT] [STEPS]

Without a folder it reads isotrope's own documentation.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import isotrope
from isotrope.text.sentences import split_sentences

DOCS = Path(__file__).parents[2] / "docs"


def sections(folder: Path) -> list[dict[str, str]]:
    """The sections of all files, without code and tables."""
    found = []
    for file in sorted([*folder.glob("*.md"), *folder.glob("*.txt")]):
        text = re.sub(r"^ *```.*?^ *```", "", file.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
        for part in re.split(r"^#+ ", text, flags=re.MULTILINE):
            heading, _, body = part.partition("\n")
            prose = "\n".join(line for line in body.splitlines() if not line.startswith(("|", "<", "--8<--")))
            if len(prose.split()) > 30:
                found.append({"file": file.name, "heading": heading, "text": prose.strip()})
    return found


def main(folder: str = str(DOCS), output: str = "runs/documents", steps: str = "30") -> None:
    """Tune by crops; keep the result only if sections that were held out say so; then search."""
    found = sections(Path(folder))
    texts = [" ".join(one["text"].split()) for one in found]
    held_out = [sentence for text in texts[::4] for sentence in split_sentences(text)]
    learnt = [text for number, text in enumerate(texts) if number % 4]
    quick = {"training.batch_size": min(32, len(learnt) // 2), "training.max_length": 64}
    run = isotrope.train(learnt, "crop", model="small", output=output, steps=int(steps), unit="document", set=quick)
    judged = isotrope.compare("small", run.encoder, held_out)
    encoder = run.encoder if judged.judgement == "better" else isotrope.load("small")
    print(f"{len(found)} sections; on those that were held out the tuned encoder is: {judged.judgement}")

    paragraphs = [
        {"file": one["file"], "heading": one["heading"], "text": f"{one['heading']}. {' '.join(paragraph.split())}"}
        for one in found
        for paragraph in re.split(r"\n\s*\n|\n(?=- )", one["text"])
    ]
    isotrope.index(paragraphs, encoder, Path(output) / "index")
    for question in ("What happens if I press Ctrl-C?", "Does it work for German?"):
        print(f"\n{question}")
        for hit in isotrope.search(Path(output) / "index", question, k=2):
            print(f"{hit.cosine:.2f}  {hit.row['file']}, {hit.row['text'][:90]} ...")


if __name__ == "__main__":
    main(*sys.argv[1:])
