"""`push`: an encoder to the Hugging Face Hub, with a card that says what it is, what it learnt from and how good it is.

Only the encoder and its card are sent: no text, no log, no report, which show what was trained on.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from isotrope.encoders.card import Publication, card_of, made_by
from isotrope.encoders.loading import encoder_folder, load_any, resolve
from isotrope.evaluation import evaluate
from isotrope.evaluation.provenance import count_trained_on, is_run, training_text
from isotrope.evaluation.results.printing import many
from isotrope.evaluation.tasks import open_task
from isotrope.io.atomic import check_folder, whole_folder
from isotrope.io.errors import IsotropeError, as_typed, reason
from isotrope.reporting.runs import RunFacts, read_runs
from isotrope.training.record import read_verdict

CARD = "README.md"
ON_HUB = {"minilm": "sentence-transformers/all-MiniLM-L6-v2"}  # models that have another name there
BLOCKED = (401, 403)


@dataclass(frozen=True)
class Pushed:
    """Where an encoder was pushed to, or would be: the files, and the card."""

    name: str
    address: str  # of the repository; nothing for a dry run
    files: list[str]
    bytes: int
    card: str


def push(
    run: str | Path | Any,
    name: str,
    *,
    private: bool = False,
    revision: str | None = None,
    tasks: Sequence[str] = ("bundled",),
    data: str | Path | None = None,
    dry_run: str | Path | None = None,
    force: bool = False,
) -> Pushed:
    """Pushes the encoder of a run to the Hugging Face Hub, with a model card; nothing else of the run is sent.

    The card has the results, the judge's verdict, pooling, counts of the text, how many test sentences were in it, the
    recipe, how to use the encoder, and the licence of what it started from, where that is known.

    Args:
        run: the folder of a run or of a tuning, what `train` or `tune` returned, or any encoder's folder.
        name: `org/name` on the Hub; it is made if there is no such repository.
        private: whether a repository that is made is private.
        revision: a branch, which is made if there is none; by default `main`.
        tasks: on which the encoder and what it started from are measured for the card, as of `evaluate`.
        data: folder of the data sets of those tasks.
        dry_run: a folder to write what would be pushed to; nothing is sent then.
        force: replaces the folder of a dry run.

    Example:
        >>> import isotrope, tempfile
        >>> from pathlib import Path
        >>> encoder = isotrope.load("bundled").save(Path(tempfile.mkdtemp()) / "encoder")
        >>> found = isotrope.push(encoder, "me/my-encoder", tasks=(), dry_run=Path(tempfile.mkdtemp()) / "pushed")
        >>> "README.md" in found.files, 'SentenceTransformer("me/my-encoder")' in found.card
        (True, True)
    """
    check_repository(name)
    facts, folder = _opened(run)
    if dry_run is not None:
        check_folder(Path(dry_run), force=force)
    else:
        _check_login(name)
    card = _card(facts, folder, name, list(tasks), None if data is None else Path(data))
    if dry_run is not None:
        with whole_folder(Path(dry_run), force=force) as made:
            _fill(made, folder, card)
        return _pushed(name, "", Path(dry_run), card)
    with tempfile.TemporaryDirectory() as made:
        _fill(Path(made), folder, card)
        address = _upload(Path(made), name, private=private, revision=revision)
        return _pushed(name, address, Path(made), card)


def check_repository(name: str) -> None:
    """Refuses what can't be the name of a repository."""
    from huggingface_hub.errors import HFValidationError
    from huggingface_hub.utils import validate_repo_id

    try:
        validate_repo_id(name)
    except HFValidationError as error:
        raise IsotropeError(f"'{name}' is not a name on the Hub; write org/name, such as my-org/tickets") from error


def _opened(run: Any) -> tuple[RunFacts | None, Path]:
    """What is known of the run, and the encoder's folder. An encoder of a run may be given by itself."""
    if isinstance(run, str | Path):
        path = Path(run)
        if not path.is_dir():
            raise IsotropeError(f"{run}: no such folder; give that of a run or of an encoder")
        parent = path.parent if path.name == "encoder" and is_run(path.parent) else path
        if not is_run(parent):
            return None, Path(resolve(path))
        run = parent
    facts = read_runs(run)
    if len(facts) > 1:
        raise IsotropeError("only one encoder can be pushed at a time; give one of the runs")
    return facts[0], Path(encoder_folder(facts[0].folder))


# -- the card ---------------------------------------------------------------------------------------------------------


def _card(facts: RunFacts | None, folder: Path, name: str, tasks: list[str], data: Path | None) -> str:
    encoder = load_any(folder, device="cpu")
    old = (folder / CARD).read_text(encoding="utf-8", errors="replace") if (folder / CARD).is_file() else ""
    start = facts.model if facts else ""
    encoder.name = start or folder.name
    sections = {"Results": _results(facts, folder, tasks, data)}
    if facts:
        sections |= {"Verdict": _verdict(facts), "Training text": _text(facts, tasks, data)}
    base = ON_HUB.get(start, start if _may_be_on_hub(start) else "")
    licence = licence_of(start) if start else licence_in(old)
    made = made_by(old).replace(start, facts.started) if facts else made_by(old)  # no paths of this machine
    if facts and facts.outcome:
        made = made.removesuffix(facts.outcome.because.strip()).strip()  # the verdict has it
    return card_of(encoder, made or None, Publication(name, base, licence, sections))


def licence_of(model: str) -> str:
    """As the card of a model says it, on this machine or on the Hub; nothing where there is none."""
    try:
        there = Path(resolve(model))
    except IsotropeError:
        return ""
    if there.is_dir():
        return (
            licence_in((there / CARD).read_text(encoding="utf-8", errors="replace")) if (there / CARD).is_file() else ""
        )
    from huggingface_hub import hf_hub_download

    try:
        return licence_in(Path(hf_hub_download(str(there), CARD)).read_text(encoding="utf-8", errors="replace"))
    except Exception:  # no network, no card, no such model: then it is unknown
        return ""


def licence_in(card: str) -> str:
    """What the front matter of a card gives as its license."""
    from huggingface_hub import ModelCard

    try:
        found = ModelCard(card).data.license
    except Exception:  # whatever a stranger's card holds
        return ""
    return found if isinstance(found, str) else ""


def _may_be_on_hub(model: str) -> bool:
    return "/" in model and not Path(model).exists() and not model.startswith((".", "/", "~"))


def _results(facts: RunFacts | None, folder: Path, tasks: list[str], data: Path | None) -> str:
    parts = []
    if facts and facts.scores:
        said = ("before", facts.scores["before"]), ("after", facts.scores["after"])
        figures = ", ".join(f"{when} {score:.2f}" for when, score in said)
        graded = facts.dev if isinstance(facts.dev, list) else [facts.dev]
        names = ", ".join(dict.fromkeys(Path(str(one)).name for one in graded if one))  # no paths of this machine
        parts.append(f"Spearman x 100 on the development set ({names}), by which it was chosen: {figures}.")
    if tasks:
        models = {"this encoder": folder} if facts is None else {facts.started: facts.start, "this encoder": folder}
        parts.append(evaluate(models, tasks, data=data).markdown().strip())
    return "\n\n".join(parts)


def _verdict(facts: RunFacts) -> str:
    if facts.outcome:
        kept = "The tuned encoder was kept." if facts.kept else f"The untuned `{facts.started}` was kept."
        return _paragraphs(kept, facts.outcome.because)
    if facts.scores:
        return "Judged by the grades of the development set: see above."
    verdict = facts.verdict or read_verdict(facts.run)
    if not verdict or not verdict["found"]:
        return "Not judged on held-out text; a lower loss alone does not mean a better encoder."
    judgement = {"no clear difference": "no clear difference from"}.get(
        verdict["found"]["verdict"], f"{verdict['found']['verdict']} than"
    )
    return _paragraphs(f"On held-out text: {judgement} the untuned `{facts.started}`.", str(verdict["reasons"]))


def _paragraphs(*texts: str) -> str:
    return "\n\n".join(line for text in texts for line in text.splitlines() if line.strip())


def _text(facts: RunFacts, tasks: list[str], data: Path | None) -> str:
    """Counts, never names of files or the text itself; and how many test sentences are in it."""
    lines = []
    for number, about in enumerate(facts.texts, 1):
        counts, survey = about["counts"], about.get("survey") or {}
        stage = f"Stage {number}: " if len(facts.texts) > 1 else ""
        languages = ", ".join(f"{name} {share:.0%}" for name, share in (survey.get("languages") or {}).items())
        said = f"{stage}{many(counts['rows'], 'text')}, {counts['distinct']:,} different"
        lines.append(
            f"- {said}{f'; languages: {languages}' if languages else ''}; fingerprint `{about['fingerprint']}`"
        )
    corpora = training_text(facts.run)
    for task in tasks:
        if corpora:
            opened = open_task(task, data=data)
            sentences = len(set(opened.sentences))
            seen = count_trained_on(opened.sentences, corpora)
            lines.append(f"- test sentences in it: {seen:,} of the {sentences:,} of {opened.name}")
    steps = f"; {many(facts.steps, 'step')}" if facts.steps else ""
    return "\n".join([*lines, f"- seed {', '.join(map(str, facts.seeds))}{steps}"])


# -- the folder, and the Hub ------------------------------------------------------------------------------------------


def _fill(made: Path, folder: Path, card: str) -> None:
    shutil.copytree(folder, made, dirs_exist_ok=True, ignore=shutil.ignore_patterns(CARD, ".*"))
    (made / CARD).write_text(card, encoding="utf-8")


def _pushed(name: str, address: str, folder: Path, card: str) -> Pushed:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    size = sum(path.stat().st_size for path in files)
    return Pushed(name, address, [str(path.relative_to(folder)) for path in files], size, card)


def _check_login(name: str) -> None:
    """That the Hub answers and knows who asks, before anything is measured."""
    from huggingface_hub import HfApi

    with _in_words(name):
        HfApi().whoami()


def _upload(folder: Path, name: str, *, private: bool, revision: str | None) -> str:
    from huggingface_hub import HfApi

    api = HfApi()
    with _in_words(name):
        made = api.create_repo(name, private=private or None, exist_ok=True)
        if revision:
            api.create_branch(made.repo_id, branch=revision, exist_ok=True)
        api.upload_folder(
            repo_id=made.repo_id, folder_path=folder, revision=revision, commit_message="Encoder and card, by isotrope"
        )
    return str(made)


@contextmanager
def _in_words(name: str) -> Iterator[None]:
    from huggingface_hub.errors import LocalTokenNotFoundError

    login = "log in with `hf auth login`, or set HF_TOKEN to a token that may write there"
    try:
        yield
    except LocalTokenNotFoundError as error:
        raise IsotropeError(f"{name}: can't be pushed without a token; {login}") from error
    except Exception as error:
        status = getattr(getattr(error, "response", None), "status_code", None)
        advice = login if status in BLOCKED else f"{as_typed('dry_run=')} shows what would be pushed"
        raise IsotropeError(f"{name}: can't be pushed ({reason(error).rstrip('.')}); {advice}") from error
