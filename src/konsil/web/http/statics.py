"""The style sheets and modules, under names that change with their content.

Browsers may therefore cache them.
"""

from __future__ import annotations

import hashlib
import re
from functools import cache
from importlib.resources import files

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


def compact(name: str, text: str) -> str:
    r"""A script or style sheet without indentation and comments on lines of their own.

    A style sheet loses the spaces around its punctuation, too: a page with all that it needs is
    small by rule.

    >>> compact("a.css", "/* Why. */\n.a, .b > i { margin: 0 calc(1px + 2px); color: red; }\n")
    '.a,.b > i{margin:0 calc(1px + 2px);color:red}'
    >>> compact("a.js", "// Why.\n  f(1); // stays\n")
    'f(1); // stays\n'
    """
    if name.endswith(".css"):
        text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
        text = re.sub(r"\s*([{};,])\s*", r"\1", text).strip()
        return re.sub(r":\s+", ":", text).replace(";}", "}")
    if not name.endswith(".js"):
        return text
    lines = (line.strip() for line in text.splitlines())
    return "".join(f"{line}\n" for line in lines if line and not line.startswith("//"))


@cache
def _contents() -> dict[str, bytes]:
    return {
        file.name: compact(file.name, file.read_text("utf-8")).encode()
        for file in files("konsil.web").joinpath("static").iterdir()
        if any(file.name.endswith(ending) for ending in TYPES)
    }


@cache
def address(name: str) -> str:
    """The address of a file of ours: its name and the digest of its content.

    >>> path = address("konsil.css")
    >>> path.startswith("/static/") and path.endswith("/konsil.css")
    True
    """
    return f"/static/{hashlib.sha256(_contents()[name]).hexdigest()[:12]}/{name}"


def static(request: Request) -> Response:
    """Serve a file of ours; there are no others."""
    name = request.path_params["name"]
    content = _contents().get(name)
    if content is None or not request.url.path.endswith(address(name)):
        return PlainTextResponse("", 404)
    ending = name[name.rindex(".") :]
    return Response(
        content,
        media_type=TYPES[ending],
        headers={"cache-control": "public, max-age=31536000, immutable"},
    )
