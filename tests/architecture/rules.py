"""The rules of the house as functions from source text to offences.

Every rule takes the text of a module and returns the offences it finds, one
sentence each, so that it can be shown to find one.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

LONGEST_BODY = 60
LONGEST_MODULE = 500

NAMES_WITHOUT_A_ROOM = {"utils", "util", "common", "core", "helpers", "helper", "misc"}
PICKLING = {"pickle", "cloudpickle", "dill", "joblib", "marshal", "shelve"}
PROMISES = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b|raise NotImplementedError")
MACHINE_PATHS = re.compile(r"(?<![\w.])/(home|Users|root|tmp|work|mnt|opt)/\w")

Function = ast.FunctionDef | ast.AsyncFunctionDef


def dotted(node: ast.AST) -> str:
    """Name of an attribute chain such as `np.random.default_rng`."""
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def imported_modules(text: str) -> Iterator[str]:
    """Every module that the text imports, wherever in the module."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def body_length(function: Function) -> int:
    """Lines of a function's body, its docstring not counted."""
    has_docstring = ast.get_docstring(function, clean=False) is not None
    body = function.body[1:] if has_docstring else function.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def find_long_bodies(text: str) -> list[str]:
    return [
        f"line {node.lineno}: {node.name} has {body_length(node)} lines"
        for node in ast.walk(ast.parse(text))
        if isinstance(node, Function) and body_length(node) > LONGEST_BODY
    ]


def find_long_module(text: str) -> list[str]:
    length = len(text.splitlines())
    return [f"{length} lines"] if length > LONGEST_MODULE else []


def find_pickling(text: str) -> list[str]:
    offences = [
        f"imports {name}"
        for name in imported_modules(text)
        if name.split(".")[0] in PICKLING
    ]
    offences += [
        f"line {node.value.lineno}: allow_pickle"
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.keyword)
        and node.arg == "allow_pickle"
        and not (isinstance(node.value, ast.Constant) and node.value.value is False)
    ]
    return offences


def find_calls(text: str, *names: str) -> list[str]:
    return [
        f"line {node.lineno}: calls {dotted(node.func)}"
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call) and dotted(node.func) in names
    ]


def find_printing(text: str) -> list[str]:
    return find_calls(text, "print", "sys.stdout.write", "sys.stderr.write")


def find_warning(text: str) -> list[str]:
    return find_calls(text, "warnings.warn", "warn")


def find_randomness(text: str) -> list[str]:
    """Find draws and sources of randomness; a Generator as a type is none."""
    tree = ast.parse(text)
    types = {"np.random.Generator", "numpy.random.Generator"}
    offences = [
        f"line {node.lineno}: {dotted(node)}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and re.match(r"(np|numpy)\.random\.\w+$", dotted(node))
        and dotted(node) not in types
    ]
    offences += [
        f"imports {name}"
        for name in imported_modules(text)
        if re.match(r"(random|secrets)(\.|$)|numpy\.random\.(?!Generator$)", name)
    ]
    return offences


def find_private_imports(text: str) -> list[str]:
    """Find names that begin with an underscore in other people's packages."""
    return [
        f"imports {name}"
        for name in imported_modules(text)
        if not name.startswith(("tercet", "__future__"))
        and any(part.startswith("_") for part in name.split("."))
    ]


def find_imports_of(text: str, package: str) -> list[str]:
    return [
        f"imports {name}"
        for name in imported_modules(text)
        if name == package or name.startswith(f"{package}.")
    ]


def find_promises(text: str) -> list[str]:
    return [
        f"line {number}: {line.strip()}"
        for number, line in enumerate(text.splitlines(), 1)
        if PROMISES.search(line)
    ]


def find_machine_paths(text: str) -> list[str]:
    return [
        f"line {number}: {line.strip()[:80]}"
        for number, line in enumerate(text.splitlines(), 1)
        if MACHINE_PATHS.search(line)
    ]
