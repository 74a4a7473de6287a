"""What the records' fields mean, read from the sentences under them in the source."""

from __future__ import annotations

import ast
import functools
import inspect
import itertools
import sys
from collections.abc import Mapping


@functools.cache
def meanings(record: type) -> Mapping[str, str]:
    """Read the sentence under each field of a dataclass.

    A data dictionary repeats them instead of retelling them.

    >>> from konsil.records import Span
    >>> meanings(Span)["start"]
    "The first character's offset."
    """
    tree = ast.parse(inspect.getsource(sys.modules[record.__module__]))
    body = next(
        node.body
        for node in tree.body
        if isinstance(node, ast.ClassDef) and node.name == record.__name__
    )
    sentences = {}
    for field, below in itertools.pairwise(body):
        if (
            isinstance(field, ast.AnnAssign)
            and isinstance(field.target, ast.Name)
            and isinstance(below, ast.Expr)
        ):
            text = below.value.value if isinstance(below.value, ast.Constant) else None
            if isinstance(text, str):
                sentences[field.target.id] = " ".join(text.split())
    return sentences
