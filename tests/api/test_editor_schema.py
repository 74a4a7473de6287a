"""Every folder that `konsil new` makes names its schema, and editors find it there."""

import json
import tomllib
from pathlib import Path

import jsonschema
import pytest

from konsil.api.editor_schema import LINE, SCHEMA, with_schema_line
from small_studies import exit_code


@pytest.mark.parametrize("protocol", ["starter", "medqade", "clexeval", "cqa-eval", "real-pocqi"])
def test_a_new_folder_has_the_schema_that_its_first_line_names(tmp_path: Path, protocol: str):
    assert exit_code("new", tmp_path / "s", "--protocol", protocol) == 0
    text = (tmp_path / "s" / "study.toml").read_text("utf-8")
    assert text.startswith(LINE) and text.count("#:schema") == 1
    schema = json.loads((tmp_path / "s" / SCHEMA).read_text("utf-8"))
    jsonschema.validate(tomllib.loads(text), schema)
    assert exit_code("check", tmp_path / "s") == 0


def test_the_line_is_written_once():
    assert with_schema_line(with_schema_line("a = 1\n")) == LINE + "a = 1\n"


def test_a_simulated_copy_keeps_the_line_first_and_the_schema_beside(tmp_path: Path):
    from konsil.api import open_folder
    from konsil.api.rehearsal.rehearsal import copy_as_simulated

    assert exit_code("new", tmp_path / "s") == 0
    (tmp_path / "copy").mkdir()
    copy_as_simulated(open_folder(tmp_path / "s"), tmp_path / "copy")
    lines = (tmp_path / "copy" / "study.toml").read_text("utf-8").splitlines()
    assert lines[:2] == [LINE.strip(), "simulated = true"]
    assert (tmp_path / "copy" / SCHEMA).is_file()
