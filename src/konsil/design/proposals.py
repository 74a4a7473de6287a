"""Analyses that a design calls for, and those that a study has."""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from konsil.design.edits import Data
from konsil.design.wording import wording

Purpose = Literal["agreement", "mean", "share", "wins", "against", "against two", "repeats", "own"]
"""What an analysis is for; `own`: it stands in the file and was not proposed."""


@dataclass(frozen=True)
class Proposal:
    """One analysis that can be chosen."""

    purpose: Purpose
    entry: Data
    """The entry of [[analyses]]."""
    is_chosen: bool
    """Whether it is in the study."""
    panel: str = ""
    title: str = ""
    """The question that it is about."""
    label: str = ""
    """Of a proportion: the label that is counted."""
    other: str = ""
    """The panel that judges are compared with."""

    @property
    def name(self) -> str:
        """The analysis' name."""
        return str(self.entry["name"])


def proposals(data: Data, *, is_new: bool) -> tuple[Proposal, ...]:
    """The study's own analyses and the proposed ones that it does not have.

    Of a study without analyses all proposals are chosen.
    """
    present = data.get("analyses", [])
    entry_by_essence = {_essence(entry): entry for entry in present}
    suggested = list(_suggested(data))
    proposal_by_essence = {_essence(proposal.entry): proposal for proposal in suggested}
    named = {entry.get("name") for entry in present}
    listed = []
    for entry in present:
        match = proposal_by_essence.get(_essence(entry))
        listed.append(
            Proposal(
                match.purpose if match else "own",
                entry,
                True,
                str(entry.get("raters", "")),
                match.title if match else "",
                match.label if match else "",
                match.other if match else "",
            )
        )
    listed += [
        replace(proposal, is_chosen=is_new and not present)
        for proposal in suggested
        if _essence(proposal.entry) not in entry_by_essence and proposal.name not in named
    ]
    return tuple(listed)


def with_analyses(data: Data, names: Collection[str]) -> Data:
    """The study with the analyses of these names; those of the file stay as they are."""
    study = copy.deepcopy(data)
    chosen = [p.entry for p in proposals(data, is_new=False) if p.name in names]
    study["analyses"] = chosen
    if not chosen:
        del study["analyses"]
    return study


def _essence(entry: Data) -> str:
    keys = ("statistic", "criterion", "raters", "against", "by", "of")
    return repr([entry.get(key) or None for key in keys])


def _suggested(data: Data) -> Iterator[Proposal]:
    words = wording(data.get("language", "en"))
    kinds = {r["panel"]: r.get("kind", "human") for r in data.get("raters", ())}
    sizes = {p: sum(r["panel"] == p for r in data.get("raters", ())) for p in kinds}
    people = [panel for panel, kind in kinds.items() if kind == "human"]
    lines = [line for line in data.get("plan", ()) if line.get("purpose", "main") == "main"]
    for panel, criterion in _rated(data, list(kinds), lines):
        title = str(criterion.get("title") or criterion["question"]).rstrip("?")

        def proposal_of(
            purpose: Purpose, entry: Data, panel: str = panel, **about: str
        ) -> Proposal:
            title = about.pop("title")
            name = words[purpose].format(panel=panel, title=title, **about)
            return Proposal(purpose, {"name": name, **entry}, False, panel, title, **about)

        base = {"criterion": criterion["id"], "raters": panel}
        scale = criterion.get("scale", {})
        labels, is_number = scale.get("labels", []), scale.get("kind") == "number"
        is_ordered = is_number or scale.get("level", "nominal") != "nominal"
        if not labels and not is_number:
            continue
        scope = criterion.get("scope", "answer")
        if scope == "pair":
            entry = {"statistic": "win_difference", **base}
            yield proposal_of("wins", entry, title=title)
            continue
        if scope == "answer" and is_ordered:
            entry = {"statistic": "mean", **base, "by": ["system"], "compare": "system"}
            yield proposal_of("mean", entry, title=title)
        elif scope == "answer" and len(labels) == 2:
            entry = {"statistic": "share", "of": [labels[-1]], **base}
            entry |= {"by": ["system"], "compare": "system"}
            yield proposal_of("share", entry, title=title, label=labels[-1])
        if sizes[panel] > 1:
            statistic = "krippendorff_alpha" if is_ordered or len(labels) > 2 else "gwet_ac1"
            yield proposal_of("agreement", {"statistic": statistic, **base}, title=title)
        # One rater alone has no agreement that judges could be compared with.
        is_judged = kinds[panel] == "llm" and not is_number
        others = [p for p in people if sizes[p] > 1 and is_judged]
        for other in others:
            statistic = "cohen_kappa_quadratic" if is_ordered else "cohen_kappa"
            entry = {"statistic": statistic, **base, "against": other, "by": ["rater"]}
            # Of two raters there is no majority; their own agreement is what judges have to reach.
            purpose: Purpose = "against two" if sizes[other] == 2 else "against"
            yield proposal_of(purpose, entry, title=title, other=other)
        if any(line.get("repeats") and line["panel"] == panel for line in lines):
            entry = {"statistic": "self_agreement", **base, "prespecified": False}
            yield proposal_of("repeats", entry, title=title)


def _rated(data: Data, panels: list[str], lines: list[Data]) -> Iterator[tuple[str, Data]]:
    """Panels with the criteria that they rate: by the plan, or all where ratings are imported."""
    for instrument in data.get("instruments", ()):
        for criterion in instrument.get("criteria", ()):
            if criterion.get("scope", "answer") not in ("item", "answer", "pair"):
                continue
            for panel in panels:
                planned = any(
                    (line["panel"], line["instrument"]) == (panel, instrument["id"])
                    for line in lines
                )
                if planned or not lines:
                    yield panel, criterion
