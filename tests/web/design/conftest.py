"""A set-up that is served to a client of its own: oddly named tables, a draft, its pages."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import openpyxl
import pytest
from starlette.testclient import TestClient

from konsil.api.design.serving import DraftWorkshop
from konsil.web.design.design_app import create_design_app

HOME = "http://testserver"
CASES = "Fälle (Export).csv"
ANSWERS = "Modell-Ausgaben.xlsx"
SYSTEMS = ("Alpha 1", "Beta", "γ-Modell")


def cases_csv(n: int = 8) -> bytes:
    """Questions as a German spreadsheet saves them: semicolons, cp1252, names of its own."""
    rows = ["Fallnr.;Was die Ärztin wissen will;Musterlösung;Fach"]
    rows += [
        f"{k};Wie behandelt man bei Fall {k} akute Übelkeit nach einer Narkose?;Mittel {k};"
        f"{'Anästhesie' if k % 2 else 'Chirurgie'}"
        for k in range(1, n + 1)
    ]
    return "\r\n".join(rows).encode("cp1252")


def answers_xlsx(n: int = 8) -> bytes:
    """A row for each answer of three systems, with names that nobody would expect."""
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["Fall", "Wer (KI)", "Roh-Output"])
    for k in range(1, n + 1):
        for system in SYSTEMS:
            sheet.append(
                [k, system, f"{system} rät bei Fall {k}: " + "langsam in die Vene geben. " * 4]
            )
    data = io.BytesIO()
    book.save(data)
    return data.getvalue()


def rated_csv() -> bytes:
    """Ratings that exist: a row for each answer and rater, one question."""
    rows = ["Nr,Model,Physician,Correct"]
    rows += [
        f"{k},{system},{rater},{'yes' if (k * len(system) + len(rater)) % 3 else 'no'}"
        for k in range(1, 13)
        for system in ("Alpha", "Gamma9")
        for rater in ("anna", "benno", "cara")
    ]
    return "\n".join(rows).encode()


@pytest.fixture
def setup(tmp_path: Path) -> Callable[..., SimpleNamespace]:
    """Open a set-up of a folder and come in by its link.

    `language`: of the browser. `study_language`: as it is stated; None: it is that of the pages.
    """

    def opened(
        folder: Path | None = None, language: str = "de", study_language: str | None = ""
    ) -> SimpleNamespace:
        staging = tmp_path / f"staging-{len(list(tmp_path.iterdir()))}"
        staging.mkdir()
        folder = folder or tmp_path / "studie"
        workshop = DraftWorkshop(
            folder,
            staging,
            language="en" if study_language is None else study_language or language,
            seed=7,
        )
        app = create_design_app(workshop, [HOME], follows=study_language is None)
        client = TestClient(app, base_url=HOME, headers={"accept-language": language})
        client.get(f"/start/{app.state.room.link}", follow_redirects=False)

        def post(step: str, do: str = "stay", files=(), **fields):
            data = {"csrf": app.state.room.csrf, "do": do, **fields}
            return client.post(
                f"/{step}", data=data, files=list(files) or None, headers={"origin": HOME}
            )

        return SimpleNamespace(
            workshop=workshop, app=app, client=client, post=post, folder=folder, room=app.state.room
        )

    return opened


def fields_of(html: str) -> dict[str, Any]:
    """What a browser would send of the first form but that of the language, unchanged."""
    from html import unescape

    form = html.partition('<div class="sheet">')[2]
    fields: dict[str, Any] = {}
    for tag in re.findall(r"<input [^>]*>", form):
        of = dict(re.findall(r'(\w[\w-]*)="([^"]*)"', tag))
        if of.get("type") in ("checkbox", "radio") and " checked" not in tag:
            continue
        if of.get("type") != "file" and "name" in of and of["name"] not in ("csrf", "analysis"):
            value = unescape(of.get("value", "on"))
            several = [*fields.get("reference", ()), value]
            fields[of["name"]] = several if of["name"] == "reference" else value
    for name, options in re.findall(r'<select name="([^"]+)".*?>(.*?)</select>', form, re.DOTALL):
        chosen = re.search(r'value="([^"]*)" selected', options) or re.search(
            r'value="([^"]*)"', options
        )
        fields[name] = unescape(chosen[1])
    for name, text in re.findall(
        r'<textarea name="([^"]+)"[^>]*>(.*?)</textarea>', form, re.DOTALL
    ):
        fields[name] = unescape(text)
    return fields
