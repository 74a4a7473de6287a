"""The commands that `konsil import --file` prints for a table that is not clear."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.api.folder.sources.test_source_labels import ASKED, stored, study, write

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
