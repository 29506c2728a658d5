"""Small folders of each family of translation models, with random weights."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
from transformers import (
    AutoTokenizer,
    FSMTConfig,
    FSMTForConditionalGeneration,
    M2M100Config,
    M2M100ForConditionalGeneration,
    MarianConfig,
    MarianMTModel,
    NllbTokenizer,
    PreTrainedTokenizerFast,
)

from isotrope.text import bundled_sentences

SMALL: dict[str, Any] = {
    "d_model": 16,
    **dict.fromkeys(("encoder_layers", "decoder_layers"), 1),
    **dict.fromkeys(("encoder_attention_heads", "decoder_attention_heads"), 2),
    **dict.fromkeys(("encoder_ffn_dim", "decoder_ffn_dim"), 32),
    "init_std": 1.0,  # random weights that are far from zero translate each sentence otherwise
    "max_position_embeddings": 64,
}
NLLB_CODES = ["eng_Latn", "por_Latn", "spa_Latn"]


def marian_folder(folder: Path, seed: int) -> Path:
    """Marian with a tokenizer that needs no further package."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.BpeTrainer(vocab_size=400, special_tokens=["<pad>", "</s>", "<unk>"], show_progress=False)
    tokenizer.train_from_iterator(bundled_sentences()[:300], trainer)
    tokenizer.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", eos_token="</s>", unk_token="<unk>", model_max_length=64
    )
    fast.save_pretrained(folder)
    marian_model(folder, len(fast), seed)
    return folder


def marian_model(folder: Path, vocabulary: int, seed: int, pad: int = 0, eos: int = 1) -> None:
    torch.manual_seed(seed)
    special = {"pad_token_id": pad, "eos_token_id": eos, "decoder_start_token_id": pad, "forced_eos_token_id": None}
    MarianMTModel(MarianConfig(vocab_size=vocabulary, **special, **SMALL)).save_pretrained(folder)


def nllb_folder(folder: Path) -> Path:
    """One model for all directions, with a tokenizer that needs no further package."""
    trained = Tokenizer(models.BPE(unk_token="<unk>"))
    trained.pre_tokenizer = pre_tokenizers.Metaspace()
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    trained.train_from_iterator(
        bundled_sentences()[:300], trainers.BpeTrainer(vocab_size=400, special_tokens=special, show_progress=False)
    )
    parts = json.loads(trained.to_str())["model"]
    tokenizer = NllbTokenizer(
        vocab=parts["vocab"], merges=[tuple(pair) for pair in parts["merges"]], additional_special_tokens=NLLB_CODES
    )
    tokenizer.save_pretrained(folder)
    m2m_model(folder, len(tokenizer))
    return folder


def m2m_model(folder: Path, vocabulary: int) -> None:
    torch.manual_seed(3)
    special = {"pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2, "decoder_start_token_id": 2}
    M2M100ForConditionalGeneration(M2M100Config(vocab_size=vocabulary, **special, **SMALL)).save_pretrained(folder)


def sentencepiece_model(folder: Path, size: int) -> Any:
    import sentencepiece

    (folder / "text.txt").write_text("\n".join(bundled_sentences()[:300]))
    sentencepiece.SentencePieceTrainer.train(
        input=str(folder / "text.txt"), model_prefix=str(folder / "m"), vocab_size=size, minloglevel=2
    )
    return sentencepiece.SentencePieceProcessor(model_file=str(folder / "m.model"))


def fsmt_folder(folder: Path) -> tuple[Any, Any]:
    letters = [chr(code) for code in range(33, 127)]
    pieces = ["<s>", "<pad>", "</s>", "<unk>", *letters, *(f"{letter}</w>" for letter in letters)]
    for side in ("src", "tgt"):
        (folder / f"vocab-{side}.json").write_text(json.dumps({piece: i for i, piece in enumerate(pieces)}))
    (folder / "merges.txt").write_text("t h 9\n")
    (folder / "tokenizer_config.json").write_text(
        json.dumps({"langs": ["en", "de"], "tokenizer_class": "FSMTTokenizer"})
    )
    torch.manual_seed(4)
    sizes = {"src_vocab_size": len(pieces), "tgt_vocab_size": len(pieces)}
    model = FSMTForConditionalGeneration(FSMTConfig(langs=["en", "de"], **sizes, **SMALL))
    model.save_pretrained(folder)
    return AutoTokenizer.from_pretrained(folder) if importlib.util.find_spec("sacremoses") else None, model


MAKERS: dict[str, Callable[[Path], Any]] = {
    "marian": lambda folder: marian_model(folder, 50, 1),
    "fsmt": fsmt_folder,
}
