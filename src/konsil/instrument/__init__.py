"""HOW it is rated: Scale, Criterion, Instrument. All else renders it."""

from konsil.instrument.form import Criterion, Instrument, Scale, ScaleKind, ScaleLevel, Scope, Unit
from konsil.instrument.labels import LabelError, digest, number_word, read_label

__all__ = [
    "Criterion",
    "Instrument",
    "LabelError",
    "Scale",
    "ScaleKind",
    "ScaleLevel",
    "Scope",
    "Unit",
    "digest",
    "number_word",
    "read_label",
]
