"""How the encoder `small` was made: its text, and the student that the recipe `distil` then teaches.

    python bench/small.py --data DATA --wordnet /usr/share/wordnet --output DIR
    isotrope train DIR/text.txt --recipe distil:small --model DIR/student --dev stsb --data DATA --output DIR/run
    python bench/small.py --finish DIR/run/encoder --output DIR/small

The text is that of `pretrain/`, part of it cut into spans of a few words, since users have titles and phrases too, and
the entries of WordNet, which has the words of many fields; what occurs in any evaluation set is left out. The student
is a narrow ELECTRA whose word embeddings are the principal components of what the teacher makes of each word alone, so
that it begins as a bag of the teacher's words.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
from collections import Counter
from pathlib import Path

import numpy as np
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.modules import Dense, Transformer
from sentence_transformers.sentence_transformer.modules import Pooling
from transformers import ElectraConfig, ElectraModel, PreTrainedTokenizerFast

import isotrope

TEACHER = "minilm"
LINES = {  # of each file; None: all
    "tatoeba_en": 80_000,
    "commonvoice_en": 40_000,
    "wikipedia_small": None,
    "ud_ewt": None,
    "openstax_ccby": 60_000,
    "mdn_prose": 60_000,
    "acl_abstracts_2016on": 60_000,
    "speeches_pd": 10_000,
    "eltec_novels": 25_000,
}
TAUGHT = 500_000  # texts that are trained on; the words of all are counted
LONGEST = 32  # words; what is longer is cut at a word drawn at random
SPANS = 0.3  # share of the texts of more than eight words of which a span of 2 to 8 words is taken instead
WIDTH, HIDDEN, INTERMEDIATE, LAYERS = 128, 256, 768, 3  # embedding, and the layers behind it
QUESTIONS = ("What is", "What does it mean:", "How do I get", "What causes", "What can I do about", "Can you explain")
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--wordnet", type=Path, help="its database: data.noun, data.verb, data.adj, data.adv")
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--finish", type=Path, help="a trained student, to be written in half precision")
    options = parser.parse_args()
    if options.finish:
        SentenceTransformer(str(options.finish), device="cpu").half().save(str(options.output))
        config = json.loads((options.output / "config.json").read_text())  # kept in half, computed in single precision
        (options.output / "config.json").write_text(json.dumps(config | {"dtype": "float32"}, indent=2) + "\n")
        return
    options.output.mkdir(parents=True, exist_ok=True)
    texts = training_text(options.data, options.wordnet, random.Random(1))
    taught = texts[:TAUGHT]
    (options.output / "text.txt").write_text("".join(f"{text}\n" for text in taught), encoding="utf-8")
    print(f"{len(taught):,} of {len(texts):,} texts, {sum(len(text.split()) for text in texts):,} words")
    make_student(texts, options.output / "student")


def training_text(data: Path, wordnet: Path, rng: random.Random) -> list[str]:
    """Sentences, spans and entries, each once, none of them in an evaluation set."""
    evaluated = {normal(text) for text in evaluation_texts(data)}
    found: dict[str, None] = dict.fromkeys(entries(wordnet, rng))
    for name, most in LINES.items():
        lines = [line for line in read_lines(data / "pretrain" / f"{name}.txt.gz") if normal(line) not in evaluated]
        for line in lines if most is None else rng.sample(lines, most):
            found.setdefault(cut(line, rng))
    texts = [text for text in found if len(text) > 3 and normal(text) not in evaluated]
    rng.shuffle(texts)
    return texts


def entries(wordnet: Path, rng: random.Random) -> list[str]:
    """Each entry of WordNet in one way, drawn at random: its words, what they mean, both, or a question."""
    found = []
    for part in ("noun", "verb", "adj", "adv"):
        for line in read_lines(wordnet / f"data.{part}"):
            if line.startswith("  "):  # the licence
                continue
            fields, _, gloss = line.partition(" | ")
            words = fields.split()[4 : 4 + 2 * int(fields.split()[3], 16) : 2]
            word = re.sub(r"\(.*\)", "", rng.choice(words)).replace("_", " ")
            meaning = gloss.partition('; "')[0].strip()
            ways = (meaning, meaning, f"{word}: {meaning}", word, f"{rng.choice(QUESTIONS)} {word}?")
            found.append(rng.choice(ways))
    return found


def evaluation_texts(data: Path) -> set[str]:
    """Every field of every file that something is measured on."""
    files = [file for file in data.rglob("*.tsv*") if not {"parallel", "nli", "xnli"} & set(file.parts)]
    return {field for file in files for line in read_lines(file) for field in line.split("\t")}


def cut(line: str, rng: random.Random) -> str:
    words = line.split()
    if len(words) > 8 and rng.random() < SPANS:
        size = rng.randint(2, 8)
    elif len(words) > LONGEST:
        size = rng.randint(8, LONGEST)
    else:
        return line
    start = rng.randrange(len(words) - size + 1)
    return " ".join(words[start : start + size])


def make_student(texts: list[str], folder: Path) -> None:
    """An untrained encoder with the teacher's words."""
    torch.manual_seed(1)
    tokenizer = smaller_tokenizer(texts)
    config = ElectraConfig(
        vocab_size=len(tokenizer),
        embedding_size=WIDTH,
        hidden_size=HIDDEN,
        intermediate_size=INTERMEDIATE,
        num_hidden_layers=LAYERS,
        num_attention_heads=4,
        max_position_embeddings=256,
    )
    model = ElectraModel(config)
    words = sorted(tokenizer.get_vocab(), key=tokenizer.get_vocab().__getitem__)
    model.embeddings.word_embeddings.weight.data = torch.from_numpy(word_vectors(words))
    parts = folder.with_name("parts")
    model.save_pretrained(parts)
    tokenizer.save_pretrained(parts)
    transformer = Transformer(str(parts), max_seq_length=256)
    dense = Dense(HIDDEN, isotrope.load(TEACHER).dim, bias=False, activation_function=torch.nn.Identity())
    SentenceTransformer(modules=[transformer, Pooling(HIDDEN, "mean"), dense], device="cpu").save(str(folder))


def smaller_tokenizer(texts: list[str]) -> PreTrainedTokenizerFast:
    """The teacher's, without the words that the text does not have; those of one character stay."""
    backend = isotrope.load(TEACHER).tokenizer.backend_tokenizer
    counts: Counter[int] = Counter()
    for start in range(0, len(texts), 10_000):
        for one in backend.encode_batch(texts[start : start + 10_000]):
            counts.update(one.ids)
    state = json.loads(backend.to_str())
    by_id = sorted(state["model"]["vocab"].items(), key=lambda item: item[1])
    plain = re.compile(r"(##)?[!-~]")
    kept = [word for word, number in by_id if counts[number] >= 3 or plain.fullmatch(word) or word in SPECIAL]
    ids = {word: number for number, word in enumerate([*SPECIAL, *(word for word in kept if word not in SPECIAL)])}
    state["model"]["vocab"] = ids
    for added in state["added_tokens"]:
        added["id"] = ids[added["content"]]
    for name, special in state["post_processor"]["special_tokens"].items():
        special["ids"] = [ids[name]]
    state["truncation"] = state["padding"] = None
    return PreTrainedTokenizerFast(
        tokenizer_object=type(backend).from_str(json.dumps(state)),
        **dict(zip(("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"), SPECIAL, strict=True)),
        model_max_length=256,
    )


def word_vectors(words: list[str]) -> np.ndarray:
    """(words, WIDTH): what the teacher makes of each alone, its principal components, in the scale of a fresh BERT."""
    vectors = isotrope.load(TEACHER).encode([word.removeprefix("##") for word in words])
    centred = vectors - vectors.mean(axis=0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    components = centred @ axes[:WIDTH].T
    return (components * (0.05 / components.std())).astype(np.float32)


def read_lines(file: Path) -> list[str]:
    content = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
    return content.decode("utf-8").removesuffix("\n").split("\n")


def normal(text: str) -> str:
    return re.sub(r"\W+", "", text).lower()


if __name__ == "__main__":
    main()
