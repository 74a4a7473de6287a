"""The records of the field. They are frozen; identifiers are plain strings."""

from konsil.records.bulk import bulk_creation
from konsil.records.call import RENAMED, Call, Callee, CallKind
from konsil.records.injected import Injected
from konsil.records.note import Note
from konsil.records.nouns import (
    Answer,
    Attempt,
    Citation,
    Event,
    Item,
    Outcome,
    Purpose,
    Rater,
    RaterKind,
    Rating,
    Span,
    State,
    System,
    Task,
)
from konsil.records.source import Source, SourceKind
from konsil.records.usage import Usage

__all__ = [
    "RENAMED",
    "Answer",
    "Attempt",
    "Call",
    "CallKind",
    "Callee",
    "Citation",
    "Event",
    "Injected",
    "Item",
    "Note",
    "Outcome",
    "Purpose",
    "Rater",
    "RaterKind",
    "Rating",
    "Source",
    "SourceKind",
    "Span",
    "State",
    "System",
    "Task",
    "Usage",
    "bulk_creation",
]
