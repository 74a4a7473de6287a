"""A place that nobody has is named and handed over, from the command line as on the pages."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import konsil
from small_studies import ITEMS, form, plan, raters, study_text, systems

Call = Callable[..., tuple[int, str, str]]

PROTOCOL = study_text(
    "A study",
    form(question="?"),
    systems("a"),
    raters("physician-1", panel="panel"),
    plan("panel"),
    ITEMS,
    seed=1,
)


@pytest.fixture
def left(call: Call, tmp_path: Path) -> Path:
    """A study whose only rater has gone."""
    (tmp_path / "study.toml").write_text(PROTOCOL, "utf-8")
    (tmp_path / "items.csv").write_text("item,text\nq1,Why?\nq2,How?\n", "utf-8")
    call("import", tmp_path)
    assert call("plan", tmp_path)[0] == 0
    assert call("succeed", tmp_path) == (0, "", "")
    assert call("withdraw", tmp_path, "--rater", "physician-1")[0] == 0
    return tmp_path


def test_a_place_is_listed_and_handed_over(call: Call, left: Path) -> None:
    code, out, _ = call("succeed", left)
    assert (code, out) == (0, "panel 1: 2 tasks pending\n")
    code, out, _ = call("succeed", left, "--slot", "panel 1", "--rater", "physician-2")
    assert (code, out) == (
        0,
        f"panel 1: assigned to physician-2; next: konsil invite {left} --who physician-2\n",
    )
    with konsil.open(left).store() as store:
        assert {t.rater for t in store.tasks()} == {"physician-2"}
    assert call("succeed", left) == (0, "", "")
    assert call("invite", left, "--who", "physician-2", "--url", "https://x.org")[0] == 0
    assert call("verify-log", left)[0] == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (
            ("--slot", "panel 2", "--rater", "new"),
            "'panel 2' is not a vacant slot; did you mean 'panel 1'?",
        ),
        (("--slot", "panel 1", "--rater", " "), "expected a pseudonym of 1 to 60 characters"),
        (("--slot", "panel 1"), "--rater: missing; state the successor for 'panel 1'"),
        (("--rater", "new"), "--slot: missing; state the slot that --rater takes over"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(
    call: Call, left: Path, arguments: tuple[str, ...], says: str
) -> None:
    code, _, err = call("succeed", left, *arguments)
    assert code == 2
    assert says in err
