"""What a run says of itself."""

from __future__ import annotations

from pathlib import Path

import isotrope
from isotrope.text import bundled_sentences
from isotrope.training.automatic import Outcome


def test_a_run_prints_in_a_few_lines(tiny: str, tmp_path: Path) -> None:
    short = {"training.steps": 1, "training.batch_size": 4}
    run = isotrope.train(bundled_sentences()[:24], "simcse", tiny, tmp_path / "run", dev="bundled", set=short)
    assert run.scores is not None
    first, folder, scores = str(run).splitlines()
    assert first.startswith(f"simcse on {run.model}: ")
    assert first.endswith(" s")
    assert folder == f"Folder: {tmp_path / 'run'}"
    assert f"{run.scores['before']:.2f} before, {run.scores['after']:.2f} after" in scores
    assert repr(run) == str(run)

    Outcome("untuned", "Neighbours have less in common.").write(run.folder)
    assert str(run).splitlines()[2:] == ["Kept: the untuned encoder", "Neighbours have less in common."]
    Outcome("untuned", "Neighbours have less in common.", "More text may help.").write(run.folder)
    assert str(run).splitlines()[3:] == ["Neighbours have less in common.", "More text may help."]
