"""Whether an archive is stale: told from the commits since; each stale archive is a decision."""

import json
import subprocess

import archive as archives
import history
import pytest
import report
import synthetic
from conftest import ROOT

ARCHIVES = sorted(ROOT.glob("results/*/*.*.json"))
FILES = {
    "algorithms/core/scan.cuh": "int scan();",
    "algorithms/core/unused.cuh": "int unused();",
    "algorithms/sample/sample.cuh": '#include "core/scan.cuh"\nint sample(int a);  // a comment',
    "algorithms/sample/oracle.hpp": "int oracle();",
    "algorithms/sample/demonstration.hpp": "int figure();",
    "algorithms/sample/README.md": "words",
    "experiments/harness/sweep.hpp": "int sweep();",
    "experiments/peers/other.cu": "int other() { return 1; }",
    "experiments/peers/other.hpp": "int other();",
    "experiments/peers/library.py": '"""Words."""\nimport forms\nfrom peer_rows import main\nA = 1',
    "experiments/peers/forms.py": "from peer_inputs import x\n\n\ndef f():\n    return x  # words",
    "experiments/peers/peer_inputs.py": "x = 1",
    "experiments/peers/peer_rows.py": "import peer_inputs",
    "experiments/peers/unnamed.py": "x = 1",
    "experiments/sample/more.cu": "int more();",
    "experiments/sample.cu": '#include "harness/sweep.hpp"\n#include "peers/other.hpp"\n'
    '#include "sample/demonstration.hpp"\n#include "sample/oracle.hpp"\n'
    '#include "sample/sample.cuh"\nauto program = in_python("library");',
    "configs/sample/passes.json": '{"title": "one", "sweep": [{"cross": {"n": [1, 2]}}]} // end',
    "configs/sample/throughput.json": '{"sweep": []}',
}


class Repository:
    """A made-up repository with one technique."""

    def __init__(self, root):
        self.root = root
        self.root.mkdir()
        self.git("init", "-q", "-b", "main")
        self.first = self.commit("first", **FILES)

    def git(self, *arguments) -> str:
        identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
        command = ["git", "-C", str(self.root), *identity, *arguments]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def commit(self, subject, **files) -> str:
        for name, text in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        self.git("add", "-A")
        self.git("commit", "-q", "-m", subject)
        return self.git("rev-parse", "HEAD")

    def last_change(self, since=None):
        made = history.History(self.root)
        return made.last_change("sample", "passes", since or self.first)


@pytest.fixture
def repository(tmp_path) -> Repository:
    return Repository(tmp_path / "repository")


CHANGES = [
    ("algorithms/sample/sample.cuh", '#include "core/scan.cuh"\nint sample(long a);'),
    ("algorithms/sample/sample.cuh", '#include "core/scan.cuh"\nint sample(int a) "// text";'),
    ("algorithms/core/scan.cuh", "int scan(int);"),
    ("experiments/sample.cu", FILES["experiments/sample.cu"] + "int x;"),
    ("experiments/sample/more.cu", "int more(int);"),
    ("experiments/peers/other.cu", "int other() { return 2; }"),
    ("experiments/peers/library.py", FILES["experiments/peers/library.py"] + "\nB = 2"),
    ("experiments/peers/library.py", "def broken(:"),
    ("experiments/peers/forms.py", "from peer_inputs import x\n\n\ndef f():\n    return -x"),
    ("experiments/peers/peer_inputs.py", "x = 2"),
    ("algorithms/sample/demonstration.hpp", "int figure(int);"),
    ("configs/sample/passes.json", '{"title": "one", "sweep": [{"cross": {"n": [1, 3]}}]}'),
    ("configs/sample/passes.json", "{"),
]


@pytest.mark.parametrize(("path", "text"), CHANGES, ids=lambda value: value.split("/")[-1])
def test_code_and_points_that_changed_are_seen(repository, path, text):
    changed = repository.commit("a change: of something", **{path: text})
    repository.commit("nothing", **{"README.md": "words"})
    found = repository.last_change()
    assert (found.commit, found.subject) == (changed, "a change: of something")
    assert repository.last_change(changed) is None


ALIKE = [
    ("algorithms/sample/sample.cuh", '// new\n#include "core/scan.cuh"\nint sample(\n  int a);'),
    ("algorithms/core/unused.cuh", "int unused(int);"),
    ("algorithms/sample/oracle.hpp", "int oracle(int);"),
    ("algorithms/sample/README.md", "other words"),
    ("experiments/harness/sweep.hpp", "int sweep(int);"),
    ("experiments/peers/library.py", "'New.'\nimport forms\nfrom peer_rows import main\nA = (1)"),
    ("experiments/peers/forms.py", "from peer_inputs import x\ndef f():\n  'Says.'\n  return x"),
    ("experiments/peers/peer_rows.py", "import peer_inputs\ny = 3"),
    ("experiments/peers/unnamed.py", "x = 2"),
    ("configs/sample/passes.json", '{"title": "two", "sweep": [{"cross": {"n": [1, 2]}}]}'),
    ("configs/sample/throughput.json", '{"sweep": [{}]}'),
]


@pytest.mark.parametrize(("path", "text"), ALIKE, ids=lambda value: value.split("/")[-1])
def test_words_and_what_is_not_measured_do_not_count(repository, path, text):
    repository.commit("words", **{path: text})
    assert repository.last_change() is None


def test_what_was_taken_back_does_not_count(repository):
    path = "algorithms/core/scan.cuh"
    repository.commit("there", **{path: "int scan(int);"})
    repository.commit("and back", **{path: FILES[path]})
    assert repository.last_change() is None


def write_listing(repository, same_code=None, stale=()):
    content = {"same_code": same_code or {}, "stale": list(stale)}
    repository.commit("listed", **{"results/staleness.json": json.dumps(content)})


def test_a_commit_that_is_listed_does_not_count_but_others_do(repository):
    code = repository.commit("code", **{"algorithms/core/scan.cuh": "int scan(int);"})
    renamed = repository.commit("names", **{"algorithms/core/scan.cuh": "int scan(int n);"})
    write_listing(repository, {renamed[:12]: "a name"})
    assert repository.last_change().commit == code
    write_listing(repository, {renamed[:12]: "a name", code: "the same"})
    assert repository.last_change() is None


def test_a_commit_may_be_listed_for_all_techniques_but_some(repository):
    code = repository.commit("code", **{"algorithms/core/scan.cuh": "int scan(int);"})
    write_listing(repository, {f"{code} but another one_more": "the same"})
    assert repository.last_change() is None
    write_listing(repository, {f"{code} but another sample": "the same"})
    assert repository.last_change().commit == code


@pytest.mark.parametrize("text", ["{", "[]", '{"same_code": {"a": ""}, "stale": []}', "[" * 9999])
def test_a_listing_that_is_broken_is_named(repository, text):
    repository.commit("listed", **{"results/staleness.json": text})
    with pytest.raises(history.CannotTell, match=r"staleness\.json"):
        history.History(repository.root)


def test_without_history_it_cannot_be_told(repository, tmp_path):
    repository.commit("second", README="words")
    shallow = tmp_path / "shallow"
    origin = f"file://{repository.root}"
    subprocess.run(["git", "clone", "-q", "--depth", "1", origin, str(shallow)], check=True)
    with pytest.raises(history.CannotTell, match="shallow"):
        history.History(shallow)
    inside = repository.root / "unpacked"
    inside.mkdir()
    for place in (tmp_path, inside):
        with pytest.raises(history.CannotTell, match="no git checkout"):
            history.History(place)


@pytest.mark.parametrize(
    ("commit", "why"),
    [("unknown", "not known"), ("--all", "not known"), ("0" * 40, "not in this history")],
)
def test_a_commit_that_is_not_there_cannot_be_told(repository, commit, why):
    with pytest.raises(history.CannotTell, match=why):
        repository.last_change(commit)


def test_a_commit_of_another_branch_cannot_be_told(repository):
    repository.git("checkout", "-q", "-b", "other")
    other = repository.commit("elsewhere", README="words")
    repository.git("checkout", "-q", "main")
    with pytest.raises(history.CannotTell, match="not in this history"):
        repository.last_change(other)


def test_an_experiment_that_is_not_there_cannot_be_told(repository):
    with pytest.raises(history.CannotTell, match="no experiment of another"):
        history.History(repository.root).last_change("another", "passes", repository.first)


# ---- the report


def reported(folder, commit, monkeypatch, made) -> str:
    """REPORT.md of an archive of that commit, in a tree with that history."""
    monkeypatch.setattr(history, "of_this_tree", lambda: made)
    provenance = synthetic.provenance() | {"git_commit": commit}
    synthetic.write(folder, synthetic.passes() | {"provenance": provenance})
    assert report.main(["--results", str(folder)]) == 0
    return (folder / "REPORT.md").read_text()


def test_the_report_marks_what_is_stale(repository, tmp_path, monkeypatch, capsys):
    changed = repository.commit("faster", **{"algorithms/core/scan.cuh": "int scan(int);"})
    entry = {"archives": "gpu/sample.*", "measured": repository.first[:12], "why": "soon"}
    write_listing(repository, stale=[entry])
    made = history.History(repository.root)
    text = reported(tmp_path / "gpu", repository.first, monkeypatch, (made, ""))
    assert "> **Stale.** 1 of 1 archive: " in text and "gpu/sample.passes." in text
    assert f"Measured at commit `{repository.first[:12]}`. Commit `{changed[:12]}` of " in text
    assert "changed what it measured: faster. Kept for now: soon." in text
    assert capsys.readouterr().out.splitlines()[1].endswith(" stale")
    text = reported(tmp_path / "gpu", changed, monkeypatch, (made, ""))
    assert "Stale" not in text and "cannot be told" not in text


def test_archives_that_are_not_shown_are_not_counted(repository, tmp_path, monkeypatch):
    repository.commit("faster", **{"algorithms/core/scan.cuh": "int scan(int);"})
    made = history.History(repository.root)
    monkeypatch.setattr(history, "of_this_tree", lambda: (made, ""))
    content = synthetic.passes()
    content["provenance"]["git_commit"] = repository.first
    synthetic.write(tmp_path / "archived" / "gpu", content)
    for backend, expected in (("cuda", ""), ("emulated", "**Stale.** 1 of 2 archives: ")):
        own = tmp_path / "own" / backend
        content = synthetic.passes(backend)
        content["provenance"]["git_commit"] = repository.git("rev-parse", "HEAD")
        synthetic.write(own, content)
        arguments = ["--results", str(own), "--archived", str(tmp_path / "archived")]
        assert report.main(arguments) == 0
        text = (own / "REPORT.md").read_text()
        assert expected in text and ("Stale" in text) == bool(expected)


def test_rows_of_another_commit_are_judged_by_it(repository, tmp_path, monkeypatch):
    changed = repository.commit("faster", **{"algorithms/core/scan.cuh": "int scan(int);"})
    content = synthetic.passes() | {"provenance": synthetic.provenance() | {"git_commit": changed}}
    for row in content["rows"][:3]:
        row |= {"run": "a", "commit": repository.first}
    made = history.History(repository.root)
    monkeypatch.setattr(history, "of_this_tree", lambda: (made, ""))
    archive = archives.load(synthetic.write(tmp_path, content))
    assert [(each.commit, each.change is None) for each in report.measured(archive)] == [
        (repository.first, False),
        (changed, True),
    ]
    assert report.measured(archive)[0].text.startswith("3 points measured at commit")


def test_the_report_says_where_it_cannot_tell(repository, tmp_path, monkeypatch):
    text = reported(tmp_path / "gpu", "0" * 40, monkeypatch, (None, "this clone is shallow"))
    assert "Whether an archive is stale cannot be told: this clone is shallow." in text
    made = history.History(repository.root)
    text = reported(tmp_path / "gpu", "0" * 40, monkeypatch, (made, ""))
    assert "cannot be told: the commit 000000000000 is not in this history." in text


# ---- the archives of this repository


@pytest.fixture(scope="module")
def known() -> history.History:
    made, why_not = history.of_this_tree()
    if made is None:
        pytest.skip(why_not)
    return made


@pytest.mark.parametrize("path", ARCHIVES, ids=lambda path: path.stem)
def test_an_archive_that_is_stale_is_so_on_purpose(known, path):
    """Measure it anew, or say in results/staleness.json why it is kept."""
    archive = archives.load(path)
    assert archive.provenance.dirty is False
    not_listed = [
        each.text
        for each in report.measured(archive)
        if each.text and not known.listing.why_stale(report.slug(archive), each.commit)
    ]
    assert not_listed == []


def test_what_is_listed_is_there(known):
    """An entry goes when its archives are measured anew."""
    for key in known.listing.same_code:
        commit, _, others = key.partition(" but ")
        assert known.has(commit), f"{commit} is listed, but not in this history"
        unknown = set(others.split()) - {path.name for path in (ROOT / "configs").iterdir()}
        assert not unknown, f"{key}: no such technique"
    measured = [
        (report.slug(archive), archive.origin_of(row)[1])
        for archive in map(archives.load, ARCHIVES)
        for row in archive.rows
    ]
    for entry in known.listing.stale:
        only = history.Listing({}, [entry])
        found = any(only.why_stale(name, commit) for name, commit in measured)
        assert found, f"no archive is of {entry}"
