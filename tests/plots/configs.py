"""The configurations of the repository, read as the harness reads them."""

import itertools
import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NAMES = sorted(
    path.relative_to(ROOT / "configs").as_posix() for path in (ROOT / "configs").glob("*/*.json")
)
SCHEMA = ROOT / "configs" / "schema.json"
# A text, or a comment: the text is tried first, so that a comment's marks inside it are kept.
TEXT_OR_COMMENT = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)


def parse(text: str) -> dict:
    """JSON with comments."""
    return json.loads(TEXT_OR_COMMENT.sub(lambda found: found[1] or "", text))


def read(name: str) -> dict:
    """A configuration by its path in configs/."""
    return parse((ROOT / "configs" / name).read_text())


def _values(given) -> list:
    """The values of a parameter: one, a list, or a progression."""
    if isinstance(given, dict):
        ((kind, (first, last, step)),) = given.items()
        steps = range(int((last - first) / step + 1e-9) + 1)
        numbers = [first + step * count for count in steps]
        return [2**number for number in numbers] if kind == "pow2" else numbers
    return given if isinstance(given, list) else [given]


def points(config: dict) -> list[dict]:
    """The points of a configuration's sweep, by name, those excluded among them."""
    found = {}
    for sweep in config["sweep"]:
        cross = {name: _values(given) for name, given in sweep.get("cross", {}).items()}
        rows = {name: _values(given) for name, given in sweep.get("zip", {}).items()}
        zipped = [dict(zip(rows, row, strict=True)) for row in zip(*rows.values(), strict=True)]
        for values in itertools.product(*cross.values()):
            for row in zipped or [{}]:
                point = config.get("fixed", {}) | dict(zip(cross, values, strict=True)) | row
                found[str(sorted(point.items()))] = point
    return list(found.values())
