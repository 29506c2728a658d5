"""What `import isotrope` shows."""

from __future__ import annotations

import subprocess
import sys

import isotrope
from isotrope.cli import app

# verbs of the command line -> functions of the package
FUNCTIONS = {
    "baseline": ("fit_baseline",),
    "cache": ("cache_contents", "clear_cache"),
    "pairs": ("clean_pairs", "entailment_pairs", "aligned_pairs"),
    "reproduce": ("reproduce", "reproductions", "check_claims"),
    "views": ("make_views",),
}


def test_every_verb_is_a_function_of_the_package() -> None:
    verbs = [command.callback.__name__ for command in app.registered_commands if command.callback]
    verbs += [str(group.name) for group in app.registered_groups]
    assert len(verbs) == 27
    for verb in verbs:
        for name in FUNCTIONS.get(verb, (verb,)):
            assert name in dir(isotrope), verb
            assert getattr(isotrope, name).__doc__, name
            assert name in (isotrope.__doc__ or "") or name.endswith(("contents", "cache")), name


def test_dir_and_help_show_what_there_is() -> None:
    assert set(isotrope.__all__) < set(dir(isotrope))
    for name in isotrope.__all__:
        assert getattr(isotrope, name) is not None
    assert not [name for name in dir(isotrope) if name.startswith("_") and name != "__version__"]


def test_importing_it_is_quick() -> None:
    code = "import sys, isotrope; dir(isotrope); print([m for m in ('torch', 'numpy', 'pydantic') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
