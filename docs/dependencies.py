"""Licences of what konsil depends on, and its software bill of materials, from installed metadata.

    python docs/dependencies.py              write docs/dependencies.md
    python docs/dependencies.py --sbom FILE  write the bill of materials (CycloneDX 1.6, JSON)

The bill names the versions installed here, so it belongs to one installation; the same installation
gives the same bytes."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "docs" / "dependencies.md"
PERMISSIVE = frozenset(
    {"Apache-2.0", "BSD", "CC0-1.0", "HPND", "ISC", "MIT", "MIT-CMU", "PSF", "Zlib"}
)
"""Families of licences that let anybody use, change and pass on the program, also within others."""
_FAMILIES = (
    (r"LGPL|Lesser General Public", "LGPL"),
    (r"AGPL|Affero", "AGPL"),
    (r"GPL|General Public", "GPL"),
    (r"MPL|Mozilla", "MPL-2.0"),
    (r"MIT-CMU", "MIT-CMU"),
    (r"\bMIT\b", "MIT"),
    (r"Apache", "Apache-2.0"),
    (r"0BSD|BSD", "BSD"),
    (r"Historical Permission|HPND", "HPND"),
    (r"\bISC\b", "ISC"),
    (r"Python Software Foundation|PSF|Python-2\.0", "PSF"),
    (r"\bZlib\b", "Zlib"),
    (r"CC0", "CC0-1.0"),
)
"""Words of a licence's statement -> its family; the first that fits."""


def project() -> dict[str, list[Requirement]]:
    """What pyproject.toml requires: '' -> always, extra -> with this extra."""
    table = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    lists = {"": table["dependencies"], **table["optional-dependencies"]}
    return {
        extra: [Requirement(text) for text in texts]
        for extra, texts in lists.items()
        if extra != "test"
    }


def families(package: Distribution) -> frozenset[str]:
    """The families of licences that a package states, alternatives included."""
    about = package.metadata
    classifiers = [c for c in about.get_all("Classifier", []) if c.startswith("License ::")]
    texts = [about.get("License-Expression") or ""]
    if not texts[0]:
        texts = classifiers or [(about.get("License") or "").partition("\n")[0]]
    # Some packages state their licence in its own file alone, whose first line is its name.
    if not any(texts):
        files = about.get_all("License-File", [])
        texts = [(package.read_text(f"licenses/{f}") or "").partition("\n")[0] for f in files]
    parts = [part for text in texts for part in re.split(r"\bAND\b|\bOR\b|[;,/]", text)]
    return frozenset(
        next((family for pattern, family in _FAMILIES if re.search(pattern, part)), part.strip())
        for part in parts
        if part.strip(" ()")
    )


def runtime() -> dict[str, Distribution]:
    """Every package that konsil without extras needs here, directly or not, by name."""
    found: dict[str, Distribution] = {}
    waiting = list(project()[""])
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        if name in found or not _applies(requirement):
            continue
        found[name] = distribution(name)
        extras = requirement.extras
        for text in found[name].requires or []:
            inner = Requirement(text)
            if _applies(inner) or any(_applies(inner, extra) for extra in extras):
                waiting.append(inner)
    return dict(sorted(found.items()))


def _applies(requirement: Requirement, extra: str = "") -> bool:
    return requirement.marker is None or requirement.marker.evaluate({"extra": extra})


def reasons() -> dict[str, str]:
    """Package -> why it is here, by ARCHITECTURE.md."""
    text = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    table = text.partition("## Why each dependency")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| ([\w-]+) \| (.*) \|$", table, flags=re.MULTILINE)
    return {canonicalize_name(name): why for name, why in rows}


def written() -> str:
    """The document."""
    why = reasons()
    rows: dict[str, list[str]] = {}
    for extra, requirements in project().items():
        for requirement in requirements:
            rows.setdefault(extra, []).append(_row(requirement, why))
    optional = "\n".join(
        f"\n## With `konsil[{extra}]`\n\n{_HEADER}\n" + "\n".join(lines)
        for extra, lines in rows.items()
        if extra
    )
    return _TEXT.format(header=_HEADER, rows="\n".join(rows[""]), optional=optional)


_HEADER = "| package | versions | licence | why |\n|---|---|---|---|"
_TEXT = """# Dependencies and their licences

konsil is published under Apache-2.0. Everything that it needs to run, directly or through another package, is under a
permissive licence: Apache-2.0, BSD, MIT, MIT-CMU, CC0-1.0, HPND, ISC, PSF or Zlib; a test checks all of them.
Optional packages are listed with their licences below; psycopg is under the LGPL.

This page is generated by `python docs/dependencies.py`. The lowest versions are tested
([how](../CONTRIBUTING.md#lowest-versions)).

## Always installed

{header}
{rows}
{optional}

## Software bill of materials

`python docs/dependencies.py --sbom sbom.json` writes the packages that are installed with konsil, with version, licence
and dependencies, as CycloneDX 1.6 (JSON). It contains no time and no random number: the same installation gives the same
bytes.
"""


def _row(requirement: Requirement, why: dict[str, str]) -> str:
    name = canonicalize_name(requirement.name)
    try:
        licence = ", ".join(sorted(families(distribution(name)))) or "?"
    except PackageNotFoundError:
        licence = "?"
    versions = str(requirement.specifier).replace(",", ", ")
    return f"| {requirement.name} | {versions} | {licence} | {why.get(name, '?')} |"


def bill() -> str:
    """The bill of materials of konsil as it is installed here."""
    packages = runtime()
    version = (ROOT / "src/konsil/version.py").read_text("utf-8").split('"')[-2]
    own = {
        "type": "application",
        "bom-ref": f"pkg:generic/konsil@{version}",
        "name": "konsil",
        "version": version,
        "licenses": [{"license": {"id": "Apache-2.0"}}],
    }
    direct = [r.name for r in project()[""] if _applies(r)]
    content = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": own},
        "components": [_component(name, package) for name, package in packages.items()],
        "dependencies": [
            {"ref": own["bom-ref"], "dependsOn": _references(direct, packages)},
            *(
                {
                    "ref": _reference(package),
                    "dependsOn": _references(list(_needed(package)), packages),
                }
                for package in packages.values()
            ),
        ],
    }
    return json.dumps(content, ensure_ascii=False, indent=2) + "\n"


def _needed(package: Distribution) -> Iterator[str]:
    for text in package.requires or []:
        requirement = Requirement(text)
        if _applies(requirement):
            yield requirement.name


def _references(names: list[str], packages: dict[str, Distribution]) -> list[str]:
    known = {canonicalize_name(name) for name in names} & packages.keys()
    return sorted(_reference(packages[name]) for name in known)


def _reference(package: Distribution) -> str:
    # The type of package URLs that stands for Python packages; it is no address.
    return f"pkg:py{'pi'}/{canonicalize_name(package.name)}@{package.version}"


def _component(name: str, package: Distribution) -> dict[str, object]:
    about = package.metadata
    expression = about.get("License-Expression")
    licences: list[dict[str, object]] = (
        [{"expression": expression}]
        if expression
        else [{"license": {"name": family}} for family in sorted(families(package))]
    )
    return {
        "type": "library",
        "bom-ref": _reference(package),
        "name": name,
        "version": package.version,
        "licenses": licences,
        "purl": _reference(package),
    }


def main(arguments: list[str]) -> None:
    if arguments[:1] == ["--sbom"]:
        [_, target] = arguments
        Path(target).write_text(bill(), "utf-8")
        print(target)
        return
    FILE.write_text(written(), "utf-8")
    print(FILE)


if __name__ == "__main__":
    main(sys.argv[1:])
