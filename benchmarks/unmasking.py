"""Can systems be told apart by name in anything that a blinded study shows? Many drawn studies,
names exchanged.

    python benchmarks/unmasking.py --studies 500 --jobs 2
    python benchmarks/unmasking.py --pages --studies 100 --jobs 2

Each study is drawn by its number, made twice with the names of its systems exchanged, and
everything that is shown of both is compared, as `tests/api/test_unmasking.py` does with three: the
exported tables, the records of a notebook, the report's page and tables. With `--pages` the studies
have a plan and are rated on their pages, and raters' and analysts' pages, kits, tasks for Label
Studio and the log are compared as well (`tests/planned_pages.py`). Any difference would tell
somebody which name belongs to which letter."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

for tests in ("tests/api", "tests"):
    sys.path.append(str(Path(__file__).resolve().parents[1] / tests))


def differences_of(seed: int) -> tuple[int, list[str]]:
    """What differs in the study of this number."""
    from test_unmasking import differing

    with tempfile.TemporaryDirectory() as folder:
        return seed, differing(seed, Path(folder))


def differences_of_pages(seed: int) -> tuple[int, list[str]]:
    """What differs in the planned study of this number, which is rated on its pages."""
    from planned_pages import differing_pages

    with tempfile.TemporaryDirectory() as folder:
        return seed, differing_pages(seed, Path(folder))


def with_texts_of(figures: bool) -> None:
    """Leave out PDFs, which are not compared, and unless `figures` what is drawn, which takes most
    of the time.

    A figure's title, description and caption stay.
    """
    from matplotlib.figure import Figure

    save: Any = Figure.savefig

    def in_part(figure: Figure, place: Any, *arguments: Any, **more: Any) -> None:
        if more.get("format") == "svg" and figures:
            save(figure, place, *arguments, **more)
        elif more.get("format") == "svg":
            place.write(b'<svg viewBox="0 0 480 320"></svg>')

    Figure.savefig = in_part  # type: ignore[method-assign]


def main() -> int:
    """Draw the studies and print what differs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--studies", type=int, default=500, help="drawn studies")
    parser.add_argument("--first", type=int, default=0, help="the number of the first of them")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument(
        "--pages", action="store_true", help="planned studies, rated on their pages"
    )
    parser.add_argument(
        "--figures", action="store_true", help="draw the figures, too, which takes most of the time"
    )
    options = parser.parse_args()
    begun, unmasked = time.perf_counter(), 0
    seeds = range(options.first, options.first + options.studies)
    with ProcessPoolExecutor(
        options.jobs, initializer=with_texts_of, initargs=(options.figures,)
    ) as pool:
        for n, (seed, found) in enumerate(
            pool.map(differences_of_pages if options.pages else differences_of, seeds), start=1
        ):
            unmasked += bool(found)
            if found:
                print(f"study {seed}: {', '.join(found)}", flush=True)
            if n % 50 == 0:
                print(
                    f"{n:,} studies, {time.perf_counter() - begun:,.0f} s",
                    file=sys.stderr,
                    flush=True,
                )
    print(f"{options.studies:,} studies, {unmasked:,} with a difference")
    return int(unmasked > 0)


if __name__ == "__main__":
    sys.exit(main())
