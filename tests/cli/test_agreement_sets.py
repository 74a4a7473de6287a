"""konsil agreement: several labels in one rating, in every shape of table and at both doors."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import konsil
from konsil.errors import AnalysisError, KonsilError, SourceError, UnclearTableError
from konsil.stats.agreement.label_sets import SET_STATISTICS

from .conftest import Call

CELLS = {
    "ann": "dose;interaction|allergy|dose|dose;follow-up;referral|interaction|allergy;dose",
    "ben": "dose|allergy|dose;referral|dose;follow-up|interaction;dose|allergy;dose",
    "cem": "dose;interaction|referral|dose||follow-up;interaction|dose;allergy",
}
WIDE = pl.DataFrame(
    {"question": [f"q{n}" for n in range(6)], **{r: c.split("|") for r, c in CELLS.items()}}
)
LONG = WIDE.unpivot(index="question", variable_name="who", value_name="label")
LISTS = LONG.filter(pl.col("label") != "").with_columns(pl.col("label").str.split(";"))
NLTK = {
    "krippendorff_alpha_masi": 0.41329258976317773,
    "krippendorff_alpha_jaccard": 0.4689956331877728,
}
"""Of the same ratings by nltk 3.10.4: AnnotationTask(...).alpha() with masi_distance and
jaccard_distance."""
COMPLETE = LONG.filter(pl.col("question") != "q3")
NLTK_BY_LABEL = {
    "allergy": (0.72, 0.6969696969696969),
    "dose": (0.72, 0.6969696969696969),
    "follow-up": (0.0, 0.3333333333333333),
    "interaction": (0.72, 0.6969696969696969),
    "referral": (-0.07692307692307687, -0.08333333333333358),
}
"""Alpha and the mean of Cohen's kappa of `label in set` of the complete units, by nltk 3.10.4.

It counts a pair of raters of whom neither gave the label as 1; here such a pair has no kappa.
"""
FEW: dict[str, Any] = {"resamples": 100}


def values(result: Any) -> dict[str, float]:
    return {name: result[name].value for name in result}


def test_alpha_of_sets_is_that_of_nltk() -> None:
    result = konsil.agreement(LISTS, **FEW)
    assert "several labels in a cell" in result.reading
    assert values(result) == pytest.approx(NLTK, abs=1e-12)
    assert (result.n_units, result.n_raters, result.n_ratings) == (6, 3, 17)
    assert result["masi"].value == result["krippendorff_alpha_masi"].value


def test_agreement_on_each_label_is_that_of_nltk() -> None:
    """Kills: labels of abstentions or of missing ratings that count as not given."""
    result = konsil.agreement(COMPLETE, split=";", **FEW)
    assert result.by == "label" and list(result.groups) == sorted(NLTK_BY_LABEL)
    for label, (alpha, kappa) in NLTK_BY_LABEL.items():
        group = result.groups[label]
        assert group["krippendorff_alpha"].value == pytest.approx(alpha, abs=1e-12)
        undefined = 1 if label == "follow-up" else 0
        mean = (3 * kappa - undefined) / (3 - undefined)
        assert group["cohen_kappa"].value == pytest.approx(mean, abs=1e-12)
        assert group.labels == ("not given", "given")
        assert group.n_ratings == 15


def shapes() -> dict[str, tuple[pl.DataFrame, dict[str, Any]]]:
    lists = WIDE.with_columns(
        pl.when(pl.col(r) != "").then(pl.col(r).str.split(";")).alias(r) for r in CELLS
    )
    transposed = pl.DataFrame(
        {"rater": list(CELLS), **{f"q{n}": [WIDE[r][n] for r in CELLS] for n in range(6)}}
    )
    named = WIDE.rename({r: f"{r}_risk" for r in CELLS})
    ratings = LONG.filter(pl.col("label") != "")
    sign = {"split": ";"}
    return {
        "long": (ratings, {"unit": "question", "rater": "who", "label": "label", **sign}),
        "long, roles recognised": (ratings, sign),
        "lists": (LISTS, {}),
        "lists as text": (
            LISTS.with_columns(
                pl.Series("label", [json.dumps(v) for v in LISTS["label"].to_list()])
            ),
            {},
        ),
        "other order, twice, blanks": (
            LISTS.with_columns(
                pl.Series(
                    "label", [" ; ".join([*reversed(v), v[0]]) for v in LISTS["label"].to_list()]
                )
            ),
            sign,
        ),
        "wide": (WIDE, {"layout": "wide", **sign}),
        "raters' columns": (WIDE, {"unit": "question", "rater": list(CELLS), **sign}),
        "wide of lists": (lists, {"layout": "wide"}),
        "raters in rows": (transposed, {"layout": "raters-in-rows", "rater": "rater", **sign}),
        "names": (named, {"unit": "question", "names": "{rater}_{criterion}", **sign}),
    }


@pytest.mark.parametrize("shape", shapes())
def test_every_shape_of_table_has_the_same_sets(shape: str, tmp_path: Path, call: Call) -> None:
    frame, options = shapes()[shape]
    wanted = konsil.agreement(LISTS, **FEW).to_dict() | {"reading": ""}
    result = konsil.agreement(frame, **options, **FEW).to_dict()
    groups = result.get("groups", [])
    result = groups[0] if result["by"] == "criterion" else result
    result.pop("group", None)
    assert result | {"reading": ""} == wanted
    frame.write_ndjson(tmp_path / "t.jsonl")
    flags = []
    for name, value in options.items():
        each = [value] if isinstance(value, str) else value
        flags += [f"--{v}" for v in each] if name == "layout" else []
        flags += [w for v in each for w in (f"--{name}", v)] if name != "layout" else []
    code, out, err = call("agreement", tmp_path / "t.jsonl", *flags, "--resamples", 100, "--json")
    assert code == 0, err
    printed = json.loads(out)
    printed = printed["groups"][0] if printed["by"] == "criterion" else printed
    printed.pop("group", None)
    assert json.loads(json.dumps(printed | {"reading": ""})) == json.loads(json.dumps(wanted))


@pytest.mark.parametrize("shape", ["long", "wide"])
def test_signs_between_labels_are_asked_for(shape: str, tmp_path: Path, call: Call) -> None:
    """Kills: combinations of labels that count as one label each, however much is stated."""
    frame = WIDE if shape == "wide" else LONG.filter(pl.col("label") != "")
    frame.write_csv(tmp_path / "t.csv")
    stated = (
        ["--wide"]
        if shape == "wide"
        else ["--long", "--unit", "question", "--rater", "who", "--label", "label"]
    )
    for flags in ([], stated):
        code, out, err = call("agreement", tmp_path / "t.csv", *flags)
        assert (code, out) == (2, "")
        [line] = [line for line in err.splitlines() if line.startswith("If so: ")]
        words = shlex.split(line.removeprefix("If so: konsil "))
        code, out, err = call(*words, "--resamples", 100, "--json")
        assert code == 0, err
        printed = {s["name"]: s["value"] for s in json.loads(out)["statistics"]}
        assert printed == pytest.approx(NLTK, abs=1e-11)


def test_labels_with_a_sign_in_them_are_single_labels_where_they_are_declared() -> None:
    frame = LONG.filter(pl.col("label") != "")
    scale = sorted(set(frame["label"]))
    roles: dict[str, Any] = {"unit": "question", "rater": "who", "label": "label"}
    result = konsil.agreement(frame, **roles, labels=scale, **FEW)
    assert result.labels == tuple(scale) and not result.groups
    with pytest.raises(UnclearTableError, match="Cells contain several labels") as refusal:
        konsil.agreement(frame, **roles, **FEW)
    assert "split=';'" in str(refusal.value.call)


@pytest.mark.parametrize("sign", [";", ", "])
def test_long_names_of_labels_are_labels(sign: str) -> None:
    """Kills: sets that are taken for texts because they are long."""
    names = {"dose": "wrong dose of a drug", "interaction": "interaction with another drug"}
    cells = [[names.get(v, v) for v in cell] for cell in LISTS["label"].to_list()]
    frame = LISTS.with_columns(pl.Series("label", cells))
    assert values(konsil.agreement(frame, **FEW)) == pytest.approx(NLTK)
    joined = frame.with_columns(pl.col("label").list.join(sign))
    with pytest.raises(UnclearTableError, match="Cells contain several labels"):
        konsil.agreement(joined, unit="question", rater="who", label="label", **FEW)


def test_texts_whose_parts_do_not_recur_are_single_labels() -> None:
    answers = ["yes, clearly", "no, not at all", "yes, clearly", "no, not at all"]
    frame = pl.DataFrame({"unit": list("abcd"), "ann": answers, "ben": answers[::-1]})
    assert konsil.agreement(frame, layout="wide", **FEW).labels == (
        "no, not at all",
        "yes, clearly",
    )


def test_empty_lists_are_ratings_and_empty_cells_are_none() -> None:
    """Kills: an empty set that is left out, or a missing rating that is an empty set."""
    frame = pl.DataFrame(
        {
            "unit": ["u1", "u2", "u3", "u4"],
            "ann": [[], ["a"], ["a", "b"], None],
            "ben": [[], ["a"], [], ["b"]],
        }
    )
    result = konsil.agreement(frame, layout="wide", **FEW)
    assert result.n_ratings == 7
    # Two equal empty sets, two equal sets, and one disagreement of 1: 1 - 5 (2/6) / (30 d / 30)
    # with the 2 x 3 x 3 ordered pairs of different sets of six, one pair of {a} and {a, b}.
    apart = 2 * (3 * 2 + 3 * 1) + 2 * 2 * (1 - 1 / 2)
    assert result["jaccard"].value == pytest.approx(1 - 5 * 2 / apart)
    only = pl.DataFrame({"unit": ["u1", "u2"], "ann": [[], []], "ben": [[], []]})
    with pytest.raises(SourceError, match="every list is empty"):
        konsil.agreement(
            only.cast({"ann": pl.List(pl.String), "ben": pl.List(pl.String)}), layout="wide", **FEW
        )


def test_an_abstention_is_alone_in_its_cell() -> None:
    frame = WIDE.with_columns(cem=pl.Series(["unsure", *WIDE["cem"][1:]]))
    options: dict[str, Any] = {"layout": "wide", "split": ";", "abstain": "unsure", **FEW}
    result = konsil.agreement(frame, **options)
    assert (result.n_abstained, result.n_ratings) == (1, 16)
    assert "unsure" not in result.labels
    assert result.groups["dose"].n_ratings == 16
    mixed = frame.with_columns(ben=pl.Series(["dose;unsure", *WIDE["ben"][1:]]))
    with pytest.raises(SourceError, match="row 0, rater 'ben': the abstention 'unsure'"):
        konsil.agreement(mixed, **options)


def test_labels_are_recoded_and_checked_one_by_one() -> None:
    options: dict[str, Any] = {"layout": "wide", "split": ";", **FEW}
    merged = konsil.agreement(WIDE, recode={"follow-up": "referral"}, **options)
    assert "follow-up" not in merged.labels
    assert merged["masi"].value != konsil.agreement(WIDE, **options)["masi"].value
    labels = ["dose", "interaction", "allergy", "follow-up", "referral", "none"]
    declared = konsil.agreement(WIDE, labels=labels, **options)
    assert list(declared.groups) == labels
    assert "identical" in declared.groups["none"]["cohen_kappa"].reason
    assert values(declared) == pytest.approx(NLTK)
    with pytest.raises(SourceError, match="'referral' is not one of the declared labels"):
        konsil.agreement(WIDE, labels=labels[:4], **options)


def test_repeated_sets_are_one_rating_or_chosen() -> None:
    roles: dict[str, Any] = {"unit": "question", "rater": "who", "label": "label", "split": ";"}
    again = pl.concat([LONG.filter(pl.col("label") != ""), LONG.head(1)])
    swapped = again.with_columns(pl.Series("label", [*again["label"][:-1], "interaction;dose"]))
    result = konsil.agreement(swapped, **roles, **FEW)
    assert values(result) == pytest.approx(NLTK)
    other = again.with_columns(pl.Series("label", [*again["label"][:-1], "referral"]))
    with pytest.raises(KonsilError, match="labelled unit 'q0' both"):
        konsil.agreement(other, **roles, **FEW)
    last = konsil.agreement(other, **roles, repeat="last", **FEW)
    assert values(last) != pytest.approx(NLTK)


def test_groups_have_sets_and_labels_of_their_own() -> None:
    frame = LISTS.with_columns(
        arm=pl.when(pl.col("question") < "q3").then(pl.lit("x")).otherwise(pl.lit("y"))
    )
    result = konsil.agreement(frame, by="arm", **FEW)
    alone = konsil.agreement(frame.filter(pl.col("arm") == "x").drop("arm"), **FEW)
    assert result.groups["x"]["masi"].value == alone["masi"].value
    # A label that one group did not use is one of its labels as well.
    assert {*result.groups["x"].groups} == {*result.groups["y"].groups} == {*NLTK_BY_LABEL}
    rows = result.to_polars()
    assert {"x", "y", "x, dose", "y, referral"} <= {*rows["group"]}
    assert [entry["by"] for entry in result.to_dict()["groups"]] == ["label", "label"]
    assert "x, dose" in result._repr_html_()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"level": "ordinal"}, "level='ordinal': cells have several labels"),
        ({"labels": list(NLTK_BY_LABEL), "values": [1, 2, 3, 4, 5]}, "values: has no effect"),
        ({"weights": "linear"}, "weights: weights are of two labels"),
        ({"compare": "who", "where": {"who": ["ann", "ben"]}}, "compare|who"),
        ({"statistics": ["masi"], "pairs": True}, "pairs: pairs of raters are compared label by"),
    ],
)
def test_options_without_meaning_for_sets_are_refused(
    options: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(KonsilError, match=sentence):
        konsil.agreement(LISTS, **options, **FEW)


def test_groups_of_sets_are_not_compared() -> None:
    frame = LISTS.with_columns(arm=pl.when(pl.col("question") < "q3").then(1).otherwise(2))
    with pytest.raises(AnalysisError, match="compare: differences of agreement on sets"):
        konsil.agreement(frame, compare="arm", **FEW)


def test_statistics_are_chosen_of_sets_and_of_labels() -> None:
    of_sets = konsil.agreement(LISTS, statistics=["jaccard"], **FEW)
    assert list(of_sets) == ["krippendorff_alpha_jaccard"] and not of_sets.groups
    of_labels = konsil.agreement(LISTS, statistics=["ac1"], **FEW)
    assert list(of_labels) == [] and list(of_labels.groups["dose"]) == ["gwet_ac1"]
    with pytest.raises(AnalysisError, match="choose a group"):
        of_labels["gwet_ac1"]
    single = pl.DataFrame({"unit": list("abcd"), "ann": list("xyxy"), "ben": list("xyyy")})
    for name in SET_STATISTICS:
        with pytest.raises(AnalysisError, match="here a rating is one label"):
            konsil.agreement(single, statistics=[name], **FEW)


def test_pairs_of_raters_are_compared_label_by_label() -> None:
    result = konsil.agreement(LISTS, pairs=True, **FEW)
    assert not result.pairs and len(result.groups["dose"].pairs) == 3


def test_labels_of_all_raters_in_a_cell_are_no_sets() -> None:
    """Kills: lists without raters that are read as one rater's set; a rater's that is left out."""
    frame = LISTS.group_by("question", maintain_order=True).agg(pl.col("label").list.first())
    result = konsil.agreement(frame, unit="question", label="label", layout="lists", **FEW)
    assert result.n_raters is None and "krippendorff_alpha_masi" not in list(result)
    with_raters = LONG.filter(pl.col("label") != "")
    result = konsil.agreement(with_raters, unit="question", label="label", split=";", **FEW)
    assert values(result) == pytest.approx(NLTK)


@pytest.mark.slow
def test_many_different_sets_and_labels_are_bounded() -> None:
    """Kills: a matrix of all sets without a limit, a table for each of hundreds of labels."""
    n = 1_600
    frame = pl.DataFrame(
        {
            "unit": [f"u{i:05}" for i in range(n)],
            "ann": [[f"l{i % 60}", f"m{i}"] for i in range(n)],
            "ben": [[f"l{i % 60}"] for i in range(n)],
        }
    )
    result = konsil.agreement(frame, layout="wide", **FEW)
    assert "different sets of labels; expected at most 1,448" in result["masi"].reason
    assert not result.groups
    assert any("on each label is computed on request only" in w for w in result.warnings)
    few = konsil.agreement(frame.head(400), layout="wide", **FEW)
    assert 0 < few["jaccard"].value < 1 and few["jaccard"].low < few["jaccard"].value
