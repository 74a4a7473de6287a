"""The contents of a TOML file, or one sentence about what is none."""

from __future__ import annotations

import tomllib
from typing import Any

from konsil.errors import StudyError


def toml_data(text: str, name: str) -> dict[str, Any]:
    """Parse the text of a file of this name; a StudyError where it is not TOML.

    >>> toml_data("a = 1", "x.toml")
    {'a': 1}
    >>> toml_data("a = 1" + 5000 * "0", "x.toml")
    Traceback (most recent call last):
    konsil.errors.StudyError: x.toml: not valid TOML: a whole number has too many digits
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise StudyError(f"{name}: not valid TOML: {error}") from None
    except RecursionError:
        raise StudyError(
            f"{name}: not valid TOML: arrays or tables are nested too deeply"
        ) from None
    except ValueError:  # what Python says of a number of more digits than it reads
        raise StudyError(f"{name}: not valid TOML: a whole number has too many digits") from None
