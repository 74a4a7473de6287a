"""A saved study conducted from the pages of the set-up, and who may do that."""

from __future__ import annotations

import io
import re
import time
import tomllib
from html import unescape

import docx
import polars as pl
import pytest

import konsil
from fake_server import running
from konsil.design.models import JudgeModel
from konsil.store import Store
from konsil.web.design.design_app import PAGES
from small_studies import exit_code

from .conftest import HOME, fields_of, rated_csv

KEY = "sk-Secret-1"


def through(here, step: str, do: str = "next", **changed):
    return here.post(step, do, **{**fields_of(here.client.get(f"/{step}").text), **changed})


def ended(here, action: str) -> str:
    """The page after an action has ended."""
    here.post("conduct", action)
    job = here.workshop.conduct.job
    until = time.monotonic() + 60
    while job.is_running and time.monotonic() < until:
        time.sleep(0.05)
    assert not job.is_running and job.action == action
    return here.client.get("/conduct").text


@pytest.fixture
def rated(setup):
    """A set-up of ratings that exist, before it is saved."""
    here = setup(language="en")
    file = ("file", ("ratings.csv", rated_csv(), "text/csv"))
    here.post("data", "read", files=[file], title="Two models", study_language="en")
    through(here, "data")
    names = re.findall(r'name="analysis" value="([^"]+)"', here.client.get("/analyses").text)
    here.post("analyses", "next", analysis=[unescape(name) for name in names])
    yield here
    here.workshop.conduct.close()


POSTS = [path for path, method, _ in PAGES if method == "POST" and "{" not in path]


@pytest.mark.parametrize("path", POSTS)
@pytest.mark.parametrize(
    ("headers", "token", "cookie", "status"),
    [
        ({"origin": HOME, "host": "evil.example"}, True, True, 403),
        ({"origin": "http://evil.example"}, True, True, 403),
        ({"origin": "http://testserver:81"}, True, True, 403),
        ({"origin": "null"}, True, True, 403),
        ({}, True, True, 403),
        ({"origin": HOME}, False, True, 403),
        ({"origin": HOME}, True, False, 401),
        ({"origin": HOME}, True, "other", 401),
    ],
)
def test_every_form_is_refused_from_elsewhere(setup, path, headers, token, cookie, status):
    here = setup()
    started: list[str] = []
    here.workshop.conduct.start = started.append
    if cookie is not True:
        here.client.cookies.clear()
    if cookie == "other":
        here.client.cookies.set("konsil-design", "x" * 32)
    data = {"do": "report", "title": "Evil", **({"csrf": here.room.csrf} if token else {})}
    response = here.client.post(path, data=data, headers=headers, follow_redirects=False)
    assert response.status_code == status
    assert started == [] and here.workshop.data["title"] == "" and not here.folder.exists()


@pytest.mark.parametrize("path", ["/conduct", "/download/report", "/download/word"])
def test_pages_and_files_are_for_the_browser_with_the_link_alone(setup, path):
    here = setup()
    assert here.client.get(path, headers={"host": "evil.example"}).status_code == 403
    here.client.cookies.clear()
    assert here.client.get(path).status_code == 401


def test_nothing_is_started_before_the_study_is_saved(rated):
    for action in ("import", "report", "office"):
        page = rated.post("conduct", action).text
        assert rated.workshop.conduct.job is None and "is not saved yet" in page
    assert not rated.folder.exists()


@pytest.mark.slow
def test_ratings_that_exist_come_to_a_word_file(rated):
    assert "no analysis is prespecified" in rated.client.get("/analyses").text
    assert "Continue: collect and report" in rated.post("save", "save").text
    assert tomllib.loads((rated.folder / "study.toml").read_text("utf-8"))["retrospective"] is True
    assert "The data are not imported yet" in rated.client.get("/conduct").text
    assert "12 questions, 24 answers, 72 ratings" in ended(rated, "import")
    assert "Replace the import" in ended(rated, "replace")
    page = ended(rated, "report")
    assert "Replace the import" not in page  # names were shown, which the log states
    word = rated.client.get("/download/word")
    assert (
        word.content.startswith(b"PK") and "manuscript.docx" in word.headers["content-disposition"]
    )
    report = rated.client.get("/download/report")
    assert "attachment" in report.headers["content-disposition"]
    assert "ratings existed when" in report.text and "declared beforehand" not in report.text
    ended(rated, "table")
    table = docx.Document(io.BytesIO(rated.client.get("/download/table").content)).tables[0]
    cells = [[" ".join(cell.text.split()) for cell in row.cells] for row in table.rows]
    frame = pl.read_csv(rated_csv(), infer_schema=False)
    same = konsil.compare(frame, unit="Nr", rater="Physician", by="Model", label="Correct")
    for row, line in zip((*same.estimates, *same.differences), cells[1:], strict=True):
        e = row.estimate
        # Groups of fewer than 100 ratings have no decimals.
        interval = f"[{100 * e.low:.0f}, {100 * e.high:.0f}]".replace("-", "\u2212")
        assert interval in " ".join(line)
    for name in ("study.toml", "..%2Fstudy.toml", "rehearsal", "x"):
        response = rated.client.get(f"/download/{name}", follow_redirects=False)
        assert response.status_code in (303, 404)
    with Store.open(rated.folder) as store:
        assert store.verify_log() == ()


@pytest.mark.slow
def test_what_fails_is_a_sentence_and_the_next_action_can_start(rated):
    rated.post("save", "save")
    ended(rated, "import")
    (rated.folder / "ratings.csv").write_bytes(rated_csv().replace(b"Model", b"Modell"))
    page = ended(rated, "replace")
    [fault] = rated.workshop.conduct.job.faults
    assert unescape(fault) in unescape(page)
    with Store.open(rated.folder) as store:
        assert store.counts()["ratings"] == 72
    (rated.folder / "ratings.csv").write_bytes(rated_csv())
    ended(rated, "replace")
    assert rated.workshop.conduct.job.faults == ()


def test_a_study_that_does_not_pass_its_check_is_not_saved(setup):
    here = setup(language="en")
    here.post("data", "stay", title="", study_language="en")
    page = here.post("save", "save").text
    assert 'href="/data">' in page.partition("To be completed")[2] and not here.folder.exists()
    here.post("data", "stay", title="T", study_language="en")
    page = here.post("save", "save").text
    assert not here.folder.exists() and 'value="save"' not in page
    after = page.partition("To be completed")[2]
    for step in ("questions", "people", "plan"):
        assert f'<a href="/{step}">' in after


def test_a_problem_leads_to_the_step_that_states_it(rated):
    data = rated.workshop.data
    data["instruments"][0]["criteria"][0]["scale"]["labels"] = ["no", "perhaps"]
    rated.workshop.change(data)
    [problem, *_] = rated.workshop.problems()
    page = rated.client.get("/save").text
    assert unescape(str(problem)) in unescape(page) and 'value="save"' not in page
    assert rated.post("save", "save") and not rated.folder.exists()


def judged(setup, monkeypatch, url: str, key_env: str):
    monkeypatch.setenv("TRIAL_KEY", KEY)
    here = setup(language="en")
    through(here, "people", "add llm", **{"p0-number": "1"})
    through(here, "people", "stay", **{"p0-number": "1"})
    model = {"m0-url": url, "m0-model": "m-1", "m0-key_env": key_env}
    return here, through(here, "people", "try 0", **model).text


@pytest.mark.slow
def test_one_call_of_a_judge_shows_its_reply(setup, monkeypatch):
    with running() as address:
        here, page = judged(setup, monkeypatch, f"{address}/v1", "TRIAL_KEY")
    assert "It replied:" in page and KEY not in page and 'role="alert"' not in page
    assert here.workshop.data["endpoints"][0]["key_env"] == "TRIAL_KEY"
    assert KEY not in here.workshop.text
    assert "It replied:" not in here.client.get("/people").text


@pytest.mark.parametrize(
    ("url", "key_env"),
    [
        ("http://127.0.0.1:9/v1", "TRIAL_KEY"),
        ("http://127.0.0.1:9/v1", "NO_SUCH_KEY"),
        ("http://127.0.0.1:9/v1", KEY),
        (f"http://127.0.0.1:9/v1?key={KEY}", ""),
        ("nonsense", ""),
    ],
)
def test_a_call_that_fails_is_one_sentence_without_the_key(
    setup, monkeypatch, caplog, capfd, url, key_env
):
    here, page = judged(setup, monkeypatch, url, key_env)
    alerts = re.findall(r'role="alert">', page)
    assert len(alerts) == 1
    shown = page + here.workshop.text + caplog.text + "".join(capfd.readouterr())
    assert KEY not in shown


def test_an_endpoint_that_repeats_the_key_is_shown_without_it(monkeypatch):
    from konsil.api.design import trial_calls

    monkeypatch.setenv("TRIAL_KEY", KEY)

    async def call(_model: JudgeModel) -> str:
        return f"your key is {KEY}"

    monkeypatch.setattr(trial_calls, "_call", call)
    trial = trial_calls.try_model(JudgeModel("j", "http://127.0.0.1:9/v1", "m", "TRIAL_KEY"))
    assert KEY not in trial.reply and trial.reply and not trial.fault


@pytest.mark.slow
def test_the_stages_are_those_of_check(rated, capsys):
    rated.post("save", "save")
    assert exit_code("check", rated.folder, "--next") == 0
    assert "Import the data: ready" in capsys.readouterr().out
