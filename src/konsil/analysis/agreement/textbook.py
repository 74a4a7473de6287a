"""CIs from closed-form standard errors of independent units, for comparison.

Other programs print these intervals.
"""

from __future__ import annotations

from dataclasses import replace
from statistics import NormalDist

import numpy as np

from konsil.analysis.agreement.agreement_limits import computed_from_margins
from konsil.analysis.estimation.agreement_scales import spaced
from konsil.analysis.estimation.own_weights import Weights as OwnOrNamed
from konsil.analysis.model.sample import Sample
from konsil.errors.message import message
from konsil.stats.agreement.alpha import Level
from konsil.stats.agreement.standard_errors import Coefficient, cohen_kappa_se, standard_error
from konsil.stats.engine.contract import Estimate
from konsil.stats.engine.distances import Weights
from konsil.stats.engine.tables import pair_tables

_KAPPAS: dict[str, Weights] = {
    "cohen_kappa": "unweighted",
    "cohen_kappa_linear": "linear",
    "cohen_kappa_quadratic": "quadratic",
}
"""Weights of Cohen's kappa by the statistic's name."""

_MANY_RATERS: dict[str, Coefficient] = {
    "fleiss_kappa": "fleiss_kappa",
    "conger_kappa": "conger_kappa",
    "gwet_ac1": "gwet_ac",
}
"""Coefficients of several raters with a standard error of Gwet's."""

_LARGEST = 20_000_000
"""Labels times ratings beyond which the formula's arrays are not made."""


def closed_form(
    sample: Sample, name: str, level: Level, headline: Estimate, *, weights: OwnOrNamed = ""
) -> Estimate | None:
    """The estimate with a closed-form standard error and normal limits.

    None where there is no formula or no spread.

    Cohen's kappa of two raters: Fleiss, Cohen and Everitt 1969. Fleiss' and Conger's kappa and AC1:
    Gwet 2014. Units are taken as independent, whatever their clusters.
    """
    codes = spaced(sample.codes, name, level)
    # The formulas need every two labels, of which long scales have too many.
    if not np.isfinite(headline.value) or computed_from_margins(codes, name):
        return None
    if name in _KAPPAS and codes.labels.shape[1] == 2:
        table = pair_tables(codes).sum(axis=0)
        counts = np.asarray(table, dtype=np.float64).reshape(codes.n_labels, codes.n_labels)
        se = cohen_kappa_se(counts, weights or _KAPPAS[name], codes.values)
        method = message(
            "closed-form standard error (Fleiss, Cohen and Everitt), independent units",
            message_id="table.closed_form_kappa",
        )
    elif name in _MANY_RATERS and not weights and codes.labels.size * codes.n_labels <= _LARGEST:
        se = standard_error(_MANY_RATERS[name], codes)
        method = message(
            "closed-form standard error (Gwet), independent units",
            message_id="table.closed_form_gwet",
        )
    else:
        return None
    # A standard error of zero makes an interval without width, which would claim certainty.
    if not se > 1e-12:
        return None
    reach = NormalDist().inv_cdf((1 + headline.level) / 2) * se
    low, high = max(headline.value - reach, -1.0), min(headline.value + reach, 1.0)
    return replace(
        headline, low=low, high=high, se=se, p=float("nan"), n_undefined=0, method=method, reason=""
    )
