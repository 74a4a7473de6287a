"""Options and keywords are of one request: every field once through each gives the same."""

from __future__ import annotations

import dataclasses
import inspect
import pydoc
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_origin, get_type_hints

import click
import pytest
from click.testing import CliRunner

import konsil
from konsil.analysis.running.comparing.compare_request import CompareRequest
from konsil.analysis.standalone.agreement_request import AgreementRequest
from konsil.analysis.standalone.preference_request import PreferenceRequest
from konsil.api.calls import BatchCallRequest, CallRequest
from konsil.api.curation.requests import (
    DuplicatesRequest,
    RewritingRequest,
    ScreeningRequest,
    ThemesRequest,
)
from konsil.api.folder.folder import Folder
from konsil.api.rehearsal.requests import PowerRequest, RehearsalRequest
from konsil.api.running.exports import ExportRequest
from konsil.api.running.requests import InvitationRequest
from konsil.cli.main import group, main
from konsil.cli.request_options import options_of
from konsil.errors import KonsilError, SourceError
from konsil.records import Source
from konsil.records.request import Flag, setting
from konsil.report.manuscript.request import ReportRequest

FILES = {"t.csv": "unit,ann\nq1,a\n", "w.csv": ",a,b\na,1,0.5\nb,0.5,1\n"}


@dataclass(frozen=True)
class Case:
    """One field: what is typed, and what Python is given."""

    typed: str
    value: object
    field: str


def case(field: str, typed: str, value: object) -> Case:
    return Case(typed, value, field)


OF_A_TABLE = [
    case("where", "--where a=1 --where a=2 --where b=x", {"a": ("1", "2"), "b": ("x",)}),
    case("by", "--by a", "a"),
    case("missing", "--missing NA --missing -", ("", "NA", "-")),
    case("resamples", "--resamples 100", 100),
    case("confidence", "--confidence 0.9", 0.9),
    case("seed", "--seed 7", 7),
]
OF_RATINGS = [
    case("layout", "--wide", "wide"),
    case("layout", "--long", "long"),
    case("layout", "--raters-in-rows", "raters-in-rows"),
    case("unit", "--unit u --unit v", ("u", "v")),
    case("rater", "--rater ann --rater ben", ("ann", "ben")),
    case("label", "--label l", ("l",)),
    case("criterion", "--criterion c", "c"),
    case("names", "--names R{rater}", "R{rater}"),
    case("unused", "--unused a --unused b", ("a", "b")),
    case("recode", "--recode Yes=yes", {"Yes": "yes"}),
    case("repeat", "--repeat last", "last"),
    case("cluster", "--cluster c", "c"),
    case("level", "--level ordinal", "ordinal"),
    case("labels", "--labels no,yes", ("no", "yes")),
    case("values", "--values 0,1.5", ("0", "1.5")),
    case("abstain", "--abstain -", "-"),
    *OF_A_TABLE,
]
LIMITS = [
    case("limit", "--limit 3", 3),
    case("budget", "--budget 1.5", 1.5),
    case("again", "--again refused", ("refused",)),
]
DRY_RUN = case("dry_run", "--dry-run", True)
BATCHES = [
    case("batch", "--batch", True),
    case("wait", "--no-wait", False),
    case("cancel_batches", "--cancel-batches", True),
]
DECIDED = [case("decisions", "--decisions t.csv", Path("t.csv")), case("by", "--by p-1", "p-1")]
CASES: Mapping[str, tuple[type, list[Case]]] = {
    "agreement t.csv": (
        AgreementRequest,
        [
            *OF_RATINGS,
            case("layout", "--counts", "counts"),
            case("layout", "--cross-table", "cross-table"),
            case("split", "--split ;", ";"),
            case("statistics", "--statistic icc2 --statistic pabak", ("icc2", "pabak")),
            case("weights", "--weights linear", "linear"),
            case("weights", "--weights w.csv", {"a": {"a": 1, "b": 0.5}, "b": {"a": 0.5, "b": 1}}),
            case("pair_weights", "--pair-weights units", "units"),
            case("pairs", "--pairs", True),
            case("compare", "--compare a", "a"),
            case("target", "--target these", "these"),
        ],
    ),
    "compare t.csv": (
        CompareRequest,
        [
            *OF_RATINGS,
            case("system", "--system a --system b", ("a", "b")),
            case("reference", "--reference a", "a"),
            case("success", "--success yes --success maybe", ("yes", "maybe")),
            case("statistics", "--statistic mean --statistic median", ("mean", "median")),
        ],
    ),
    "preference t.csv": (
        PreferenceRequest,
        [
            *(
                case(name, f"--{name} c", "c")
                for name in ["item", "first", "second", "won", "lost", "tied", "swapped"]
            ),
            case("rater", "--rater c --rater d", ("c", "d")),
            case("outcome", "--outcome c --outcome d", ("c", "d")),
            case("ends", "--ends 1,2", ("1", "2")),
            case("unused", "--unused c --unused d", ("c", "d")),
            case("scale", "--scale worse,tie,better", ("worse", "tie", "better")),
            case("strict", "--strict", True),
            case("ties", "--ties dropped", "dropped"),
            case("penalty", "--penalty 1", 1.0),
            case("mode", "--mode paper", "paper"),
            case("compare", "--compare a", "a"),
            *OF_A_TABLE,
        ],
    ),
    "answer": (BatchCallRequest, [*LIMITS, DRY_RUN, *BATCHES]),
    "judge": (BatchCallRequest, [*LIMITS, DRY_RUN, *BATCHES]),
    "probe --model a:b": (CallRequest, [*LIMITS, DRY_RUN]),
    "screen": (ScreeningRequest, [*DECIDED, *LIMITS, DRY_RUN]),
    "rewrite": (RewritingRequest, [*DECIDED, *LIMITS, DRY_RUN]),
    "themes": (
        ThemesRequest,
        [
            case(
                "decisions",
                "--decisions t.csv --decisions w.csv",
                (Path("t.csv"), Path("w.csv")),
            ),
            case("by", "--by p-1", "p-1"),
            case("anew", "--anew", True),
            *LIMITS,
            DRY_RUN,
        ],
    ),
    "duplicates": (
        DuplicatesRequest,
        [
            *DECIDED,
            case("leave_one", "--leave-one", True),
            case("translated", "--translated", True),
            case("likeness", "--likeness 0.75", 0.75),
            DRY_RUN,
        ],
    ),
    "export . out": (
        ExportRequest,
        [
            case("format", "--format jsonl", "jsonl"),
            case("release", "--release", True),
            case("notes", "--notes", True),
            case("k", "--k 5", 5),
            case("order", "--order", True),
            case("unlink", "--unlink", True),
            case("linked", "--linked", True),
            case("to", "--to label-studio", "label-studio"),
            case("overwrite", "--overwrite", True),
        ],
    ),
    "invite": (
        InvitationRequest,
        [
            case("who", "--who ann --who ben", ("ann", "ben")),
            case("role", "--role curator", "curator"),
            case("url", "--url https://x.org", "https://x.org"),
            case("days", "--days 7", 7.0),
            case("once", "--once", True),
            case("anybody", "--anybody", True),
            case("site", "--site Kiel --site Ulm", ("Kiel", "Ulm")),
            case("by", "--by p-1", "p-1"),
        ],
    ),
    "power": (
        PowerRequest,
        [
            case("studies", "--studies 20", 20),
            case("truth", "--truth t.csv", Path("t.csv")),
            case("null", "--null", True),
            case("items", "--items 5", 5),
            case("exploratory", "--exploratory", True),
            case("seed", "--seed 7", 7),
            case("resamples", "--resamples 40", 40),
            case("processes", "--processes 2", 2),
            case("compute", "--compute local:2", "local:2"),
        ],
    ),
    "report": (
        ReportRequest,
        [
            case("to", "--to docx --to xlsx", ("docx", "xlsx")),
            case("checklist", "--checklist grras", ("grras",)),
            case("figures", "--figures png,tiff", ("png", "tiff")),
            case("dpi", "--dpi 600", 600),
            case("width", "--width single", "single"),
            case("quick", "--quick", True),
        ],
    ),
    "rehearse": (
        RehearsalRequest,
        [
            case("target", "--to copy", Path("copy")),
            case("truth", "--truth t.csv", Path("t.csv")),
            case("null", "--null", True),
            case("seed", "--seed 7", 7),
            case("pace", "--pace 0.5", 0.5),
            case("most", "--most 3", 3),
            case("copy_database", "--copy-database sqlite:///x", "sqlite:///x"),
            case("windows", "--browser 2", 2),
            case("items", "--items 5", 5),
            case("workers", "--workers 2", 2),
        ],
    ),
}
OF_A_FILE = [
    case("records", "--records items", "items"),
    case("sheet", "--sheet s", "s"),
    case("encoding", "--encoding latin-1", "latin-1"),
    case("separator", "--separator ;", ";"),
    case("decimal", "--decimal ,", ","),
    case("skip", "--skip 2", 2),
    case("header", "--header 3", 3),
    case("numbered", "--numbered", True),
    case("comment", "--comment %", "%"),
    case("path", "--path data/cases", "data/cases"),
    case("tool", "--tool REDCap", "REDCap"),
    case(
        "columns",
        "--column text=a --column text=b --column item=c",
        {"text": ("a", "b"), "item": ("c",)},
    ),
    case("fixed", "--fixed panel=x", {"panel": "x"}),
    case("raters", "--rater a=ann --rater b=ben", {"a": "ann", "b": "ben"}),
    case("unknown_raters", "--unknown-raters experts", "experts"),
    case("criteria", "--criterion c=correct", {"c": "correct"}),
    case("labels", "--label ja=yes", {"ja": "yes"}),
    case(
        "labels_of",
        "--label-of sure:1=low --label-of sure:2=high --label-of tone:1=ill",
        {"sure": {"1": "low", "2": "high"}, "tone": {"1": "ill"}},
    ),
    case("values", "--value rater:Smith=r1", {"rater": {"Smith": "r1"}}),
    case("replies", "--reply r --reply s", ("r", "s")),
    case("named", "--named rater", "rater"),
    case("layout", "--raters-in-rows", "raters-in-rows"),
    case("names", "--names {rater}_{criterion}", "{rater}_{criterion}"),
    case("unused", "--unused s --unused t", ("s", "t")),
    case("repeat", "--repeat last", "last"),
    case("missing", "--missing NA", ("", "NA")),
    case("strata", "--stratum s --stratum t", ("s", "t")),
    case("hashed", "--hashed item", ("item",)),
    case("media", "--media mark", "mark"),
    case("hints", "--no-hints", False),
]
"""Options of `konsil import`: a Source needs a file."""
EVERY = [
    pytest.param(words, kind, one, id=f"{words.split()[0]} {one.typed.split()[0]}")
    for words, (kind, cases) in CASES.items()
    for one in cases
]


Typed = Callable[[str], Any]


@pytest.fixture
def typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Typed:
    """The request that a line of the terminal makes; the command itself does not run."""
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).write_text(text)

    def call(line: str) -> Any:
        name, *words = line.split()
        command = group.get_command(click.Context(group), name)
        assert command is not None
        assert command.callback is not None
        cells = closure(command.callback)
        # Outside are the options of the table's file.
        while cells["argument"].cell_contents == "settings":
            cells = closure(cells["function"].cell_contents)
        requests = []
        with monkeypatch.context() as patch:
            patch.setattr(
                cells["function"], "cell_contents", lambda *_, **params: requests.append(params)
            )
            result = CliRunner().invoke(group, [name, *words], catch_exceptions=False)
        assert result.exit_code == 0, result.output
        return requests[0][cells["argument"].cell_contents]

    return call


def closure(function: Any) -> dict[str, Any]:
    """The variables of a wrapped command."""
    return dict(zip(function.__code__.co_freevars, function.__closure__, strict=True))


def leaves(kind: type) -> dict[str, dataclasses.Field[Any]]:
    """The fields of a request, those of requests within it by their own names."""
    hints = get_type_hints(kind)
    found: dict[str, dataclasses.Field[Any]] = {}
    for field in dataclasses.fields(kind):
        found |= (
            leaves(hints[field.name])
            if dataclasses.is_dataclass(hints[field.name])
            else {field.name: field}
        )
    return found


def request_with(kind: type, name: str, value: object) -> object:
    """The request that Python makes with one field, wherever in it the field is."""
    hints = get_type_hints(kind)
    for field in dataclasses.fields(kind):
        if field.name == name:
            return kind(**{name: value})
        inner = hints[field.name]
        if dataclasses.is_dataclass(inner) and name in leaves(inner):  # type: ignore[arg-type]
            return kind(**{field.name: request_with(inner, name, value)})
    raise KeyError(name)


@pytest.mark.parametrize(("words", "kind", "one"), EVERY)
def test_an_option_and_a_keyword_give_the_same_request(
    typed: Typed, words: str, kind: type, one: Case
) -> None:
    request = typed(f"{words} {one.typed}")
    assert request == request_with(kind, one.field, one.value)
    assert request != kind(), "the value is not the default"


@pytest.mark.parametrize(("words", "kind"), [(w, kind) for w, (kind, _) in CASES.items()])
def test_what_is_not_named_has_the_fields_defaults(typed: Typed, words: str, kind: type) -> None:
    assert typed(words) == kind()


@pytest.mark.parametrize(("kind", "cases"), CASES.values())
def test_every_field_has_its_case(kind: type, cases: list[Case]) -> None:
    assert {one.field for one in cases} == set(leaves(kind))


@pytest.mark.parametrize(
    ("door", "kind"), [(konsil.agreement, AgreementRequest), (konsil.preference, PreferenceRequest)]
)
def test_the_keywords_of_python_are_the_fields(door: Callable[..., Any], kind: type) -> None:
    frame, *keywords = inspect.signature(door).parameters.values()
    assert frame.name == "frame"
    assert {k.name: k.default for k in keywords} == {
        f.name: f.default for f in dataclasses.fields(kind)
    }
    assert {k.kind for k in keywords} == {inspect.Parameter.KEYWORD_ONLY}
    with pytest.raises(
        TypeError, match=rf"{door.__name__}\(\) got an unexpected keyword argument 'levl'"
    ):
        door(None, levl="ordinal")


@pytest.mark.parametrize("one", OF_A_FILE, ids=lambda one: one.typed)
def test_an_imported_file_is_the_source_that_a_protocol_names(typed: Typed, one: Case) -> None:
    file = str(Path("t.csv").resolve())
    assert typed("import --file t.csv") == Source(file, "ratings")
    value: Any = {"records": "ratings", one.field: one.value}
    assert typed(f"import --file t.csv {one.typed}") == Source(file, **value)
    assert typed(f"import {one.typed}") is None


def test_every_field_of_a_source_has_its_case() -> None:
    assert {one.field for one in OF_A_FILE} == set(leaves(Source)) - {"file"}


def test_a_release_takes_what_its_request_has() -> None:
    """The folder's own function has keywords, for notebooks."""
    fields = {f.name: f.default for f in dataclasses.fields(ExportRequest)}
    keywords = {
        k.name: k.default
        for k in inspect.signature(Folder.release).parameters.values()
        if k.kind is inspect.Parameter.KEYWORD_ONLY
    }
    assert keywords == {n: d for n, d in fields.items() if n not in ("format", "release", "to")}


def test_a_field_without_an_option_is_refused() -> None:
    @dataclass(frozen=True)
    class Request:
        named: str = setting("", Flag("It has an option."))
        forgotten: str = ""

    with pytest.raises(TypeError, match=r"Request\.forgotten: has no Flag"):
        options_of(Request)(lambda request: None)


@pytest.mark.parametrize("command", ["agreement", "preference", "compare"])
def test_conditions_without_a_value_are_refused(command: str, typed: Typed) -> None:
    with pytest.raises(SourceError, match=re.escape("--where 'x': expected COLUMN=VALUE")):
        typed(f"{command} t.csv --where x")


@pytest.mark.parametrize(
    ("command", "lines"),
    [
        (
            "agreement",
            [
                "--wide One row per unit, one column per rater; empty: not rated.",
                "--level [nominal|ordinal|interval|ratio] Level of measurement. [default: nominal]",
                "--labels a,b,c All labels of the scale, in order; default: observed labels.",
                "--resamples INTEGER RANGE Number of bootstrap resamples. [default: 10000; x>=100]",
                "--seed INTEGER Seed of the bootstrap. [default: 0]",
                "--json Print one JSON object instead of text.",
            ],
        ),
        (
            "rehearse",
            [
                "--to PATH The copy's folder; default: FOLDER-rehearsal.",
                "--browser N Number of raters who use a real Chromium browser. [0<=x<=9]",
                "--workers INTEGER RANGE Number of server processes; PostgreSQL only. [x>=1]",
            ],
        ),
        (
            "invite",
            [
                "--days FLOAT RANGE Number of days for which a link is valid. [default:"
                " 90.0; 0<x<=3650]"
            ],
        ),
        (
            "import",
            ["--hints / --no-hints Anki: a deletion's hint follows the gap. [default: hints]"],
        ),
    ],
)
def test_the_help_has_the_field(command: str, lines: list[str]) -> None:
    result = CliRunner().invoke(group, [command, "--help"], terminal_width=100)
    words = " ".join(result.output.split())
    assert [line for line in lines if line not in words] == []


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("screen --decisions none.csv", "'none.csv' does not exist"),
        ("screen --decisions .", "'.' is a directory"),
        ("answer --again ok", "'ok' is not one of"),
        ("agreement t.csv --resamples 99", "99 is not in the range x>=100"),
        ("duplicates --likeness 0.4", "0.4 is not in the range 0.5<=x<=1"),
        ("invite --days 0", "0.0 is not in the range 0<x<=3650"),
        ("rehearse --browser 10", "10 is not in the range 0<=x<=9"),
        ("preference t.csv --ties won", "'won' is not one of 'half', 'dropped'"),
        ("import --file t.csv --column text", "--column 'text': expected two parts"),
    ],
)
def test_what_a_field_does_not_take_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], line: str, says: str
) -> None:
    with pytest.MonkeyPatch.context() as patch, pytest.raises(SystemExit) as ended:
        patch.chdir(tmp_path)
        main(line.split())
    assert ended.value.code == 2
    assert says in capsys.readouterr().err


@pytest.mark.parametrize(
    ("kind", "values", "says"),
    [
        (ReportRequest, {"to": ("pdf",)}, "to: 'pdf' is not one of 'docx', 'latex', "),
        (ReportRequest, {"to": "docx"}, "to: expected a list, got a single text"),
        (
            ReportRequest,
            {"to": ("docx",), "checklist": ("grss",)},
            "checklist: 'grss' is not one of 'grras', 'tripod-llm', 'chart', 'data-statement'; did you"
            " mean 'grras'?",
        ),
        (ExportRequest, {"format": "parket"}, "'jsonl', 'parquet'; did you mean 'parquet'?"),
        (InvitationRequest, {"role": "curater"}, "did you mean 'curator'?"),
        (CallRequest, {"again": ("ok",)}, "again: 'ok' is not one of 'not json', 'off schema', "),
        (AgreementRequest, {"level": "ordnal"}, "did you mean 'ordinal'?"),
        (AgreementRequest, {"pair_weights": "unit"}, "'alike', 'units'; did you mean 'units'?"),
        (PreferenceRequest, {"ties": "won"}, "ties: 'won' is not one of 'half', 'dropped'"),
        (Source, {"file": "t.csv", "records": "itmes"}, "did you mean 'items'?"),
    ],
)
def test_a_value_that_the_type_does_not_name_is_refused_in_python(
    kind: type, values: Mapping[str, Any], says: str
) -> None:
    with pytest.raises(KonsilError, match=re.escape(says)):
        kind(**values)


@pytest.mark.parametrize("kind", [*(kind for kind, _ in CASES.values()), Source])
def test_every_request_checks_its_values(kind: type) -> None:
    """A field whose type names its values refuses another one."""
    hints = get_type_hints(kind)
    required = {"file": "t.csv", "records": "items"} if kind is Source else {}
    for field in dataclasses.fields(kind):
        if "Literal" in str(hints[field.name]):
            is_listed = any(get_origin(hint) in (tuple, Sequence) for hint in [hints[field.name]])
            word: Any = ("nonesuch",) if is_listed else "nonesuch"
            with pytest.raises(KonsilError, match="'nonesuch' is not one of "):
                kind(**{**required, field.name: word})


def test_a_report_refuses_unknown_formats_before_anything_is_computed(tmp_path: Path) -> None:
    study = Folder(tmp_path, study=None)  # type: ignore[arg-type]
    with pytest.raises(KonsilError, match="to: 'pdf' is not one of 'docx'"):
        study.report(to=["pdf"])  # type: ignore[list-item]
    with pytest.raises(KonsilError, match="checklist: 'tripod' is not one of 'grras'"):
        study.report(to=["docx"], checklist=["tripod"])  # type: ignore[list-item]
    with pytest.raises(KonsilError, match="to: 'pdf' is not one of"):
        study.report(to="pdf")  # type: ignore[arg-type]


@pytest.mark.parametrize("door", [konsil.agreement, konsil.preference])
def test_the_help_of_python_names_the_frames(door: Callable[..., Any]) -> None:
    frame = next(iter(inspect.signature(door).parameters.values()))
    assert frame.annotation == "pl.DataFrame | pl.LazyFrame | PandasFrame"
    assert "frame: 'pl.DataFrame | pl.LazyFrame | PandasFrame'" in pydoc.render_doc(door)
