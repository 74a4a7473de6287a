"""The headings under which the help and the reference list the commands."""

from __future__ import annotations

GROUPS = {
    "Design": (
        "demo",
        "new",
        "design",
        "check",
        "explain",
        "statistics",
        "codebook",
        "simulate",
        "power",
        "rehearse",
        "freeze",
    ),
    "Collect": (
        "import",
        "screen",
        "duplicates",
        "prepare",
        "mask",
        "probe",
        "rewrite",
        "themes",
        "curation",
        "answer",
        "plan",
        "judge",
        "serve",
        "kit",
        "accept",
        "close",
        "adjudication",
        "interim",
        "status",
        "local",
    ),
    "People": (
        "invite",
        "places",
        "withdraw",
        "succeed",
        "person",
        "erase",
    ),
    "Analyse": (
        "agreement",
        "preference",
        "analyse",
        "report",
        "unblind",
    ),
    "Data": (
        "export",
        "backup",
        "log",
        "verify-log",
    ),
}
"""Heading -> its commands, in the order in which a study needs them."""
