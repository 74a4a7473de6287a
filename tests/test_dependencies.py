"""Licences of everything that konsil needs, and its bill of materials, from installed metadata."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from email.message import Message
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = ROOT / "docs" / "dependencies.py"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("dependencies", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Package:
    """A package that states these fields and no others."""

    def __init__(self, **fields: str | list[str]) -> None:
        self.metadata = Message()
        for name, values in fields.items():
            for value in [values] if isinstance(values, str) else values:
                self.metadata[name.replace("_", "-")] = value


def rows(text: str) -> list[list[str]]:
    return [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in text.splitlines()
        if line.startswith("| ") and not line.startswith("| package ")
    ]


@pytest.mark.slow
def test_everything_that_is_always_installed_has_a_permissive_licence(script: ModuleType):
    packages = script.runtime()
    assert {"numpy", "lxml", "mako", "h11"} <= set(packages), "what is needed indirectly is there"
    assert not {"pytest", "pandas", "psycopg"} & set(packages)
    licences = {name: script.families(package) for name, package in packages.items()}
    assert {n: f for n, f in licences.items() if not f or f - script.PERMISSIVE} == {}


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"License_Expression": "Apache-2.0 AND MIT"}, {"Apache-2.0", "MIT"}),
        ({"License_Expression": "LGPL-3.0-only"}, {"LGPL"}),
        ({"License": "GPL-3.0-or-later"}, {"GPL"}),
        ({"License": "MIT License\n\nPermission is granted"}, {"MIT"}),
        (
            {"License": "unclear", "Classifier": ["License :: OSI Approved :: BSD License"]},
            {"BSD"},
        ),
        (
            {"Classifier": ["License :: OSI Approved :: GNU Affero General Public License v3"]},
            {"AGPL"},
        ),
        ({"License": "A licence of our own"}, {"A licence of our own"}),
        ({}, set()),
    ],
)
def test_licences_are_read_from_what_a_package_states(
    script: ModuleType, fields: dict[str, str | list[str]], expected: set[str]
):
    assert script.families(Package(**fields)) == expected


def test_the_page_is_up_to_date(script: ModuleType):
    """The licence's words may change with a package's version; then the page has one of them."""
    page, made = rows(script.FILE.read_text("utf-8")), rows(script.written())
    assert [row[:2] for row in page] == [row[:2] for row in made]
    needed = (ROOT / "ARCHITECTURE.md").read_text("utf-8").partition("## Why each dependency")[2]
    for now, then in zip(made, page, strict=True):
        assert then[2] != "?", then
        assert now[2] == "?" or set(now[2].split(", ")) & set(then[2].split(", ")), then
        assert f"\n| {then[0].lower()} | " in needed, f"ARCHITECTURE.md says why {then[0]} is here"
    stated = script.FILE.read_text("utf-8").partition("a test checks all of them")[0]
    assert all(family in stated for family in script.PERMISSIVE)


@pytest.mark.slow
def test_the_bill_of_materials_is_complete_and_the_same_each_time(
    script: ModuleType, tmp_path: Path
):
    for name in ("one.json", "two.json"):
        subprocess.run(
            [sys.executable, SCRIPT, "--sbom", tmp_path / name], check=True, capture_output=True
        )
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()
    bill = json.loads((tmp_path / "one.json").read_text("utf-8"))
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    names = [component["name"] for component in bill["components"]]
    assert names == sorted(script.runtime())
    references = {component["bom-ref"] for component in bill["components"]}
    own = bill["metadata"]["component"]["bom-ref"]
    edges = {entry["ref"]: set(entry["dependsOn"]) for entry in bill["dependencies"]}
    assert set(edges) == references | {own}
    assert set().union(*edges.values()) == references, "each package is needed by something"
    for component in bill["components"]:
        assert component["licenses"]
        assert re.fullmatch(r"pkg:\w+/[a-z0-9-]+@\S+", component["purl"])
