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
from konsil.instrument.screens.parity import EXAMPLE, Parity, examples, parity, parity_of
from konsil.instrument.screens.prompt import Prompt, prompt
from konsil.instrument.screens.rendering import Piece, Shown
from konsil.instrument.screens.reply import (
    FieldReply,
    Reading,
    ratings,
    read_form,
    read_reply,
    values,
)
from konsil.instrument.screens.screen import Screen, screen

__all__ = [
    "EXAMPLE",
    "Criterion",
    "Field",
    "FieldReply",
    "FormError",
    "Instrument",
    "LabelError",
    "PageNames",
    "Parity",
    "Piece",
    "PlacesScale",
    "Presentation",
    "Prompt",
    "Reading",
    "Scale",
    "ScaleKind",
    "ScaleLevel",
    "Scope",
    "Screen",
    "Shown",
    "Unit",
    "before_renaming",
    "canonical",
    "digest",
    "digest_of",
    "examples",
    "fields",
    "label_numbers",
    "letter",
    "mirrored",
    "number_word",
    "parity",
    "parity_of",
    "places",
    "prompt",
    "ratings",
    "read_form",
    "read_label",
    "read_reply",
    "rise",
    "schema",
    "screen",
    "stated",
    "surveyed",
    "untitled",
    "values",
]
