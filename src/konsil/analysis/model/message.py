"""The sentences of analyses: made as all sentences that can be told in another language."""

from __future__ import annotations

from konsil.errors.message import (
    AND,
    COMMA,
    Listed,
    TranslatableMessage,
    listed,
    message,
    translate,
)

__all__ = ["AND", "COMMA", "Listed", "TranslatableMessage", "listed", "message", "translate"]
