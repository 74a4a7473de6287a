"""Drawn studies are summed up rightly; what is undefined is no number; equal systems are seldom
told apart."""

from __future__ import annotations

import csv
import json
import math
import os
import pickle
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import chdir, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from pytest import approx

from konsil.api.rehearsal import power as power_studies
from konsil.api.rehearsal.power import Design, expected, interval_lines, studies, write
from konsil.api.rehearsal.requests import PowerRequest
from konsil.cli import main
from konsil.compute.runners import Cores, Payload
from konsil.errors import KonsilError
from konsil.simulate.power import Key, StudyOutcome, power
from konsil.simulate.pretended import pretended_items
from konsil.study import parse
from small_studies import form, plan, raters, share_correct, study_text, systems

NAN = math.nan
A: Key = ("share", "estimate", (("system", "a"),), ())
B: Key = ("share", "difference", (("system", "a"),), (("system", "b"),))

STUDY = study_text(
    "To be planned",
    form(abstain="cannot judge"),
    systems("a", "b"),
    raters("p1", "p2"),
    plan(),
    share_correct(by="system", compare="system"),
    """[[analyses]]
name = "Agreement"
statistic = "percent_agreement"
criterion = "correct"
raters = "people"
prespecified = false""",
    seed=5,
    licence="CC0-1.0",
)
EQUAL = "[systems.a]\nquality = 0.6\n[systems.b]\nquality = 0.6\n[panels.people]\naccuracy = 0.95\n"


def test_what_drawn_studies_come_to() -> None:
    studies = [
        [
            StudyOutcome(A, True, 0.5, 0.4, 0.7, NAN, NAN),
            StudyOutcome(B, True, 0.1, 0.0, 0.2, 0.04, 0.08),
        ],
        [
            StudyOutcome(A, True, 0.7, 0.6, 0.8, NAN, NAN),
            StudyOutcome(B, True, 0.2, 0.1, 0.3, 0.001, 0.002),
        ],
        [StudyOutcome(A, True, NAN, NAN, NAN, NAN, NAN)],
    ]
    share, difference = power(studies)
    assert (share.analysis, share.group, share.versus) == ("share", {"system": "a"}, {})
    assert (share.studies, share.undefined) == (2, 1)
    assert share.mean == approx(0.6)
    assert share.spread == approx(math.sqrt(0.02))
    assert share.width == approx(0.25)
    assert share.width_90 == approx(0.29)
    assert share.tested == 0
    assert math.isnan(share.power)
    assert math.isnan(share.power_adjusted)
    assert (difference.studies, difference.undefined, difference.tested) == (2, 1, 2)
    assert (difference.power, difference.power_adjusted) == (1.0, 0.5)
    assert difference.power_low == approx(2 / (2 + 1.959964**2), abs=1e-6)  # Wilson of 2 in 2
    assert power([]) == ()


def test_a_row_that_has_no_interval_in_some_studies_is_named_with_their_number() -> None:
    """Fails if studies without an estimate count, or if rows that always have a CI are named."""
    rows = power(
        [
            [
                StudyOutcome(A, True, 0.5, 0.4, 0.7, NAN, NAN),
                StudyOutcome(B, True, 0.1, NAN, NAN, 0.2, 0.2),
            ],
            [StudyOutcome(B, True, 0.1, 0.0, 0.2, 0.04, 0.08)],
            [StudyOutcome(B, True, NAN, NAN, NAN, NAN, NAN)],
        ]
    )
    assert [row.without_interval for row in rows] == [0, 1]
    assert interval_lines(rows) == ["no CI in 1 of 2 studies with an estimate: share, a minus b"]


def test_pretended_items_are_in_the_sets_and_strata_of_the_protocol() -> None:
    more = (
        '[prepare]\nsample = { size = 12, by = "kind", shares = { x = 0.25, y = 0.75 } }\nsets = {'
        " core = 4 }\n"
    )
    raters = "".join(
        f'[[raters]]\nid = "r{k}"\npanel = "x"\nstrata = {{ specialty = "s{k % 3}" }}\n'
        for k in range(6)
    )
    plan = (
        '[[instruments]]\nid = "f"\ncriteria = []\n[[plan]]\npanel = "x"\ninstrument = "f"\nmatch ='
        ' "specialty"\n'
    )
    items = pretended_items(parse(f'title = "T"\nseed = 1\n{more}{raters}{plan}', str), 12)
    assert len({i.id for i in items}) == 12
    assert [i.strata["specialty"] for i in items].count("s1") == 4
    assert [i.strata["kind"] for i in items].count("x") == 3
    assert [i.sets for i in items].count(("core",)) == 4


def test_pretended_items_are_those_that_analyses_select() -> None:
    raters = '[[raters]]\nid = "r"\npanel = "x"\nstrata = { user = "yes" }\n'
    form = '[[instruments]]\nid = "f"\n[[instruments.criteria]]\nid = "c"\nquestion = "?"\n'
    form += 'scale = { labels = ["n", "y"] }\n'
    wanted = (
        'where = { source = ["other"] }\nprespecified = false\n',
        'where = { source = ["own", "mine"], user = ["yes"], arm = ["text"] }\n',
        'where = { source = ["third"], level = ["high"] }\n',
    )
    analyses = "".join(
        f'[[analyses]]\nname = "a{n}"\nstatistic = "share"\nof = ["y"]\ncriterion = "c"\nraters ='
        f' "x"\n{where}'
        for n, where in enumerate(wanted)
    )
    items = pretended_items(parse(f'title = "T"\nseed = 1\n{form}{raters}{analyses}', str), 4)
    assert [dict(i.strata) for i in items] == [
        {"source": s, "level": "high"} for s in ("own", "mine") * 2
    ]


def test_columns_that_analyses_group_by_and_nobody_has_get_values_of_their_own() -> None:
    raters = "".join(
        f'[[raters]]\nid = "r{k}"\npanel = "x"\nstrata = {{ specialty = "s{k}" }}\n'
        for k in range(6)
    )
    plan = (
        '[[instruments]]\nid = "f"\n[[instruments.criteria]]\nid = "c"\nquestion = "?"\nscope ='
        ' "pair"\n'
    )
    plan += (
        'scale = { labels = ["A", "B"] }\n[[plan]]\npanel = "x"\ninstrument = "f"\nmatch ='
        ' "specialty"\n'
    )
    asked = (("theme", "specialty"), ("length",), ("rater",), ("theme", "arm"))
    analyses = "".join(
        f'[[analyses]]\nname = "a{n}"\nstatistic = "margin"\ncriterion = "c"\nraters = "x"\nby ='
        f" {list(by)}\n"
        for n, by in enumerate(asked)
    )
    items = pretended_items(parse(f'title = "T"\nseed = 1\n{plan}{raters}{analyses}', str), 36)
    assert all({*i.strata} == {"specialty", "theme"} for i in items)
    both = Counter((i.strata["specialty"], i.strata["theme"]) for i in items)
    assert len(both) == 18
    assert {*both.values()} == {2}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "study.toml").write_text(STUDY, "utf-8")
    (tmp_path / "simulation.toml").write_text(EQUAL, "utf-8")
    return tmp_path


def test_a_table_and_files(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(
        [
            "power",
            str(folder),
            "--studies",
            "3",
            "--items",
            "12",
            "--output",
            str(folder / "power.csv"),
        ]
    )
    said = capsys.readouterr().out
    assert "a minus b" in said
    assert "Agreement" not in said
    with (folder / "power.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["analysis"] for row in rows] == ["Correct"] * 3
    assert rows[0]["power"] == ""
    assert 0 < float(rows[2]["width"]) < 2
    main(
        [
            "power",
            str(folder),
            "--studies",
            "3",
            "--items",
            "12",
            "--exploratory",
            "--output",
            str(folder / "p.json"),
        ]
    )
    every = json.loads((folder / "p.json").read_text("utf-8"))
    assert [one["analysis"] for one in every][-1] == "Agreement"
    assert every[0]["power"] is None
    assert not (folder / "konsil.db").exists()  # the study is only read


def test_small_negative_numbers_stay_numbers(tmp_path: Path) -> None:
    write(power([[StudyOutcome(B, True, -6.9e-18, -0.1, 0.1, 0.5, 0.5)]]), tmp_path / "power.csv")
    with (tmp_path / "power.csv").open(encoding="utf-8", newline="") as file:
        (row,) = csv.DictReader(file)
    assert float(row["mean"]) == -6.9e-18


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("[[plan]]", "[[plan_of]]"), "unknown key"),
        (('[[plan]]\npanel = "people"\ninstrument = "form"\n', ""), r"there is no \[\[plan\]\]"),
        (('[[systems]]\nid = "a"\n[[systems]]\nid = "b"\n', ""), r"there are no \[\[systems\]\]"),
    ],
)
def test_what_is_missing_is_told(
    folder: Path, change: tuple[str, str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "study.toml").write_text(STUDY.replace(*change), "utf-8")
    with pytest.raises(SystemExit) as ended:
        main(["power", str(folder), "--items", "5"])
    assert ended.value.code == 2
    assert re.search(says, capsys.readouterr().err)


def test_items_and_assumptions_are_asked_for(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for remove, says in (
        (None, "with --items N"),
        ("simulation.toml", "states the true parameters"),
    ):
        if remove:
            (folder / remove).unlink()
        with pytest.raises(SystemExit) as ended:
            main(["power", str(folder)])
        assert ended.value.code == 2
        assert says in capsys.readouterr().err


@pytest.mark.slow
def test_equal_systems_are_told_apart_as_often_as_the_level_says(folder: Path) -> None:
    rows = expected(Design(folder, PowerRequest(studies=300, items=60)))
    (difference,) = [row for row in rows if row.kind == "difference"]
    assert difference.power_low < 0.05 < difference.power_high
    (folder / "simulation.toml").write_text(EQUAL.replace("0.6", "0.9", 1), "utf-8")
    rows = expected(
        Design(folder, PowerRequest(studies=60, truth=folder / "simulation.toml", items=60))
    )
    assert next(row for row in rows if row.kind == "difference").power > 0.9


@pytest.mark.slow
def test_processes_play_no_part_also_where_one_ends(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone, together = (
        PowerRequest(studies=4, items=12, exploratory=True, resamples=100, processes=n)
        for n in (1, 2)
    )
    pools: list[ProcessPoolExecutor] = []

    class Failing(Cores):
        def _pool(self, n: int, payload: Payload | None) -> ProcessPoolExecutor:
            pools.append(super()._pool(n, payload))
            if len(pools) == 1:
                pools[0].submit(os._exit, 1)
            return pools[-1]

    monkeypatch.setattr(power_studies, "Cores", Failing)
    assert repr(expected(Design(folder, together))) == repr(expected(Design(folder, alone)))
    assert len(pools) == 2


@pytest.mark.parametrize(
    ("arguments", "processes"),
    [
        (("--studies", "20"), 3),
        (("--studies", "19"), None),
        (("--studies", "20", "--processes", "1"), 1),
    ],
)
def test_the_command_uses_the_cores_of_the_machine_for_many_studies(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    processes: int | None,
) -> None:
    requests: list[PowerRequest] = []

    def no_studies(design: Design) -> Iterator[list[StudyOutcome]]:
        requests.append(design.request)
        return iter(())

    monkeypatch.setattr(power_studies, "studies", no_studies)
    monkeypatch.setenv("KONSIL_CORES", "3")
    main(["power", str(folder), *arguments])
    assert [request.processes for request in requests] == [processes]


@pytest.mark.slow
def test_the_command_prints_the_same_on_any_number_of_cores(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    printed = []
    for cores in ("1", "2"):
        monkeypatch.setenv("KONSIL_CORES", cores)
        main(["power", str(folder), "--items", "12", "--studies", "20", "--resamples", "40"])
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1]
    assert "20 simulated studies" in printed[0]


def test_a_study_that_changed_is_read_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers of a scheduler run on from one simulation to the next."""
    monkeypatch.setattr(power_studies, "one_study", lambda study, *_: [study.title])
    design = Design(folder, PowerRequest(studies=2, items=12))
    before = list(studies(design))
    file = folder / "study.toml"
    assert before[0][0] in file.read_text("utf-8")
    file.write_text(file.read_text("utf-8").replace(before[0][0], "Another title"), "utf-8")
    assert list(studies(design)) == [["Another title"]] * 2


class Distant:
    """A runner whose parts and results travel as those of workers in another folder."""

    def __init__(self, elsewhere: Path) -> None:
        self.elsewhere, self.clusters = elsewhere, []

    @contextmanager
    def open(self, cluster: str, *_: object, **__: object) -> Iterator[Distant]:
        self.clusters.append(cluster)
        yield self

    def map(self, function: object, parts: Sequence[int]) -> Iterator[object]:
        for part in parts:
            own, copy = pickle.loads(pickle.dumps((function, part)))
            with chdir(self.elsewhere):
                yield pickle.loads(pickle.dumps(own(copy)))


@pytest.mark.slow
def test_workers_of_compute_toml_have_the_numbers_of_one_process(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("distributed")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    distant = Distant(elsewhere)
    monkeypatch.setattr(power_studies, "open_runner", distant.open)
    monkeypatch.chdir(folder.parent)
    near = Path(folder.name)
    request = PowerRequest(studies=2, items=12, resamples=40, truth=near / "simulation.toml")
    alone = repr(expected(Design(near, request)))
    (folder / "compute.toml").write_text('[compute]\nworkers = "local:3"\n', "utf-8")
    assert repr(expected(Design(near, request))) == alone
    stated = replace(request, compute="tcp://scheduler:8786")
    assert repr(expected(Design(near, stated))) == alone
    assert distant.clusters == ["local:3", "tcp://scheduler:8786"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('[compute]\nworker = "local:2"\n', "compute.toml: compute.worker"),
        ('[computing]\nworkers = "local:2"\n', "did you mean 'compute'"),
        ("[compute]\nworkers = 2\n", "compute.toml: compute.workers"),
        ("[compute\n", "not valid TOML"),
        ('[compute]\nworkers = "two"\n', "expected local:N"),
    ],
)
def test_what_compute_toml_cannot_state_is_refused(folder: Path, text: str, sentence: str) -> None:
    (folder / "compute.toml").write_text(text, "utf-8")
    with pytest.raises(KonsilError, match=re.escape(sentence)):
        next(studies(Design(folder, PowerRequest(studies=2, items=12))))


def test_pretended_cases_have_every_level() -> None:
    form = """[[instruments]]
id = "f"
[[instruments.criteria]]
id = "c"
question = "?"
scale = { labels = ["0", "1"], values = [0, 1], level = "ordinal" }
"""
    analyses = """
[[analyses]]
name = "by level"
statistic = "mean"
criterion = "c"
raters = "p"
by = ["level"]
where = { level = ["full"] }
[[analyses]]
name = "fall"
statistic = "information_sensitivity"
criterion = "c"
raters = "p"
levels = ["full", "bare"]
[prepare.sets]
a = 1
b = 1
"""
    items = pretended_items(
        parse(f'title = "T"\nseed = 1\n{form}[[raters]]\nid = "r"\npanel = "p"\n{analyses}', str), 2
    )
    assert [i.strata["level"] for i in items] == ["full", "bare"] * 2
    assert len({i.case for i in items}) == 2
    assert len({i.id for i in items}) == 4
    for case in {i.case for i in items}:
        [_] = {i.sets for i in items if i.case == case}  # versions of a case stay together
