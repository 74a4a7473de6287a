"""The centre's audit log: what is in it, who reads it, and that it names nobody."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
import sqlalchemy as sa

from konsil.api.serving.centre_logs import log_of_centre
from konsil.cli.main import main
from konsil.errors import KonsilError, StoreError
from konsil.store import Store
from konsil.store.engine.engine import reading, writing
from konsil.store.engine.schema import audit_log
from konsil.store.engine.unlocking import unlocked
from konsil.store.log import anchoring, audit
from konsil.store.log.heads import head_of
from konsil.store.people import centre_log
from konsil.store.people.access import Access
from konsil.store.people.centre_log import AccessEntry, access_entries, adoptions
from konsil.store.people.passkeys import Passkey, add_passkey
from konsil.web.centre import auditing
from konsil.web.centre.auditing import REFUSALS_A_MINUTE
from konsil.web.centre.settings import place_of_log, read_settings
from konsil.web.http.throttle import Throttle
from konsil.web.site.refused import Refused

from ..conftest import AT, LATER
from .conftest import ORIGIN, Centres

EARLIER = "2025-02-01T12:00:00Z"


def log_of(centres: Centres) -> Store:
    centre_audit = centres.centre.registry.audit
    assert centre_audit is not None
    return centre_audit.log


def edit(log: Store, where: sa.ColumnElement[bool], **values: str) -> None:
    """Change entries behind the program's back."""
    with writing(log.engine) as connection, unlocked(connection, "audit_log"):
        connection.execute(sa.update(audit_log).where(where).values(values))


def refusals(centres: Centres) -> list[dict[str, object]]:
    entries = access_entries(log_of(centres), (centre_log.REFUSED,), last=1_000)
    return [dict(entry.data) for entry in entries][::-1]


def test_refused_links_are_noted_without_the_link(centres: Centres) -> None:
    client, access = centres.client(), centres.access("heart")
    used = access.invite("canary-rater-1", "rater", at=AT, expires_at=LATER, most_uses=1)
    revoked = access.invite("staff-7", "analyst", at=AT, expires_at=LATER)
    expired = access.invite("staff-8", "owner", at=EARLIER, expires_at=EARLIER)
    access.revoke("staff-7", at=AT)
    assert client.post(f"/heart/come/{used}", headers=ORIGIN).status_code == 200
    for secret in (used, revoked, expired, "canary-secret"):
        assert centres.client().get(f"/heart/come/{secret}").status_code == 410
    link = {"study": "heart", "way": "link"}
    assert refusals(centres) == [
        link | {"reason": "used", "who": "canary-rater-1", "role": "rater"},
        link | {"reason": "revoked", "who": "staff-7", "role": "analyst"},
        link | {"reason": "expired", "who": "staff-8", "role": "owner"},
        link | {"reason": "unknown"},
    ]
    with reading(log_of(centres).engine) as connection:
        text = str(connection.execute(sa.select(audit_log.c.data)).scalars().all())
    assert "canary-secret" not in text
    assert used not in text


def test_each_study_is_adopted_once_and_anew_with_another_database(centres: Centres) -> None:
    first = adoptions(log_of(centres))
    assert set(first) == {"heart", "lung"}
    assert all(re.fullmatch(r"\d+-[0-9a-f]{64}", head) for head in first.values())
    centres.close()
    centres.again()
    assert adoptions(log_of(centres)) == first
    centres.close()
    (centres.folder / "heart" / "konsil.db").unlink()
    with Store.open(centres.folder / "heart") as store:
        store.audit("note", {}, AT)
    centres.again()
    assert adoptions(log_of(centres))["heart"] != first["heart"]
    assert adoptions(log_of(centres))["lung"] == first["lung"]
    assert log_of(centres).verify_log() == ()


def test_signing_out_of_all_studies_is_noted_once(centres: Centres) -> None:
    client = centres.client()
    centres.enter(client, "heart", who="staff-1")
    centres.enter(client, "lung", who="staff-2", role="analyst")
    csrf = re.search(r'name="csrf" value="([^"]*)"', client.get("/").text)
    assert csrf is not None
    client.post("/leave", data={"csrf": csrf[1]}, headers=ORIGIN)
    (entry,) = access_entries(log_of(centres), (centre_log.SIGNED_OUT,), last=9)
    assert entry.data["devices"] == [
        {"study": "heart", "who": "staff-1", "role": "owner"},
        {"study": "lung", "who": "staff-2", "role": "analyst"},
    ]


def test_owners_read_the_rows_of_their_own_studies_alone(centres: Centres) -> None:
    owner, analyst = centres.client(), centres.client()
    centres.enter(owner, "heart", who="staff-1")
    centres.enter(analyst, "heart", who="staff-2", role="analyst")
    centres.enter(analyst, "lung", who="lung-canary", role="coordinator")
    centres.client().get("/lung/come/unknown")
    centres.client().get("/heart/come/unknown")
    text = owner.get("/audit-log").text
    assert "Link refused" in text
    assert text.count("unknown") == 1
    assert "Sign-in by link" in text
    assert "staff-2" in text
    assert "lung-canary" not in text
    assert 'href="/audit-log"' in owner.get("/").text
    for client in (analyst, centres.client()):
        assert client.get("/audit-log").status_code == 404
        assert 'href="/audit-log"' not in client.get("/").text
    german = owner.get("/audit-log", headers={"accept-language": "de"}).text
    assert "Anmeldung per Link" in german


def test_the_page_verifies_the_chain(centres: Centres) -> None:
    client = centres.client()
    centres.enter(client, "heart")
    found = re.search(
        r'action="/audit-log"><input[^>]*value="([^"]*)"', client.get("/audit-log").text
    )
    assert found is not None
    form = {"csrf": found[1]}
    assert client.post("/audit-log", data=form).status_code == 403
    assert client.post("/audit-log", data={"csrf": "x"}, headers=ORIGIN).status_code == 403
    assert "intact" in client.post("/audit-log", data=form, headers=ORIGIN).text
    edit(log_of(centres), audit_log.c.seq == 1, data="{}")
    assert "failed" in client.post("/audit-log", data=form, headers=ORIGIN).text


def test_whoever_guesses_fills_no_log(centres: Centres) -> None:
    centre_audit = centres.centre.registry.audit
    assert centre_audit is not None
    for _ in range(REFUSALS_A_MINUTE + 5):
        centre_audit.refuse("heart", Refused("link", "unknown"))
    assert len(refusals(centres)) == REFUSALS_A_MINUTE
    centre_audit.refusals.throttle._tries.clear()
    centre_audit.refuse("heart", Refused("link", "unknown"))
    assert refusals(centres)[-1]["omitted_before"] == 5


def test_a_flood_of_refusals_hides_neither_itself_nor_others(
    centres: Centres, monkeypatch: pytest.MonkeyPatch
) -> None:
    centre_audit, seconds = centres.centre.registry.audit, [0.0]
    assert centre_audit is not None
    monkeypatch.setattr("konsil.web.http.throttle.time.monotonic", lambda: seconds[0])
    # Two a second, for two minutes.
    for n in range(240):
        seconds[0] = n / 2
        centre_audit.refuse("heart", Refused("link", "unknown"))
    entries = refusals(centres)
    assert len(entries) == 2 * REFUSALS_A_MINUTE
    assert sum(int(str(e.get("omitted_before", 0))) for e in entries) == 60
    centre_audit.refuse("heart", Refused("link", "revoked", "staff-7", "owner"))
    centre_audit.refuse("lung", Refused("link", "unknown"))
    assert [(e["study"], e["reason"]) for e in refusals(centres)[-2:]] == [
        ("heart", "revoked"),
        ("lung", "unknown"),
    ]


def test_guessing_for_hours_fills_no_disk(
    centres: Centres, monkeypatch: pytest.MonkeyPatch
) -> None:
    centre_audit, seconds = centres.centre.registry.audit, [0.0]
    assert centre_audit is not None
    monkeypatch.setattr("konsil.web.http.throttle.time.monotonic", lambda: seconds[0])
    monkeypatch.setattr(centre_audit.refusals, "throttle", Throttle(2, 60.0, is_lasting=False))
    monkeypatch.setattr(
        centre_audit.refusals, "lasting_throttle", Throttle(5, 3600.0, is_lasting=False)
    )
    for n in range(8 * 60):
        seconds[0] = n * 15.0
        centre_audit.refuse("heart", Refused("link", "unknown"))
    entries = refusals(centres)
    assert len(entries) == 2 * 5
    # Of the first hour's, five were stored.
    assert sum(int(str(e.get("omitted_before", 0))) for e in entries[:6]) == 240 - 5


def test_refusals_of_other_studies_crowd_out_no_entry_of_an_owner(
    centres: Centres, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(auditing, "SHOWN", 4)
    client, log = centres.client(), log_of(centres)
    centres.enter(client, "heart")
    log.audit(centre_log.REFUSED, {"study": "heart", "way": "link", "reason": "used"}, AT)
    with writing(log.engine) as connection:
        for study in ("lung",) * 6 + ("heart",) * 3:
            data = {"study": study, "way": "link", "reason": "unknown"}
            audit.append(connection, centre_log.REFUSED, data, AT)
    registry = centres.centre.registry
    sites = {s.place.slug: s.site for s in registry.studies if s.site and s.place.slug == "heart"}
    assert registry.audit is not None
    shown = auditing.rows(registry.audit, sites)
    assert {row.study for row in shown} == {"heart"}
    events = [row.event for row in shown]
    assert events.count("sign-in refused: link") == 2
    assert centre_log.ADOPTED in events


def test_refusals_from_before_a_study_was_in_the_centre_are_shown(centres: Centres) -> None:
    centres.enter(centres.client(), "heart")
    registry = centres.centre.registry
    sites = {s.place.slug: s.site for s in registry.studies if s.site and s.place.slug == "heart"}
    sites["heart"].store.audit(
        centre_log.REFUSED, {"way": "link", "reason": "used", "who": "staff-7"}, AT
    )
    assert registry.audit is not None
    [row] = [r for r in auditing.rows(registry.audit, sites) if "refused" in r.event]
    assert (row.study, row.person, row.event) == ("heart", "staff-7", "sign-in refused: link")
    assert row.detail == "used"


def test_a_log_that_fails_lets_people_in(centres: Centres, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise StoreError("the disk is full")

    monkeypatch.setattr(log_of(centres), "audit", fail)
    assert centres.client().get("/heart/come/unknown").status_code == 410
    client = centres.client()
    centres.enter(client, "heart")
    assert client.get("/heart/office").status_code == 200


def test_damaged_entries_are_left_out(centres: Centres) -> None:
    log = log_of(centres)
    n = len(list(access_entries(log, (centre_log.ADOPTED,), last=9)))
    with writing(log.engine) as connection:
        audit.append(connection, centre_log.ADOPTED, {"study": "x"}, AT)
    edit(log, audit_log.c.data.contains('"x"'), data="{")
    entries = list(access_entries(log, (centre_log.ADOPTED,), last=9))
    assert len(entries) == n
    assert all(isinstance(entry, AccessEntry) for entry in entries)


def test_edited_entries_do_not_take_down_the_page_that_verifies_the_log(
    centres: Centres,
) -> None:
    client, log = centres.client(), log_of(centres)
    centres.enter(client, "heart")
    page = client.get("/audit-log").text
    for kind, data in (
        (centre_log.SIGNED_OUT, '{"devices":[1],"study":"heart"}'),
        (centre_log.SIGNED_OUT, '{"devices":[{}],"study":"heart"}'),
        (centre_log.ADOPTED, '{"study":"heart","database":{}}'),
    ):
        log.audit(kind, {}, AT)
        edit(log, audit_log.c.seq == log.log_head()[0], data=data)
    log.audit(centre_log.SIGNED_OUT, {}, AT)
    edit(log, audit_log.c.seq == log.log_head()[0], at="yesterday")
    study = centres.access("heart").store
    others: tuple[dict[str, object], ...] = ({"traces": 1}, {"sites": [1]})
    for other in others:
        study.audit(audit.PASSKEY, other, AT)
    answer = client.get("/audit-log")
    assert answer.status_code == 200
    csrf = re.findall(r'name="csrf" value="([^"]+)"', page)[-1]
    answer = client.post("/audit-log", data={"csrf": csrf}, headers=ORIGIN)
    assert answer.status_code == 200
    assert "Verification of the audit log failed" in answer.text


def test_a_list_of_accounts_is_noted_when_it_changes(centres: Centres) -> None:
    log = log_of(centres)
    assert centre_log.list_accounts(log, "a" * 64, 2, at=AT)
    assert not centre_log.list_accounts(log, "a" * 64, 2, at=AT)
    assert centre_log.list_accounts(log, "", 0, at=AT)
    assert Access(log).invitations() == ()


def test_the_command_verifies_the_log_of_a_centre(
    centres: Centres, capsys: pytest.CaptureFixture[str]
) -> None:
    centres.centre.registry.close()
    main(["verify-log", str(centres.folder)])
    assert "audit log verified" in (text := capsys.readouterr().out)
    assert "head: 2-" in text
    with Store.open(centres.folder / "centre.db") as log:
        edit(log, audit_log.c.seq == 1, at=LATER)
    with pytest.raises(SystemExit) as end:
        main(["verify-log", str(centres.folder)])
    assert end.value.code == 2
    assert "entry 1" in capsys.readouterr().err


def verified(folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """Exit code, and what was printed, of `konsil verify-log`."""
    code = 0
    try:
        main(["verify-log", str(folder)])
    except SystemExit as end:
        code = int(end.code or 0)
    printed = capsys.readouterr()
    return code, printed.out + printed.err


def rechained(store: Store) -> None:
    """Write the log anew after a change of its last entry, as whoever may write to it can."""
    with writing(store.engine) as connection, unlocked(connection, "audit_log"):
        audit.rewrite(connection, lambda _, text: text.replace('"lead"', '"other"'))


@pytest.mark.slow
def test_a_study_whose_log_was_rewritten_since_its_adoption_is_named(
    centres: Centres, capsys: pytest.CaptureFixture[str]
) -> None:
    with Store.open(centres.folder / "heart") as store:
        store.audit("note", {"who": "lead"}, AT)
    centres.centre.registry.close()
    centres.add("new", "clexeval")
    code, text = verified(centres.folder, capsys)
    assert code == 0
    for study in ("heart", "lung"):
        assert f"{study}: audit log verified; continues the head at its adoption" in text
    assert "new: not compared, because this centre has not served it yet" in text
    with Store.open(centres.folder / "lung") as store:
        store.audit("note", {"who": "lead"}, AT)
    assert verified(centres.folder, capsys) == (code, text)
    with Store.open(centres.folder / "heart") as store:
        rechained(store)
        assert store.verify_log() == ()
    code, text = verified(centres.folder, capsys)
    assert code == 2
    assert "heart: audit log: the head " in text
    assert "the log was rewritten" in text
    assert "lung: " not in text
    shutil.rmtree(centres.folder / "heart")
    with Store.open(centres.folder / "lung") as store:
        edit(store, audit_log.c.seq == 1, at=LATER)
    code, text = verified(centres.folder, capsys)
    assert (code, "lung: audit log: entry 1" in text) == (2, True)
    (centres.folder / "lung" / "konsil.db").unlink()
    code, text = verified(centres.folder, capsys)
    assert (code, "lung: " in text, "there is no such database" in text) == (2, True, True)
    shutil.rmtree(centres.folder / "lung")
    code, text = verified(centres.folder, capsys)
    assert code == 0
    assert "heart: not compared, because it is no longer in the centre" in text


def test_a_log_that_states_that_it_was_anchored_anew_is_stated(
    centres: Centres, capsys: pytest.CaptureFixture[str]
) -> None:
    head = adoptions(log_of(centres))["heart"]
    centres.centre.registry.close()
    with Store.open(centres.folder / "heart") as store:
        rechained(store)
        store.audit(anchoring.KIND, {"before": head, "entries": 1, "problems": []}, LATER)
    code, text = verified(centres.folder, capsys)
    assert code == 0
    assert f"heart: re-anchored on {LATER[:10]} from the head {head}" in text


def test_a_study_with_another_database_than_before_is_stated(
    centres: Centres, capsys: pytest.CaptureFixture[str]
) -> None:
    centres.centre.registry.close()
    with Store.open(centres.folder / "centre.db") as log, Store.open(centres.folder / "lung") as s:
        assert centre_log.adopt(log, "lung", "other", head_of(s), at=LATER)
    code, text = verified(centres.folder, capsys)
    assert code == 0
    assert f"lung: was served with another database until {LATER[:10]}" in text


def test_the_log_is_verified_without_the_secret_of_the_sign_in_service(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "centre.toml").write_text(
        "[sign_in]\nissuer = 'https://l'\nclient_id = 'k'\nclient_secret_variable = 'NOT_SET'\n"
    )
    with Store.open(tmp_path / "centre.db") as log:
        log.audit(centre_log.REFUSED, {"study": "x"}, AT)
    code, text = verified(tmp_path, capsys)
    assert (code, "head: 1-" in text) == (0, True)


def test_the_log_of_a_list_is_beside_it(tmp_path: Path) -> None:
    (tmp_path / "wards.toml").write_text("[[studies]]\nfolder = 'a'\n")
    (tmp_path / "stated.toml").write_text("log = 'logs/access.db'\n")
    (tmp_path / "remote.toml").write_text("log = 'postgresql://db/access'\n")
    assert place_of_log(read_settings(tmp_path)) == str(tmp_path / "centre.db")
    assert place_of_log(read_settings(tmp_path / "wards.toml")) == str(tmp_path / "wards.db")
    assert place_of_log(read_settings(tmp_path / "stated.toml")) == str(tmp_path / "logs/access.db")
    assert place_of_log(read_settings(tmp_path / "remote.toml")) == "postgresql://db/access"
    assert log_of_centre(tmp_path) is None
    with pytest.raises(KonsilError, match=r"wards.db: there is no such database"):
        log_of_centre(tmp_path / "wards.toml")


def test_removed_passkeys_and_other_roles_are_rows(centres: Centres) -> None:
    client, access = centres.client(), centres.access("heart")
    centres.enter(client, "heart", who="staff-1")
    key = Passkey("key", "staff-2", "public", 0, AT)
    assert add_passkey(access.store, key, "", only_first=True)
    access.invite("staff-2", "analyst", at=AT, expires_at=LATER, by="staff-1")
    text = client.get("/audit-log").text
    row = next(r for r in text.split("<tr>") if "passkeys removed" in r)
    assert "staff-2" in row
    assert "blind analyst" in row
    assert "staff-1" in row
    assert "Passkey registered" in text
