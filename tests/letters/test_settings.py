"""mail.toml and the study's own texts: what is wrong is one sentence, before anything is sent."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from konsil.api.folder.folder import Folder, open_folder
from konsil.errors import KonsilError
from konsil.letters.links import KEY_FILE, letter_key
from konsil.letters.sending import send_letters, shown_letters
from konsil.letters.settings import FILE, password, read_mail
from konsil.store.engine.private import FILE as PRIVATE
from konsil.store.engine.private import create_whole
from mail_servers import Day, Post, write_mail


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("host =", "hots =", "unknown key; did you mean 'host'?"),
        ('host = "127.0.0.1"', "", "mail.host: missing; it is required here"),
        ('"none"', '"startls"', "did you mean 'starttls'?"),
        ("port = ", "port = 9", "port: expected 1 to 65,535"),
        ('"127.0.0.1"', '"mail.example.org"', "'none' is accepted only to this machine"),
        ("https://study", "http://study", "url: expected an address with https://"),
        ("example.org", "example.org ", "url: expected an address with https:// and without"),
        ("example.org", "example.org/?a=b", "url: expected an address with https://"),
        ("example.org", "example.org:port", "url: expected an address with https://"),
        ("[mail]", "[mail]\ntemplates = 'leters'", "is no folder; expected the texts of letters"),
        ("[mail]", "[mail]\nuser = 'ü'\npassword_file = 'mail.toml'", "other than those of ASCII"),
        ("<office@study", "<office", "sender: expected an address, such as"),
        ("[mail]", "[mail]\nreply_to = 'desk'", "reply_to: expected an address, such as"),
        ("[mail]", "[mail]\nremind_after_days = [7, 3]", "expected increasing days from 1 on"),
        ("[mail]", "[mail]\nuser = 'trial'", "expected user with password_variable or"),
        ("[mail]", "[mail]\nuser = 't'\npassword_variable = 'NO_SUCH'", "the password is empty"),
        ("[mail]", "[mail]\nuser = 't'\npassword_file = 'none'", "mail.password_file: cannot read"),
        ("[mail]", "[mail]\npassword = 'canary'", "unknown key; did you mean 'password_file'?"),
        ("[mail]", "[mail", "not valid TOML"),
    ],
)
def test_what_is_wrong_with_mail_toml_is_one_sentence(
    folder: Folder, post: Post, old: str, new: str, sentence: str
) -> None:
    write_mail(folder.path, post.port)
    file = folder.path / FILE
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), "utf-8")
    with pytest.raises(KonsilError) as error:
        send_letters(folder)
    assert sentence in str(error.value)
    assert str(error.value).startswith(str(file))
    assert "\n" not in str(error.value)
    assert "canary" not in str(error.value)


def test_the_address_of_another_study_is_refused(folder: Folder) -> None:
    other = folder.path.parent / "other"
    other.mkdir()
    write_mail(folder.path, 25)
    file = folder.path / FILE
    file.write_text(
        file.read_text("utf-8").replace("example.org", "example.org/other/", 1), "utf-8"
    )
    assert read_mail(folder).url.endswith("/other/"), (
        "a path that is no study's is one of the proxy"
    )
    (other / "study.toml").touch()
    with pytest.raises(KonsilError, match=r"mail\.url: .* leads to the study 'other' beside this"):
        read_mail(folder)


def test_a_password_is_in_a_variable_or_a_file_and_never_shown(folder: Folder) -> None:
    write_mail(folder.path, 25, "user = 'trial'", "password_variable = 'TRIAL_MAIL'")
    mail = read_mail(folder)
    assert password(mail, folder.path, {"TRIAL_MAIL": " secret\n"}) == "secret"
    assert "secret" not in repr(mail)


def test_nothing_is_sent_without_mail_toml_or_in_a_simulated_study(
    folder: Folder, post: Post
) -> None:
    protocol = folder.path / "study.toml"
    protocol.write_text("simulated = true\n" + protocol.read_text("utf-8"), "utf-8")
    for send in (send_letters, shown_letters):
        with pytest.raises(KonsilError, match="nothing is sent to people in a simulation"):
            send(open_folder(folder.path))
    (folder.path / FILE).unlink()
    with pytest.raises(KonsilError, match=r"mail.toml: there is no such file; it has the table"):
        send_letters(folder)
    assert not post.letters


def test_the_protocol_does_not_change_with_mail_toml(folder: Folder) -> None:
    (folder.path / FILE).unlink()
    before = open_folder(folder.path).study
    write_mail(folder.path, 25)
    assert open_folder(folder.path).study == before


def test_the_key_of_links_is_private_and_a_damaged_one_is_refused(
    folder: Folder, post: Post
) -> None:
    key = folder.path / KEY_FILE
    assert os.name == "nt" or key.stat().st_mode & 0o777 == PRIVATE
    key.write_text("abc")
    with pytest.raises(KonsilError, match="expected the key of the links"):
        send_letters(folder)
    assert not post.letters


def test_of_two_processes_that_make_a_key_at_once_both_have_the_same_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise the links of one of them could not be derived again."""
    other = bytes(range(32))

    def of_another(n: int) -> bytes:
        # Another process is faster.
        assert create_whole(tmp_path / KEY_FILE, f"{other.hex()}\n".encode())
        return b"k" * n

    with monkeypatch.context() as patch:
        patch.setattr("konsil.letters.links.secrets.token_bytes", of_another)
        assert letter_key(tmp_path, may_write=True) == other
    assert letter_key(tmp_path, may_write=False) == other
    assert [p.name for p in tmp_path.iterdir()] == [KEY_FILE]


def test_a_private_file_is_created_once_without_hard_links_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unsupported(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr("os.link", unsupported)
    place = tmp_path / "key"
    assert create_whole(place, b"first")
    assert not create_whole(place, b"second")
    assert place.read_bytes() == b"first"
    assert os.name == "nt" or place.stat().st_mode & 0o777 == PRIVATE
    assert [p.name for p in tmp_path.iterdir()] == ["key"]


def own_text(folder: Folder, name: str, text: str) -> Path:
    place = folder.path / "letters"
    place.mkdir(exist_ok=True)
    (place / name).write_text(text, "utf-8")
    return place / name


def test_a_studys_own_text_replaces_konsils_in_its_language(
    folder: Folder, post: Post, day: Day
) -> None:
    text = "{greeting}\n\n{title}, {tasks}: {link} until {until}\n"
    own_text(folder, "invitation.en.txt", f"Subject: {{title}} ({{name}})\n\n{text}")
    with pytest.raises(KonsilError, match=r"rater 'r2' has no name for \{name\}"):
        send_letters(folder, clock=day)
    assert not post.letters
    own_text(folder, "invitation.en.txt", f"Subject: About {{title}}\r\n\r\n{text}")
    send_letters(folder, clock=day)
    _, letter = post.letters[0]
    assert letter["Subject"] == "About Right or wrong?"
    lines = letter.get_content().splitlines()
    assert lines[0] == "Dear Dr. Ada Quokka,"
    assert lines[2].startswith("Right or wrong?, 2: https://study.example.org/come/")
    assert post.letters[2][1]["Subject"].startswith("Einladung")


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("invitation.eng.txt", "", "no letter has this name; did you mean 'invitation.en.txt'?"),
        ("reminder.de.txt", "Guten Tag", ":1: expected the line 'Subject: ...'"),
        ("reminder.de.txt", "Subject: x\n{lnk}", "no placeholder {lnk}; did you mean 'link'?"),
        ("reminder.de.txt", "Subject: x\n{link} {", ":2: a brace without its counterpart"),
        ("reminder.de.txt", "Subject: {link}\n{link}", "{link} is for the text"),
        ("reminder.de.txt", "Subject: x\nHello", "expected {link} once, got it 0 times"),
    ],
)
def test_texts_are_checked_before_the_first_letter(
    folder: Folder, post: Post, name: str, text: str, sentence: str
) -> None:
    place = own_text(folder, name, text)
    with pytest.raises(KonsilError) as error:
        send_letters(folder)
    assert str(error.value).startswith(str(place))
    assert sentence in str(error.value)
    assert not post.letters
