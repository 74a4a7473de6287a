"""--require: exit code 1 unless a result meets it, 2 where it is mistyped."""

from __future__ import annotations

import math
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from konsil.cli.requirements import requirement, unmet
from konsil.errors import KonsilError
from konsil.stats.engine.contract import Estimate

Call = Callable[..., tuple[int, str, str]]
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
    undefined = [("share", ["a"], Estimate(0.5)), ("share", ["b"], Estimate(0.7, 0.6, 0.8))]
    for condition in ("share.low > -9", "share.low < 9"):
        error = unmet([requirement(condition)], undefined)
        assert error is not None
        assert error.exit_code == 1
    assert unmet([requirement("share >= 0.5")], undefined) is None
    assert unmet([requirement("share > 0.5")], undefined) is not None
    assert math.isnan(undefined[0][2].low)


VOTES = [
    *("item,rater,first,second,winner",),
    *(f"q{n},r{r},old,new,{('new', 'new', 'old')[(n + r) % 3]}" for n in range(12) for r in (1, 2)),
]
"""The new system wins two thirds of the comparisons."""


@pytest.mark.parametrize(
    ("condition", "code"),
    [
        ("win_difference[new] > 0.3", 0),
        ("win_difference[new] > 0.34", 1),
        ("win_difference > 0.3", 1),
        ("win_rate[new over old].high < 1", 0),
        ("win_rate[new over old] > 0.7", 1),
        ("win_rate[new beats old] > 0.6", 2),
        ("win_rats[new over old] > 0.6", 2),
    ],
)
def test_preference_requires_the_number_of_a_system_or_pair(
    tmp_path: Path, condition: str, code: int, call: Call
) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("\n".join(VOTES))
    words = ("preference", path, "--resamples", "100", "--json")
    end, out, err = call(*words, "--require", condition)
    assert (end, bool(out)) == (code, code < 2), err
    assert ("did you mean" in err) == (code == 2)


def test_a_group_in_brackets_is_the_only_one_that_has_to_meet_the_condition() -> None:
    shares = [("share", ["x, y", "a"], Estimate(0.5)), ("share", ["x, y", "b"], Estimate(0.7))]
    assert unmet([requirement("share[b] > 0.6")], shares) is None
    for group in ("", "[a]", "[x, y]"):
        error = unmet([requirement(f"share{group} > 0.6")], shares)
        assert error is not None
        assert "value of x, y, a is 0.500" in str(error)
    with pytest.raises(KonsilError, match=re.escape("'c'")):
        unmet([requirement("share[c] > 0.6")], shares)
