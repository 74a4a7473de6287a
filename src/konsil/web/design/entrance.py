"""Who may see the pages of the set-up: the browser that came by the link, once."""

from __future__ import annotations

import asyncio
import hmac
import secrets
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response

from konsil.design.models import JudgeModel, Trial
from konsil.design.outlook import Assumption, PowerLine
from konsil.design.questions import with_language
from konsil.locale import SOURCE, catalogue_language, complete_languages, translations
from konsil.web.design.workshop import Workshop
from konsil.web.rating.text.language import preferred
from konsil.web.site.pages import LANGUAGE_COOKIE

COOKIE = "konsil-design"
MOST_BYTES = 72 << 20
"""The largest form, with its tables."""
MOST_FIELDS = 5_000
MOST_FILES = 20
FIELD_BYTES = 400_000


@dataclass
class Room:
    """The one visit of the one person who sets a study up."""

    workshop: Workshop
    origins: frozenset[str]
    """The addresses under which the pages are asked for."""
    link: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    """The secret of the link; it opens the pages once."""
    cookie: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    csrf: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    follows: bool = False
    """Whether the study's texts are in the language of the pages until somebody states theirs."""
    is_open: bool = False
    """Whether the link was used."""
    faults: list[str] = field(default_factory=list)
    """Sentences for the next page."""
    saved: tuple[str, ...] = ()
    """The files that were written last."""
    assumption: Assumption = field(default_factory=Assumption)
    models: tuple[JudgeModel, ...] = ()
    """The judges' models as they were typed, where the form was not taken; keys are in none."""
    answering: tuple[JudgeModel, ...] | None = None
    """The models that answer as they were typed; None: as the study states them."""
    trial: Trial | None = None
    """The last call on trial."""
    power: tuple[PowerLine, ...] = ()
    pay: float = 0.0
    """What an hour of a rater costs; 0: not stated."""
    one_at_a_time: threading.Lock = field(default_factory=threading.Lock)


Page = Callable[[Request, Room, FormData], Response]


def room_of(request: Request) -> Room:
    """The visit that the application is for."""
    room: Room = request.app.state.room
    return room


def language_of(request: Request, room: Room) -> str:
    """The language of the pages: chosen, else the browser's, else the study's."""
    return (
        catalogue_language(request.cookies.get(LANGUAGE_COOKIE, ""))
        or preferred(request.headers.get("accept-language", ""))
        or catalogue_language(room.workshop.language)
        or SOURCE
    )


def follow(room: Room, language: str) -> None:
    """Have the texts of a new study in the language of the pages, where nobody stated theirs."""
    if room.follows and language in complete_languages():
        room.workshop.change(with_language(room.workshop.data, language))


def come_in(request: Request) -> Response:
    """The link from the terminal: it gives the browser its cookie, once."""
    room = room_of(request)
    fits = hmac.compare_digest(request.path_params["secret"].encode(), room.link.encode())
    if not _is_ours(room, request) or not fits or room.is_open:
        return _refused(401, language_of(request, room))
    room.is_open = True
    follow(room, language_of(request, room))
    response = RedirectResponse("/data", 303)
    response.set_cookie(COOKIE, room.cookie, httponly=True, samesite="strict", path="/")
    return response


def within(page: Page) -> Callable[[Request], Awaitable[Response]]:
    """A page behind the guard; forms are read, and work is done beside the loop."""

    async def behind(request: Request) -> Response:
        room = room_of(request)
        language = language_of(request, room)
        if not _is_ours(room, request):
            return _refused(403, language)
        if not _is_inside(room, request):
            return _refused(401, language)
        if request.method != "POST":
            return await _in_thread(page, request, room, FormData())
        if request.headers.get("origin") not in room.origins:
            return _refused(403, language)
        if _size(request) > MOST_BYTES:
            return _refused(413, language)
        try:
            async with request.form(
                max_files=MOST_FILES, max_fields=MOST_FIELDS, max_part_size=FIELD_BYTES
            ) as form:
                token = str(form.get("csrf", ""))
                if not hmac.compare_digest(token.encode(), room.csrf.encode()):
                    return _refused(403, language)
                return await _in_thread(page, request, room, form)
        except HTTPException:
            return _refused(422, language)

    return behind


async def _in_thread(page: Page, request: Request, room: Room, form: FormData) -> Response:
    """The page's response, made in a thread, one page at a time."""

    def alone() -> Response:
        with room.one_at_a_time:
            return page(request, room, form)

    return await asyncio.get_running_loop().run_in_executor(None, alone)


def _is_ours(room: Room, request: Request) -> bool:
    """Whether the browser asks for this machine by its own name.

    A foreign site whose name leads to this machine asks by another one.
    """
    host = request.headers.get("host", "")
    return any(urlsplit(origin).netloc == host for origin in room.origins)


def _is_inside(room: Room, request: Request) -> bool:
    cookie = request.cookies.get(COOKIE, "")
    return room.is_open and hmac.compare_digest(cookie.encode(), room.cookie.encode())


def _size(request: Request) -> int:
    length = request.headers.get("content-length", "")
    # A form without its length is refused: nobody knows when it ends.
    return int(length) if length.isdigit() else MOST_BYTES + 1


def _refused(status: int, language: str) -> Response:
    _ = translations(language).gettext
    words = {
        401: _("Please open the link that konsil design printed; it works once, in one browser."),
        403: _("This page takes forms of its own alone."),
        413: _("The files are too large: at most %(mib)s MiB can be chosen at a time.")
        % {"mib": MOST_BYTES >> 20},
        422: _("The form cannot be read: it has more than %(n)s files, or is damaged.")
        % {"n": MOST_FILES},
    }
    return PlainTextResponse(f"{words[status]}\n", status)
