"""The units of systemd that send the letters of a study every day."""

from __future__ import annotations

import configparser
from pathlib import Path

from konsil.cli.main import group
from konsil.progress import own_verbosity

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"


def unit(name: str) -> configparser.ConfigParser:
    parser = configparser.ConfigParser(strict=True, interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string((DEPLOY / name).read_text("utf-8"))
    return parser


def test_the_units_send_what_is_due_as_the_user_of_the_server() -> None:
    letters, backup = unit("konsil-letters@.service"), unit("konsil-backup@.service")
    _, name, *arguments = letters["Service"]["ExecStart"].split()
    with own_verbosity():
        values = group.get_command(None, name).make_context(name, list(arguments)).params
    assert (values["due"], values["send"], str(values["folder"])) == (True, False, "%i")
    for key in ("User", "WorkingDirectory", "EnvironmentFile", "UMask", "ProtectSystem"):
        assert letters["Service"][key] == backup["Service"][key]
    timer = unit("konsil-letters@.timer")
    assert timer["Timer"]["Persistent"] == "true"
    assert "konsil-letters@NAME.timer" in (DEPLOY / "konsil-letters@.timer").read_text("utf-8")
