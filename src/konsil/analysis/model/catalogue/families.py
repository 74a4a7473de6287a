"""Headings of the families of statistics, for every list of them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from konsil.errors.message import TranslatableMessage, message

FAMILY_TITLES: Mapping[str, TranslatableMessage] = MappingProxyType(
    {
        "agreement": message(
            "Inter-rater and intra-rater agreement", message_id="family.agreement"
        ),
        "shares": message("Proportions, means and abstentions", message_id="family.shares"),
        "judges": message("LLM judges compared with experts", message_id="family.judges"),
        "pairs": message("Pairwise comparisons of answers", message_id="family.pairs"),
        "cases": message("Cases with progressively masked information", message_id="family.cases"),
        "designs": message("Whole answers or single sentences", message_id="family.designs"),
    }
)
"""Family -> its heading."""
