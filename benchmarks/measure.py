"""Sizes, typing, complexity, imports and density of Python packages, one row a package.

    python measure.py konsil:src/konsil:tests starlette:../starlette/starlette:../starlette/tests

Each argument is NAME:FOLDER[:TESTS]. --worst N lists the longest and most complex places of the first package.
"""

import argparse
import ast
import io
import statistics
import tokenize
from pathlib import Path

COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
BRANCHES = (
    ast.If,
    ast.For,
    ast.While,
    ast.IfExp,
    ast.ExceptHandler,
    ast.AsyncFor,
    ast.comprehension,
    ast.match_case,
    ast.Assert,
)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def quantile(values, p):
    v = sorted(values)
    return v[min(len(v) - 1, int(p * len(v)))] if v else 0


def complexity(function):
    n = 1
    for x in ast.walk(function):
        if isinstance(x, BRANCHES):
            n += 1 + (len(x.ifs) if isinstance(x, ast.comprehension) else 0)
        elif isinstance(x, ast.BoolOp):
            n += len(x.values) - 1
    return n


def measure(name, base, tests, worst):
    files = [
        f
        for f in base.rglob("*.py")
        if not {"tests", "test"} & set(f.relative_to(base).parts[:-1])
        and not f.name.startswith("test_")
    ]
    lines, long, functions, parameters, complex_, imports, own = [], [], [], [], [], [], []
    comments = docstring = typed = arguments = public = documented = top = tokens = nested = (
        comprehensions
    ) = 0
    package = base.name
    for f in files:
        text, where = f.read_text(errors="replace"), str(f.relative_to(base))
        try:
            tree = ast.parse(text)
        except SyntaxError:
            continue
        lines.append((text.count("\n"), where))
        long += [len(x) for x in text.splitlines() if x.strip()]
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            comments += token.type == tokenize.COMMENT
            tokens += token.type in (tokenize.NAME, tokenize.OP, tokenize.NUMBER, tokenize.STRING)
        all_, ours = set(), set()
        for x in ast.walk(tree):
            if isinstance(x, ast.Import):
                all_ |= {a.name for a in x.names}
            elif isinstance(x, ast.ImportFrom):
                module = "." * x.level + (x.module or "")
                all_.add(module)
                if x.level or module.split(".")[0] == package:
                    ours.add(module)
            elif isinstance(x, FUNCTIONS):
                functions.append((x.end_lineno - x.lineno + 1, f"{where}:{x.name}"))
                a = [
                    p
                    for p in x.args.posonlyargs + x.args.args + x.args.kwonlyargs
                    if p.arg not in ("self", "cls")
                ]
                parameters.append((len(a), f"{where}:{x.name}"))
                arguments += len(a)
                typed += sum(p.annotation is not None for p in a)
                complex_.append((complexity(x), f"{where}:{x.name}"))
                if not x.name.startswith("_"):
                    public += 1
                    documented += bool(ast.get_docstring(x))
            elif isinstance(x, ast.comprehension):
                comprehensions += 1
            if isinstance(x, COMPREHENSIONS):
                nested += len(x.generators) > 1 or any(
                    isinstance(y, COMPREHENSIONS) for y in ast.walk(x) if y is not x
                )
            if isinstance(x, (*FUNCTIONS, ast.ClassDef)) and (d := ast.get_docstring(x)):
                docstring += d.count("\n") + 1
        top += sum(
            isinstance(x, (*FUNCTIONS, ast.ClassDef)) and not x.name.startswith("_")
            for x in tree.body
        )
        imports.append((len(all_), where))
        own.append((len(ours), where))
    total, sizes = sum(n for n, _ in lines), [n for n, _ in lines]
    tested = (
        sum(t.read_text(errors="replace").count("\n") for t in tests.rglob("*.py")) if tests else 0
    )
    hundred = len(long) / 100

    def three(v):
        v = [n for n, _ in v]
        return f"{quantile(v, 0.5)}/{quantile(v, 0.95)}/{max(v)}"

    print(
        f"{name}: {len(lines)} modules, {total} lines, median/p90/max {quantile(sizes, 0.5)}/{quantile(sizes, 0.9)}/{max(sizes)}, "
        f"under 300 {100 * sum(n < 300 for n in sizes) / len(sizes):.0f}%; a 100 lines: comments {100 * comments / total:.1f}, docstring lines "
        f"{100 * docstring / total:.1f}, comprehensions {comprehensions / hundred:.1f}, nested {nested / hundred:.2f}; over 100 columns "
        f"{sum(n > 100 for n in long) / hundred:.1f}%, tokens a line {tokens / len(long):.1f}; arguments typed {100 * typed / max(1, arguments):.0f}%, "
        f"public functions documented {100 * documented / max(1, public):.0f}%; function lines med/p95/max {three(functions)}; parameters {three(parameters)}, "
        f"over 7: {sum(n > 7 for n, _ in parameters)}; complexity mean {statistics.mean(n for n, _ in complex_):.1f}, {three(complex_)}, over 10: "
        f"{sum(n > 10 for n, _ in complex_)}; own imports {three(own)}; public names {top}, {top / len(lines):.1f} a module; tests/source {tested / total:.2f}"
    )
    for title, v in (
        ("lines", lines),
        ("functions", functions),
        ("parameters", parameters),
        ("complexity", complex_),
        ("own imports", own),
    ):
        if worst:
            print("  ", title, sorted(v, reverse=True)[:worst])


if __name__ == "__main__":
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("packages", nargs="*", default=["konsil:src/konsil:tests"])
    p.add_argument("--worst", type=int, default=0)
    a = p.parse_args()
    for n, one in enumerate(a.packages):
        name, base, *tests = one.split(":")
        measure(name, Path(base), Path(tests[0]) if tests else None, a.worst if n == 0 else 0)
