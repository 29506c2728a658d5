"""How the encoder `small` was made: the student that the recipe `distil` then teaches.

    python bench/small_text.py ... --output DIR/text.txt
    python bench/small.py --text DIR/text.txt [--start EARLIER] --output DIR/student
    isotrope train DIR/text.txt --recipe distil:small --model DIR/student --dev stsb --data DATA --output DIR/run
    python bench/small.py --finish DIR/run/encoder --output DIR/small

The student is a narrow ELECTRA whose word embeddings are the principal components of what the teacher makes of each
word alone, so that it begins as a bag of the teacher's words. With --start an earlier one is taught on: it gets the
words that the text has and it has not, and layers that do nothing yet, as far as 12 MB hold them.

Written down, a number of the word table has one byte (float8, e4m3): STS-B, test, 79.63 where two bytes gave 79.65.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.modules import Dense, Transformer
from sentence_transformers.sentence_transformer.modules import Pooling
from transformers import ElectraConfig, ElectraModel, PreTrainedTokenizerFast

import isotrope

TEACHER = "minilm"
WIDTH, HIDDEN, INTERMEDIATE, LAYERS = 128, 256, 768, 5  # embedding, and the layers behind it
ADDED = 1_500  # words that an earlier student gets at most
WORDS = "embeddings.word_embeddings.weight"
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--text", type=Path, help="what it will be taught on, one a line")
    parser.add_argument("--start", type=Path, help="the folder of an earlier student, to be taught on")
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--finish", type=Path, help="a trained student, to be written in half precision")
    options = parser.parse_args()
    if options.finish:
        finish(options.finish, options.output)
        return
    counts = count_words(options.text.read_text(encoding="utf-8").splitlines())
    if options.start:
        grow_student(options.start, counts, options.output)
    else:
        make_student(counts, options.output)


def count_words(texts: list[str]) -> Counter[str]:
    """How often the text has each of the teacher's word pieces."""
    backend = isotrope.load(TEACHER).tokenizer.backend_tokenizer
    counts: Counter[str] = Counter()
    for start in range(0, len(texts), 10_000):
        for one in backend.encode_batch(texts[start : start + 10_000]):
            counts.update(one.tokens)
    return counts


def make_student(counts: Counter[str], folder: Path) -> None:
    """An untrained encoder with the teacher's words."""
    torch.manual_seed(1)
    words = [word for word, number in counts.items() if number >= 3]
    tokenizer = smaller_tokenizer(words)
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
    model.embeddings.word_embeddings.weight.data = torch.from_numpy(word_components(in_order(tokenizer)))
    dense = Dense(HIDDEN, isotrope.load(TEACHER).dim, bias=False, activation_function=torch.nn.Identity())
    save(model, tokenizer, dense, folder)


def grow_student(start: Path, counts: Counter[str], folder: Path) -> None:
    """The earlier one with more words, the most frequent first, each where its teacher's vector would put it."""
    student = SentenceTransformer(str(start), device="cpu").float()
    old = in_order(student.tokenizer)
    known = set(old)
    lacking = [word for word, _ in counts.most_common() if word not in known][:ADDED]
    tokenizer = smaller_tokenizer([*old, *lacking])
    model = student[0].auto_model
    table = model.embeddings.word_embeddings.weight.detach().numpy()  # (words, WIDTH)
    vectors = word_vectors([*old, *lacking])
    seen = np.isin(old, SPECIAL, invert=True)
    mapped, *_ = np.linalg.lstsq(vectors[: len(old)][seen], table[seen], rcond=None)
    rows = dict(zip([*old, *lacking], [*table, *(vectors[len(old) :] @ mapped)], strict=True))
    model.resize_token_embeddings(len(tokenizer))
    table = np.stack([rows[word] for word in in_order(tokenizer)])
    model.embeddings.word_embeddings.weight.data = torch.from_numpy(table)
    save(deeper(model), tokenizer, student[2], folder)
    print(f"{len(lacking):,} more words: {', '.join(lacking[:12])}, ...")


def deeper(model: ElectraModel) -> ElectraModel:
    """The same with LAYERS layers. Those that are new add nothing to what comes in: their outputs begin at zero."""
    torch.manual_seed(1)
    grown = ElectraModel(ElectraConfig(**(model.config.to_dict() | {"num_hidden_layers": LAYERS})))
    grown.load_state_dict(model.state_dict(), strict=False)
    for layer in grown.encoder.layer[model.config.num_hidden_layers :]:
        for last in (layer.attention.output.dense, layer.output.dense):
            torch.nn.init.zeros_(last.weight)
    return grown


def finish(trained: Path, folder: Path) -> None:
    """In half precision, and the word table in a byte a number; once loaded it computes in single precision."""
    encoder = SentenceTransformer(str(trained), device="cpu")
    embeddings = encoder[0].auto_model.embeddings
    scale = 1 / embeddings.word_embeddings.weight.data.std()  # small numbers have few digits in float8
    for table in (embeddings.word_embeddings, embeddings.position_embeddings, embeddings.token_type_embeddings):
        table.weight.data *= scale  # of all three: their sum is normalised, so that nothing else changes
    encoder.half().save(str(folder))
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"dtype": "float32"}, indent=2) + "\n")
    weights = load_file(folder / "model.safetensors")
    weights[WORDS] = weights[WORDS].to(torch.float8_e4m3fn)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})


def save(model: ElectraModel, tokenizer: PreTrainedTokenizerFast, dense: Dense, folder: Path) -> None:
    parts = folder.with_name("parts")
    model.save_pretrained(parts)
    tokenizer.save_pretrained(parts)
    transformer = Transformer(str(parts), max_seq_length=256)
    SentenceTransformer(modules=[transformer, Pooling(HIDDEN, "mean"), dense], device="cpu").save(str(folder))


def smaller_tokenizer(words: list[str]) -> PreTrainedTokenizerFast:
    """The teacher's, with these words and those of one character only."""
    backend = isotrope.load(TEACHER).tokenizer.backend_tokenizer
    state = json.loads(backend.to_str())
    by_id = sorted(state["model"]["vocab"].items(), key=lambda item: item[1])
    plain = re.compile(r"(##)?[!-~]")
    wanted = {*words, *SPECIAL}
    kept = [word for word, _ in by_id if word in wanted or plain.fullmatch(word)]
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


def in_order(tokenizer: PreTrainedTokenizerFast) -> list[str]:
    return sorted(tokenizer.get_vocab(), key=tokenizer.get_vocab().__getitem__)


def word_components(words: list[str]) -> np.ndarray:
    """(words, WIDTH): principal components of the teacher's vectors, in the scale of a fresh BERT."""
    vectors = word_vectors(words)
    centred = vectors - vectors.mean(axis=0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    components = centred @ axes[:WIDTH].T
    return (components * (0.05 / components.std())).astype(np.float32)


def word_vectors(words: list[str]) -> np.ndarray:
    """What the teacher makes of each alone."""
    return isotrope.load(TEACHER).encode([word.removeprefix("##") for word in words])


if __name__ == "__main__":
    main()
