"""Declared analyses: the number frozen before the ratings that they use, and headings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from konsil.analysis.model.rows import PlanStatus
from konsil.errors.message import TranslatableMessage, listed, message


def declared(
    plan: Mapping[str, PlanStatus], names: Sequence[str], every: int
) -> TranslatableMessage:
    """How many analyses there are, how many of them are declared (`names`), and since when."""
    counts = Counter(plan.get(name, "not frozen") for name in names)
    if not names:
        return message(
            "The protocol specifies {n:,} {n|analysis|analyses}, all of them exploratory.",
            message_id="declared.none",
            n=every,
        )
    if set(counts) == {"prespecified"}:
        return message(
            (
                "The protocol specifies {n:,} {n|analysis|analyses}, {m:,} of them"
                " prespecified: they were frozen before the first rating that they use."
            ),
            message_id="declared.prespecified",
            n=every,
            m=len(names),
        )
    if set(counts) == {"not frozen"}:
        return message(
            (
                "The protocol specifies {n:,} {n|analysis|analyses} and declares {m:,} of them"
                " as its family; the analysis plan was not frozen and may have been written after"
                " data collection began."
            ),
            message_id="declared.not_frozen",
            n=every,
            m=len(names),
        )
    if set(counts) == {"retrospective"}:
        return message(
            (
                "The protocol specifies {n:,} {n|analysis|analyses} and declares {m:,} of them"
                " as its family; the ratings existed before."
            ),
            message_id="declared.retrospective",
            n=every,
            m=len(names),
        )
    parts: dict[PlanStatus, TranslatableMessage] = {
        "prespecified": message(
            "{n:,} frozen before the first rating that they use (prespecified)",
            message_id="declared.part_prespecified",
            n=counts["prespecified"],
        ),
        "frozen late": message(
            "{n:,} frozen after the first rating that they use",
            message_id="declared.part_late",
            n=counts["frozen late"],
        ),
        "frozen before import": message(
            "{n:,} frozen before the import of ratings without a recorded time",
            message_id="declared.part_import",
            n=counts["frozen before import"],
        ),
    }
    return message(
        (
            "The protocol specifies {n:,} {n|analysis|analyses} and declares {m:,} of them as"
            " its family: {how}."
        ),
        message_id="declared.mixed",
        n=every,
        m=len(names),
        how=listed([text for status, text in parts.items() if counts[status]]),
    )


def declared_heading(plan: Mapping[str, PlanStatus], names: Sequence[str]) -> TranslatableMessage:
    """The heading of the declared analyses.

    They are called prespecified only where all of them are.
    """
    if names and all(plan.get(name) == "prespecified" for name in names):
        return message("Prespecified analyses", message_id="declared.heading_prespecified")
    return message("Declared analyses", message_id="declared.heading")
