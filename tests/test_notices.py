"""Deprecated names and what konsil did by itself: warnings in Python, lines on standard error."""

from __future__ import annotations

import warnings

import click
import pytest

from konsil import notices
from konsil.cli.main import Lazy, main


def rate(table: str) -> str:
    """A former name of a function, for as long as it works."""
    notices.deprecated("konsil.rate", "konsil.agreement", "2.0")
    return table.upper()


def test_a_deprecated_name_works_and_names_the_line_that_uses_it():
    with pytest.warns(notices.KonsilDeprecationWarning) as told:
        assert rate("a") == "A"
    [one] = told
    assert issubclass(one.category, DeprecationWarning)
    assert one.filename == __file__
    assert str(one.message) == (
        "konsil.rate: is deprecated and will be removed in version 2.0; use konsil.agreement"
    )


def test_commands_print_each_deprecated_name_once_and_succeed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    @click.command()
    def command() -> None:
        click.echo(rate("a") + rate("b"))
        notices.tell("konsil.db: updated")

    monkeypatch.setattr(Lazy, "get_command", lambda *_: command)
    main(["status"])
    out, err = capsys.readouterr()
    assert out == "AB\n"
    assert err == (
        "note: konsil.rate: is deprecated and will be removed in version 2.0; use konsil.agreement"
        "\nnote: konsil.db: updated\n"
    )


def test_other_packages_warnings_are_not_changed():
    shown: list[str] = []
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        with notices.printed(shown.append):
            warnings.warn("theirs", DeprecationWarning, stacklevel=1)
            notices.tell("ours")
        notices.tell("outside")
    assert shown == ["ours"]
    assert [str(w.message) for w in told] == ["theirs", "outside"]
