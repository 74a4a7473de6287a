"""Write the JSON schema of study.toml that the package ships, from the types and their sentences.

python docs/schema.py          write src/konsil/study/study.schema.json
"""

from __future__ import annotations

import ast
import inspect
import json
import re
from collections.abc import Mapping
from pathlib import Path

from konsil.study.reference.schema import schema_of_study

FILE = Path(__file__).resolve().parents[1] / "src/konsil/study/study.schema.json"


def sentences(kind: type) -> Mapping[str, str]:
    """Each field's sentence: the text below it in the source of its class."""
    inherited: dict[str, str] = {}
    for base in reversed(kind.__mro__[:-1]):
        [body] = [n for n in ast.parse(inspect.getsource(base)).body if isinstance(n, ast.ClassDef)]
        for field, text in zip(body.body, body.body[1:], strict=False):
            if (
                isinstance(field, ast.AnnAssign)
                and isinstance(field.target, ast.Name)
                and isinstance(text, ast.Expr)
                and isinstance(text.value, ast.Constant)
            ):
                words = re.sub(r"\s+", " ", str(text.value.value)).strip()
                inherited[field.target.id] = words.replace("None:", "left out:")
    return inherited


def written() -> str:
    """The schema as the file has it."""
    return json.dumps(schema_of_study(sentences), ensure_ascii=False, indent=1) + "\n"


if __name__ == "__main__":
    FILE.write_text(written(), "utf-8")
    print(FILE)
