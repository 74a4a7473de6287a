"""Analyses from flat settings, as study.toml states them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from konsil.analysis import Analysis
from konsil.analysis.model.catalogue.known import statistic_of
from konsil.analysis.model.options import keys_of


def flat_analysis(
    name: str, statistic: str, criterion: str, raters: str = "experts", **settings: Any
) -> Analysis:
    """An analysis; settings that its family's options have become part of them."""
    kind = statistic_of(statistic).options_kind
    own = {key: settings.pop(key) for key in keys_of(kind) if key in settings}
    return Analysis(name, statistic, criterion, raters, options=kind(**own), **settings)


def restated(analysis: Analysis, **settings: Any) -> Analysis:
    """The analysis with other settings, its family's options among them.

    Of another family's statistic only what both families' options have is taken over.
    """
    kind = statistic_of(settings.get("statistic", analysis.statistic)).options_kind
    options = {key: getattr(analysis.options, key) for key in keys_of(type(analysis.options))}
    options |= {key: settings.pop(key) for key in {*options, *keys_of(kind)} & settings.keys()}
    own = {key: value for key, value in options.items() if key in keys_of(kind)}
    return replace(analysis, options=kind(**own), **settings)
