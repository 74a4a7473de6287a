"""Rehearsals with few items: the protocol's numbers in proportion, and results that are none."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from konsil.api import open_folder
from konsil.api.rehearsal.rehearsing import Rehearsed
from konsil.api.rehearsal.scaling import apportioned, scale_down
from konsil.cli import main
from konsil.errors import StudyError
from konsil.rehearse import Outcome
from konsil.rehearse.times import Times

PROTOCOLS = ("clexeval", "cqa-eval", "medqade", "real-pocqi")
Call = Callable[..., tuple[int, str, str]]


@given(st.lists(st.integers(1, 5_000), min_size=1, max_size=8), st.data())
def test_sets_keep_their_proportions(sizes: list[int], data: st.DataObject) -> None:
    wanted = {f"set-{n}": size for n, size in enumerate(sizes)}
    total = data.draw(st.integers(len(sizes), max(sum(sizes), len(sizes))))
    scaled = apportioned(wanted, total)
    assert list(scaled) == list(wanted)
    assert sum(scaled.values()) == total
    assert min(scaled.values()) >= 1
    shares = {name: size * total / sum(sizes) for name, size in wanted.items()}
    if min(shares.values()) >= 1:
        assert all(abs(scaled[name] - share) < 1 for name, share in shares.items())


@pytest.fixture(params=PROTOCOLS)
def protocol(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    main(["new", str(tmp_path / "study"), "--protocol", request.param])
    return tmp_path / "study"


def test_what_is_drawn_fits_the_items(protocol: Path) -> None:
    file = protocol / "study.toml"
    before = tomllib.loads(file.read_text("utf-8"))
    scale_down(file, open_folder(protocol).study, 12)
    after = tomllib.loads(file.read_text("utf-8"))
    prepare = after.get("prepare", {})
    assert prepare.get("sample", {}).get("size", 12) == 12
    assert sum(prepare.get("sets", {"all": 12}).values()) == 12
    for line, old in zip(after["plan"], before["plan"], strict=True):
        assert 1 <= line.get("per_rater", 1) <= old.get("per_rater", 1)
    open_folder(protocol)


def test_enough_items_change_nothing(protocol: Path) -> None:
    file = protocol / "study.toml"
    before = file.read_bytes()
    scale_down(file, open_folder(protocol).study, 3_800)
    assert file.read_bytes() == before


def test_fewer_items_than_sets_are_refused(tmp_path: Path) -> None:
    main(["new", str(tmp_path / "study"), "--protocol", "cqa-eval"])
    study = open_folder(tmp_path / "study").study
    with pytest.raises(StudyError, match="drawn into 6 sets; expected at least 6 items"):
        scale_down(tmp_path / "study" / "study.toml", study, 5)


@pytest.mark.parametrize(("values", "estimated"), [(",,", 0), (",0.5,", 1)])
def test_a_rehearsal_counts_what_can_be_estimated(
    tmp_path: Path,
    values: str,
    estimated: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    main(["new", str(tmp_path / "study"), "--protocol", "medqade"])
    report = tmp_path / "report" / "index.html"
    report.parent.mkdir()
    rows = "".join(f"a,{value}\n" for value in values.split(","))
    (report.parent / "estimates.csv").write_text(f"analysis,value\n{rows}")
    rehearsed = Rehearsed(open_folder(tmp_path / "study"), Outcome(Times()), 0, report)
    assert rehearsed.estimates == (estimated, 3)
    monkeypatch.setattr("konsil.api.rehearsal.rehearsing.rehearse", lambda *_, **__: rehearsed)
    capsys.readouterr()
    main(["rehearse", str(tmp_path / "study")])
    out = capsys.readouterr().out
    assert ("none of the 3 results of the report can be estimated" in out) is (estimated == 0)


@pytest.mark.slow
def test_every_protocol_is_rehearsed_with_few_items(
    protocol: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = tmp_path / "copy"
    main(["rehearse", str(protocol), "--items", "12", "--to", str(copy)])
    assert "0 faults" in capsys.readouterr().out
    assert (copy / "report" / "index.html").is_file()
