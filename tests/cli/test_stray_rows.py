"""Rows that are no ratings and words that are no labels: asked about, and left out by the command."""

from __future__ import annotations

import json
import random
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

Call = Callable[..., tuple[int, str, str]]
ONE = ("--resamples", "100", "--statistic", "cohen_kappa")


def lines(labels: Sequence[str] = "12345", n: int = 24) -> list[str]:
    draw = random.Random(5)
    pairs = [(draw.choice(labels), draw.choice(labels)) for _ in range(n)]
    rows = [f"c{i},{a},{b if i % 3 else a}" for i, (a, b) in enumerate(pairs)]
    return ["case,r1,r2", *rows]


def written(tmp_path: Path, rows: Sequence[str], name: str = "t.csv") -> Path:
    (path := tmp_path / name).write_text("\n".join(rows) + "\n")
    return path


def asked(call: Call, path: Path, *flags: str, command: str = "agreement") -> tuple[str, Any]:
    """The refusal, and the result of its command; None where none is printed."""
    code, _, err = call(command, path, *flags)
    assert code == 2, err
    commands = re.findall(rf"^If so: konsil {command} (.*)$", err, re.MULTILINE)
    if not commands:
        return err, None
    code, out, problem = call(command, *shlex.split(commands[0]), "--json")
    assert code == 0, problem
    return err, json.loads(out)


def result_of(call: Call, path: Path) -> Any:
    code, out, err = call("agreement", path, *ONE, "--json")
    assert code == 0, err
    return json.loads(out)


BELOW: Mapping[str, tuple[str, ...]] = {
    "a count": ("N=,24,24",),
    "a kappa": ("Kappa,0.55,0.55",),
    "a sign": ("Σ,77,71",),
    "counts of a label": ("Total yes,14,11",),
    "several": ("Sum,77,71", "n,24,24"),
    "one that is not known": ("Mean,3.1,2.9", "xyz,24,24"),
    "a legend": (",,", "1,bad,", "5,good,"),
}


@pytest.mark.parametrize("name", BELOW)
def test_rows_below_a_table_are_asked_about(name: str, call: Call, tmp_path: Path) -> None:
    """Kills: a row below that switches off the search for totals, or that is counted."""
    table = lines(["yes", "no"] if "label" in name else "12345")
    right = result_of(call, written(tmp_path, table, "right.csv"))
    rows = BELOW[name]
    err, result = asked(call, written(tmp_path, [*table, *rows]), *ONE)
    for row in filter(str.strip, (row.rstrip(",").split(",")[0] for row in rows)):
        assert repr(row) in err
    assert (result is None) == (len(rows) > 1)
    if result is not None:
        assert (result["n_units"], result["statistics"]) == (24, right["statistics"])


def test_usual_rows_with_such_names_are_no_totals(call: Call, tmp_path: Path) -> None:
    """Kills: a unit that is called Max, or the last one above, as a total."""
    table = lines()
    for row in ("Max,2,3", "n,4,3"):
        assert result_of(call, written(tmp_path, [*table, row]))["n_units"] == 25
    err, _ = asked(call, written(tmp_path, [*table, "cx,1,1", "Sum,77,71"]), *ONE)
    assert "'cx'" not in err and "'Sum'" in err


def test_a_range_below_the_names_is_asked_about(call: Call, tmp_path: Path) -> None:
    """Kills: a range, a unit or labels as a rating of a unit, whatever is stated of the raters."""
    for labels, head, cell, n in (
        ("12345", "", "(1-5)", 24),
        ("12345", "(Nr.)", "(Punkte)", 6),
        ("12345", "Skala", "ordinal", 12),
        (["yes", "no"], "", "yes/no", 12),
        ("12345", "unit", "0 = bad, 5 = good", 24),
        ("12345", "Identifier", "1=poor 5=excellent", 12),
        ("12345", "Description", "Likert 1-5", 12),
        (["yes", "no"], "free text", "yes/no", 12),
    ):
        table = lines(labels, n)
        right = result_of(call, written(tmp_path, table, "right.csv"))
        path = written(tmp_path, [table[0], f'{head},"{cell}","{cell}"', *table[1:]])
        for stated in ((), ("--rater", "r1", "--rater", "r2"), ("--wide",)):
            err, result = asked(call, path, *stated, *ONE)
            assert repr(cell) in err and "several rows" not in err
            assert (result["n_units"], result["n_ratings"]) == (n, 2 * n)
            [kappa], [same] = result["statistics"], right["statistics"]
            assert kappa["value"] == pytest.approx(same["value"], abs=1e-9)


@pytest.mark.parametrize("shape", ["long", "systems", "comparisons"])
def test_a_range_below_the_names_of_another_table_is_asked_about(
    shape: str, call: Call, tmp_path: Path
) -> None:
    """Kills: a refused command, as the row of a range has no unit."""
    draw = random.Random(3)
    cells = {
        "long": ("case,rater,score", ",,(1-5)", lambda n: f"q{n // 2},{'ab'[n % 2]},{n % 5}"),
        "systems": ("question,gpt,claude", ",(points),(points)", lambda n: f"q{n},{n % 5},3"),
        "comparisons": (
            "item,rater,model_a,model_b,winner",
            ",,(name),(name),(a/b)",
            lambda n: f"q{n},ann,x,y,{draw.choice('xy')}",
        ),
    }
    head, heading, row = cells[shape]
    command = {"long": "agreement", "systems": "compare"}.get(shape, "preference")
    path = written(tmp_path, [head, heading, *map(row, range(24))])
    err, result = asked(call, path, "--resamples", "100", command=command)
    assert "below the names" in err
    n = result.get("n_units", result.get("n_items", 24))
    assert n == (12 if shape == "long" else 24)


def test_a_first_row_of_ratings_explains_nothing(call: Call, tmp_path: Path) -> None:
    """Kills: ratings that are left out as they are in the first row, or are ranges."""
    rows = lines(["0-10", "10-20", "20-30"])
    for first in ("c0,0-10,40-50", "c0,5+,2a", "c0,mild,mild"):
        table = [rows[0], first, *(rows if "-" in first else lines("12345"))[2:]]
        code, out, err = call("agreement", written(tmp_path, table), *ONE, "--json")
        assert code == 0 or "below the names" not in err
        assert code == 2 or json.loads(out)["n_units"] == 24
    declared = [rows[0], ",1-5,1-5", *lines("12345")[1:]]
    labels = ("--unit", "case", "--rater", "r1", "--rater", "r2", "--labels", "1,2,3,4,5,1-5")
    code, out, err = call("agreement", written(tmp_path, declared), *ONE, "--json", *labels)
    assert code == 0, err
    assert json.loads(out)["n_units"] == 25


def test_words_among_numbers_are_asked_about(call: Call, tmp_path: Path) -> None:
    """Kills: a word as a sixth label; an abstention as a missing value; a scale of signs."""
    table = lines()
    right = result_of(call, written(tmp_path, [*table[:3], "c2,,4", *table[4:]], "right.csv"))
    for word, flag in (("?", "--missing"), ("so la la", "--missing"), ("unclear", "--abstain")):
        path = written(tmp_path, [*table[:3], f"c2,{word},4", *table[4:]])
        err, result = asked(call, path, *ONE)
        assert flag in err and repr(word) in err
        assert result["statistics"] == right["statistics"]
    for word in ("5+", "2a"):
        path = written(tmp_path, [*table[:3], f"c2,{word},4", *table[4:]])
        assert result_of(call, path)["n_ratings"] == 48


OTHER = {
    "yes and TRUE": (("no", "yes"), ("FALSE", "TRUE")),
    "ja and j": (("nein", "ja"), ("n", "j")),
    "0 and nein": (("0", "1"), ("nein", "ja")),
}


@pytest.mark.parametrize("name", OTHER)
def test_other_words_for_yes_and_no_are_one_label(name: str, call: Call, tmp_path: Path) -> None:
    """Kills: agreement of zero between raters who write yes and TRUE."""
    first, second = OTHER[name]
    cells = [row.split(",") for row in lines("01")[1:]]
    right = result_of(
        call,
        written(
            tmp_path, ["case,r1,r2", *(f"{c},{first[int(a)]},{first[int(b)]}" for c, a, b in cells)]
        ),
    )
    rows = [f"{c},{first[int(a)]},{second[int(b)]}" for c, a, b in cells]
    err, result = asked(call, written(tmp_path, ["case,r1,r2", *rows]), *ONE)
    assert "--recode" in err
    assert result["statistics"] == right["statistics"]
    long = [
        f"{c},{r},{w}"
        for c, a, b in cells
        for r, w in (("A", first[int(a)]), ("B", second[int(b)]))
    ]
    _, result = asked(call, written(tmp_path, ["case,rater,label", *long]), *ONE)
    assert result["statistics"] == right["statistics"]


def test_codes_from_0_and_from_1_are_asked_about(call: Call, tmp_path: Path) -> None:
    """Kills: agreement below zero of raters who number from 0 and from 1; a usual 0 to 2 as such."""
    cells = [row.split(",") for row in lines("012")[1:]]
    shifted = ["case,r1,r2", *(f"{c},{a},{int(b) + 1}" for c, a, b in cells)]
    err, result = asked(call, written(tmp_path, shifted), *ONE)
    assert "from 0 and from 1" in err and result is None
    assert result_of(call, written(tmp_path, lines("012")))["n_units"] == 24
    code, _, _ = call("agreement", written(tmp_path, shifted), *ONE, "--labels", "0,1,2,3")
    assert code == 0


def test_labels_without_a_common_one_are_asked_about(call: Call, tmp_path: Path) -> None:
    rows = [
        f"{c},{'ab'[int(a)]},{'cd'[int(b)]}" for c, a, b in (r.split(",") for r in lines("01")[1:])
    ]
    err, result = asked(call, written(tmp_path, ["case,r1,r2", *rows]), *ONE)
    assert "no label in common (a, b; c, d)" in err and result is None


def test_a_ticked_box_is_asked_about(call: Call, tmp_path: Path) -> None:
    """Kills: an agreement of one from the ticked cells alone."""
    rows = [row.replace("0", "").replace("1", "x") for row in lines("01")]
    rows = [f"q{n},{row.partition(',')[2]}" if n else "case,r1,r2" for n, row in enumerate(rows)]
    err, result = asked(call, written(tmp_path, rows), *ONE)
    assert "'x' is the only label" in err and result is None
    full = ["case,r1,r2", *(f"c{n},x,x" for n in range(12)), "c12,,x"]
    assert call("agreement", written(tmp_path, full), *ONE)[0] == 0


def test_points_for_thousands_are_asked_about(call: Call, tmp_path: Path) -> None:
    """Kills: 1.234 beside 812 as a decimal number; decimal numbers as thousands."""
    numbers = [812, 1234, 2187, 955, 3021, 1450, 777, 1999, 2002, 1001]
    words = [f"{n:,}".replace(",", ".") for n in numbers]
    for sign, flags in ((";", ()), (",", ())):
        rows = [f"q{n}{sign}{'ab'[n % 2]}{sign}{word}" for n, word in enumerate(words)]
        path = written(tmp_path, [sign.join(("question", "system", "cost")), *rows])
        err, result = asked(call, path, "--resamples", "100", *flags, command="compare")
        assert "--decimal ," in err
        means = [e["value"] for e in result["estimates"] if e["statistic"] == "mean"]
        assert means == pytest.approx([sum(numbers[k::2]) / 5 for k in (0, 1)])
        assert call("compare", path, "--resamples", "100", "--decimal", ".")[0] == 0
    rows = [f"q{n},{'ab'[n % 2]},{n / 7 + 1:.3f}" for n in range(1, 13)]
    code, _, err = call(
        "compare", written(tmp_path, ["question,system,cost", *rows]), "--resamples", "100"
    )
    assert code == 0, err


COMPARED = {
    "codes of two": ("response", "12", "'1', '2' is a success"),
    "codes": ("diagnosis_code", "12345", "is named for codes"),
    "percentages": ("score", ["20%", "40%", "60%"], "are no numbers"),
    "fractions": ("score", ["1/5", "2/5", "3/5"], "are no numbers"),
}


@pytest.mark.parametrize("name", COMPARED)
def test_what_has_no_mean_is_not_averaged(name: str, call: Call, tmp_path: Path) -> None:
    """Kills: a mean of codes, and a success among percentages."""
    column, labels, words = COMPARED[name]
    draw = random.Random(2)
    rows = [f"q{n // 2},{'ab'[n % 2]},{draw.choice(labels)}" for n in range(40)]
    path = written(tmp_path, [f"question,system,{column}", *rows])
    code, _, err = call("compare", path, "--resamples", "100")
    assert code == 2 and words in err, err
    if name.startswith("codes"):
        stated = ("--by", "system", "--unit", "question", "--rater", "-", "--label", column)
        assert call("compare", path, *stated, "--resamples", "100")[0] == 2
        assert call("compare", path, *stated, "--level", "interval", "--resamples", "100")[0] == 0


@pytest.mark.slow
def test_table_2_names_what_is_counted(call: Call, tmp_path: Path) -> None:
    """Kills: a table of proportions that says neither of what nor of which label."""
    rows = [f"q{n // 2},{'ab'[n % 2]},{('yes', 'no', 'no')[n % 3]}" for n in range(40)]
    path = written(tmp_path, ["question,system,harmful", *rows])
    code, out, err = call(
        "compare", path, "--resamples", "100", "--to", "markdown", "--output", tmp_path / "o"
    )
    assert code == 0, err
    sentence = "Counted for harmful: yes (against no)."
    assert sentence in out
    [document] = (tmp_path / "o").rglob("*.qmd")
    assert sentence in document.read_text()


def test_no_ratings_has_its_reason(call: Call, tmp_path: Path) -> None:
    rows = [f"c{n},{n * 7 % 90} %,{n * 11 % 90}%" for n in range(30)]
    err, _ = asked(call, written(tmp_path, ["case,r1,r2", *rows]))
    assert "r1 and r2: cells such as '0 %' are no numbers" in err
    days = [f"c{n},2024-01-0{n % 3 + 1},2024-01-0{n % 2 + 1}" for n in range(30)]
    err, _ = asked(call, written(tmp_path, ["case,r1,r2", *days]))
    assert "r1 and r2 have dates" in err and "--rater" in err
