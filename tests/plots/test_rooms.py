"""What may know what: no two Python modules import each other, not even through others."""

import ast
import graphlib

import pytest
from conftest import ROOT

FOLDERS = ("plots", "experiments/peers", "tests/plots")


def imports_of(text: str) -> set[str]:
    """All modules that a script imports, at its head or inside a function."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return found


def import_order(modules: dict[str, str]) -> list[str]:
    """Modules by name and text, each after those that it imports. Raises graphlib.CycleError."""
    graph = {name: imports_of(text) & modules.keys() for name, text in modules.items()}
    return list(graphlib.TopologicalSorter(graph).static_order())


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_module_imports_itself_through_others(folder):
    modules = {path.stem: path.read_text() for path in (ROOT / folder).glob("*.py")}
    assert len(import_order(modules)) == len(modules) > 1


def test_a_cycle_inside_functions_is_found():
    modules = {"a": "def f():\n    import b\n", "b": "from c import x\n", "c": "import a, os\n"}
    with pytest.raises(graphlib.CycleError):
        import_order(modules)
