"""Broken files in a folder of results: the report leaves them out by name, and makes the rest."""

import copy
import json
import os
import random
import subprocess
import sys
from pathlib import Path

import archive as archives
import document
import figure
import pytest
import report
import style
import synthetic
from conftest import ROOT


@pytest.fixture(autouse=True)
def figures_are_not_written(monkeypatch):
    """They are drawn; to write them takes most of a report's time."""

    def save(drawn, stem: Path) -> list[Path]:
        style.plt.close(drawn)
        stem.parent.mkdir(parents=True, exist_ok=True)
        paths = [stem.with_suffix(".svg"), stem.with_suffix(".png")]
        for path in paths:
            path.write_text("<svg/>")
        return paths

    monkeypatch.setattr(style, "save", save)


def left_out(folder, capsys) -> str:
    """What the report says that it left out, on stderr and in itself; the rest is there."""
    assert report.main(["--results", str(folder)]) == 1
    said = capsys.readouterr().err
    markdown = (folder / "REPORT.md").read_text()
    assert "Synthetic passes" in markdown
    lines = [line.removeprefix("report: left out: ") for line in said.splitlines()]
    assert len(lines) == 1
    assert f"> **Left out.** {lines[0]}" in markdown
    return lines[0]


def text_of(**changes) -> str:
    return json.dumps(synthetic.throughput() | changes)


def with_row(**changes) -> str:
    content = synthetic.throughput()
    content["rows"][3] |= changes
    return json.dumps(content)


def with_params(**changes) -> str:
    return with_row(params=synthetic.throughput()["rows"][3]["params"] | changes)


BROKEN = {
    "deep": ("[" * 100_000, "is nested too deep"),
    "deep value": ('{"schema": ' + "[" * 100_000, "is nested too deep"),
    "overflow": (text_of(rows=[]).replace("4000.0", "1e999"), "1e999 is out of range"),
    "many digits": (text_of(rows=[]).replace("4000.0", "9" * 5000), "9... is out of range"),
    "NaN": (text_of(rows=[]).replace("4000.0", "NaN"), "NaN is no number"),
    "surrogate": (text_of(title="\ud800"), "half of a surrogate pair"),
    "other text": (b'{"title": "caf\xe9"}', "is no UTF-8 text (byte 14)"),
    "ceiling": (text_of(ceilings={"copy_gb_per_s": "fast"}), "copy_gb_per_s is a text, expected"),
    "ceilings": (text_of(ceilings=[4000]), "ceilings is a list, expected an object"),
    "links": (text_of(links={"host": [], "pairs": []}), "links.all_to_all is missing"),
    "link": (text_of(links=synthetic.links(to_gpu_gb_per_s=0)), "host[0].to_gpu_gb_per_s is 0"),
    "n": (with_params(n="many"), "rows[3].params.n is a text, expected a number"),
    "n is null": (with_params(n=None), "rows[3].params.n is missing"),
    "parameter": (with_params(selectivity={"ge": 1}), "rows[3].params.selectivity is an object"),
    "kinds": (with_params(selectivity="half"), "selectivity is a text, elsewhere it is a number"),
    "run": (with_row(run=7), "rows[3].run is a number, expected a text"),
    "commit": (with_row(commit=[]), "rows[3].commit is a list, expected a text"),
    "path": (text_of(technique="../sample"), "'../sample', which cannot be the name"),
    "experiment": (text_of(experiment="through/put"), "'through/put', which cannot be the name"),
    "clash": (text_of(technique="style"), "technique is 'style', which cannot be the name"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_archive_is_left_out(passes_folder, capsys, name):
    content, message = BROKEN[name]
    path = passes_folder / "sample.throughput.json"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    said = left_out(passes_folder, capsys)
    assert said.startswith(str(path))
    assert message in said


def test_modules_of_the_report_are_no_techniques():
    """Each script here has figures of a technique, or its name is refused as a technique's."""
    names = {path.stem for path in (ROOT / "plots").glob("*.py")}
    without = {name for name in names if "\nFIGURES" not in (ROOT / f"plots/{name}.py").read_text()}
    assert without == set(archives.NO_TECHNIQUES)


def make_special(kind: str, path: Path) -> None:
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "huge":
        with path.open("wb") as stream:
            stream.truncate(1 << 40)
    else:
        path.symlink_to({"loop": path.name, "dangling": "nowhere", "device": "/dev/zero"}[kind])


SPECIAL = {
    "fifo": "is no plain file",
    "folder": "is no plain file",
    "device": "is no plain file",
    "huge": "has 1099511627776 bytes",
    "loop": "Too many levels of symbolic links",
    "dangling": "No such file",
}


@pytest.mark.parametrize("kind", SPECIAL)
@pytest.mark.parametrize("name", ["sample.throughput.json", "info.json"])
def test_what_is_no_plain_file_is_left_out(passes_folder, capsys, name, kind):
    make_special(kind, passes_folder / name)
    said = left_out(passes_folder, capsys)
    assert said.startswith(str(passes_folder / name))
    assert SPECIAL[kind] in said


@pytest.mark.parametrize(
    "ceilings",
    [
        ["copy"],
        {"copy_gb_per_s": "fast"},
        {"copy_gb_per_s": [7]},
        {"copy_gb_per_s": [{"value": "fast", "bytes": 4}]},
        {"copy_gb_per_s": [{"value": 7.0}]},
    ],
    ids=json.dumps,
)
def test_mistyped_ceilings_of_the_machine_are_left_out(passes_folder, capsys, ceilings):
    (passes_folder / "info.json").write_text(json.dumps({"ceilings": ceilings}))
    assert "info.json: ceilings" in left_out(passes_folder, capsys)


def test_figures_that_cannot_be_drawn_are_left_out(passes_folder, capsys, monkeypatch):
    def draw(_):
        return {}["selectivity"]

    spec = figure.FigureSpec("sample_passes", "passes", draw)
    monkeypatch.setattr(figure, "figures_of", lambda _: [spec])
    said = left_out(passes_folder, capsys)
    assert "sample.passes.json: its figures cannot be drawn: KeyError: 'selectivity'" in said
    assert "(test_hostile_results.py, line " in said
    assert "median ms" in (passes_folder / "REPORT.md").read_text()


def test_an_archived_folder_of_two_devices_is_left_out(passes_folder, tmp_path, capsys):
    mixed = tmp_path / "archived" / "mixed"
    synthetic.write(mixed, synthetic.passes())
    provenance = synthetic.provenance(device="Another GPU")
    synthetic.write(mixed, synthetic.coalescing() | {"provenance": provenance})
    arguments = ["--results", str(passes_folder), "--archived", str(mixed.parent)]
    assert report.main(arguments) == 1
    assert "report: left out: one figure shows one device" in capsys.readouterr().err


def test_a_file_s_name_may_be_no_utf_8(passes_folder, tmp_path):
    (passes_folder / os.fsdecode(b"sample.\xff.json")).write_text("{")
    results = passes_folder.rename(tmp_path / os.fsdecode(b"it's \xfe"))
    done = subprocess.run(
        [sys.executable, str(ROOT / "plots" / "report.py"), "--results", str(results)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONIOENCODING": "ascii"},
    )
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert "sample.\\udcff.json: is no JSON" in done.stderr
    assert "sample.\\udcff.json: is no JSON" in (results / "REPORT.md").read_text()


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_stdout_that_takes_nothing_is_one_line_on_stderr(passes_folder, unbuffered):
    command = [sys.executable, str(ROOT / "plots" / "report.py"), "--results", str(passes_folder)]
    environment = os.environ | {"PYTHONUNBUFFERED": unbuffered}
    content = synthetic.throughput()
    content["rows"][0].update(time_ms=None, verified="failed", error="element 7: 3, expected 4")
    wrong = synthetic.write(passes_folder, content)
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, text=True, check=False, env=environment
        )
    assert done.stderr.splitlines() == [
        "report: stdout cannot be written: No space left on device",
        f"report: WRONG ANSWERS in {wrong}",
    ]
    assert done.returncode == 2
    assert "Synthetic passes" in (passes_folder / "REPORT.md").read_text()


def test_a_closed_stdout_is_no_error(passes_folder):
    command = '"$0" "$1" --results "$2" >&-'
    program = [sys.executable, str(ROOT / "plots" / "report.py"), str(passes_folder)]
    done = subprocess.run(["sh", "-c", command, *program], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


def test_links_take_folders_of_any_name(tmp_path):
    archived = tmp_path / "results" / "it's (a) GPU"
    synthetic.write(archived, synthetic.passes())
    own = tmp_path / "results" / "runs" / "emulated"
    synthetic.write(own, synthetic.passes("emulated"))
    assert report.main(["--results", str(own), "--archived", str(archived.parent)]) == 0
    link = "(figures/archived/it%27s%20%28a%29%20GPU/sample_passes.png)"
    assert link in (own / "REPORT.md").read_text()


def places(value, place=()) -> list[tuple]:
    """The paths of all values inside."""
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    found = []
    for key, each in inner:
        found.append((*place, key))
        if isinstance(each, (dict, list)) and each:
            found += places(each, (*place, key))
    return found


STRANGE = [None, "", "text", "a|b\n`c` <d> **e** $f^", [], [1, "a"], {}, {"a": {"b": [None]}}, True]
STRANGE += [False, 0, -1, 1, 10**18, -1e308, 1e308, 5e-324, 0.5, float("inf"), float("nan")]
STRANGE += ["2000-01-02", "passed", "failed", "gpu", "host", "peer", "cuda", "emulated", "MET"]


def mutated(content: dict, choose: random.Random) -> dict:
    """The content with one to three values deleted, or replaced, half of them by one of a kind."""
    content = copy.deepcopy(content)
    for _ in range(choose.randint(1, 3)):
        if not (found := places(content)):
            break
        *parents, key = choose.choice(found)
        inside = content
        for parent in parents:
            inside = inside[parent]
        if choose.random() < 0.2:
            del inside[key]
            continue
        alike = [each for each in STRANGE if type(each) is type(inside[key])]
        inside[key] = copy.deepcopy(choose.choice((choose.random() < 0.5 and alike) or STRANGE))
    return content


def rich_archive() -> dict:
    """An archive that has all that one can have."""
    content = synthetic.passes() | {"run": "run-b", "links": synthetic.links()}
    content["rows"].append(synthetic.row("std", n=2**16))
    content["rows"][1] |= {"run": "run-a", "commit": "f" * 40}
    content["rows"][2] |= {"time_ms": None, "verified": "not_verified", "skipped": "no room"}
    content["rows"][3] |= {"time_ms": None, "verified": "failed", "error": "element 7"}
    for place, row in enumerate(content["rows"]):
        row |= {"counters": {"bytes": 4.0 * place}, "choices": {"tile": str(place)}}
    for kind, verdict in {"claim": "DIFFERS", "aim": "MET", "comparison": "SHOWN"}.items():
        content["verdicts"].append(
            {
                "kind": kind,
                "where": {"n": {"ge": 2**16}, "operation": {"in": ["select_if"]}},
                "metric": "speedup_over",
                "counter": None,
                "baseline": {"variant": "cub"},
                "published": 2.5,
                "at_least": 1.0,
                "at_most": 3,
                "measured": 1.5,
                "at": {"n": 2**28, "variant": "single_pass"},
                "verdict": verdict,
                "missing": None,
                "source": "the tests",
            }
        )
    return content


def test_the_rich_archive_is_read(tmp_path):
    path = synthetic.write(tmp_path, rich_archive())
    assert len(archives.load(path).verdicts) == 3


INFO = {"schema": 1, "ceilings": {"copy_gb_per_s": [{"bytes": 4, "value": 7.0}], "fma_per_s": 2.0}}
INFO |= {"links": synthetic.links()}


@pytest.mark.parametrize("seed", range(6))
def test_a_mutated_archive_never_ends_in_a_traceback(tmp_path, capsys, seed):
    """Each is reported, or left out by name."""
    choose = random.Random(seed)
    path = tmp_path / "gpu" / "sample.passes.json"
    path.parent.mkdir()
    reported = 0
    for _ in range(50):
        path.write_text(json.dumps(mutated(rich_archive(), choose)))
        info = mutated(INFO, choose) if choose.random() < 0.2 else INFO
        (path.parent / "info.json").write_text(json.dumps(info))
        status = report.main(["--results", str(path.parent)])
        said = capsys.readouterr()
        reported += "sample/passes" in said.out
        assert "sample/passes" in said.out or (f"left out: {path}" in said.err and status == 1)
    assert 5 < reported < 45


def test_a_heading_is_one_line():
    made = document.Document("x")
    made.add(document.Heading(2, "a\nb"))
    assert "## a b\n" in made.markdown(Path())
