"""Lists of contacts: all of it or nothing, and what is wrong at its place without the address."""

from __future__ import annotations

from pathlib import Path

import pytest

from konsil.api.folder.folder import Folder
from konsil.errors import SourceError
from konsil.letters.contacts import import_contacts
from konsil.letters.mail_addresses import is_address
from konsil.store.people.people import Person, forget_person, people
from mail_servers import ADA, BEN, EVA

HEAD = "rater,name,email,language,site"


def stored(folder: Folder) -> list[Person]:
    with folder.store() as store:
        return list(people(store).values())


def listed(folder: Folder, *lines: str, encoding: str = "utf-8") -> Path:
    file = folder.path.parent / "contacts.csv"
    file.write_bytes("\r\n".join((*lines, "")).encode(encoding))
    return file


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
@pytest.mark.parametrize("separator", [",", ";"])
def test_a_list_is_stored(folder: Folder, encoding: str, separator: str) -> None:
    rows = (HEAD, "r1,Dr. Ada Quokka,ada@new.example,,Kiel", "r2,Björn Möß,b@new.example,de,")
    file = listed(folder, *(r.replace(",", separator) for r in rows), encoding=encoding)
    contacts = import_contacts(folder, file)
    assert (contacts.raters, contacts.n_new, contacts.n_changed) == (("r1", "r2"), 0, 2)
    assert stored(folder) == [
        Person("r1", "Dr. Ada Quokka", "ada@new.example"),
        Person("r2", "Björn Möß", "b@new.example", "de"),
        EVA,
    ]
    assert import_contacts(folder, file).n_changed == 0


def test_people_without_a_rater_get_the_next_one_with_their_characteristics(
    folder: Folder,
) -> None:
    with folder.store() as store:
        for rater in ("r1", "r2", "r3"):
            forget_person(store, rater)
    file = listed(
        folder,
        "name,email,site,panel",
        "Uli,uli@x.org,,people",
        "Kim,kim@x.org,Kiel,",
        "Bo,bo@x.org,,",
    )
    with pytest.raises(SourceError, match="line 3: no rater of these characteristics"):
        import_contacts(folder, file)
    assert stored(folder) == []
    file = listed(folder, "name,email,site", "Kim,kim@x.org,Kiel", "Uli,uli@x.org,")
    expected = [Person("r1", "Kim", "kim@x.org"), Person("r2", "Uli", "uli@x.org")]
    for _ in range(2):
        assert import_contacts(folder, file).raters == ("r1", "r2")
        assert stored(folder) == expected


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        (["r1,,quokka,,"], "line 2: the e-mail address is invalid"),
        (["r1,,,,"], "line 2: the e-mail address is missing"),
        (["r9,,a@x.org,,"], "line 2: there is no rater 'r9'; known: r1, r2, r3"),
        (["r1,,a@x.org,,Keil"], "line 2: there is no site 'Keil'; did you mean 'Kiel'?"),
        (["r2,,a@x.org,,Kiel"], "line 2: rater 'r2' has another site in the study than 'Kiel'"),
        (["r1,,a@x.org,dee,"], "line 2: there is no language 'dee'; did you mean 'de'?"),
        (["r1,=1+1,a@x.org,,"], "line 2: name begins with '=', which spreadsheets take"),
        (["r1,,a@x.org,,", "r1,,b@x.org,,"], "line 3: the same rater as in line 2"),
        (["r1,,A@x.org,,", "r2,,a@X.org,,"], "line 3: the same email as in line 2"),
        ([f"r1,,{BEN.email},,"], "line 2: the address is another rater's already"),
    ],
)
def test_what_is_wrong_with_a_row_is_at_its_place_and_nothing_is_stored(
    folder: Folder, rows: list[str], sentence: str
) -> None:
    file = listed(folder, HEAD, *rows, "r3,Eva,eva@new.example,,")
    with pytest.raises(SourceError) as error:
        import_contacts(folder, file)
    assert str(error.value).startswith("contacts.csv: nothing is stored: ")
    assert sentence in str(error.value)
    assert "@" not in str(error.value)
    assert "quokka" not in str(error.value)
    assert stored(folder) == [ADA, BEN, EVA]


@pytest.mark.parametrize(
    ("lines", "encoding", "sentence"),
    [
        (["rater,e-mail", "r1,a@x.org"], "utf-8", "no column 'e-mail'; did you mean 'email'?"),
        (["rater,name", "r1,Ada"], "utf-8", "the column 'email' is missing"),
        (["email,panel", "a@x.org,peple"], "utf-8", "no panel 'peple'; did you mean 'people'?"),
        (["email", "a@x.org"], "utf-8", "line 2: no rater of these characteristics is without a"),
        ([HEAD, "r1,Lösch,a@x.org,,"], "latin-1", "is not UTF-8 text (from Excel: save it as"),
        ([HEAD, "r1,Lösch,a@x.org,,"], "utf-16", "is not UTF-8 text"),
    ],
)
def test_what_is_wrong_with_a_file_is_one_sentence(
    folder: Folder, lines: list[str], encoding: str, sentence: str
) -> None:
    with pytest.raises(SourceError) as error:
        import_contacts(folder, listed(folder, *lines, encoding=encoding))
    assert sentence in str(error.value)
    with pytest.raises(SourceError, match="there is no such file"):
        import_contacts(folder, folder.path / "none.csv")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a.b+c@x-y.example.org", True),
        ("a@x", False),
        ("a@@x.org", False),
        (".a@x.org", False),
        ("a@-x.org", False),
        ("a@x.org\r\nBcc: b@x.org", False),
        ("Ada <a@x.org>", False),
        ("ä@x.org", False),
        ("a b@x.org", False),
        ("a" * 65 + "@x.org", False),
    ],
)
def test_addresses_are_checked_by_their_form(text: str, expected: bool) -> None:
    assert is_address(text) is expected
