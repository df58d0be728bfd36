"""What may know what: Python modules in one order, and a technique's name in its places only."""

import ast
import graphlib
import re
import subprocess

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


TECHNIQUES = re.search(r"set\(WARPATH_TECHNIQUES ([^)]*)\)", (ROOT / "CMakeLists.txt").read_text())
TECHNIQUES = TECHNIQUES[1].split()
# Lists of all techniques, with a line or a word each; the documents, and the README's example.
LISTS = ("CMakeLists.txt", "experiments/techniques.cpp", "experiments/techniques.hpp")
LISTS += ("README.md", "CONTRIBUTING.md", "tests/consumer/")
# Files of one technique each, whose names are those of libraries.
PEERS = ("experiments/peers/", "tests/plots/test_peers.py", "tests/plots/test_nccl_ranks.py")


def tracked_texts() -> dict[str, str]:
    """Every text of the repository that is no result, by its path."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    texts = {}
    for name in listed.stdout.splitlines():
        if not name.startswith("results/") and (ROOT / name).is_file():
            texts[name] = (ROOT / name).read_text(errors="replace")
    return texts


def names(text: str, technique: str) -> bool:
    """Whether the text has the technique's name, be it a part of another name."""
    return re.search(rf"(?<![a-z]){technique}(?![a-z])", text) is not None


def is_its_own(path: str, technique: str) -> bool:
    """Whether the file goes when the technique goes."""
    folders = [f"{room}/{technique}/" for room in ("algorithms", "tests", "configs", "experiments")]
    files = [f"experiments/{technique}.cu", f"plots/{technique}.py"]
    files += [f"tests/plots/test_{technique}.py", f"tests/plots/rows/{technique}.py"]
    return path in files or path.startswith(tuple(folders))


def stands_on(texts: dict[str, str], path: str, technique: str, techniques: list[str]) -> bool:
    """Whether the file's technique says in a line of its README that it stands on this one."""
    owner = next((each for each in techniques if is_its_own(path, each)), None)
    readme = texts.get(f"algorithms/{owner}/README.md", "")
    lines = [line for line in readme.splitlines() if line.startswith("**Stands on**")]
    return any(names(line, technique) for line in lines)


def strangers(texts: dict[str, str], technique: str, techniques: list[str]) -> list[str]:
    """The files that name a technique and would be left over, or be wrong, without it."""
    found = []
    for path, text in texts.items():
        if not names(text, technique) or is_its_own(path, technique) or path.startswith(LISTS):
            continue
        one_technique = sum(names(text, each) for each in techniques) == 1
        if path.startswith(PEERS) and one_technique:
            continue
        if not stands_on(texts, path, technique, techniques):
            found.append(path)
    return found


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    return tracked_texts()


def test_there_are_techniques(texts):
    assert len(TECHNIQUES) >= 5
    assert len(texts) > 100


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_a_technique_is_named_in_its_places_only(texts, technique):
    assert strangers(texts, technique, TECHNIQUES) == []


@pytest.mark.parametrize(
    ("path", "text", "is_stranger"),
    [
        ("algorithms/core/scan.cuh", "// as some_sort does", True),
        ("plots/report.py", "SOME = 'some_sort_throughput'", True),
        ("experiments/harness/list.cpp", "some_sort_technique()", True),
        ("algorithms/tree/README.md", "see some_sort", True),
        ("experiments/peers/cub.cu", "some_sort and tree", True),
        ("experiments/peers/cub.cu", "some_sort", False),
        ("algorithms/some_sort/README.md", "some_sort", False),
        ("CMakeLists.txt", "some_sort", False),
        ("algorithms/core/scan.cuh", "awesome_sort, some_sorted", False),
    ],
)
def test_a_stranger_is_found(path, text, is_stranger):
    assert strangers({path: text}, "some_sort", ["some_sort", "tree"]) == [path] * is_stranger


def test_a_technique_may_stand_on_another_that_its_readme_names():
    texts = {"algorithms/tree/kernels.cuh": "some_sort", "algorithms/tree/README.md": ""}
    assert strangers(texts, "some_sort", ["some_sort", "tree"]) == ["algorithms/tree/kernels.cuh"]
    texts["algorithms/tree/README.md"] = "**Stands on** `some_sort`, as its source does."
    assert strangers(texts, "some_sort", ["some_sort", "tree"]) == []


@pytest.mark.parametrize(
    "room", ["algorithms/", "experiments/", "plots/", "configs/", "tests/plots/", "README.md"]
)
def test_sources_are_cited_as_a_paper_cites_them(texts, room):
    """By author, title, venue, year and link: names of files that are not here do not help."""
    cited = re.compile(r"\b\d{3}_[0-9a-f]{16}\b|\bseed 00\d")
    assert [
        path for path, text in texts.items() if path.startswith(room) and cited.search(text)
    ] == []


# nvcc 13.0 compiles std::bit_width of 64-bit values to 0 in device code; others of <bit> are built
# on the same function.
BITS_OF_STD = re.compile(
    r"std::(bit_width|bit_ceil|bit_floor|countl_\w+|countr_\w+|popcount|has_single_bit)"
)
# What runs on the host or is a constant: bodies of constexpr functions that are not for a device,
# and template arguments.
NOT_ON_A_DEVICE = re.compile(
    r"(?<!__device__ )constexpr [^{};]*\{[^{}]*\}|make_integer_sequence<[^;]*>|//.*"
)


def test_device_code_counts_no_bits_by_the_standard_library(texts):
    headers = {
        path: text for path, text in texts.items() if path.endswith(".cuh") and "simt" not in path
    }
    assert len(headers) > 50
    found = [
        path for path, text in headers.items() if BITS_OF_STD.search(NOT_ON_A_DEVICE.sub("", text))
    ]
    assert found == []
    assert BITS_OF_STD.search(
        NOT_ON_A_DEVICE.sub("", "__device__ int f() { return std::bit_width(1ull); }")
    )
