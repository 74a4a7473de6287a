"""Whoever rates, or analyses in letters, sees nothing of a planned study that depends on what
systems are called."""

from __future__ import annotations

from pathlib import Path

import pytest

from planned_pages import differing_pages


@pytest.mark.covering(1)
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_names_exchanged_change_nothing_that_blinded_people_see(seed: int, tmp_path: Path) -> None:
    assert differing_pages(seed, tmp_path) == []
