#!/usr/bin/env python3
"""Says what each technique costs to build, and which parts are over the budgets of CONTRIBUTING.md.

  tests/budgets.py build/emulated [--strict]      --strict: exit code 1 where something is over

It reads ninja's log: the last build of each object, which says something only of a machine that did
nothing else, with as many jobs as cores, and of objects that no compiler cache gave.
"""

import argparse
import re
import sys
from collections import defaultdict
from pathlib import Path

SECONDS_OF_OBJECT = 40
SECONDS_OF_JOINED_OBJECT = 100  # of sources that tests/CMakeLists.txt joins
SECONDS_OF_TECHNIQUE = 90


def seconds_of_objects(log: Path) -> dict[str, float]:
    """Seconds of the last build of each object and precompiled header."""
    seconds = {}
    for line in log.read_text().splitlines():
        fields = line.split("\t")
        if len(fields) == 5 and fields[3].endswith((".o", ".gch", ".pch")):
            seconds[fields[3]] = (int(fields[1]) - int(fields[0])) / 1000
    return seconds


def part_of(name: str) -> str:
    """The part of the repository that an object belongs to: a technique, or another folder."""
    path = Path(name)
    if path.parts[0] == "tests" and path.parts[1] != "CMakeFiles":
        return path.parts[1]
    if "warpath_techniques.dir" in name and name.endswith(".cu.o"):
        within = path.parts[path.parts.index("warpath_techniques.dir") + 1]
        return within.removesuffix(".cu.o")
    return f"{path.parts[0]} ({path.parts[2].removesuffix('.dir')})"


def main() -> int:
    """Prints the parts, the slowest objects, and what is over."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("--strict", action="store_true")
    arguments = parser.parse_args()

    objects = seconds_of_objects(arguments.build / ".ninja_log")
    parts: dict[str, float] = defaultdict(float)
    for name, seconds in objects.items():
        parts[part_of(name)] += seconds
    folder = Path(__file__).resolve().parents[1] / "algorithms"
    techniques = {path.parent.name for path in folder.glob("*/variant.hpp")}
    over = []
    print("Seconds of compiling, a part:")
    for part, seconds in sorted(parts.items(), key=lambda item: -item[1]):
        print(f"  {seconds:7.1f}  {part}")
        if part in techniques and seconds > SECONDS_OF_TECHNIQUE:
            over.append(f"{part}: {seconds:.0f} s, of {SECONDS_OF_TECHNIQUE}")
    print(f"  {sum(parts.values()):7.1f}  in all")
    print("The slowest:")
    for name, seconds in sorted(objects.items(), key=lambda item: -item[1])[:10]:
        print(f"  {seconds:7.1f}  {name}")
        is_joined = re.search(r"/warpath_test_\w+_\d+\.cu\.o$", name)
        budget = SECONDS_OF_JOINED_OBJECT if is_joined else SECONDS_OF_OBJECT
        if seconds > budget:
            over.append(f"{name}: {seconds:.0f} s, of {budget}")
    for line in over:
        print(f"OVER BUDGET  {line}")
    return 1 if over and arguments.strict else 0


if __name__ == "__main__":
    sys.exit(main())
