"""How long the commands of a tutorial take: each is run as a reader runs it, one after the other.

    python benchmarks/tutorials.py                 all tutorials
    python benchmarks/tutorials.py medqade demo    some of them

Processor time does not depend on what else the machine does; on an idle machine the time that
passes is close to it. The tutorials state the sums at their beginning."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from document_edits import edit  # noqa: E402
from test_docs import blocks, commands, environment, place  # noqa: E402


def timed(command: str, folder: Path) -> tuple[float, float]:
    """Seconds that passed, and seconds of processor."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=environment(folder),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        check=True,
    )
    passed, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return passed, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def play(path: Path, folder: Path) -> None:
    """Run the document, and print each command of a second or more, and the sums."""
    total = [0.0, 0.0]
    for block in blocks(path):
        if edit(block.info, block.text, folder) or block.info in {"setup", "fails"}:
            continue
        if block.language == "console":
            for command, _ in commands(block):
                passed, processor = timed(command, folder)
                total = [total[0] + passed, total[1] + processor]
                if processor >= 1:
                    print(f"{processor:6.1f} s of processor, {passed:6.1f} s passed  {command}")
        elif block.info and block.language != "python":
            (folder / block.info).parent.mkdir(exist_ok=True)
            (folder / block.info).write_text(block.text, "utf-8")
    print(f"{total[1]:6.1f} s of processor, {total[0]:6.1f} s passed  {path.name}\n", flush=True)


def main(names: list[str]) -> None:
    if "demo" in names or not names:
        with tempfile.TemporaryDirectory() as scratch:
            passed, processor = timed("konsil demo", Path(scratch))
            print(f"{processor:6.1f} s of processor, {passed:6.1f} s passed  konsil demo\n")
    for path in sorted((ROOT / "docs").glob("tutorial*.md")):
        if not names or path.stem.removeprefix("tutorial-") in names:
            with tempfile.TemporaryDirectory() as scratch:
                play(path, place(Path(scratch)))


if __name__ == "__main__":
    main(sys.argv[1:])
