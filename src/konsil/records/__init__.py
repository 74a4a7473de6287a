"""The records of the field. They are frozen; identifiers are plain strings.

Each part loads when it is used: a command's help needs none of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from konsil.records.bulk import bulk_constructor, bulk_creation, ratings_of, tasks_of
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
    "bulk_constructor",
    "bulk_creation",
    "ratings_of",
    "tasks_of",
]

_MODULES = {
    "RENAMED": "call",
    "Call": "call",
    "CallKind": "call",
    "Callee": "call",
    "Injected": "injected",
    "Note": "note",
    "Source": "source",
    "SourceKind": "source",
    "Usage": "usage",
    "bulk_constructor": "bulk",
    "bulk_creation": "bulk",
    "ratings_of": "bulk",
    "tasks_of": "bulk",
}
"""Name -> the module that has it, where that is not `nouns`."""


def __getattr__(name: str) -> Any:  # noqa: ANN401 - a module attribute
    """Load the module of a name when the name is used."""
    if name not in __all__:
        raise AttributeError(f"module 'konsil.records' has no attribute {name!r}")
    import importlib

    module = importlib.import_module(f"konsil.records.{_MODULES.get(name, 'nouns')}")
    value = globals()[name] = getattr(module, name)
    return value
