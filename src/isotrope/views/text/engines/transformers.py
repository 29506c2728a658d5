"""Any Marian, FSMT, NLLB or M2M100 model, from the Hugging Face Hub or a folder."""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import torch
from huggingface_hub import is_offline_mode
from torch import Tensor

from isotrope.encoders.precision import dtype_of
from isotrope.encoders.quiet import quiet_transformers
from isotrope.io.errors import IsotropeError
from isotrope.io.hashes import sha256
from isotrope.io.hub import hub_answers, split_revision
from isotrope.views.text.base import draws
from isotrope.views.text.engines.languages import three_letters

TOKENIZER_NEEDS = {"marian": "sentencepiece", "m2m_100": "sentencepiece", "fsmt": "sacremoses"}  # by kind of model
HYPOTHESES = 256  # in memory together: sentences of a batch times beams


@dataclass
class Transformers:
    """Beam search, or sampling: then each sentence has chance of its own, whatever batch it is in.

    `model` is a name or a folder, with {src} and {tgt} for the languages; without them one model does both directions.
    Sentences that have more than `max_length` tokens are not translated.
    """

    model: str = "Helsinki-NLP/opus-mt-{src}-{tgt}"
    beam: int = 5
    sampling: bool = False
    temperature: float = 1.0
    max_length: int = 256
    device: str | None = None
    precision: str | None = None
    seed: int = 1
    name: ClassVar[str] = "transformers"
    _directions: dict[tuple[str, str], _Direction] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        """Checks the numbers."""
        if self.beam < 1 or self.max_length < 1 or self.temperature <= 0:
            raise IsotropeError("beam and max_length must be at least 1, and the temperature above 0")

    def lacks(self, source: str, target: str) -> str:
        """What is missing here to translate, or ""."""
        try:
            self._direction(source, target)
        except IsotropeError as error:
            return str(error)
        return ""

    def parameters(self, source: str, target: str) -> dict[str, Any]:
        """What decides how it translates."""
        numbers: dict[str, Any] = {"beam": self.beam}
        if self.sampling:
            numbers = {"sampling": True, "temperature": self.temperature}
        if self.precision not in (None, "float32"):
            numbers["precision"] = self.precision
        return {**self._direction(source, target).parameters, **numbers, "max_length": self.max_length}

    def translate(self, sentences: Sequence[str], source: str, target: str) -> list[str]:
        """One translation for each sentence, "" for those that are too long."""
        direction = self._direction(source, target)
        tokens: list[list[int]] = [direction.tokenizer(direction.prefix + text)["input_ids"] for text in sentences]
        limit = min(self.max_length, direction.positions)
        fitting = [i for i, ids in enumerate(tokens) if len(ids) <= limit]
        translations = [""] * len(sentences)
        for batch in _batches(fitting, tokens, HYPOTHESES // self.beam or 1):
            texts = self._generate(direction, [tokens[i] for i in batch], [sentences[i] for i in batch], limit)
            for i, text in zip(batch, texts, strict=True):
                translations[i] = text.strip()
        return translations

    def flaw(self, sentence: str, translation: str) -> str:
        """It leaves no marks."""
        return ""

    def _generate(self, direction: _Direction, tokens: list[list[int]], texts: list[str], limit: int) -> list[str]:
        padded = direction.tokenizer.pad({"input_ids": tokens}, return_tensors="pt").to(direction.model.device)
        chance = [_Chance(texts, self.seed, self.temperature)] if self.sampling else []
        with quiet_transformers(), torch.inference_mode():
            made = direction.model.generate(
                **padded,
                num_beams=1 if self.sampling else self.beam,
                do_sample=False,
                logits_processor=chance,
                max_length=limit,
                forced_bos_token_id=direction.first_token,
            )
        if direction.first_token is not None:
            made = made[:, 2:]  # behind the start and the language
        decoded: list[str] = direction.tokenizer.batch_decode(made, skip_special_tokens=True)
        return decoded

    def _direction(self, source: str, target: str) -> _Direction:
        name = self.model.replace("{src}", source).replace("{tgt}", target)
        if (source, target) not in self._directions:
            shared = next((known for known in self._directions.values() if known.name == name), None)
            made = _Direction(name, source, target, shared, device=self.device, precision=self.precision)
            self._directions[source, target] = made
        return self._directions[source, target]


class _Direction:
    """A model with its tokenizer, set to a source and a target language."""

    def __init__(
        self,
        name: str,
        source: str,
        target: str,
        shared: _Direction | None = None,
        *,
        device: str | None = None,
        precision: str | None = None,
    ) -> None:
        from transformers import AutoConfig  # slow to import

        from isotrope.encoders.devices import default_device

        self.name, self._shared = name, shared
        self._device, self._dtype = device or default_device(), dtype_of(precision or "float32")
        # without a network the Hub's client would try for a minute
        here = Path(name).is_dir() or is_offline_mode() or not hub_answers()
        repository, revision = (name, None) if Path(name).is_dir() else split_revision(name)
        self._repository, self._options = repository, {"revision": revision, "local_files_only": here}
        try:
            self.config: Any = AutoConfig.from_pretrained(repository, **self._options)
        except (OSError, ValueError) as error:
            if Path(name).is_dir():
                said = " ".join(str(error).split())[:200]
                raise IsotropeError(f"{name}: not a folder of a translation model ({said})") from error
            raise IsotropeError(
                f"no folder '{name}' here, and the Hugging Face Hub gave no such model (no network, or no such name)"
            ) from error
        self.tokenizer: Any = _tokenizer(repository, self.config.model_type, self._options)
        self.positions: int = getattr(self.config, "max_position_embeddings", None) or 10**9
        self.prefix, self.first_token = self._languages(source, target)

    @property
    def parameters(self) -> dict[str, Any]:
        """Which model: a name with its commit, or a folder's own name with digests of what is in it."""
        folder = Path(self.name)
        about: dict[str, Any] = {"model": self.name, "revision": getattr(self.config, "_commit_hash", None)}
        if folder.is_dir():
            files = sorted((*folder.glob("*.safetensors"), *folder.glob("*.bin"), *folder.glob("*.json")))
            about = {"model": folder.resolve().name, "sha256": {file.name: sha256(file)[:16] for file in files}}
        if self.config.model_type == "marian":  # whose tokenizer tidies punctuation with sacremoses where it is there
            about["sacremoses"] = importlib.util.find_spec("sacremoses") is not None
        return about

    @cached_property
    def model(self) -> Any:
        """Loaded when the first sentence is translated; the same for both directions where it is one model."""
        from transformers import AutoModelForSeq2SeqLM

        from isotrope.encoders.opening import refuse_pickles  # which loads libraries of models

        if self._shared is not None:
            return self._shared.model
        if Path(self.name).is_dir():
            refuse_pickles(Path(self.name), "AutoModelForSeq2SeqLM")
        try:
            with quiet_transformers():
                model = AutoModelForSeq2SeqLM.from_pretrained(
                    self._repository, dtype=self._dtype, use_safetensors=True, **self._options
                )
        except (OSError, ValueError) as error:
            said = " ".join(str(error).split())[:200]
            raise IsotropeError(f"{self.name}: the translation model can't be loaded ({said})") from error
        return model.to(self._device).eval()

    def _languages(self, source: str, target: str) -> tuple[str, int | None]:
        """What a multilingual model is told: a word before the text (Marian), or the first token (NLLB, M2M100)."""
        if codes := getattr(self.tokenizer, "supported_language_codes", None):
            known = [code for code in (f">>{three_letters(target)}<<", f">>{target}<<") if code in codes]
            if not known:
                raise IsotropeError(f"{self.name} does not translate to '{target}'; it knows {' '.join(codes)[:200]}")
            return f"{known[0]} ", None
        if self.config.model_type not in ("m2m_100", "nllb-moe"):
            return "", None
        tokens = {token: token for token in self.tokenizer.all_special_tokens}  # of NLLB: eng_Latn
        tokens = getattr(self.tokenizer, "lang_code_to_token", tokens)  # of M2M100: en is __en__
        self.tokenizer.src_lang = _code(source, list(tokens), self.name)
        return "", self.tokenizer.convert_tokens_to_ids(tokens[_code(target, list(tokens), self.name)])


class _Chance:
    """Gumbel's trick: of logits / temperature + noise the largest is a draw from their softmax.

    So greedy search samples, and each row has noise that depends on the seed and its text alone.
    """

    def __init__(self, texts: list[str], seed: int, temperature: float) -> None:
        self.generators = [torch.Generator().manual_seed(draws(text, seed).getrandbits(63)) for text in texts]
        self.temperature = temperature

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:  # both (batch, ...)
        rows = [torch.empty(scores.shape[-1]).exponential_(generator=generator) for generator in self.generators]
        return scores / self.temperature - torch.stack(rows).log().to(scores.device)


def _tokenizer(name: str, kind: str, options: dict[str, Any]) -> Any:
    from transformers import AutoTokenizer

    try:
        with quiet_transformers(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Marian's recommends sacremoses
            return AutoTokenizer.from_pretrained(name, **options)
    except (OSError, ValueError, ImportError) as error:
        package = TOKENIZER_NEEDS.get(kind)
        if package and importlib.util.find_spec(package) is None:
            raise IsotropeError(f"{name}: its tokenizer needs {package}: pip install {package}") from error
        raise IsotropeError(f"{name}: its tokenizer can't be loaded ({' '.join(str(error).split())[:200]})") from error


def _code(language: str, codes: Sequence[str], name: str) -> str:
    """`en` as the model has it: en, or eng_Latn."""
    written = (code for code in codes if code == language or code.startswith(f"{three_letters(language)}_"))
    code = next(written, None)
    if code is None:
        raise IsotropeError(f"{name} does not know the language '{language}'; it knows {' '.join(codes)[:200]}")
    return code


def _batches(indices: list[int], tokens: list[list[int]], size: int) -> Iterator[list[int]]:
    """Sentences of like length together, the longest first: what does not fit into memory fails at once."""
    ordered = sorted(indices, key=lambda i: -len(tokens[i]))
    for start in range(0, len(ordered), size):
        yield ordered[start : start + size]
