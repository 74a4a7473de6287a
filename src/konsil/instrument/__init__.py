"""HOW it is rated: Scale, Criterion, Instrument. All else renders it."""

from konsil.instrument.digests import digest, digest_of, stated
from konsil.instrument.form import Criterion, Instrument, Scale, ScaleKind, ScaleLevel, Scope, Unit
from konsil.instrument.labels import LabelError, number_word, read_label

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
    "digest_of",
    "number_word",
    "read_label",
    "stated",
]
