"""Every command that a refusal prints is run: its numbers are right, or it asks for less."""

from __future__ import annotations

import json
import random
import shlex
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import polars as pl
import pytest
from tests.analysis.roles.generated_tables import SHAPES, Shape, Truth, long, make, pairs

import konsil
from konsil.errors import KonsilError, UnclearTableError
from konsil.records.numerals import is_number

from .conftest import Call

IF_SO = "If so: konsil "
MOST_STEPS = 3


def options(words: list[str]) -> Counter[str]:
    """The options of a command and how often each is stated."""
    return Counter(word for word in words if word.startswith("--"))


def followed(
    call: Call, file: Path, *stated: str, command: str = "agreement"
) -> tuple[list[str], dict[str, Any] | None]:
    """The last command and its result, where the command that is printed is always copied.

    Without a result, the last refusal prints none. Each command states more than the one before.
    """
    words = [command, str(file), *stated, "--resamples", "100"]
    for _ in range(MOST_STEPS):
        code, out, err = call(*words, "--json")
        if code == 0:
            return words, dict(json.loads(out))
        assert code == 2 and "Traceback" not in err, err
        printed = [line for line in err.splitlines() if line.startswith(IF_SO)]
        if not printed:
            return words, None
        [line] = printed
        following = shlex.split(line.removeprefix(IF_SO))
        following = [word for word in following if word != "--json"]
        assert following[:2] == words[:2]
        assert options(words) < options(following), (words, following)
        words = following
    raise AssertionError(f"{words}: after {MOST_STEPS} commands nothing is computed")


def numbers(result: dict[str, Any]) -> object:
    """Counts and values of a result, by group and statistic."""
    if groups := result.get("groups"):
        assert isinstance(groups, list)
        return {group["group"]: numbers(group) for group in groups}
    statistics = result["statistics"]
    assert isinstance(statistics, list)
    values = {each["name"]: each["value"] for each in statistics}
    return result["n_units"], result["n_raters"], result["n_ratings"], values


def groups_of(result: dict[str, Any]) -> list[object]:
    """The numbers of each criterion alone: a command may state one of several."""
    groups = result.get("groups", [])
    assert isinstance(groups, list)
    return [numbers(group) for group in groups]


def stated(frame: pl.DataFrame, truth: Truth) -> dict[str, Any] | None:
    """The true reading as keywords; None where a table has no agreement, or not at once."""
    rated = [name for name in frame.columns if name in truth.rated]
    unit, others = list(truth.units), [n for n in frame.columns if n not in truth.rated]
    match truth.shape:
        case "wide" | "wide, unit has rows":
            return {"unit": unit, "rater": rated}
        case "long" | "long-criteria":
            roles = {"unit": unit, "rater": truth.rater, "label": rated}
            return {"layout": "long", **roles, "criterion": truth.criterion}
        case "repeats":
            roles = {"unit": unit, "rater": truth.rater, "label": rated}
            [by] = [name for name in others if {*frame[name]} == {"1", "2"}]
            return {"layout": "long", **roles, "by": by}
        case "counts":
            return {"layout": "counts", "unit": unit, "labels": rated}
        case "raters-in-rows":
            unused = [name for name in others if name != truth.rater]
            return {"layout": "raters-in-rows", "rater": truth.rater, "unused": unused}
        case "cross-table":
            return {"layout": "cross-table"}
        case _:
            return None


def outcome(call: Call, folder: Path, seed: int) -> str:
    """What following the printed commands of a generated table comes to."""
    frame, truth, _ = make(seed)
    file = folder / f"t{seed}.csv"
    frame.write_csv(file)
    words, result = followed(call, file)
    if result is None:
        return "refused"
    number = "at once" if len(words) == 4 else "after a command"
    if truth.shape == "rater-by-criterion":
        if "--names" not in words:
            return f"right {number}"
        pattern = words[words.index("--names") + 1]
        is_rater_first = pattern.index("{rater}") < pattern.index("{criterion}")
        return f"right {number}" if is_rater_first == truth.is_rater_first else f"wrong {number}"
    roles = stated(pl.read_csv(file, infer_schema=False), truth)
    if roles is None:
        return f"wrong {number}"
    try:
        expected = konsil.agreement(
            pl.read_csv(file, infer_schema=False),
            **roles,
            resamples=100,
        ).to_dict()
    except KonsilError:
        return f"wrong {number}"
    right = json.loads(json.dumps([numbers(expected), *groups_of(expected)]))
    is_right = json.loads(json.dumps(numbers(result))) in right
    return f"right {number}" if is_right else f"wrong {number}"


CODED = ["3,1", "1,1", "-1,1", "5,5", "3,3", "4,99", "2,2", "4,2", "5,4", "3,3"]


@pytest.mark.slow
@pytest.mark.parametrize("command", ["agreement", "compare"])
def test_codes_of_missing_values_become_empty_cells(
    command: str, call: Call, tmp_path: Path
) -> None:
    """The printed command gives the numbers of the table whose cells with codes are empty.

    Kills: a code that is computed as a label, a command without one of the codes.
    """
    results: list[object] = []
    for text in ("\n".join(CODED), "\n".join(CODED).replace("-1,", ",").replace("99", "")):
        file = tmp_path / f"t{len(results)}.csv"
        rows = "".join(f"q{n},{row}\n" for n, row in enumerate(text.split("\n")))
        file.write_text(("id,ann,ben\n" if command == "agreement" else "id,GPT,Llama\n") + rows)
        words, result = followed(call, file, command=command)
        assert result is not None
        assert words.count("--missing") == (0 if results else 2)
        results.append(numbers(result) if command == "agreement" else result["estimates"])
    assert results[0] == results[1]


@pytest.mark.slow
def test_commands_that_are_printed_for_generated_tables_are_right(
    call: Call, tmp_path: Path
) -> None:
    """Kills: a command with an option that there is not, one that is refused in the same words."""
    outcomes = Counter(outcome(call, tmp_path, seed) for seed in range(60_000, 60_240))
    assert not outcomes["wrong at once"] and not outcomes["wrong after a command"], outcomes
    assert outcomes["right at once"] > 50 and outcomes["right after a command"] > 3


def cut_and_shuffled(seed: int, number: int) -> tuple[pl.DataFrame, Truth]:
    """A generated table of a shape, some of its rows, its columns in another order."""
    frame, truth, _ = make(seed * len(SHAPES) + number)
    draw = random.Random(seed)
    names = draw.sample(frame.columns, frame.width)
    rows = sorted(draw.sample(range(frame.height), max(8, frame.height * 4 // 5)))
    return frame[rows].select(names), truth


def of_preference(frame: pl.DataFrame, truth: Truth) -> object:
    """Each system's mean over its opponents of the share of wins minus that of losses, by hand."""
    [outcome] = [name for name in truth.rated if "tie" in set(frame[name])]
    sides = [name for name in truth.rated if name != outcome]
    steps: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for first, second, winner in frame.select(*sides, outcome).iter_rows():
        for ours, other in ((first, second), (second, first)):
            steps[ours][other].append((winner == ours) - (winner == other))
    return {
        system: pytest.approx(np.mean([np.mean(part) for part in parts.values()]), abs=1e-9)
        for system, parts in steps.items()
    }


def of_comparison(frame: pl.DataFrame, truth: Truth, group: str) -> object:
    """The mean of each group by hand."""
    [label] = truth.rated
    means = frame.group_by(group).agg(pl.col(label).cast(pl.Float64).mean()).iter_rows()
    return {name: pytest.approx(mean, abs=1e-9) for name, mean in means}


def right_after(call: Call, file: Path, frame: pl.DataFrame, truth: Truth, command: str) -> str:
    """How many commands a table takes to its right number, or that it is refused."""
    frame.write_csv(file)
    words, result = followed(call, file, command=command)
    if result is None:
        return "refused"
    if command == "preference":
        assert result["n_comparisons"] == frame.height, words
        shown = {each["system"]: each["value"] for each in result["win_difference"]}
        assert shown == of_preference(frame, truth), words
    else:
        estimates = [e for e in result["estimates"] if e["statistic"] in {"mean", "share"}]
        assert result["by"] == truth.units[1], words
        shown = {each["group"]: each["value"] for each in estimates}
        assert shown == of_comparison(frame, truth, truth.units[1]), words
    return "at once" if len(words) == 4 else "after a command"


@pytest.mark.slow
@pytest.mark.parametrize(("command", "shape"), [("preference", pairs), ("compare", long)])
def test_commands_printed_for_comparisons_and_groups_are_right(
    command: str, shape: Shape, call: Call, tmp_path: Path
) -> None:
    """Numbers by hand, of tables with shuffled columns and some of their rows.

    Kills: outcomes, groups or labels of another column, a refusal that is repeated.
    """
    outcomes: Counter[str] = Counter()
    for seed in range(160):
        frame, truth = cut_and_shuffled(seed, SHAPES.index(shape))
        if command == "compare":
            [label] = truth.rated
            if len(truth.units) < 2 or not all(map(is_number, frame[label].drop_nulls())):
                continue
        outcomes[right_after(call, tmp_path / f"t{seed}.csv", frame, truth, command)] += 1
    assert outcomes["at once"] > 25, outcomes
    assert command == "compare" or outcomes["after a command"] > 5, outcomes


TABLES = {
    "a column for each rater, beside others": (
        "Domain,Source,Score 1,Score 2,Score 3",
        "Diet,AI,yes,yes,no",
        "Sleep,AI,no,no,no",
        "Diet,web,yes,yes,yes",
        "Sleep,web,no,yes,no",
        "Diet,AI,yes,yes,yes",
        "Sleep,web,no,no,yes",
    ),
    "several labels in a cell": (
        "case,coder,codes",
        *(f"c{n},{r},{'pain;fever' if n % 2 else 'fever'}" for n in range(8) for r in "ab"),
        *(f"c{n},c,{'pain' if n % 3 else 'fever;pain'}" for n in range(8)),
    ),
    "semicolons between columns, and notes": (
        "Fall;Anna;Ben;Bemerkung",
        *(f"f{n};{'ja' if n % 2 else 'nein'};{'ja' if n % 3 else 'nein'};-" for n in range(9)),
    ),
    "two rows of names": (
        ",CLARITY,,SAFETY,",
        "Item,Anna,Ben,Anna,Ben",
        *(f"i{n},{n % 2},{n % 3},{n % 2},{n % 2}" for n in range(12)),
    ),
    "several rows of a rater and unit": (
        "item,rater,error",
        *(f"i{n},{r},{'typo' if n % 2 else 'gap'}" for n in range(8) for r in "ab"),
        *(f"i{n},{r},{'gap' if n % 2 else 'fact'}" for n in range(8) for r in "ab"),
    ),
    "comparisons": (
        "question,judge,first,second,winner",
        *(f"q{n},{j},x,y,{'x' if n % 2 else 'y'}" for n in range(8) for j in "ab"),
    ),
    "labels of one annotator or of all": (
        "id,label",
        *(f"d{n},{'pain;fever' if n % 2 else 'fever;cough'}" for n in range(8)),
    ),
}
REFUSED = {
    "several rows of a rater and unit",
    "comparisons",
    "labels of one annotator or of all",
}
"""Tables of which no statement of columns makes one number right."""


@pytest.mark.parametrize("name", TABLES)
def test_the_printed_command_is_right_or_asks_for_less(
    name: str, call: Call, tmp_path: Path
) -> None:
    """Kills: a command of another command's options; one that is refused in the same words."""
    file = tmp_path / "table.csv"
    file.write_text("\n".join(TABLES[name]) + "\n")
    words, result = followed(call, file)
    if name in REFUSED:
        assert result is None
        return
    assert result is not None, words
    assert len(words) > 4 or name.startswith("semicolons")


def test_comparisons_are_sent_to_preference(call: Call, tmp_path: Path) -> None:
    file = tmp_path / "votes.csv"
    file.write_text("\n".join(TABLES["comparisons"]) + "\n")
    code, _, err = call("agreement", file)
    assert code == 2 and "`preference`" in err and "If so" not in err
    assert call("preference", file, "--resamples", 100)[0] == 0
    frame = pl.read_csv(file)
    with pytest.raises(UnclearTableError, match="`preference`"):
        konsil.agreement(frame)


def test_a_composite_score_is_left_out_by_the_printed_command(call: Call, tmp_path: Path) -> None:
    """Kills: a pattern of names that takes a composite beside the raters for a further rater."""
    raters = ("Rater #1 Score", "Rater #2 Score", "Rater #3 Score", "Composite Score")
    rows = [(n % 3 + 1, n % 2 + 1, (n + 1) % 3 + 1) for n in range(12)]
    scores = [",".join(map(str, (*row, f"{sum(row) / 3:.2f}"))) for row in rows]
    file = tmp_path / "table.csv"
    text = [",ACCURACY,,,,SAFETY,,,", ",".join(["Q ID", *raters, *raters])]
    file.write_text("\n".join([*text, *(f"q{n},{s},{s}" for n, s in enumerate(scores))]) + "\n")
    words, result = followed(call, file, "--level", "ordinal")
    assert result is not None, words
    assert "ACCURACY: Composite Score" in words
    groups = result["groups"]
    assert [(group["n_raters"], group["n_ratings"]) for group in groups] == [(3, 36), (3, 36)]


NAMED = {
    # Columns -> the raters that the printed command states.
    "paper,AttributeId,Coder1Text,Coder2Text": ("Coder1Text", "Coder2Text"),
    "Graph,True,CDC,EffectSize,ExpertA,ExpertB": ("ExpertA", "ExpertB"),
    "Domain,Test,Score 1,Score 2": ("Score 1", "Score 2"),
    "Thema,Zweck,erste Bewertung,zweite Bewertung": ("erste Bewertung", "zweite Bewertung"),
    "": ("column 3", "column 4"),
}


@pytest.mark.parametrize("head", NAMED)
def test_numbered_raters_are_stated_by_the_printed_command(
    head: str, call: Call, tmp_path: Path
) -> None:
    """Kills: ids, gold standards and effects taken for labels or raters; names that are ratings."""
    n_others = max(0, head.count(",") - 1)
    test = {"Domain": ("Accuracy", "Safety"), "Thema": ("Kauf", "Miete")}.get(head.split(",")[0])
    rows = []
    for n in range(24):
        others = [str(n // 8), str(n % 5), str(n % 2), str(n % 6)][:n_others]
        if test:
            others = [("heart", "lung", "skin")[n % 3], test[n % 2]]
        rows.append([*others, str(n % 2), str(int(n % 7 > 2))])
    if not head:
        # Ratings alone, and a table without a row of names begins with equal ones.
        rows = [["1", "1", *row] for row in rows]
        rows[0] = ["1", "1", "1", "1"]
    file = tmp_path / "table.tsv"
    lines = [*([head.split(",")] if head else []), *rows]
    file.write_text("\n".join("\t".join(line) for line in lines) + "\n")
    words, result = followed(call, file)
    assert result is not None
    stated = [words[n + 1] for n, word in enumerate(words) if word == "--rater"]
    raters = NAMED[head] if head else ("column 1", "column 2", "column 3", "column 4")
    assert tuple(stated) == raters and result["n_ratings"] == 24 * len(raters)


@pytest.mark.slow
def test_a_sheet_with_ratings_behind_another_is_proposed(call: Call, tmp_path: Path) -> None:
    """Kills: a refusal about the first sheet alone; a sheet that is read without a word."""
    book = openpyxl.Workbook()
    book.active.append(["Study", "a text of some length that is no rating of anything"])
    book.active.append(["Date", "another text that is about the study and its raters"])
    sheet = book.create_sheet("long form")
    sheet.append(["case", "topic", "Rater_1", "Rater_2"])
    for n in range(12):
        sheet.append([f"c{n}", "heart", n % 3, n % 2])
    file = tmp_path / "book.xlsx"
    book.save(file)
    words, result = followed(call, file)
    assert result is not None and (result["n_raters"], result["n_units"]) == (2, 12)
    assert words[words.index("--sheet") + 1] == "long form"


def test_columns_that_rate_columns_of_texts_are_no_raters(call: Call, tmp_path: Path) -> None:
    """Kills: a command for labels that one expert gave to several texts; raters of a pair."""
    text = "a sentence of a patient or a system that is certainly long enough"
    rows = [f"{text} {n},{n % 3},{text} {n},{n % 2}" for n in range(12)]
    pairs_of_raters = [f"{'ab'[n % 2]}nn,{'ba'[n % 2]}nn,0.{n}" for n in range(12)]
    tables = {
        "query,query-label-expert,reply,reply-label-expert": rows,
        "coder_a,coder_b,agreement": pairs_of_raters,
    }
    for head, lines in tables.items():
        file = tmp_path / "table.csv"
        file.write_text("\n".join([head, *lines]) + "\n")
        code, _, err = call("agreement", file, "--resamples", 100)
        assert code == 2 and IF_SO not in err


@pytest.mark.parametrize(
    ("words", "order"), [("Moderate,Mild,Severe", "Mild,Moderate,Severe"), ("x,y,z", "")]
)
def test_words_of_a_usual_scale_are_in_its_order(
    words: str, order: str, call: Call, tmp_path: Path
) -> None:
    """Kills: words in the order of the alphabet; an order that nobody has stated."""
    labels = words.split(",")
    rows = [f"c{n},{labels[n % 3]},{labels[n * n % 3]}" for n in range(12)]
    file = tmp_path / "table.csv"
    file.write_text("\n".join(["case,ann,ben", *rows]) + "\n")
    code, _, err = call("agreement", file, "--level", "ordinal", "--resamples", 100)
    assert code == 2 and "--labels" in err and (IF_SO in err) == bool(order)
    if order:
        words_of_command = followed(call, file, "--level", "ordinal")[0]
        assert words_of_command[words_of_command.index("--labels") + 1] == order
