"""[sign_in] and [[people]] of centre.toml: what is wrong is named, what is secret is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from konsil.errors import KonsilError
from konsil.web.centre.accounts import Account, Invited, SignInService, is_safe
from konsil.web.centre.settings import read_settings

SIGN_IN = '[sign_in]\nissuer = "https://login.example.org"\nclient_id = "konsil"\n'
PERSON = '[[people]]\nstudy = "a"\nrole = "owner"\nemail = "a@b.org"\n'


def read(text: str, folder: Path) -> SignInService | None:
    (folder / "centre.toml").write_text(text)
    return read_settings(folder).service


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (PERSON, r"there is \[\[people\]\] but no \[sign_in\]; add it"),
        ("sign_in = 1", "sign_in: expected one table"),
        ("[sign_in]\nissuer = 'https://x.org'", "client_id is missing"),
        ("[sign_in]\nclient_id = 'x'", "issuer is missing"),
        (SIGN_IN.replace("https", "http"), "expected an address with https://"),
        (SIGN_IN + "client_secrt_file = 'x'", "did you mean 'client_secret_file'"),
        (SIGN_IN + "client_secret_file = 'nowhere'", "cannot read 'nowhere'"),
        (SIGN_IN + "client_secret_variable = 'KONSIL_NONE'", "is empty; expected it in KONSIL_NO"),
        (SIGN_IN + "client_secret_variable = 'A'\nclient_secret_file = 'b'", "state one"),
        (SIGN_IN + "unverified_email = 'yes'", "unverified_email: expected true or false"),
        (SIGN_IN + "name = 1", "sign_in.name: expected a text"),
        (SIGN_IN + "[people]", r"people: expected tables \[\[people\]\]"),
        (
            SIGN_IN + PERSON.replace("owner", "boss"),
            "people 1.role: there is no role 'boss'; known: ",
        ),
        (SIGN_IN + PERSON.replace("owner", "ownr"), "did you mean 'owner'"),
        (SIGN_IN + PERSON.replace('study = "a"', ""), "study is missing"),
        (SIGN_IN + PERSON.replace("email", "mail"), "did you mean 'email'"),
        (SIGN_IN + PERSON + 'group = "x"', "expected one of email, group and subject"),
        (SIGN_IN + PERSON.replace("owner", "rater"), "a rater needs one study, who"),
        (SIGN_IN + PERSON + 'site = "Kiel"', "sites are stated for coordinators"),
        (
            SIGN_IN + PERSON.replace('email = "a@b.org"', 'group = "g"\nwho = "x"'),
            "a group has several members",
        ),
        (
            SIGN_IN + PERSON.replace("owner", "rater").replace('"a"', '"*"') + 'who = "r1"',
            "a rater needs one study",
        ),
    ],
)
def test_what_is_wrong_is_named(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(KonsilError, match=message):
        read(text, tmp_path)


def test_secrets_come_from_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KONSIL_CLIENT_SECRET", "hidden-one ")
    service = read(SIGN_IN + 'client_secret_variable = "KONSIL_CLIENT_SECRET"\n', tmp_path)
    assert service is not None
    assert service.client_secret == "hidden-one"
    assert "hidden" not in repr(service)
    assert read("title = 'x'", tmp_path) is None


def test_the_first_entry_that_fits_counts() -> None:
    people = (
        Invited("a", "owner", email="ada@x.org"),
        Invited("*", "coordinator", group="g"),
        Invited("a", "analyst", subject="s"),
    )
    service = SignInService("https://x.org", "c", people=people)
    both = Account("s", email="ADA@x.org", groups=frozenset({"g"}))
    assert service.invited(both, "a") is people[0]
    assert service.invited(both, "b") is people[1]
    assert service.invited(Account("s"), "a") is people[2]
    assert service.invited(Account("s"), "b") is None
    # No address and no group is none that fits.
    assert service.invited(Account("x"), "a") is None


def test_letters_beyond_ascii_must_be_the_same() -> None:
    invited = Invited("a", "owner", email="kim@strasse.de")
    assert invited.fits(Account("s", email="KIM@Strasse.DE"))
    for email in ("\u212aim@strasse.de", "kim@stra\u00dfe.de", "kim@\u017ftrasse.de"):
        assert not invited.fits(Account("s", email=email)), email
    other = Invited("a", "owner", email="j\u00fcrgen@x.de")
    assert other.fits(Account("s", email="J\u00fcrgen@X.de"))
    assert not other.fits(Account("s", email="j\u00dcrgen@x.de"))


def test_secrets_are_sent_over_tls_alone() -> None:
    assert is_safe("https://x.org/a")
    assert is_safe("http://127.0.0.1:8000/")
    for address in ("http://x.org", "https://", "ftp://x.org", "javascript:x", "//x.org", ""):
        assert not is_safe(address), address
