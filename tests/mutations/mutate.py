#!/usr/bin/env python3
"""Plants known bugs in the kernels, one at a time, and says which tests see them.

The mutations of a technique, or of core, stand in tests/<slug>/mutations.py: a list of (name,
text, ...). A text is the code at the place, as written there (line breaks do not matter), with the
change marked: <<<old ||| new>>> for an expression, {{{old ||| new}}} for a statement. Later texts
are tried where the earlier ones stand nowhere.

The tree is copied, every mutation becomes a choice at run time, each test program
is built once, and run for each mutation of its technique: plainly, then with random schedules. What
no run fails on is tried under ThreadSanitizer, which alone sees that an order of memory is missing,
and under AddressSanitizer and UBSan, which see reads beyond an array, and vectors that are not
aligned. A mutation that gets past them, too, is a hole in the tests.

  tests/mutations/mutate.py                        the working tree
  tests/mutations/mutate.py --revision 7d831de     another commit
  tests/mutations/mutate.py --only core            one test program's, or one mutation by name
"""

import argparse
import itertools
import os
import re
import runpy
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CHOICE = """#pragma once
#include <cstdlib>
inline const int warpath_mutation = [] {
  const char* text = std::getenv("WARPATH_MUTATION");
  return text ? std::atoi(text) : 0;
}();
"""
# What a mutation must survive to be called missed, in order.
RUNS = [
    ("in order", {"WARPATH_TEST_SIZE": "small"}),
    ("seed 1", {"WARPATH_TEST_SIZE": "small", "SIMT_SEED": "1", "SIMT_LAZY": "1"}),
    ("seed 2", {"WARPATH_TEST_SIZE": "small", "SIMT_SEED": "2", "SIMT_LAZY": "1"}),
    ("seed 3", {"WARPATH_TEST_SIZE": "small", "SIMT_SEED": "3", "SIMT_LAZY": "1"}),
    (
        "an older device",
        {"WARPATH_TEST_SIZE": "small", "SIMT_ARCH": "80", "SIMT_SHARED_BYTES": "101376"},
    ),
    ("all sizes", {}),
]
SANITIZERS = [("ThreadSanitizer", "thread"), ("AddressSanitizer and UBSan", "address")]
EXPRESSION = re.compile(r"<<<(.*?) \|\|\| (.*?)>>>", re.DOTALL)
NO_EXPRESSION = re.compile(r"$|(break|continue|return)\b|[-+*/%&|^]?=[^=]|\{|&&|\|\|")
STATEMENT = re.compile(r"\{\{\{(.*?) \|\|\| (.*?)\}\}\}", re.DOTALL)


@dataclass(frozen=True)
class Mutation:
    """One planted bug: its name, the tests that must see it, and where it stands."""

    name: str
    test: str
    texts: tuple[str, ...]


def all_mutations() -> list[Mutation]:
    """Those of all folders of tests, by folder."""
    found = []
    for path in sorted((ROOT / "tests").glob("*/mutations.py")):
        for name, *texts in runpy.run_path(str(path))["MUTATIONS"]:
            found.append(Mutation(name, path.parent.name, tuple(texts)))
    return found


@dataclass
class Planted:
    """A mutation's place in the tree, and its number."""

    mutation: Mutation
    number: int
    file: Path


def pattern_of(text: str) -> str:
    """A regular expression for a piece of code, however it is broken into lines."""
    return r"\s+".join(re.escape(word) for word in text.split())


def choice_of(mutation_text: str, number: int) -> tuple[re.Pattern, str]:
    """What to search for, and what stands there instead of its group."""
    for marked, form in (
        (EXPRESSION, "(::warpath_mutation == {k} ? ({new}) : ({old}))"),
        (STATEMENT, "{{ if (::warpath_mutation == {k}) {{ {new} }} else {{ {old}\n }} }}"),
    ):
        match = marked.search(mutation_text)
        if match is None:
            continue
        old, new = match.group(1), match.group(2)
        if marked is EXPRESSION and (NO_EXPRESSION.match(old) or NO_EXPRESSION.match(new)):
            raise ValueError(f"no expression, mark the statement: {mutation_text}")
        before = mutation_text[: match.start()]
        after = mutation_text[match.end() :]
        search = pattern_of(before) + r"\s*(" + pattern_of(old) + r")\s*" + pattern_of(after)
        return re.compile(search), form.format(k=number, new=new, old=old)
    raise ValueError(f"no <<<old ||| new>>> in: {mutation_text}")


def plant(tree: Path, mutation: Mutation, number: int) -> Path | None:
    """Writes the choice into the one place that fits, or returns None.

    Its folder is that of its tests; where nothing there fits, it is looked for in all folders.
    """
    headers = sorted((tree / "algorithms").rglob("*.*h*"))
    headers = [file for file in headers if file.is_file() and "/simt/" not in str(file)]
    own = [file for file in headers if tree / "algorithms" / mutation.test in file.parents]
    for text, files in itertools.product(mutation.texts, (own, headers)):
        search, replacement = choice_of(text, number)
        found = []
        for file in files:
            content = file.read_text()
            found += [(file, content, match) for match in search.finditer(content)]
        if len(found) > 1:
            sys.exit(f"{mutation.name}: fits {len(found)} places; give it more context")
        if found:
            file, content, match = found[0]
            begin, end = match.span(1)
            content = content[:begin] + replacement + content[end:]
            include = '#include "core/mutation.hpp"\n'
            if include not in content:
                content = content.replace("#pragma once\n", "#pragma once\n" + include, 1)
            file.write_text(content)
            return file
    return None


def copy_tree(revision: str | None, tree: Path) -> None:
    """The given commit, or the tracked files as they are in the working tree."""
    if revision:
        archive = subprocess.run(
            ["git", "-C", ROOT, "archive", revision], check=True, capture_output=True
        )
        subprocess.run(["tar", "-x", "-C", tree], input=archive.stdout, check=True)
        return
    listed = subprocess.run(
        ["git", "-C", ROOT, "ls-files"], check=True, capture_output=True, text=True
    )
    for name in listed.stdout.splitlines():
        source = ROOT / name
        if source.is_file() and not name.startswith("results/"):
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, tree / name)


def build(tree: Path, folder: Path, program: str, jobs: int, options: Sequence[str] = ()) -> Path:
    """Builds a test program, unoptimised for speed of compiling rather than of running."""
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / "build.log"
    with log.open("a") as output:
        commands = [["cmake", "--build", folder, "-j", str(jobs), "--target", program]]
        if not (folder / "build.ninja").exists():
            flags = "-O1 -DNDEBUG"
            commands.insert(
                0,
                [
                    *("cmake", "-G", "Ninja", "-S", tree, "-B", folder),
                    *("-DWARPATH_BACKEND=emulated", "-DCMAKE_BUILD_TYPE=Release"),
                    f"-DCMAKE_CXX_FLAGS_RELEASE={flags}",
                    *options,
                ],
            )
        for command in commands:
            if subprocess.run(command, stdout=output, stderr=output, check=False).returncode:
                sys.exit(f"cannot build {program}: {log}\n{log.read_text()[-3000:]}")
    return folder / "bin" / program


def first_failure(program: Path, number: int, options: dict, timeout: float) -> str | None:
    """What goes wrong with this mutation, or None."""
    environment = {**os.environ, **options, "WARPATH_MUTATION": str(number)}
    try:
        run = subprocess.run(
            [program, "--gtest_fail_fast", "--gtest_brief=1"],
            env=environment,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "hangs"
    if run.returncode == 0:
        return None
    failed = re.search(r"\[  FAILED  \] (\S+?),? ", run.stdout)
    return failed.group(1) if failed else f"exit code {run.returncode}"


def sanitizer_that_sees(
    one: Planted, tree: Path, work: Path, program: str, arguments: argparse.Namespace
) -> str | None:
    """The sanitizer under which a mutation fails, and how; or None."""
    for name, option in SANITIZERS:
        options = ["-DCMAKE_CXX_COMPILER=clang++", f"-DWARPATH_SANITIZE={option}"]
        options.append("-DWARPATH_EXPERIMENTS=OFF")
        watched = build(tree, work / f"build-{option}", program, arguments.jobs, options)
        failure = first_failure(watched, 0, RUNS[0][1], arguments.timeout)
        if failure:
            sys.exit(f"{program} fails under {name} without a mutation: {failure}")
        failure = first_failure(watched, one.number, RUNS[0][1], arguments.timeout)
        if failure:
            return f"{name}, {failure}"
    return None


def main() -> int:
    """Prints a line for each mutation; 1 if one was missed or fits nowhere."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--revision", help="a commit (default: the working tree)")
    parser.add_argument("--only", action="append", help="a test program, or a mutation's name")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--timeout", type=float, default=300, help="seconds of one run")
    parser.add_argument("--work", type=Path, help="folder of the copy (default: a temporary one)")
    parser.add_argument("--plant-only", action="store_true", help="say where each fits, and stop")
    arguments = parser.parse_args()

    work = arguments.work or Path(tempfile.mkdtemp(prefix="mutations-"))
    tree, folder = work / "tree", work / "build"
    shutil.rmtree(tree, ignore_errors=True)
    tree.mkdir(parents=True)
    copy_tree(arguments.revision, tree)
    (tree / "algorithms/core/mutation.hpp").write_text(CHOICE)

    planted: list[Planted] = []
    gone: list[Mutation] = []
    for number, mutation in enumerate(all_mutations(), start=1):
        if arguments.only and not {mutation.test, mutation.name} & set(arguments.only):
            continue
        file = plant(tree, mutation, number)
        if file is None:
            gone.append(mutation)
        else:
            planted.append(Planted(mutation, number, file.relative_to(tree)))
    for mutation in gone:
        print(f"GONE    {mutation.test:24} {mutation.name}: its text stands nowhere", flush=True)
    if arguments.plant_only:
        for one in planted:
            print(f"fits    {one.mutation.test:24} {one.mutation.name}: {one.file}")
        return 1 if gone else 0

    missed = 0
    for test in dict.fromkeys(one.mutation.test for one in planted):
        program = build(tree, folder, f"warpath_test_{test}", arguments.jobs)
        failure = first_failure(program, 0, RUNS[0][1], arguments.timeout)
        if failure:
            sys.exit(f"{test} fails without a mutation: {failure}")
        for one in (one for one in planted if one.mutation.test == test):
            result = f"MISSED  {test:24} {one.mutation.name}"
            for name, options in RUNS:
                failure = first_failure(program, one.number, options, arguments.timeout)
                if failure:
                    result = f"caught  {test:24} {one.mutation.name}: {name}, {failure}"
                    break
            else:
                sanitizer = sanitizer_that_sees(one, tree, work, program.name, arguments)
                if sanitizer:
                    result = f"caught  {test:24} {one.mutation.name}: {sanitizer}"
                else:
                    missed += 1
            print(result, flush=True)
    print(f"{len(planted)} planted, {len(planted) - missed} caught, {missed} missed")
    if not arguments.work:
        shutil.rmtree(work)
    return 1 if missed or gone else 0


if __name__ == "__main__":
    sys.exit(main())
