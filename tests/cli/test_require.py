"""--require: exit code 1 unless a result meets it, 2 where it is mistyped."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

import pytest

from konsil.cli.requirements import requirement, unmet
from konsil.errors import KonsilError
from konsil.stats.engine.contract import Estimate

TABLE = "item,ann,ben\n" + "".join(
    f"q{n},{first},{second}\n"
    for n, (first, second) in enumerate(zip("aabbabab", "aabbabba", strict=True))
)
"""Cohen's kappa is 0.5."""


def command(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """The command as a program."""
    (folder / "t.csv").write_text(TABLE)
    words = ["agreement", "t.csv", "--wide", "--unit", "item", "--resamples", "100", *options]
    run = [sys.executable, "-m", "konsil", *words]
    return subprocess.run(run, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("condition", "code"),
    [
        ("cohen_kappa >= 0.5", 0),
        ("cohen_kappa > 0.5", 1),
        ("cohen_kappa.low >= 0.6", 1),
        ("kapa >= 0.5", 2),
        ("cohen_kappa.lo >= 0.5", 2),
        ("cohen_kappa is good", 2),
    ],
)
@pytest.mark.slow
def test_the_exit_code_is_that_of_the_condition(tmp_path: Path, condition: str, code: int) -> None:
    result = command(tmp_path, "--require", condition)
    assert result.returncode == code, result.stderr
    # A result that does not meet it is printed, a mistyped one is not computed.
    assert ("Cohen's kappa" in result.stdout) == (code < 2)


@pytest.mark.parametrize("text", [">= 0.5", "a.b.c > 1", "a >= b", "a = 1", ""])
def test_what_is_no_condition_is_refused(text: str) -> None:
    with pytest.raises(KonsilError):
        requirement(text)


def test_a_number_that_is_not_estimable_meets_no_condition() -> None:
    undefined = [("share", "a", Estimate(0.5)), ("share", "b", Estimate(0.7, 0.6, 0.8))]
    for condition in ("share.low > -9", "share.low < 9"):
        error = unmet([requirement(condition)], undefined)
        assert error is not None
        assert error.exit_code == 1
    assert unmet([requirement("share >= 0.5")], undefined) is None
    assert unmet([requirement("share > 0.5")], undefined) is not None
    assert math.isnan(undefined[0][2].low)
