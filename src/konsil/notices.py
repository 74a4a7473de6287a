"""What a program is told although it succeeds: deprecated names, updates of a database.

In Python these are warnings, which can be filtered or made errors; the command line prints them to
standard error, once each.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class KonsilDeprecationWarning(DeprecationWarning):
    """A name of konsil that still works and will be removed."""


class KonsilNotice(UserWarning):
    """Something that konsil did and that whoever runs it should know."""


def deprecated(former: str, current: str, removal: str, *, stacklevel: int = 2) -> None:
    """Warn that a name is deprecated.

    Args:
        former: the name as it was written, such as 'study.toml: analyses[0].share'.
        current: what to write instead.
        removal: the version that will no longer know the former name.
        stacklevel: whose line is named; 2 is the caller of the deprecated function.

    >>> with warnings.catch_warnings(record=True) as told:
    ...     warnings.simplefilter("always")
    ...     deprecated("konsil.rate", "konsil.agreement", "2.0")
    >>> str(told[0].message)
    'konsil.rate: is deprecated and will be removed in version 2.0; use konsil.agreement'
    """
    warnings.warn(
        f"{former}: is deprecated and will be removed in version {removal}; use {current}",
        KonsilDeprecationWarning,
        stacklevel=stacklevel + 1,
    )


def tell(sentence: str) -> None:
    """State something that was done."""
    warnings.warn(sentence, KonsilNotice, stacklevel=3)


@contextmanager
def printed(show: Callable[[str], None]) -> Iterator[None]:
    """Within, konsil's own warnings are given to `show`, each sentence once.

    Other packages' warnings remain as they are.
    """
    shown: set[str] = set()
    with warnings.catch_warnings():
        for kind in (KonsilDeprecationWarning, KonsilNotice):
            warnings.simplefilter("always", kind)
        others = warnings.showwarning

        def show_once(
            message: Warning | str, category: type[Warning], *place: object, **more: object
        ) -> None:
            if not issubclass(category, KonsilDeprecationWarning | KonsilNotice):
                others(message, category, *place, **more)  # type: ignore[arg-type]
            elif str(message) not in shown:
                shown.add(str(message))
                show(str(message))

        warnings.showwarning = show_once
        yield
