"""A small simulated study of each protocol: every count of its ratings, and the values of its
simpler statistics, recounted from the exported CSV and study.toml by code that has nothing of
konsil."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.golden import recount
from tests.golden.recount import Records
from tests.small_protocols import SMALL

from reported_studies import ReportedStudy

pytestmark = pytest.mark.slow

CHECKED = {"medqade": 35, "real-pocqi": 350, "clexeval": 75, "cqa-eval": 45}
"""At least so many rows of estimates are recounted."""


class Study:
    """What a protocol's commands wrote, and its study.toml as plain data."""

    def __init__(self, study: ReportedStudy) -> None:
        folder = study.folder
        self.toml: dict[str, Any] = tomllib.loads((folder / "study.toml").read_text("utf-8"))
        self.records = Records(study.exported)
        self.rows = pd.read_csv(
            folder / "report" / "estimates.csv", keep_default_na=False, dtype=str
        )
        self.coverage = pd.read_csv(
            folder / "report" / "coverage.csv", keep_default_na=False, dtype=str
        )
        self.criteria = {
            (i["id"], c["id"]): c for i in self.toml["instruments"] for c in i["criteria"]
        }
        self.sets = {
            i: json.loads(s)
            for i, s in zip(self.records.items["id"], self.records.items["sets"], strict=True)
        }
        events = pd.read_csv(study.exported / "events.csv", keep_default_na=False)
        for event in (json.loads(data) for data in events[events["kind"] == "sampling"]["data"]):
            for part, strata in event["drawn"].items():
                for item, stratum in (
                    (i, stratum) for stratum, members in strata.items() for i in members
                ):
                    self.sets[item].append(part)
                    if event["by"]:
                        self.records.strata[item][event["by"]] = stratum
        rules = self.toml.get("exclusions", {})
        ratings = self.records.ratings
        seconds = pd.to_numeric(ratings["seconds"], errors="coerce")
        fast = (ratings["kind"] == "human") & (
            (seconds < rules.get("min_seconds", 0))
            | (seconds.isna() & rules.get("require_seconds", False))
        )
        self.excluded = ratings["purpose"].isin(["practice", "pilot"]) | fast
        self.records.ratings = ratings.assign(excluded=self.excluded)

    def scale(self, criterion: str) -> dict[str, Any]:
        return next(c["scale"] for (_, name), c in self.criteria.items() if name == criterion)


@pytest.fixture(scope="module", params=sorted(SMALL))
def study(
    request: pytest.FixtureRequest, reported: Callable[[str], ReportedStudy]
) -> tuple[str, Study]:
    return request.param, Study(reported(request.param))


SURVEYS = {"batch", "phase", "rater"}


def expected(recounted: Study) -> dict[tuple[str, str, str], int]:
    """How many labels the tasks ask for, by panel, criterion and system, from the protocol's
    scopes."""
    records = recounted.records
    whose = dict(zip(records.answers["id"], records.answers["system"], strict=True))
    panel_of = dict(zip(records.raters["id"], records.raters["panel"], strict=True))
    asked: dict[str, list[dict[str, Any]]] = {
        i["id"]: i["criteria"] for i in recounted.toml["instruments"]
    }
    by_sentence = {i["id"] for i in recounted.toml["instruments"] if i.get("present") == "sentence"}
    tasks = records.tasks[records.tasks["rater"] != ""]
    parts = tasks["answers"].map(json.loads)
    several = tasks.assign(set=parts.map(lambda a: tuple(sorted(a)))).groupby(
        ["instrument", "rater", "item"]
    )["set"]
    many = {key[0] for key, n in several.nunique().items() if n > 1}
    counts: dict[tuple[str, str, str], int] = {}
    for (_, task), answers in zip(tasks.iterrows(), parts, strict=True):
        systems = [whose[a] for a in answers]
        together = " | ".join(sorted(systems))
        mixed = len({c.get("scope", "answer") for c in asked[task["instrument"]]}) > 1
        for criterion in asked[task["instrument"]]:
            scope = criterion.get("scope", "answer")
            of: list[str] = []
            if criterion["scale"].get("kind") == "text":
                continue
            # One marked sentence a page, then a page of the answer as a whole.
            is_of_sentence = task["instrument"] in by_sentence and bool(json.loads(task["spans"]))
            is_on_page = is_of_sentence == (scope == "sentence")
            if task["item"] and task["instrument"] in by_sentence and not is_on_page:
                continue
            if not task["item"]:
                of = (
                    [""]
                    if scope in SURVEYS and (not mixed or (scope == "batch") == bool(task["batch"]))
                    else []
                )
            elif scope == "answer":
                of = systems
            elif scope == "sentence":
                of = systems * len(json.loads(task["spans"]))
            elif scope == "pair":
                of = [together]
            elif scope in {"item", "task"}:
                of = [together if scope == "task" and task["instrument"] in many else ""]
            for system in of:
                key = (panel_of[task["rater"]], criterion["id"], system)
                counts[key] = counts.get(key, 0) + 1
    return counts


def test_every_count_of_the_study_flow(study: tuple[str, Study]) -> None:
    _, recounted = study
    asked = expected(recounted)
    ratings = recounted.records.ratings.copy()
    shown = dict(
        zip(
            recounted.records.tasks["id"],
            recounted.records.tasks["answers"].map(json.loads),
            strict=True,
        )
    )
    whose = dict(
        zip(recounted.records.answers["id"], recounted.records.answers["system"], strict=True)
    )
    of_screens = {key for key, c in recounted.criteria.items() if c.get("scope") == "task"}
    ratings["system"] = [
        (
            " | ".join(sorted(whose[a] for a in shown[r.task]))
            if (r.instrument, r.criterion) in of_screens
            else " | ".join(sorted(r.system.split(" | ")))
        )
        for r in ratings.itertuples()
    ]
    plain = {
        c for (_, c), entry in recounted.criteria.items() if entry["scale"].get("kind") != "text"
    }
    flow = recounted.coverage[recounted.coverage["criterion"].isin(plain)]
    assert {(r.panel, r.criterion, r.system) for r in flow.itertuples()} == set(asked)
    reasons = [c for c in flow.columns if c.startswith("excluded.")]
    for _, row in flow.iterrows():
        key = (row["panel"], row["criterion"], row["system"])
        of_row = ratings[
            (ratings["panel"] == key[0])
            & (ratings["criterion"] == key[1])
            & ((ratings["system"] == key[2]) | (key[2] == ""))
        ]
        used = of_row[~of_row["excluded"]]
        counts = (
            asked[key],
            (used["state"] == "rated").sum(),
            (used["state"] == "abstained").sum(),
        )
        assert (int(row["expected"]), int(row["rated"]), int(row["abstained"])) == counts, key
        assert sum(int(row[c]) for c in reasons) == of_row["excluded"].sum(), key
        assert int(row["missing"]) == asked[key] - len(of_row), key


# Values -------------------------------------------------------------------------------------------


class NotRecountedError(Exception):
    """A row whose statistic or settings are not recounted here."""


KNOWN = {
    "question",
    "question_kind",
    "name",
    "statistic",
    "criterion",
    "raters",
    "prespecified",
    "items",
    "by",
    "compare",
    "arm",
    "where",
    "test",
    "collapse",
    "labels",
    "of",
    "consensus",
    "spans",
    "cluster",
    "tiebreak",
    "pass_line",
    "margin",
    "correct",
    "mode",
}


def selected(recounted: Study, asked: dict[str, Any], group: dict[str, str]) -> pd.DataFrame:
    """The ratings of one group of an analysis."""
    panels = recounted.toml.get("together", {}).get(asked["raters"], [asked["raters"]])
    rows = recounted.records.ratings
    rows = rows[
        ~rows["excluded"] & (rows["criterion"] == asked["criterion"]) & rows["panel"].isin(panels)
    ]
    if asked["statistic"] != "self_agreement":
        rows = rows[rows["purpose"] != "repeat"]
    wanted = {c: list(v) for c, v in asked.get("where", {}).items()} | {
        c: [v] for c, v in group.items()
    }
    if "arm" in asked:
        wanted["arm"] = [asked["arm"]]
    for column, values in wanted.items():
        column_values = rows.get(column)
        if column_values is None:
            if not any(column in s for s in recounted.records.strata.values()):
                raise NotRecountedError(column)
            column_values = rows["item"].map(
                lambda i, c=column: recounted.records.strata.get(i, {}).get(c)
            )
        rows = rows[column_values.astype(str).isin([str(v) for v in values])]
    if asked.get("items"):
        rows = rows[rows["item"].map(lambda i: asked["items"] in recounted.sets.get(i, []))]
    return rows


def coded(
    recounted: Study, asked: dict[str, Any], chosen: pd.DataFrame
) -> tuple[pd.DataFrame, list[str], list[float]]:
    """Units by rater as codes, the labels, and their numbers."""
    scale = recounted.scale(asked["criterion"])
    if scale.get("kind", "choice") != "choice":
        raise NotRecountedError("numbers")
    collapse = asked.get("collapse", {})
    after = [collapse.get(label, label) for label in scale["labels"]]
    labels = list(asked.get("labels") or dict.fromkeys(after))
    values = (
        scale.get("values") or list(range(len(labels)))
        if labels == after
        else list(range(len(labels)))
    )
    words = chosen.assign(label=chosen["label"].map(lambda x: collapse.get(x, x)))
    table = recount.wide(words, labels) if len(words) else pd.DataFrame()
    if asked.get("spans", "each") in {"all", "any"} and len(table):
        worst = (
            table.where(table >= 0)
            .groupby(level=["item", "answer"])
            .agg("min" if asked["spans"] == "all" else "max")
        )
        table = worst.fillna(-1).astype(int)
        table.index = pd.MultiIndex.from_tuples(
            [(*key, "") for key in table.index], names=["item", "answer", "span"]
        )
    elif asked.get("spans", "each") == "mean":
        raise NotRecountedError("means of sentences")
    return table, labels, [float(v) for v in values]


def pairs_alike(codes: np.ndarray, k: int) -> float:
    """The share of pairs of labels within a unit that agree, averaged over the units with two
    labels or more."""
    counts = np.stack([(codes == label).sum(axis=1) for label in range(k)], axis=1)
    n = counts.sum(axis=1)
    used = n > 1
    return float(((counts * (counts - 1)).sum(axis=1)[used] / (n * (n - 1))[used]).mean())


def alpha(codes: np.ndarray, k: int, level: str, values: list[float]) -> float:
    import krippendorff

    domain = [float(v) for v in (values if level in {"interval", "ratio"} else range(k))]
    data = np.where(codes < 0, np.nan, np.asarray(domain)[codes])
    return float(
        krippendorff.alpha(reliability_data=data.T, level_of_measurement=level, value_domain=domain)
    )


def quadratic(codes: np.ndarray, k: int, values: list[float]) -> float:
    """Quadratic kappa by scikit-learn's formula, averaged over the pairs of raters that have
    one."""
    kappas = []
    for a in range(codes.shape[1]):
        for b in range(a):
            both = (codes[:, a] >= 0) & (codes[:, b] >= 0)
            x, y = np.asarray(values)[codes[both, a]], np.asarray(values)[codes[both, b]]
            expected = ((x[:, None] - y) ** 2).mean() if len(x) else 0.0
            if expected > 0:
                kappas.append(1 - ((x - y) ** 2).mean() / expected)
    return float(np.mean(kappas))


def outcome(recounted: Study, chosen: pd.DataFrame) -> pd.DataFrame:
    """One row a comparison: the systems as stored and -1, 0 or 1 for the second, nobody or the
    first."""
    labels = recounted.scale(chosen["criterion"].iloc[0])["labels"]
    steps = chosen["label"].map(
        {label: (len(labels) - 1) / 2 - n for n, label in enumerate(labels)}
    )
    pair = chosen["system"].str.split(" | ", regex=False, expand=True)
    return pd.DataFrame({"first": pair[0], "second": pair[1], "step": steps})[
        (chosen["state"] == "rated").to_numpy()
    ]


def against(votes: pd.DataFrame, system: str, rival: str) -> np.ndarray:
    """Steps for a system in its comparisons with a rival."""
    ahead = votes[(votes["first"] == system) & (votes["second"] == rival)]["step"]
    other = votes[(votes["first"] == rival) & (votes["second"] == system)]["step"]
    return np.concatenate([ahead.to_numpy(), -other.to_numpy()])


def comparison(recounted: Study, asked: dict[str, Any], group: dict[str, str]) -> float:
    system, rival = group.pop("system", ""), group.pop("rival", "")
    votes = outcome(recounted, selected(recounted, asked, group))
    least = 1.5 if asked["statistic"].endswith("_strict") else 0.5
    if rival:
        steps = against(votes, system, rival)
        return float((steps >= least).mean())
    differences = []
    for other in sorted({*votes["first"], *votes["second"]} - {system}):
        steps = against(votes, system, other)
        if len(steps):
            differences.append(((steps >= least).sum() - (steps <= -least).sum()) / len(steps))
    return float(np.mean(differences))


def of_score(
    recounted: Study, asked: dict[str, Any], group: dict[str, str], score: dict[str, Any]
) -> float:
    """A statistic of each rater's mean over several criteria, where all of them are there."""
    parts = []
    for criterion in score["of"]:
        scale = recounted.scale(criterion)
        numbers = dict(zip(scale["labels"], scale["values"], strict=True))
        chosen = selected(recounted, {**asked, "criterion": criterion}, group)
        parts.append(chosen.assign(number=chosen["label"].map(numbers)))
    rows = pd.concat(parts)
    by_unit = rows.groupby(["item", "answers", "rater"])["number"].agg(["sum", "count"])
    whole = by_unit[by_unit["count"] == len(score["of"])]
    numbers = whole["sum"] / len(score["of"])
    if asked["statistic"] == "mean":
        return float(numbers.mean())
    if asked["statistic"] == "standard_deviation":
        return float(numbers.std(ddof=1))
    if asked["statistic"] == "krippendorff_alpha":
        import krippendorff

        table = numbers.round(12).unstack("rater").to_numpy()
        return float(krippendorff.alpha(reliability_data=table.T, level_of_measurement="interval"))
    raise NotRecountedError(asked["statistic"])


def value(recounted: Study, asked: dict[str, Any], group: dict[str, str]) -> float:
    """The value of one group of an analysis."""
    statistic = asked["statistic"]
    if set(asked) - KNOWN or asked.get("mode") == "paper":
        raise NotRecountedError(statistic)
    if statistic.startswith(("win_difference", "win_rate")):
        if (
            asked.get("consensus")
            or "length" in asked.get("by", [])
            or "arm" in asked.get("by", [])
        ):
            raise NotRecountedError(statistic)
        return comparison(recounted, asked, dict(group))
    score = next(
        (s for s in recounted.toml.get("scores", []) if s["id"] == asked["criterion"]), None
    )
    if score is not None:
        return of_score(recounted, asked, group, score)
    chosen = selected(recounted, asked, group)
    if statistic == "abstention":
        return float((chosen["state"] == "abstained").mean())
    table, labels, values = coded(recounted, asked, chosen)
    codes, k = table.to_numpy(), len(labels)
    level = recounted.scale(asked["criterion"]).get("level", "nominal")
    simple: dict[str, Callable[[], float]] = {
        "randolph_kappa": lambda: (k * pairs_alike(codes, k) - 1) / (k - 1),
        "krippendorff_alpha": lambda: alpha(codes, k, level, values),
        "cohen_kappa_quadratic": lambda: quadratic(codes, k, values),
        **{
            s: lambda s=s: recount.among(table, k, s).value
            for s in ("percent_agreement", "cohen_kappa", "pabak")
        },
    }
    if statistic in simple and asked.get("consensus", "none") == "none":
        return simple[statistic]()
    if statistic == "accuracy":
        numbers = np.where(codes >= 0, np.asarray(values)[codes], np.nan)
        mean = np.nanmean(numbers, axis=1)
        return float((mean >= asked.get("correct", 0.75) - 1e-9).mean())
    if statistic == "mean" and asked.get("consensus", "none") == "none":
        return float(np.asarray(values)[codes[codes >= 0]].mean())
    if statistic == "share" and asked.get("consensus", "none") in {"none", "majority"}:
        hits = [labels.index(x) for x in asked["of"]]
        if asked.get("consensus") == "majority":
            extra = {**asked, "raters": asked["tiebreak"]} if asked.get("tiebreak") else None
            codes = decided(
                codes,
                table,
                k,
                coded(recounted, extra, selected(recounted, extra, group))[0] if extra else None,
            )
        return float(np.isin(codes[codes >= 0], hits).mean())
    raise NotRecountedError(statistic)


def decided(
    codes: np.ndarray, table: pd.DataFrame, k: int, last: pd.DataFrame | None
) -> np.ndarray:
    """Strict majorities; where labels contradict one another without one, the tie-breaker's label
    joins them."""
    majority = recount.majority(codes, k)
    if last is None or not len(last):
        return majority
    more = last.reindex(table.index, fill_value=-1).to_numpy()
    torn = np.array(
        [majority[n] < 0 and len(set(row[row >= 0])) > 1 for n, row in enumerate(codes)], dtype=bool
    )
    joined = recount.majority(np.hstack([codes, np.where(torn[:, None], more, -1)]), k)
    return np.where(torn, joined, majority)


def test_values_of_the_simpler_statistics(study: tuple[str, Study]) -> None:
    name, recounted = study
    asked = {a["name"]: a for a in recounted.toml["analyses"]}
    checked: dict[str, int] = {}
    for _, row in recounted.rows[
        (recounted.rows["kind"] == "estimate") & (recounted.rows["value"] != "")
    ].iterrows():
        group = {
            c.removeprefix("group."): row[c]
            for c in recounted.rows.columns
            if c.startswith("group.") and row[c]
        }
        try:
            recounted_value = value(recounted, asked[row["analysis"]], group)
        except NotRecountedError:
            continue
        what = (row["analysis"], row["statistic"], group)
        assert float(row["value"]) == pytest.approx(recounted_value, abs=1e-9), what
        checked[row["statistic"]] = checked.get(row["statistic"], 0) + 1
    assert sum(checked.values()) >= CHECKED[name], checked
