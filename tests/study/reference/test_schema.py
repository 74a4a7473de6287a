"""The JSON schema of study.toml: it is what the types say, and it accepts what konsil accepts."""

from __future__ import annotations

import copy
import importlib.util
import json
import tomllib
from importlib.resources import files
from pathlib import Path
from types import ModuleType

import jsonschema
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from konsil.cli.main import group
from konsil.errors import StudyError
from konsil.study import Study
from konsil.study.reference.explain import explained, keys_of
from konsil.study.sections.decode import decode

ROOT = Path(__file__).resolve().parents[3]
PACKAGE = ROOT / "src" / "konsil"
SCHEMA = json.loads((files("konsil.study") / "study.schema.json").read_text("utf-8"))
VALID = jsonschema.Draft7Validator(SCHEMA)
STUDIES = sorted([*PACKAGE.glob("protocols/*/study*.toml"), PACKAGE / "demo" / "study.toml"])


def _script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("konsil_schema", ROOT / "docs" / "schema.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_file_is_made_from_the_types():
    """`python docs/schema.py` writes it anew."""
    script = _script()
    assert script.FILE.read_text("utf-8") == script.written()


def test_the_schema_is_one_and_every_key_is_described():
    jsonschema.Draft7Validator.check_schema(SCHEMA)
    assert [key.path for key in keys_of(SCHEMA) if not key.description] == []


@pytest.mark.parametrize("path", STUDIES, ids=lambda p: f"{p.parent.name}-{p.stem}")
def test_every_protocol_is_valid(path: Path):
    assert len(STUDIES) > 8
    assert [e.message for e in VALID.iter_errors(tomllib.loads(path.read_text("utf-8")))] == []


def _places(data: object, path: tuple[object, ...] = ()) -> list[tuple[object, ...]]:
    """Every table's and value's place in a parsed file."""
    inner = (
        data.items()
        if isinstance(data, dict)
        else enumerate(data)
        if isinstance(data, list)
        else ()
    )
    return [path, *(place for key, value in inner for place in _places(value, (*path, key)))]


DEMO = tomllib.loads((PACKAGE / "demo" / "study.toml").read_text("utf-8"))
MEDQADE = tomllib.loads((PACKAGE / "protocols" / "medqade" / "study.toml").read_text("utf-8"))


@settings(deadline=None, max_examples=200)
@given(data=st.data())
def test_what_the_decoder_refuses_by_its_form_the_schema_refuses(data: st.DataObject):
    """One slip in a valid file: a key that is no key, a key left out, a value of another type."""
    study = copy.deepcopy(data.draw(st.sampled_from([DEMO, MEDQADE])))
    place = data.draw(st.sampled_from(_places(study)[1:]))
    *above, last = place
    table = study
    for key in above:
        table = table[key]
    slip = data.draw(st.sampled_from(["misspelt", "left out", "other"]))
    if slip == "misspelt" and isinstance(table, dict):
        table[f"{last}x"] = table.pop(last)
    elif slip == "left out" and isinstance(table, dict):
        del table[last]
    else:
        table[last] = data.draw(
            st.sampled_from([3, 0.5, True, "word", ["word"], {"word": "x"}, [{"a": 1}]])
        )
    try:
        decode(Study, study, "study.toml")
    except StudyError as error:
        # Which keys a statistic takes only `konsil check` says.
        assert "belongs to" in str(error) or not VALID.is_valid(study), error
    else:
        assert VALID.is_valid(study), [e.message for e in VALID.iter_errors(study)]


def test_a_key_is_explained_by_its_place_or_by_its_name():
    assert explained(SCHEMA, "analyses.statistic").is_required
    assert explained(SCHEMA, "[[analyses]]").form == "a list of tables"
    assert explained(SCHEMA, "analyses[3].compare").path == "analyses.compare"
    assert explained(SCHEMA, "min_seconds").path == "exclusions.min_seconds"
    assert "Of the statistics" in explained(SCHEMA, "analyses.levels").description
    assert explained(SCHEMA, "analyses.mode").choices == ("valid", "paper")
    assert explained(SCHEMA, "resampling.draws").default == 10_000


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("statistc", "there is no key 'statistc' in study.toml; did you mean 'statistic'?"),
        ("analyses.statistc", "there is no key 'statistc' in analyses; did you mean 'statistic'?"),
        ("xyz", "there is no key 'xyz' in study.toml; known: adjudication, analyses"),
        ("panel", "the key 'panel' is in several tables; expected one of raters.panel,"),
    ],
)
def test_a_name_that_is_no_key_is_one_sentence(path: str, message: str):
    with pytest.raises(StudyError) as error:
        explained(SCHEMA, path)
    assert str(error.value).startswith(message)


def test_the_command_explains_one_key_a_table_and_all():
    run = CliRunner().invoke
    assert (
        run(group, ["explain", "analyses.mode"]).output.splitlines()[0]
        == "analyses.mode: one of some words"
    )
    assert "  one of:  valid, paper" in run(group, ["explain", "analyses.mode"]).output
    tables = run(group, ["explain", "--json"])
    assert [key["path"] for key in json.loads(tables.output)["keys"]] == list(SCHEMA["properties"])
    raters = run(group, ["explain", "raters"]).output
    assert "raters: a list of tables" in raters
    assert "raters.panel" in raters


def test_explanations_are_whole():
    result = CliRunner().invoke(group, ["explain", "analyses"])
    assert result.exit_code == 0
    text = " ".join(result.output.split())
    for key in keys_of(SCHEMA):
        if key.path.startswith("analyses.") and key.path.count(".") == 1:
            assert " ".join(key.description.split()) in text, key.path
