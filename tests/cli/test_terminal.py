"""What comes out of a file moves no cursor: it is escaped, sentences are one line, and long ones
are cut."""

from __future__ import annotations

import importlib
from pathlib import Path

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.table import Table

from konsil.cli.terminal import escape, guard_terminal, show, table_console
from konsil.errors import KonsilError, StudyError
from small_studies import exit_code

entry = importlib.import_module("konsil.cli.main")


@pytest.mark.slow
@given(st.text())
def test_nothing_shown_controls_a_terminal(text: str) -> None:
    line = show(text)
    assert all(
        sign.isprintable() or not (ord(sign) < 0x20 or 0x7F <= ord(sign) < 0xA0) for sign in line
    )
    assert "\n" not in line
    assert len(show(text, longest=20)) <= 20 + len(" (1,000,000 characters)")


def test_plain_texts_stay_as_they_are() -> None:
    for text in ("Über 5 % – „so“", "日本語", "a/b\\c"):
        assert show(text) == escape(text) == text


def test_whatever_a_command_prints_is_escaped(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(click, "echo", click.echo)
    guard_terminal()
    click.echo("\x1b[31mred\x07\u202e\tx")
    guard_terminal()
    click.echo("\x9b2J", err=True)
    captured = capsys.readouterr()
    assert captured.out == "\\x1b[31mred\\x07\\u202e x\n"
    assert captured.err == "\\u009b2J\n"


@pytest.mark.parametrize(
    ("error", "lines"),
    [
        (KonsilError("column 'a\nb\x1b[2J'"), ["konsil: column 'a b\\x1b[2J'"]),
        (
            StudyError("study.toml: one\nstudy.toml: \x1btwo"),
            ["konsil: study.toml: one", "study.toml: \\x1btwo"],
        ),
        (OSError(2, "No\nsuch", "a\x1bb"), ["konsil: a\\x1bb: No such"]),
    ],
)
def test_errors_are_escaped_and_one_line(
    error: Exception,
    lines: list[str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(**_: object) -> None:
        raise error

    monkeypatch.setattr(click, "echo", click.echo)
    monkeypatch.setattr(entry.group, "main", fail)
    with pytest.raises(SystemExit) as ended:
        entry.main([])
    assert ended.value.code == 2
    assert capsys.readouterr().err.splitlines() == lines


def test_a_very_long_error_is_cut() -> None:
    assert len(show("x" * 100_000)) < 2_100


@pytest.mark.parametrize(
    "name", ["\x1b[2J", "[/red]", "[bold]a", "\u202ea", ":smile:", "[link=http://a]b"]
)
def test_cells_of_tables_are_escaped_and_no_styles(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    grid = Table(name, box=None)
    grid.add_row(name)
    console = table_console(width=100, force_terminal=True)
    console.print(grid)
    console.print(f"Note: {name}", style="yellow")
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert all(escape(name) in line for line in lines)
    assert "\x1b[2J" not in "".join(lines)


def test_a_table_of_ratings_with_foreign_labels_is_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ("[/red]", "\x1b[31mb")
    rows = "".join(
        f"{rater},i{n},{'yes' if n % 3 else 'no'}\n" for rater in names for n in range(6)
    )
    (tmp_path / "t.csv").write_text("rater,item,label\n" + rows)
    assert exit_code("agreement", tmp_path / "t.csv") == 0
    out = capsys.readouterr().out
    assert "\x1b[31m" not in out
    (tmp_path / "p.csv").write_text(
        "system_a,system_b,item,outcome\n"
        + "".join(f"[/red],\x1b[31mb,i{n},{'ab'[n % 2]}\n" for n in range(8))
    )
    assert exit_code("preference", tmp_path / "p.csv", "--rater", "-") == 0
    out = capsys.readouterr().out
    assert "[/red]" in out
    assert "\x1b[31m" not in out
