"""Every number on the demo's report page, recounted from its exported CSV by code that has nothing
of konsil."""

from __future__ import annotations

import ast
import math
import re
import tomllib
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.golden import recount
from tests.golden.recount import Number, Records, among, minus, share_of, wide

from reported_studies import ReportedStudy

pytestmark = pytest.mark.slow

GRADES, STEPS = ["Incorrect", "Correct"], ["Easy", "Medium", "Hard"]
SYSTEMS = ("system-a", "system-b", "system-c")


def test_the_recount_has_nothing_of_konsil() -> None:
    tree = ast.parse(Path(recount.__file__).read_text("utf-8"))
    names = [a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names]
    names += [str(n.module) for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)]
    assert not [name for name in names if name.split(".")[0] in {"konsil", "tests"}]


class Page(HTMLParser):
    """A report's tables by caption, as lists of texts, and its paragraphs; footnotes' marks are
    left out."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tables: dict[str, list[list[str]]] = {}
        self.texts: list[str] = []
        self._rows: list[list[str]] = []
        self._into: list[str] | None = None
        self._hidden = 0
        self._caption: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._hidden += tag in {"sup", "svg", "script", "style"}
        if tag == "table":
            self._rows, self._caption = [], []
        elif tag == "tr":
            self._rows.append([])
        elif tag in {"td", "th", "caption", "p", "li"}:
            self._into = []

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in {"sup", "svg", "script", "style"}
        if tag == "table":
            self.tables[re.sub(r"^Table \d+\.\s*", "", " ".join(self._caption))] = self._rows
        elif self._into is not None and tag in {"td", "th", "caption", "p", "li"}:
            text = " ".join(" ".join(self._into).split())
            if tag == "caption":
                self._caption = [text]
            elif tag in {"td", "th"} and self._rows:
                self._rows[-1].append(text)
            else:
                self.texts.append(text)
            self._into = None

    def handle_data(self, data: str) -> None:
        if self._into is not None and not self._hidden:
            self._into.append(data)

    def table(self, caption: str) -> list[dict[str, str]]:
        """The rows of one table by its column heads."""
        (head, *rows), *others = [t for c, t in self.tables.items() if c.startswith(caption)]
        assert not others and all(len(row) == len(head) for row in rows)
        return [dict(zip(head, row, strict=True)) for row in rows]

    def single(self, analysis: str) -> list[dict[str, str]]:
        """The row of an analysis in the tables of those that have one each."""
        captions = [c for c in self.tables if c.endswith("analyses with one estimate.")]
        return [r for c in captions for r in self.table(c) if r["Part"] == analysis]


class Demo:
    """What the demo's commands wrote."""

    def __init__(self, study: ReportedStudy) -> None:
        folder = study.folder
        self.records = Records(study.exported)
        self.rows = pd.read_csv(folder / "report" / "estimates.csv", keep_default_na=False)
        for column in ("value", "low", "high", "p", "p_adjusted"):
            self.rows[column] = pd.to_numeric(self.rows[column], errors="coerce")
        self.protocol = (folder / "study.toml").read_text("utf-8")
        self.page = Page((folder / "report" / "index.html").read_text("utf-8"))


@pytest.fixture(scope="module")
def demo(reported: Callable[[str], ReportedStudy]) -> Demo:
    return Demo(reported("demo"))


def grades(demo: Demo, panel: str, **equal: str) -> pd.DataFrame:
    return wide(demo.records.chosen("correctness", panel, **equal), GRADES)


def abstained(demo: Demo, panel: str) -> Number:
    chosen = demo.records.chosen("correctness", panel)
    table = wide(chosen.assign(label=chosen["state"], state="rated"), ["rated", "abstained"])
    return share_of(table, table.to_numpy() == 1)


def by_majority(demo: Demo, **equal: str) -> Number:
    table = grades(demo, "physicians", **equal)
    decided = pd.DataFrame({"majority": recount.majority(table.to_numpy(), 2)}, index=table.index)
    # A unit without a majority has no label; the raters behind it are the panel's.
    return share_of(decided, decided.to_numpy() == 1, raters=table.shape[1])


def number(demo: Demo, row: pd.Series) -> Number:
    """The number that a row of estimates.csv is of, recounted."""
    group = {
        c.removeprefix("group."): row[c]
        for c in demo.rows.columns
        if c.startswith("group.") and row[c]
    }
    versus = {
        c.removeprefix("versus."): row[c]
        for c in demo.rows.columns
        if c.startswith("versus.") and row[c]
    }
    of_system = {k: v for k, v in group.items() if k == "system"}
    match row["analysis"]:
        case "correct answers" | "correct answers by language":
            if row["method"].startswith("single ratings"):
                return minus(
                    by_single_ratings(demo, **group), by_single_ratings(demo, **{**group, **versus})
                )
            value = by_majority(demo, **group)
            return minus(value, by_majority(demo, **{**group, **versus})) if versus else value
        case "approvals by physicians" | "approvals by each judge":
            table = grades(demo, row["raters"], **group)
            return share_of(table, table.to_numpy() == 1)
        case "agreement of physicians, Gwet":
            return recount.gwet_ac1(grades(demo, "physicians"), 2)
        case "agreement on difficulty":
            return recount.ordinal_alpha(
                wide(demo.records.chosen("difficulty", "physicians"), STEPS), 3
            )
        case "agreement on difficulty within one step":
            table = wide(demo.records.chosen("difficulty", "physicians"), STEPS)
            return (
                chance(table)
                if row["method"].startswith("chance level")
                else among(table, 3, "within_one")
            )
        case "each physician against the others":
            return recount.against_rest(grades(demo, "physicians"), 2)
        case "each judge against the physicians":
            judges = grades(demo, "judges")
            parts = {
                j: recount.judge_and_ceiling(grades(demo, "physicians"), judges[j], 2)
                for j in judges
            }
            if row["kind"] == "difference":
                return parts[group["rater"]][2]
            if group["rater"] in parts:
                return parts[group["rater"]][0]
            # A ceiling stands below its judge's row.
            value = demo.rows.loc[: row.name]  # type: ignore[misc]
            last = value[
                (value["analysis"] == row["analysis"]) & value["group.rater"].isin(list(parts))
            ].iloc[-1]
            return parts[last["group.rater"]][1]
        case "physicians against themselves":
            return recount.repeated(demo.records, "correctness", "physicians")
        case "abstentions of physicians" | "abstentions of judges":
            return abstained(demo, row["raters"])
        case _:
            return among(grades(demo, "physicians", **of_system), 2, row["statistic"])


def by_single_ratings(demo: Demo, **group: str) -> Number:
    """The mean over answers of the share of single ratings that call them correct."""
    table = grades(demo, "physicians", **group)
    codes = table.to_numpy()
    is_rated = codes >= 0
    n = is_rated.sum(axis=1)
    own = np.where(n > 0, (codes == 1).sum(axis=1) / np.maximum(n, 1), 0.0)
    sums, items = recount.by_item(table, np.column_stack([own, n > 0]))
    raters = int(is_rated.any(axis=0).sum())
    return Number(
        sums, lambda t: t[..., 0] / t[..., 1], int((n > 0).sum()), raters, int(n.sum()), items
    )


def chance(table: pd.DataFrame) -> Number:
    """How often two labels drawn from all labels given are at most one step apart."""
    codes = table.to_numpy()
    counts = np.stack([(codes == label).sum(axis=1) for label in range(3)], axis=1)
    sums, items = recount.by_item(table, counts)
    near = np.abs(np.arange(3)[:, None] - np.arange(3)) <= 1

    def value(t: np.ndarray) -> np.ndarray:
        p = t / t.sum(axis=-1, keepdims=True)
        return (p[..., :, None] * p[..., None, :] * near).sum(axis=(-1, -2))

    return Number(sums, value, len(codes), codes.shape[1], int((codes >= 0).sum()), items)


def test_every_value_and_every_count(demo: Demo) -> None:
    assert len(demo.rows) > 60
    for _, row in demo.rows.iterrows():
        recounted = number(demo, row)
        what = (row["analysis"], row["kind"], dict(row.filter(like="group.")), row["method"])
        assert row["value"] == pytest.approx(recounted.value, abs=1e-9), what
        assert (row["n_units"], row["n_raters"], row["n_ratings"], row["n_clusters"]) == (
            recounted.units,
            recounted.raters,
            recounted.ratings,
            recounted.clusters,
        ), what


def test_values_are_those_of_other_packages(demo: Demo) -> None:
    """The recount itself against krippendorff and statsmodels."""
    import krippendorff
    from statsmodels.stats.inter_rater import cohens_kappa

    hard = wide(demo.records.chosen("difficulty", "physicians"), STEPS).to_numpy()
    alpha = krippendorff.alpha(
        reliability_data=np.where(hard < 0, np.nan, hard).T,
        level_of_measurement="ordinal",
        value_domain=[0, 1, 2],
    )
    value = demo.rows.set_index("analysis")["value"]
    assert value["agreement on difficulty"].iloc[0] == pytest.approx(alpha, abs=1e-9)
    table = grades(demo, "physicians")
    kappas = []
    for a in range(5):
        for b in range(a):
            both = table[(table.iloc[:, a] >= 0) & (table.iloc[:, b] >= 0)]
            square = pd.crosstab(both.iloc[:, a], both.iloc[:, b]).reindex(
                index=[0, 1], columns=[0, 1], fill_value=0
            )
            kappas.append(cohens_kappa(square.to_numpy()).kappa)
    assert value["agreement of physicians, all systems"].iloc[0] == pytest.approx(
        np.mean(kappas), abs=1e-9
    )


def test_ac1_is_that_of_another_package(demo: Demo) -> None:
    raw = pytest.importorskip("irrCAC.raw")
    numbers = grades(demo, "physicians").reset_index(drop=True).astype(float)
    ac1 = raw.CAC(numbers.where(numbers >= 0), categories=[0.0, 1.0]).gwet()["est"][
        "coefficient_value"
    ]
    (row,) = demo.rows[demo.rows["statistic"] == "gwet_ac1"]["value"].unique()
    assert row == pytest.approx(ac1, abs=1e-5)


def test_every_interval_by_the_method_that_its_row_names(demo: Demo) -> None:
    checked: dict[str, int] = {}
    for _, row in demo.rows.iterrows():
        assert row["low"] <= row["value"] <= row["high"], row["analysis"]
        method = re.sub(
            r"^(paired difference|difference of independent groups), ", "", row["method"]
        )
        method = re.sub(r", truncated at the (smallest|largest) possible value$", "", method)
        recounted = recount.interval(number(demo, row), method)
        if recounted is None:
            continue
        low, high, tolerance = recounted
        what = (row["analysis"], dict(row.filter(like="group.")), row["method"])
        least = -1 if row["kind"] == "difference" or "kappa" in row["statistic"] else 0
        least = -1 if any(row.filter(like="versus.")) else least
        assert row["low"] == pytest.approx(max(low, least), abs=tolerance), what
        assert row["high"] == pytest.approx(min(high, 1), abs=tolerance), what
        checked[row["method"].split(",")[0]] = checked.get(row["method"].split(",")[0], 0) + 1
    # Methods that are not recounted: permutations, partly paired scores, raters as clusters, logits
    # of shares.
    assert sum(checked.values()) >= 60, checked


def test_only_the_numbers_that_the_top_names_are_about_these_raters_alone(demo: Demo) -> None:
    (top,) = [t for t in demo.page.texts if t.startswith("Target of inference")]
    assert (
        "for judges, for a panel's consensus, for each rater against the others, from fewer"
        " than 3 raters, or by statistics without a two-way method" in top
    )
    stated = {a["name"]: a for a in tomllib.loads(demo.protocol)["analyses"]}
    for _, row in demo.rows[demo.rows["kind"] != "companion"].iterrows():
        analysis = stated[row["analysis"]]
        alone = (
            analysis["raters"] == "judges"
            or "consensus" in analysis
            or analysis.get("against") == "rest"
        )
        assert row["target"] == ("these raters" if alone else "raters like these"), row["analysis"]


def test_p_values_of_independent_shares(demo: Demo) -> None:
    checked = 0
    for _, row in demo.rows[demo.rows["p"].notna()].iterrows():
        p = recount.p_value(number(demo, row), row["method"])
        if p is not None:
            assert row["p"] == pytest.approx(p, abs=1e-6)
            checked += 1
    assert checked >= 3


def test_holms_adjustment_is_over_all_prespecified_tests(demo: Demo) -> None:
    tested = demo.rows[demo.rows["p"].notna() & (demo.rows["kind"] != "companion")]
    family = tested[tested["declared"].astype(str).str.lower() == "true"]
    assert len(family) == 6
    expected = recount.holm(family["p"].to_dict())
    assert family["p_adjusted"].to_dict() == pytest.approx(expected)
    assert tested.drop(family.index)["p_adjusted"].isna().all()


# The page -----------------------------------------------------------------------------------------


def plain(text: str) -> str:
    return (
        text.replace("\N{MINUS SIGN}", "-")
        .replace("\N{NARROW NO-BREAK SPACE}", "")
        .replace("\N{NO-BREAK SPACE}", " ")
    )


def shows(text: str, value: float) -> bool:
    """Whether a printed number is this one, to its last printed digit."""
    text = plain(text).strip()
    if text.startswith("<"):
        return value < float(text[1:])
    digits = len(text.partition(".")[2])
    return abs(float(text) - value) <= 0.5000001 * 10.0**-digits


def shows_estimate(text: str, row: pd.Series) -> bool:
    numbers = re.findall(r"-?\d+(?:\.\d+)?", plain(text))
    values = [row["value"], row["low"], row["high"]][3 - len(numbers) :]
    return len(numbers) in {2, 3} and all(shows(n, v) for n, v in zip(numbers, values, strict=True))


COUNTS = {
    "Units": "n_units",
    "Raters": "n_raters",
    "Ratings": "n_ratings",
    "Clusters": "n_clusters",
}


def rows_of(demo: Demo, analysis: str, kind: str) -> list[tuple[pd.Series, list[pd.Series]]]:
    """Rows of one kind, each with the companions below it."""
    pairs: list[tuple[pd.Series, list[pd.Series]]] = []
    for _, row in demo.rows[demo.rows["analysis"] == analysis].iterrows():
        if row["kind"] == "companion" and pairs:
            pairs[-1][1].append(row)
        elif row["kind"] != "companion":
            pairs.append((row, []))
    return [pair for pair in pairs if pair[0]["kind"] == kind]


@pytest.mark.parametrize(
    ("kind", "title"), [("estimate", "Estimates"), ("difference", "ifferences")]
)
def test_the_pages_tables_show_the_rows(demo: Demo, kind: str, title: str) -> None:
    analyses = list(dict.fromkeys(demo.rows[demo.rows["kind"] == kind]["analysis"]))
    for analysis in analyses:
        rows = rows_of(demo, analysis, kind)
        captions = [c for c in demo.page.tables if title in c and f"analysis “{analysis}”" in c]
        shown = demo.page.table(captions[0]) if captions else demo.page.single(analysis)
        assert len(shown) == len(rows)
        for cells, (row, companions) in zip(shown, rows, strict=True):
            for head, text in cells.items():
                what = (analysis, head, text)
                if head.endswith("[95% CI]"):
                    assert shows_estimate(text, row), what
                elif head == "Units" and kind == "difference" and row["n_units_versus"] != "":
                    both = [row["n_units"], float(row["n_units_versus"])]
                    assert all(
                        shows(n, of) for n, of in zip(text.split(" / "), both, strict=True)
                    ), what
                elif (head in COUNTS and kind == "estimate") or head in {"Units", "Clusters"}:
                    assert shows(text, row[COUNTS[head]]), what
                elif head in {"p", "p (Holm)"}:
                    value = row["p" if head == "p" else "p_adjusted"]
                    assert (
                        shows(text, value) if math.isfinite(value) else not re.search(r"\d", text)
                    ), what
                elif head == "Other CIs":
                    parts = [p for p in text.split("; ") if p != "–"]
                    assert len(parts) == len(companions), what
                    for part, companion in zip(parts, companions, strict=True):
                        interval = re.search(r"(?:[\d.]+ )?\[.*\]$", part)
                        assert interval and shows_estimate(interval[0], companion), what
                elif re.search(r"\d", text) and "[" in text:
                    # A panel's own ceiling is a group of that name, in the row after the judge's
                    # difference.
                    name = re.sub(r"(.*), leave-one-out", r"leave_one_out:\1", head)
                    ceilings = [
                        c for _, c in demo.rows[demo.rows["group.rater"] == name].iterrows()
                    ]
                    assert any(shows_estimate(text, c) for c in (*companions, *ceilings)), what
                else:
                    names = {
                        analysis,
                        "–",
                        *(
                            str(v)
                            for c, v in row.items()
                            if str(c).startswith(("group.", "versus.")) and v
                        ),
                    }
                    assert set(plain(text).split(" - ")) <= {
                        *names,
                        "leave-one-out",
                        cells.get("Statistic", ""),
                    }, what


def test_the_study_flow_and_the_tables_of_material(demo: Demo) -> None:
    records = demo.records
    ratings, tasks = records.ratings, records.tasks
    panel_of = dict(zip(records.raters["id"], records.raters["panel"], strict=True))
    for cells in demo.page.table("Completeness of ratings by panel, criterion and system"):
        system = cells["System"] if cells["System"].startswith("system") else ""
        part = ratings[
            (ratings["panel"] == cells["Panel"])
            & (ratings["criterion"] == cells["Criterion"])
            & ((ratings["system"] == system) | (system == ""))
        ]
        asked = tasks[tasks["rater"].map(panel_of) == cells["Panel"]]
        n = len(asked) if not system else int(asked["answers"].str.contains(f":{system}").sum())
        rated, abstained = (int((part["state"] == s).sum()) for s in ("rated", "abstained"))
        printed = [
            int(plain(cells[c])) for c in ("Expected", "Rated", "Abstained", "Invalid", "Missing")
        ]
        assert printed == [n, rated, abstained, 0, n - rated - abstained]
    for cells in demo.page.table("Raters and their work"):
        part = ratings[ratings["panel"] == cells["Panel"]]
        screens = part.groupby(["task", "rater"])["seconds"].first().astype(float)
        printed = [int(plain(cells[c])) for c in ("With ratings", "Ratings", "Screens")]
        assert printed == [part["rater"].nunique(), len(part), len(screens)]
        spread = re.findall(r"[\d.]+", plain(cells["Seconds per page"]))
        assert all(
            near(t, q) for t, q in zip(spread, screens.quantile([0.5, 0.25, 0.75]), strict=True)
        )
    strata = pd.DataFrame(records.strata).T
    for cells in demo.page.table("Items by set and characteristic"):
        stratum, value = cells[""], cells["Value"]
        expected = len(strata) if stratum == "All items" else int((strata[stratum] == value).sum())
        assert int(cells["Items"]) == expected
    for cells in demo.page.table("Systems and their answers"):
        part = records.answers[records.answers["system"] == cells["System"]]["text"]
        assert int(cells["Answers"]) == len(part)
        for head, lengths in (
            ("Words", part.str.split().str.len()),
            ("Characters", part.str.len()),
        ):
            spread = re.findall(r"[\d.]+", plain(cells[f"{head} per answer"]))
            assert all(
                near(t, q) for t, q in zip(spread, lengths.quantile([0.5, 0.25, 0.75]), strict=True)
            )
    for cells in demo.page.table("Completeness of LLM judge ratings, by judge"):
        part = tasks[tasks["rater"] == cells["Judge"]]
        done = part["id"].isin(ratings["task"])
        printed = [
            int(cells[c]) for c in ("Tasks", "rated, call not recorded", ("Without a rating"))
        ]
        assert printed == [len(part), done.sum(), (~done).sum()] and shows(
            cells["Proportion without a rating"], (~done).mean()
        )


def near(text: str, value: float) -> bool:
    """Two significant digits."""
    return abs(float(text) - value) <= 0.0500001 * 10 ** math.floor(math.log10(value))


def test_the_summary(demo: Demo) -> None:
    records = demo.records
    (sentence,) = [t for t in demo.page.texts if t.startswith("60 items")]
    states = records.ratings["state"].value_counts()
    asked = demo.rows.drop_duplicates("analysis")["declared"].astype(str).str.lower()
    assert [int(n) for n in re.findall(r"\d+", plain(sentence))] == [
        len(records.items),
        len(records.answers),
        records.answers["system"].nunique(),
        len(records.raters),
        records.raters["panel"].nunique(),
        states["rated"],
        states["abstained"],
        0,
        0,
        len(asked),
        (asked == "true").sum(),
    ]


def test_the_first_answer(demo: Demo) -> None:
    """The first sentence has the largest difference that is shown, in the numbers of the file."""
    sentence = next(plain(t) for t in demo.page.texts if t.startswith("More answers of"))
    rows = demo.rows[(demo.rows["analysis"] == "correct answers")]
    pair = rows[(rows["group.system"] == "system-a") & (rows["versus.system"] == "system-c")]
    (difference,) = [row for _, row in pair[pair["kind"] == "difference"].iterrows()]
    assert difference["p_adjusted"] < 0.001
    assert abs(difference["value"]) == rows[rows["kind"] == "difference"]["value"].abs().max()
    numbers = [float(n) for n in re.findall(r"\d+\.\d+(?=%| percentage| to|;)", sentence)]
    values = {
        row["group.system"]: row["value"] for _, row in rows[rows["kind"] == "estimate"].iterrows()
    }
    expected = (
        values["system-a"],
        values["system-c"],
        difference["value"],
        difference["low"],
        difference["high"],
    )
    assert numbers[:5] == [pytest.approx(100 * x, abs=0.05) for x in expected]


def test_short_tables_name_their_lines_of_the_data(demo: Demo) -> None:
    checked = 0
    for caption, (head, *lines) in demo.page.tables.items():
        if not head or head[-1] != "Line of the data":
            continue
        for line in lines:
            row = demo.rows.iloc[int(line[-1]) - 2]
            printed = plain(line[head.index("Estimate [95% CI]")])
            ends = [float(n) for n in re.findall(r"-?\d+\.\d+", printed)]
            scale = 100 if row["statistic"] in {"share", "abstention"} else 1
            expected = [scale * row[name] for name in ("value", "low", "high")]
            assert ends == [pytest.approx(x, abs=0.051) for x in expected], (caption, line)
            checked += 1
    assert checked >= 12


def test_counts_in_sentences(demo: Demo) -> None:
    """Units without a majority, raters and ratings of the methods, and by how much raters widen an
    interval."""
    table = grades(demo, "physicians")
    tied = recount.majority(table.to_numpy(), 2) < 0
    texts = [plain(t) for t in demo.page.texts]
    assert tied.sum() == 2 and any(
        f"{tied.sum()} of {len(table)} units have no panel majority" in t for t in texts
    )
    by_system = (
        pd.Series(tied, index=table.index)
        .groupby(table.index.get_level_values("answer").str[-8:])
        .sum()
    )
    for row, _ in rows_of(demo, "correct answers", "estimate"):
        n = by_system[row["group.system"]]
        assert (f"(excluded): {n}." in row["warnings"]) == bool(n) and (
            n > 0 or not row["warnings"]
        )
    ratings = demo.records.ratings
    methods = next(t for t in texts if "rated by" in t and "items" in t)
    panels = ratings.groupby("panel")["rater"].agg(["nunique", "size"])
    for panel, (raters, n) in panels.iterrows():
        assert re.search(rf"{raters} {panel} \({n:,} ratings\)".replace(",", ",?"), methods)
    assert f"{ratings['item'].nunique()} items were rated by" in methods
    assert f"{(ratings['state'] == 'abstained').sum()} abstentions were treated" in methods
    for _, row in demo.rows[demo.rows["warnings"].str.contains("widens the CI by")].iterrows():
        of_row = (demo.rows["analysis"] == row["analysis"]) & (
            demo.rows["criterion"] == row["criterion"]
        )
        for column in row.filter(regex=r"^(group|versus)\.").index:
            of_row &= demo.rows[column] == row[column]
        is_two_way = demo.rows["method"].str.contains("two-way")
        wide_, narrow = (
            demo.rows[of_row & is_two_way].iloc[0],
            demo.rows[of_row & ~is_two_way].iloc[0],
        )
        assert (wide_["target"], narrow["target"]) == ("raters like these", "these raters")
        # Of judges no other raters are in question.
        whom = "these raters" if row["raters"] == "judges" else "raters like these"
        assert row["kind"] != "companion" and row["target"] == whom
        wider = (wide_["high"] - wide_["low"]) / (narrow["high"] - narrow["low"]) - 1
        assert (
            abs(int(re.findall(r"widens the CI by (\d+)%", row["warnings"])[0]) - 100 * wider)
            <= 0.5
        )


def test_recovery_shows_the_same_estimates_and_counts_what_holds(demo: Demo) -> None:
    shown = demo.page.table("True values of the simulation")
    held = 0
    for cells in shown:
        truth, (value, low, high) = (
            float(plain(cells["True value"])),
            map(float, re.findall(r"-?\d\.\d+", plain(cells["Estimate and interval"]))),
        )
        row = demo.rows[
            (demo.rows["analysis"] == cells["Group"])
            & (demo.rows["value"] - value).abs().lt(5.1e-4)
        ]
        assert len(row[(row["low"] - low).abs().lt(5.1e-4) & (row["high"] - high).abs().lt(5.1e-4)])
        held += cells["CI contains true value"] == "yes"
        assert (low - 5e-4 <= truth <= high + 5e-4) == (cells["CI contains true value"] == "yes")
    sentence = next(plain(t) for t in demo.page.texts if "CIs contain the true value" in t)
    assert [int(n) for n in re.findall(r"\d+", sentence)[:2]] == [held, len(shown)]
