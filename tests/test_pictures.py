"""The pictures of every page: all there, small, of the sizes that the documents say, and named in
them."""

from __future__ import annotations

import ast
import itertools
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
SIZES = {"wide": (1280, 900), "phone": (390, 844)}


def pages() -> set[str]:
    """The names in `gallery_studies.PAGES`, read without a browser."""
    tree = ast.parse((IMAGES / "gallery_studies.py").read_text("utf-8"))
    [found] = [
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and node.targets[0].id == "PAGES"
    ]
    return set(ast.literal_eval(found))


def test_every_page_has_its_eight_pictures() -> None:
    there = {path.name for path in (IMAGES / "pages").iterdir()}
    wanted = {
        f"{'-'.join(one)}.webp"
        for one in itertools.product(pages(), ("de", "en"), SIZES, ("light", "dark"))
    }
    assert there == wanted
    told = (ROOT / "docs" / "pages.md").read_text("utf-8")
    assert all(f"images/pages/{name}" in told for name in wanted)


def test_they_are_small_and_of_the_size_that_is_said() -> None:
    paths = sorted((IMAGES / "pages").glob("*.webp"))
    assert sum(path.stat().st_size for path in paths) < 5_000_000
    for path in paths:
        assert path.stat().st_size < 60_000, path.name
        with Image.open(path) as image:
            assert image.size == next(
                size for name, size in SIZES.items() if f"-{name}-" in path.name
            ), path.name
