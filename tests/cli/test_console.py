"""What commands say on the way out."""

from __future__ import annotations

from pathlib import Path

import pytest

from isotrope.cli.console import resumable


@pytest.mark.parametrize("signal", [KeyboardInterrupt(), SystemExit(143)])
def test_a_signal_before_the_first_step_says_how_to_go_on(
    signal: BaseException, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for begun, said in ((False, ""), (True, "Stopped; continue with --resume\n")):
        if begun:
            (tmp_path / "run.json").write_text("{}")
        with pytest.raises(type(signal)), resumable(tmp_path):
            raise signal
        assert capsys.readouterr().err == said
