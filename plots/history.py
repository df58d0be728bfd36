"""Tells whether the tree still has the code that an archive measured.

An archive carries the commit of its program. What it measured are the source files that the
technique's experiment includes, the Python programs in experiments/peers that it names with what
they import there, and the points of its configuration. Comments and layout do not count, nor does
what is never timed: oracles, the harness (of Python peers: peer_*.py but for the inputs), what a
configuration expects. `results/staleness.json` names the commits that changed such code and yet no
machine code (a renaming), and the stale archives that are kept on purpose, both with the reason.
"""

from __future__ import annotations

import ast
import functools
import json
import re
import subprocess
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
CODE = (".cu", ".cuh", ".hpp", ".cpp")
NEVER_TIMED = re.compile(
    r"harness/|simt/|(.*/)?(oracle|techniques)\.\w+$|experiments/peers/peer_(?!inputs\b)\w+\.py$"
)
MEASURED_KEYS = ("fixed", "sweep", "profiles", "measure")

_INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
_IMPORT = re.compile(r"^\s*(?:from|import)\s+(\w+)", re.MULTILINE)
_NAME = re.compile(r'"(?:experiments/peers/)?(\w+)(?:\.py)?"')
# Strings come first, so that `//` inside of one is kept; ' also separates digits.
_TOKEN = re.compile(
    r'"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])*'"
    r"|(?P<comment>//[^\n]*|/\*.*?\*/)"
    r"|\w+|\S",
    re.DOTALL,
)


class CannotTell(Exception):
    """There is no history to look at; the message says why."""


@dataclass(frozen=True)
class Change:
    """The last commit since a measurement that changed what was measured."""

    commit: str
    date: str
    subject: str


@dataclass(frozen=True)
class Listing:
    """What was decided about changes since a measurement: `results/staleness.json`."""

    same_code: dict[str, str]
    """By a commit's first digits: why it changed no machine code. `<digits> but <technique> ...`:
    none but that of these techniques.
    """
    stale: list[dict[str, str]]
    """Kept stale archives: `archives` (pattern of `<device>/<technique>.<experiment>`), `measured`
    (their commit) and `why`.
    """

    def leaves_code_alone(self, commit: str, technique: str) -> bool:
        """Whether the commit is listed as one that changed no machine code of the technique."""
        listed = (key.partition(" but ") for key in self.same_code)
        return any(
            commit.startswith(digits) and technique not in others.split()
            for digits, _, others in listed
        )

    def why_stale(self, archive: str, commit: str) -> str | None:
        """Why an archive of that commit may be stale; None where it is not listed."""
        for entry in self.stale:
            if fnmatchcase(archive, entry["archives"]) and commit.startswith(entry["measured"]):
                return entry["why"]
        return None


def listing(root: Path = ROOT) -> Listing:
    """Reads `results/staleness.json`; empty where there is none. Raises CannotTell."""
    path = root / "results" / "staleness.json"
    if not path.exists():
        return Listing({}, [])
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        found = Listing(dict(content["same_code"]), list(content["stale"]))
        texts = [*found.same_code, *found.same_code.values()]
        texts += [entry[key] for entry in found.stale for key in ("archives", "measured", "why")]
    except (OSError, ValueError, TypeError, LookupError, RecursionError) as error:
        raise CannotTell(f"{path} cannot be read: {error!r}") from error
    if not all(isinstance(text, str) and text.strip() for text in texts):
        raise CannotTell(f"{path} has an empty text, or a value that is no text")
    return found


def tokens(text: str) -> list[str]:
    """A C++ source without comments and layout."""
    return [found[0] for found in _TOKEN.finditer(text) if not found["comment"]]


def statements(text: str) -> str:
    """A Python source without comments, layout and docstrings. Raises SyntaxError, ValueError."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(body := getattr(node, "body", None), list):
            node.body = [each for each in body if not _is_words(each)]
    return ast.dump(tree)


def _is_words(statement: ast.stmt) -> bool:
    """Whether the statement is a text alone, as a docstring is."""
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def points(text: str) -> dict[str, Any]:
    """What a configuration measures: not its words, nor what it expects."""
    bare = _TOKEN.sub(lambda found: "" if found["comment"] else found[0], text)
    content = json.loads(bare)
    return {key: content.get(key) for key in MEASURED_KEYS}


def measured_files(root: Path, technique: str, experiment: str) -> list[str]:
    """The files that say what an experiment runs and at which points, relative to `root`."""
    rooms = [root / "algorithms", root / "experiments"]
    todo = [root / "experiments" / f"{technique}.cu"]
    todo += (root / "experiments" / technique).rglob("*")
    found: set[Path] = set()
    named: set[str] = set()
    own = set(todo)
    while todo:
        path = todo.pop()
        if path in found or not path.is_file() or path.suffix not in CODE:
            continue
        found.add(path)
        text = path.read_text(encoding="utf-8", errors="replace")
        if path in own:
            named |= set(_NAME.findall(text))
        for name in _INCLUDE.findall(text):
            if NEVER_TIMED.match(name):
                continue
            for room in rooms:
                # The code of a header without templates is in a source file beside it.
                todo += [(room / name).with_suffix(suffix) for suffix in (".cu", ".cpp")]
                todo.append(room / name)
    if not found:
        return []
    found |= python_peers(root / "experiments" / "peers", named)
    files = [path.relative_to(root).as_posix() for path in found]
    timed = [name for name in files if not NEVER_TIMED.match(name)]
    return [*sorted(timed), f"configs/{technique}/{experiment}.json"]


def python_peers(folder: Path, names: set[str]) -> set[Path]:
    """Those of the names that are programs in the folder, and all that they import there."""
    found: set[Path] = set()
    todo = {folder / f"{name}.py" for name in names}
    while todo:
        path = todo.pop()
        if path not in found and path.is_file():
            found.add(path)
            text = path.read_text(encoding="utf-8", errors="replace")
            todo |= {folder / f"{name}.py" for name in _IMPORT.findall(text)}
    return found


class History:
    """The commits of a repository. Raises CannotTell where there are none, or only the last."""

    def __init__(self, root: Path = ROOT):
        self.root = root
        top = self._git("rev-parse", "--show-toplevel")
        if top is None or Path(top.strip()).resolve() != root.resolve():
            raise CannotTell("this is no git checkout")
        if self._git("rev-parse", "--is-shallow-repository") != "false\n":
            raise CannotTell("this clone is shallow: it has no history")
        self.listing = listing(root)

    def _git(self, *arguments: str) -> str | None:
        """What git prints; None where it fails, or is not there."""
        try:
            done = subprocess.run(
                ["git", "-C", str(self.root), *arguments], capture_output=True, check=False
            )
        except OSError:
            return None
        return done.stdout.decode("utf-8", errors="replace") if done.returncode == 0 else None

    def _lines(self, *arguments: str) -> list[str]:
        """The lines that git prints. Raises CannotTell where it fails."""
        printed = self._git(*arguments)
        if printed is None:
            raise CannotTell(f"git {arguments[0]} failed")
        return printed.splitlines()

    @functools.cache  # noqa: B019
    def has(self, commit: str) -> bool:
        """Whether HEAD descends from the commit."""
        return self._git("merge-base", "--is-ancestor", commit, "HEAD") is not None

    @functools.cache  # noqa: B019
    def _content(self, commit: str, path: str) -> Any:
        """The content of a file at a commit that counts as measured; None without it."""
        text = self._git("show", f"{commit}:{path}")
        if text is None:
            return None
        of_kind = {".json": points, ".py": statements}
        try:
            return of_kind.get(Path(path).suffix, tokens)(text)
        except (ValueError, SyntaxError):  # a file that cannot be parsed counts as a whole
            return text

    def last_change(self, technique: str, experiment: str, commit: str) -> Change | None:
        """The last commit that changed what the experiment measured at `commit`; None without one.

        Raises CannotTell for an experiment or a commit that the history does not have.
        """
        files = measured_files(self.root, technique, experiment)
        if not files:
            raise CannotTell(f"this tree has no experiment of {technique}")
        if not re.fullmatch("[0-9a-f]{7,64}", commit):
            raise CannotTell("the commit is not known")
        if not self.has(commit):
            raise CannotTell(f"the commit {commit[:12]} is not in this history")
        names = self._lines("diff", "--name-only", commit, "HEAD", "--", *files)
        differ = [p for p in names if self._content(commit, p) != self._content("HEAD", p)]
        if not differ:
            return None
        for line in self._lines("log", "--format=%H %cs %s", f"{commit}..HEAD", "--", *differ):
            change = Change(*line.split(" ", 2))
            if not self.listing.leaves_code_alone(change.commit, technique) and any(
                self._content(f"{change.commit}^", path) != self._content(change.commit, path)
                for path in differ
            ):
                return change
        return None


@functools.cache
def of_this_tree() -> tuple[History | None, str]:
    """The history of this repository; else None, and why there is none."""
    try:
        return History(), ""
    except CannotTell as reason:
        return None, str(reason)
