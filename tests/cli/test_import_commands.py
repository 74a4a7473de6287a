"""The commands that `konsil import --file` prints for a table that is not clear."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.api.folder.sources.test_source_labels import ASKED, stored, study, write
from tests.api.folder.sources.test_source_outcomes import long, renamed, wide
from tests.api.folder.sources.test_source_outcomes import study as compared

Call = Callable[..., tuple[int, str, str]]


@pytest.mark.slow
@pytest.mark.parametrize("name", ASKED)
def test_the_command_that_is_printed_for_a_file_settles_it(
    name: str, call: Call, tmp_path: Path
) -> None:
    """Kills: an option that is dropped as others of its name are stated."""
    rows, right = ASKED[name]
    folder = study(tmp_path / "s", rows)
    write(folder, "")
    words = ["--file", folder / "r.csv", "--records", "ratings", "--fixed", "system=x"]
    # Numbers without a bound are not asked about beside codes that are stated.
    codes = [] if "bound" in name else ["--missing", "never"]
    code, _, err = call("import", folder, *words, "--label", "perhaps=no", *codes)
    [line] = [line for line in err.splitlines() if line.startswith("If so: konsil ")]
    assert code == 2 and "study.toml" not in err
    assert call(*shlex.split(line.removeprefix("If so: konsil ")))[0] == 0
    assert stored(folder) == right


def test_outcomes_of_raters_with_a_column_each_are_imported(call: Call, tmp_path: Path) -> None:
    folder = compared(tmp_path / "s", wide())
    code, out, err = call("import", folder, "--file", folder / "votes.csv")
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "new: 24 items, 48 answers, 2 raters, 48 tasks, 48 ratings",
        "note: votes.csv: read as: 24 units in item; systems in system_a and system_b, outcomes of"
        " the raters dr_a, dr_b",
        "note: votes.csv: outcomes as labels of criterion 'better': 'left' = 'A', 'tie' = 'equal',"
        " 'right' = 'B'",
    ]
    code, out, _ = call("preference", folder / "votes.csv", "--resamples", "100")
    assert out.splitlines()[0] == (
        "Read as: 24 units in item; systems in system_a and system_b, outcomes of the raters dr_a,"
        " dr_b"
    )


def test_the_command_that_is_printed_for_codes_of_outcomes_settles_them(
    call: Call, tmp_path: Path
) -> None:
    folder = compared(tmp_path / "s", renamed(long("winner"), left="1", right="2", tie="0"))
    code, _, err = call("import", folder, "--file", folder / "votes.csv")
    [line] = [line for line in err.splitlines() if line.startswith("If so: konsil ")]
    assert code == 2 and "--label-of better:0=equal" in line
    assert call(*shlex.split(line.removeprefix("If so: konsil ")))[0] == 0
