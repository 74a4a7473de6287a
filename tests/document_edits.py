"""What a document asks its reader to do with files, in an editor or a file manager: the tests do
the same.

```diff change=FILE        lines with - become lines with +; ... at the end of a line is its rest
```text replace=FILE       OLD → NEW, everywhere in the file, as an editor's Find and Replace
```text copy               FILE → FOLDER/, or FOLDER/ → FOLDER/ for all its files
```text files=FOLDER       the names in the folder, sorted
```csv starts=FILE         the first lines of the file
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

ARROW = " → "


def edit(info: str, text: str, folder: Path) -> bool:
    """Whether the block is such an instruction; if so, it has been carried out in `folder`."""
    verb, _, target = info.partition("=")
    if verb not in VERBS:
        return False
    VERBS[verb](folder / target, text, folder)
    return True


def _change(file: Path, text: str, _folder: Path) -> None:
    content = file.read_text("utf-8")
    for hunk in re.split(r"(?m)^\.\.\.\n", text):
        content = changed(content, hunk.splitlines(), file.name)
    file.write_text(content, "utf-8")


def changed(content: str, hunk: list[str], name: str) -> str:
    """The content with the lines of `hunk` that begin with + in place of those with -.

    The lines before the change, with their context, occur exactly once; a hunk of new lines alone
    is added at the end.
    """
    assert all(line[:1] in {" ", "-", "+"} for line in hunk), f"{name}: no line of a diff in {hunk}"
    old = [line[1:] for line in hunk if line[0] != "+"]
    if not old:
        return content.rstrip("\n") + "\n" + "".join(f"{line[1:]}\n" for line in hunk)
    pattern = re.compile("^" + "\n".join(map(_line, old)) + "$", re.MULTILINE)
    matches = list(pattern.finditer(content))
    assert len(matches) == 1, f"{name}: {old} occurs {len(matches)} times"
    rests = iter(matches[0].groups())
    new, rest = [], ""
    for line in hunk:
        if line[0] != "+" and line.endswith("..."):
            rest = next(rests)
        if line[0] != "-":
            shown = line[1:]
            new.append(shown[:-3] + rest if shown.endswith("...") else shown)
    return content[: matches[0].start()] + "\n".join(new) + content[matches[0].end() :]


def _line(line: str) -> str:
    return re.escape(line[:-3]) + r"(.*)" if line.endswith("...") else re.escape(line)


def _replace(file: Path, text: str, _folder: Path) -> None:
    content = file.read_text("utf-8")
    for line in text.splitlines():
        old, new = line.split(ARROW)
        assert old in content, f"{file.name}: {old!r} does not occur"
        content = content.replace(old, new)
    file.write_text(content, "utf-8")


def _copy(_: Path, text: str, folder: Path) -> None:
    for line in text.splitlines():
        source, target = (folder / side.strip() for side in line.split(ARROW.strip()))
        assert target.is_dir() or line.endswith("/"), f"{line}: no folder"
        target.mkdir(exist_ok=True)
        files = sorted(source.iterdir()) if source.is_dir() else [source]
        for file in files:
            shutil.copy(file, target)


def _files(place: Path, text: str, _folder: Path) -> None:
    assert sorted(path.name for path in place.iterdir()) == text.split(), place


def _starts(file: Path, text: str, _folder: Path) -> None:
    assert file.read_text("utf-8").startswith(text), file


VERBS: Mapping[str, Callable[[Path, str, Path], None]] = {
    "change": _change,
    "replace": _replace,
    "copy": _copy,
    "files": _files,
    "starts": _starts,
}
