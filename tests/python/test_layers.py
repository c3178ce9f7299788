"""Checks that the folders of `nacre` import only from lower layers, without import cycles."""

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import nacre
import pytest

LAYERS = (
    ("errors", "base"),
    ("config", "policies", "scenario", "catalog"),
    ("results",),
    ("files",),
    ("traces", "simulate", "devices"),
    ("studies",),
    ("words", "figures", "pages"),
    ("kinds",),
    ("papers", "interop"),
    ("__init__", "explorer", "cli", "__main__"),
)
"""Layers from the bottom up. Within a layer, a folder imports only from the folders to its left.
`errors` and `base` import each other."""
LATE = "nacre.results.base"
"""The only module that imports from higher layers. It contains the base class of results."""
CORE = "nacre._core"
HOME = Path(nacre.__file__).parent


def modules() -> dict[str, Path]:
    """Returns the file of every module by name, except the examples, which are separate
    programs."""
    found = {}
    for file in HOME.rglob("*.py"):
        parts = ["nacre", *file.relative_to(HOME).with_suffix("").parts]
        if "examples" not in parts:
            found[".".join(parts)] = file
    return found


def imported(file: Path, known: set[str]) -> Iterator[str]:
    """Yields the modules that a file imports, including imports in functions and for type
    checkers."""
    for node in ast.walk(ast.parse(file.read_text())):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            modules_too = {*known, CORE}
            names = [
                name if {name, f"{name}.__init__"} & modules_too else node.module for name in names
            ]
        for name in names:
            if name.startswith("nacre.") or name == "nacre":
                yield name if name in known else f"{name}.__init__"


EDGES = {
    name: set(imported(file, set(modules()))) & set(modules()) for name, file in modules().items()
}


def layer(module: str) -> tuple[int, int]:
    """Returns the layer of a module, and the position of its folder in the layer."""
    folder = module.split(".")[1]
    row = next(number for number, row in enumerate(LAYERS) if folder in row)
    return row, LAYERS[row].index(folder) if row else 0


def test_no_folder_imports_from_a_higher_layer() -> None:
    wrong = [
        f"{name} imports {other}"
        for name, others in EDGES.items()
        for other in others
        if name != LATE
        and name.split(".")[1] != other.split(".")[1]
        and layer(other) >= max(layer(name), (1, 0))
    ]
    assert not wrong, "move what is shared down, or ask for it from above"


def test_there_are_no_import_cycles() -> None:
    downward = {name: of for name, of in EDGES.items() if name != LATE}
    try:
        TopologicalSorter(downward).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_few_modules_are_at_the_top_level() -> None:
    assert len(list(HOME.glob("*.py"))) <= 6
