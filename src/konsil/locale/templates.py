"""Templates of pages: one environment for all, escaped, strict, compiled once a process."""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType

import jinja2
from jinja2.bccache import Bucket


class _Compiled(jinja2.BytecodeCache):
    """Templates are compiled once a process, for all pages and languages.

    The key of a template's code holds a digest of its source, and the folder names its package.
    """

    def __init__(self) -> None:
        self._code: dict[str, CodeType] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        bucket.code = self._code.get(f"{bucket.key}-{bucket.checksum}")

    def dump_bytecode(self, bucket: Bucket) -> None:
        if bucket.code is not None:
            self._code[f"{bucket.key}-{bucket.checksum}"] = bucket.code


_COMPILED = _Compiled()


def environment(
    package: str, gettext: Callable[[str], str], ngettext: Callable[[str, str, int], str]
) -> jinja2.Environment:
    """The folder `templates` of a package, in the language of the two functions.

    A misspelt name is an error, instead of leaving something out of a page.
    """
    templates = jinja2.Environment(
        loader=jinja2.PackageLoader(package, "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=["jinja2.ext.i18n"],
        bytecode_cache=_COMPILED,
    )
    templates.install_gettext_callables(  # type: ignore[attr-defined]
        gettext, ngettext, newstyle=True
    )
    return templates
