"""Keys of endpoints: read from the environment, held in memory, written nowhere."""

from __future__ import annotations

import os

from konsil.errors import CollectError
from konsil.errors.message import message

HIDDEN = "[key]"
"""What stands where an endpoint repeated a key to us."""


def read_key(endpoint: str, variable: str) -> str:
    """Read the key that an environment variable holds; an empty name: no key."""
    if not variable:
        return ""
    key = os.environ.get(variable, "")
    if not key:
        raise CollectError(
            message(
                "endpoint {endpoint!r}: the environment variable {variable} contains no key",
                message_id="calls.no_key",
                endpoint=endpoint,
                variable=variable,
            )
        )
    if not key.isprintable() or not key.isascii():
        raise CollectError(
            message(
                "endpoint {endpoint!r}: {variable} does not contain a valid key (line breaks?)",
                message_id="calls.invalid_key",
                endpoint=endpoint,
                variable=variable,
            )
        )
    return key


def without_key(text: str, key: str) -> str:
    """Take a key out of what an endpoint said: some repeat it in the error that refuses it.

    >>> without_key("the key sk-1 is not known", "sk-1")
    'the key [key] is not known'
    """
    return text.replace(key, HIDDEN) if key and key in text else text
