"""HOW it is rated: Scale, Criterion, Instrument. All else renders it."""

from konsil.instrument.definition.digests import (
    before_renaming,
    digest,
    digest_of,
    stated,
    untitled,
)
from konsil.instrument.definition.fields import Field, FormError, fields, letter, surveyed
from konsil.instrument.definition.form import (
    Criterion,
    Instrument,
    PlacesScale,
    Presentation,
    Scale,
    ScaleKind,
    ScaleLevel,
    Scope,
    Unit,
)
from konsil.instrument.definition.labels import LabelError, number_word, read_label
from konsil.instrument.definition.mirror import canonical, mirrored
from konsil.instrument.definition.numbering import (
    label_numbers,
    places,
    rise,
)
from konsil.instrument.definition.page_names import PageNames
from konsil.instrument.definition.schema import schema

__all__ = [
    "Criterion",
    "Field",
    "FormError",
    "Instrument",
    "LabelError",
    "PageNames",
    "PlacesScale",
    "Presentation",
    "Scale",
    "ScaleKind",
    "ScaleLevel",
    "Scope",
    "Unit",
    "before_renaming",
    "canonical",
    "digest",
    "digest_of",
    "fields",
    "label_numbers",
    "letter",
    "mirrored",
    "number_word",
    "places",
    "read_label",
    "rise",
    "schema",
    "stated",
    "surveyed",
    "untitled",
]
