"""The report holds what it must, says where figures come from, and fails loudly."""

import json
import re

import archive as archives
import document
import pytest
import report
import synthetic
from conftest import ROOT


def make(results, archived=None) -> tuple[int, str, str]:
    """Runs the report's command line; returns (status, REPORT.md, report.html)."""
    arguments = ["--results", str(results)]
    arguments += ["--archived", str(archived)] if archived else []
    status = report.main(arguments)
    texts = [
        (results / name).read_text() if (results / name).exists() else ""
        for name in ("REPORT.md", "report.html")
    ]
    return status, *texts


@pytest.fixture(scope="module")
def gpu_report(tmp_path_factory):
    """The report of a GPU's complete results: (folder, status, REPORT.md, report.html)."""
    folder = tmp_path_factory.mktemp("gpu") / "results" / "synthetic-gpu"
    synthetic.write_all(folder)
    return folder, *make(folder)


@pytest.fixture(scope="module")
def emulated_report(tmp_path_factory):
    """The report of a machine without a GPU, with a GPU's results archived: (status, md, html)."""
    results = tmp_path_factory.mktemp("emulated") / "results"
    synthetic.write_all(results / "synthetic-gpu")
    synthetic.write_all(results / "emulated", "emulated")
    synthetic.write_all(results / "runs" / "emulated", "emulated")
    return make(results / "runs" / "emulated", results)


def section(markdown: str, title: str) -> str:
    """The part of the report under the heading that is exactly `title`."""
    parts = re.split(r"^(#{2,3} .*)$", markdown, flags=re.MULTILINE)
    for heading, body in zip(parts[1::2], parts[2::2], strict=True):
        if heading.lstrip("# ") == title:
            return body
    raise AssertionError(f"the report has no section {title}")


def test_a_gpus_report_has_figures_verdicts_and_origin(gpu_report):
    _, status, markdown, page = gpu_report
    assert status == 0
    for experiment in synthetic.EVERY:
        body = section(markdown, f"Synthetic {experiment}")
        assert f"the synthetic claim of {experiment}" in body
        assert f"warpath run configs/sample/{experiment}.json" in body
        assert synthetic.COMMIT in body
        assert "figures/sample_" in body
    assert "**MET**" in section(markdown, "Synthetic throughput")
    assert "**DIFFERS**" in section(markdown, "Synthetic coalescing")
    assert "Archived" not in markdown
    assert "archived" not in page.split("</style>")[1]


def test_a_command_names_no_folder(tmp_path):
    made = synthetic.throughput()
    made["command"] += " --profile paper --out /elsewhere/runs --set n=4"
    folder = tmp_path / "results" / "synthetic-gpu"
    synthetic.write(folder, made)
    _, markdown, _ = make(folder)
    assert "throughput.json --profile paper --set n=4" in markdown
    assert "elsewhere" not in markdown


def test_a_share_is_one_of_a_ceiling_that_is_named_with_its_value(passes_folder, gpu_report):
    assert "| % of peak |" in gpu_report[2]
    assert "Peak (copy): the measured copy bandwidth, 4000 GB/s." in gpu_report[2]
    made = synthetic.passes()
    made["ceilings"] |= {"ex2_per_s": 4.0e12}
    made["rows"][0]["peak"] = "ex2"
    made["rows"][1]["percent_of_peak"] = None  # it has no ceiling
    synthetic.write(passes_folder, made)
    body = section(make(passes_folder)[1], "Synthetic passes")
    assert "Peak (ex2): the measured rate of exponentials, 4.000e+12/s." in body
    assert "| % of peak | peak |" in body
    small, next_one = (
        next(line for line in body.splitlines() if line.startswith(f"| {n} | single_pass |"))
        for n in ("2^16", "2^20")
    )
    assert "| ex2 |" in small
    assert f"| {report.NONE} | {report.NONE} |" in next_one


def test_where_nothing_has_a_ceiling_there_is_no_share(passes_folder):
    made = synthetic.passes()
    for row in made["rows"]:
        row["percent_of_peak"] = None
    synthetic.write(passes_folder, made)
    body = section(make(passes_folder)[1], "Synthetic passes")
    assert "median ms" in body and "% of peak" not in body and "Peak (" not in body


def test_what_differs_or_was_missed_stands_in_front(passes_folder):
    made = [
        verdict_of("claim", "REPRODUCED", at_most=0.5, measured=0.48),
        verdict_of("aim", "MISSED", at_most=12534, measured=12640.5),
    ]
    synthetic.write(passes_folder, synthetic.passes() | {"verdicts": made})
    body = section(make(passes_folder)[1], "Claims that differ and aims that were missed")
    assert "| sample/passes | time ms | n=2^28, operation=select_if | <= 12,534 | 12,640 |" in body
    assert "REPRODUCED" not in body
    synthetic.write(passes_folder, synthetic.passes() | {"verdicts": made[:1]})
    assert "Claims that differ" not in make(passes_folder)[1]


def test_a_role_is_named_where_it_says_more_than_the_variant(passes_folder):
    made = synthetic.passes()
    for row in made["rows"]:
        if row["variant"].startswith("two_pass"):
            row["role"] = "naive"
            row["variant"] = row["variant"].replace("two_pass_copy", "naive")
    synthetic.write(passes_folder, made)
    body = section(make(passes_folder)[1], "Synthetic passes")
    assert "| two_pass_recount (naive) |" in body and "| cub (peer) |" in body
    assert "| naive |" in body


def test_what_was_counted_and_chosen_stands_beside_the_times(tmp_path):
    made = synthetic.throughput()
    for index, each in enumerate(made["rows"]):
        each["counters"] = {"kept_items": 7.0, "relative_error": index * 1.25e-7}
    made["rows"][0]["counters"]["workspace_bytes"] = 2048.0
    made["rows"][0]["choices"] = {"parts": "4", "variant": "tensor"}
    folder = tmp_path / "results" / "synthetic-gpu"
    synthetic.write(folder, made)
    _, markdown, _ = make(folder)
    assert "| relative error | workspace bytes | chosen |" in markdown
    assert "kept items" not in markdown  # the same for all
    assert "| 0 | 2^11 | parts=4, variant=tensor |" in markdown
    assert f"| 1.25e-07 | {report.NONE} | {report.NONE} |" in markdown


def test_every_linked_figure_exists(gpu_report):
    folder, _, markdown, _ = gpu_report
    links = re.findall(r"!\[[^]]*\]\(([^)]+)\)", markdown)
    assert len(links) == len(synthetic.EVERY)
    for link in links:
        assert (folder / link).stat().st_size > 10_000


def test_the_page_needs_no_other_file(gpu_report):
    page = gpu_report[3]
    sources = re.findall(r'(?:src|href)="([^"]*)"', page)
    assert len(sources) == len(synthetic.EVERY)
    assert all(source.startswith("data:image/svg+xml;base64,") for source in sources)


def test_without_a_gpu_the_archived_figures_are_shown_as_archived(emulated_report):
    status, markdown, page = emulated_report
    assert status == 0
    assert "No GPU was used" in markdown
    for experiment in synthetic.EVERY:
        own = section(markdown, f"Synthetic {experiment}")
        assert "Correctness on this machine" in own
        assert "![" not in own, "a GPU figure stands in this machine's own part"
        assert "median ms" not in own.split("CPU times")[0]
        archived = section(markdown, f"Synthetic {experiment}: archived, {synthetic.GPU}")
        assert archived.lstrip().startswith("> **Archived.** Not measured on this machine")
        assert "figures/archived/synthetic-gpu/" in archived
        assert synthetic.COMMIT in archived
    assert page.count('class="note archived"') == len(synthetic.EVERY)


def test_without_a_gpu_cpu_times_are_marked_as_cpu(emulated_report):
    markdown = emulated_report[1]
    own = section(markdown, "Synthetic throughput")
    times = own.split("#### CPU times")[1]
    assert "Times: CPU, wall clock" in times
    assert "std (oracle)" in times
    assert "single_pass" not in times


def test_without_a_gpu_the_verdict_says_what_is_missing(emulated_folder):
    _, markdown, _ = make(emulated_folder)
    body = section(markdown, "Synthetic throughput")
    assert "No archived GPU results were found" in markdown
    assert "**NOT TESTABLE HERE**" in body
    assert "missing here: a GPU" in body


def test_own_gpu_results_are_not_mixed_with_archived_ones(passes_folder, tmp_path):
    synthetic.write(passes_folder, synthetic.coalescing())
    own = tmp_path / "results" / "runs" / "another-gpu"
    content = synthetic.passes() | {"provenance": synthetic.provenance(device="Another GPU")}
    synthetic.write(own, content)
    _, markdown, _ = make(own, passes_folder.parent)
    assert "Another GPU" in section(markdown, "Synthetic passes")
    assert f"### Synthetic passes: archived, {synthetic.GPU}" not in markdown
    assert f"### Synthetic coalescing: archived, {synthetic.GPU}" in markdown


def test_an_emulated_archive_is_never_shown_as_archived(emulated_report):
    headings = re.findall(r"^### .*archived, (.*)$", emulated_report[1], flags=re.MULTILINE)
    assert set(headings) == {synthetic.GPU}


def test_measured_stands_beside_published(gpu_report):
    markdown = gpu_report[2]
    lines = section(markdown, "Synthetic coalescing").splitlines()
    header = next(line for line in lines if line.startswith("| metric"))
    line = next(line for line in lines if line.startswith("| speedup over coalescing=off"))
    cells = dict(zip(header.split(" | "), line.split(" | "), strict=True))
    assert cells["published"] == "1.05"
    assert cells["measured"] == "1.01"


def test_a_verdict_names_its_bounds_and_the_point_that_decided(passes_folder):
    verdict = {
        "kind": "claim",
        "where": {"n": {"ge": 65536}, "operation": "select_if"},
        "metric": "time_ms",
        "published": 0.62,
        "at_most": 0.45,
        "measured": 0.48,
        "at": {"n": 2**28, "operation": "select_if", "seed": 42, "variant": "single_pass"},
        "verdict": "DIFFERS",
        "source": "the tests",
    }
    synthetic.write(passes_folder, synthetic.passes() | {"verdicts": [verdict]})
    _, markdown, _ = make(passes_folder)
    expected = "| time ms | n >= 2^16, operation=select_if | <= 0.45 | 0.48 | 0.62 | **DIFFERS** | "
    assert expected + "the tests; decided at n=2^28, variant=single_pass |" in markdown


def verdict_of(kind, verdict, **figures):
    """A verdict on the time of the largest select_if."""
    place = {"where": {"n": 2**28, "operation": "select_if"}, "metric": "time_ms"}
    return {"kind": kind, "verdict": verdict, "source": f"the {kind}"} | place | figures


def test_claims_aims_and_comparisons_are_told_apart_and_counted_apart(passes_folder):
    made = [
        verdict_of("claim", "REPRODUCED", at_most=0.5, measured=0.48, published=0.5),
        verdict_of("aim", "MISSED", at_most=0.45, measured=0.48),
        verdict_of("aim", "MET", at_most=0.49, measured=0.48),
        verdict_of("comparison", "SHOWN", measured=0.48, published=0.96),
    ]
    synthetic.write(passes_folder, synthetic.passes() | {"verdicts": made})
    _, markdown, _ = make(passes_folder)
    body = section(markdown, "Synthetic passes")
    claims, aims, compared = (
        body.split(f"#### {heading}")[1].split("####")[0]
        for heading in ("Claims of the source", "Aims of this project", "Beside published")
    )
    assert "**REPRODUCED**" in claims and "the aim" not in claims
    assert "**MISSED**" in aims and "**MET**" in aims and "the claim" not in aims
    assert "| 0.48 | 0.96 | 0.5 | the comparison |" in compared
    for word in ("REPRODUCED", "MET", "MISSED", "SHOWN"):
        assert word not in compared
    assert "| 1 reproduced | 1 missed, 1 met | 1 shown |" in markdown
    assert "aims of this project: 1 missed, 1 met" in markdown


def timed_in_part(variants=("single_pass",)):
    """A passes archive in which these variants have no time at the largest n."""
    content = synthetic.passes()
    for row in content["rows"]:
        if row["variant"] in variants and row["params"]["n"] == 2**28:
            row |= {"time_ms": None, "gb_per_s": None, "skipped": "no room"}
    return content


WHERE_SINGLE = {"variant": "single_pass", "n": {"ge": 2**20}, "operation": {"in": ["select_if"]}}
IN_PART = [
    # Of n = 2^20, 2^24 and 2^28 the last one is missing, of the row itself or of its baseline.
    (("single_pass",), {"where": WHERE_SINGLE}, "2 of 3 settings"),
    (("single_pass",), {"where": WHERE_SINGLE, "metric": "gb_per_s"}, "2 of 3 settings"),
    (("cub",), {"where": WHERE_SINGLE, "baseline": {"variant": "cub"}}, "2 of 3 settings"),
    (("cub",), {"where": WHERE_SINGLE, "counter": "kept"}, "1 of 3 settings"),
    # The technique's variants stand for one setting together: all lack a time, or only one does.
    (("single_pass", "two_pass_recount", "two_pass_copy"), {"where": {}}, "3 of 4 settings"),
    (("single_pass",), {"where": {}}, "not all settings"),
    (("single_pass",), {"where": {"n": {"lt": "text"}}}, "not all settings"),
]


@pytest.mark.parametrize(("variants", "changes", "of"), IN_PART)
def test_a_verdict_on_some_of_its_settings_says_of_how_many(
    passes_folder, capsys, variants, changes, of
):
    content = timed_in_part(variants)
    next(row for row in content["rows"] if row["params"]["n"] == 2**20)["counters"] = {"kept": 7}
    verdicts = [
        verdict_of("claim", "REPRODUCED", at_most=1, measured=0.5, missing="no room") | changes,
        verdict_of("aim", "MISSED", at_most=0.4, measured=0.5, missing="no room") | changes,
        verdict_of("aim", "MET", at_most=1, measured=0.5),
        verdict_of("aim", "NOT TESTABLE HERE", at_most=1, measured=None, missing="no room"),
        verdict_of("comparison", "SHOWN", published=1, measured=0.5, missing="no room") | changes,
    ]
    synthetic.write(passes_folder, content | {"verdicts": verdicts})
    _, markdown, page = make(passes_folder)
    body = section(markdown, "Synthetic passes")
    assert f"| **REPRODUCED** ({of}) | the claim; missing here: no room |" in body
    assert f"| the comparison; measured: {of}; missing here: no room |" in body
    assert "| **MET** | the aim |" in body
    assert "| **NOT TESTABLE HERE** | the aim; missing here: no room |" in body
    in_front = section(markdown, "Claims that differ and aims that were missed")
    assert f"| **MISSED** ({of}) |" in in_front
    assert f'<span class="verdict good">REPRODUCED</span> ({of})</td>' in page
    tally = "1 missed in part, 1 met, 1 not testable here"
    assert f"| 1 reproduced in part | {tally} | 1 shown in part |" in markdown
    assert tally in capsys.readouterr().out


@pytest.mark.parametrize("path", ROOT.glob("results/*/*.*.json"), ids=lambda path: path.stem)
def test_settings_are_counted_as_warpath_judge_does(path):
    archive = archives.load(path)
    for verdict in archive.verdicts:
        judged, every = report.settings_of(archive, verdict)
        more = re.search(r" and (\d+) more settings\)$", verdict.missing or "")
        missing = int(more[1]) + 1 if more else int(verdict.missing is not None)
        assert every - judged == missing and every > 0


def test_a_verdict_of_a_run_that_was_cut_off_is_one_so_far(passes_folder):
    content = timed_in_part() | {"complete": False}
    part = {"where": WHERE_SINGLE, "missing": "no room"}
    verdicts = [
        verdict_of("claim", "REPRODUCED", at_most=1, measured=0.5) | part,
        verdict_of("aim", "MET", at_most=1, measured=0.5),
        verdict_of("aim", "NOT TESTABLE HERE", at_most=1, measured=None, missing="no room"),
    ]
    synthetic.write(passes_folder, content | {"verdicts": verdicts})
    body = section(make(passes_folder)[1], "Synthetic passes")
    assert "| **REPRODUCED** (2 of 3 settings, so far) |" in body
    assert "| **MET** (so far) |" in body and "| **NOT TESTABLE HERE** |" in body


def test_a_missed_bound_never_looks_like_the_figure_that_misses_it(passes_folder):
    missed = verdict_of("aim", "MISSED", at_most=1.51, measured=1.5100004)
    synthetic.write(passes_folder, synthetic.passes() | {"verdicts": [missed]})
    _, markdown, _ = make(passes_folder)
    assert "| <= 1.51 | 1.5100004 | **MISSED** |" in markdown


def test_few_samples_and_wide_spreads_are_marked_wherever_a_time_is_shown(passes_folder):
    content = synthetic.passes()
    few, wide = content["rows"][:2]
    few["time_ms"] |= {"median": 0.75, "p10": 0.75, "p90": 0.75, "min": 0.75, "samples": 5}
    wide["time_ms"] |= {"median": 0.5, "p10": 0.47, "p90": 0.53, "min": 0.4, "samples": 60}
    decided = verdict_of("aim", "MET", at_most=1, measured=0.75)
    decided["at"] = few["params"] | {"variant": few["variant"]}
    synthetic.write(passes_folder, content | {"verdicts": [decided]})
    body = section(make(passes_folder)[1], "Synthetic passes")
    assert "| <= 1 | 0.75† | **MET** |" in body
    compared = decided | {"baseline": {"variant": wide["variant"], "n": wide["params"]["n"]}}
    synthetic.write(passes_folder, content | {"verdicts": [compared]})
    assert "| <= 1 | 0.75†‡ | **MET** |" in section(make(passes_folder)[1], "Synthetic passes")
    assert "| 0.75† | 0.75 | 0.75 | 5 |" in body
    assert "| 0.5‡ | 0.47 | 0.53 | 60 |" in body
    assert "† Fewer than 6 samples." in body and "‡ p10 and p90 lie more than 10%" in body


def of_two_runs(content):
    """A passes archive whose CUB row at the largest n is of another run; without a commit there."""
    content["run"] = "run-b"
    for row in content["rows"]:
        if row["variant"] == "cub" and row["params"]["n"] == 2**28:
            row |= {"run": "run-a", "commit": "f" * 40}
    verdict = verdict_of("aim", "MET", at_least=1, measured=1.2) | {
        "metric": "speedup_over",
        "baseline": {"variant": "cub"},
        "at": {"n": 2**28, "variant": "single_pass"},
    }
    return content | {"verdicts": [verdict]}


def test_rows_of_another_run_and_what_is_compared_with_them_are_marked(passes_folder):
    synthetic.write(passes_folder, of_two_runs(synthetic.passes()))
    body = section(make(passes_folder)[1], "Synthetic passes")
    said = "Marked §, as not of this run: 1 point of run `run-a` at commit `ffffffffffff`."
    assert said in body
    lines = [line for line in body.splitlines() if line.startswith("| 2^")]
    peer = next(line for line in lines if line.startswith("| 2^28 | cub"))
    assert peer.split(" | ")[2].endswith("§")
    ours = next(line for line in lines if line.startswith("| 2^28 | single_pass"))
    assert ours.endswith("x§ |") and "§" not in ours.split(" | ")[2]
    assert not any("§" in line for line in lines if not line.startswith("| 2^28 "))
    assert "| >= 1 | 1.2§ | **MET** |" in body
    assert body.count("§ Of another run than the rest") == 2


def test_a_time_with_the_host_in_it_is_marked(passes_folder):
    content = synthetic.passes()
    peers = [row for row in content["rows"] if row["variant"] == "cub"]
    peers[-1]["host_is_in_the_time"] = True
    synthetic.write(passes_folder, content)
    body = section(make(passes_folder)[1], "Synthetic passes")
    marked = [line for line in body.splitlines() if line.startswith("| 2^") and "¶" in line]
    peer, *ours = sorted(marked, key=lambda line: "| cub" not in line)
    assert peer.count("¶") == 1 and peer.split(" | ")[2].endswith("¶")
    # What is held against it has its mark on the speed-up.
    assert ours and all(line.count("¶") == 1 and line.endswith("x¶ |") for line in ours)
    assert "¶ The call waits for the GPU" in body
    rules = [line for line in body.splitlines() if line.startswith("| ---")]
    assert any(line.endswith("| ---: |") for line in rules)  # numbers, though they have marks


RELATED = {"at_least": 1, "measured": 1.2, "metric": "speedup_over"}
RELATED |= {"baseline": {"variant": "cub"}, "at": {"n": 2**28, "variant": "single_pass"}}


@pytest.mark.parametrize("metric", ["speedup_over", "ratio"])
@pytest.mark.parametrize(
    ("with_host", "measured"),
    [((), "1.2"), (("cub",), "1.2¶"), (("single_pass",), "1.2¶"), (("cub", "single_pass"), "1.2")],
)
def test_a_verdict_on_two_times_is_marked_if_one_has_the_host_in_it(
    passes_folder, metric, with_host, measured
):
    content = synthetic.passes()
    for row in content["rows"]:
        row["host_is_in_the_time"] = row["variant"] in with_host and row["params"]["n"] == 2**28
    missed = verdict_of("aim", "MISSED") | RELATED | {"metric": metric}
    synthetic.write(passes_folder, content | {"verdicts": [missed]})
    markdown = make(passes_folder)[1]
    in_front = section(markdown, "Claims that differ and aims that were missed")
    beside = section(markdown, "Synthetic passes").split("#### Times")[0]
    for body in (in_front, beside):
        assert f"| >= 1 | {measured} | **MISSED** |" in body
        explained = "¶ The call waits for the GPU: the host's part is in the time; at a speed-up or"
        assert (explained in body) == ("¶" in measured)


@pytest.mark.parametrize(("with_host", "measured"), [(False, "1.2¶"), (True, "1.2")])
def test_a_gpus_time_beside_one_of_the_hosts_clock_is_marked(passes_folder, with_host, measured):
    content = synthetic.passes()
    content["rows"].append(synthetic.row("std", n=2**28))
    for row in content["rows"]:
        row["host_is_in_the_time"] = with_host and row["variant"] == "single_pass"
    met = verdict_of("aim", "MET") | RELATED | {"baseline": {"variant": "std"}}
    synthetic.write(passes_folder, content | {"verdicts": [met]})
    body = section(make(passes_folder)[1], "Synthetic passes")
    assert f"| >= 1 | {measured} | **MET** |" in body


def test_a_verdict_on_one_time_is_marked_if_the_host_is_in_it(passes_folder):
    content = synthetic.passes()
    for row in content["rows"]:
        row["host_is_in_the_time"] = row["variant"] == "single_pass"
    met = verdict_of("aim", "MET", at_most=1, measured=0.75) | {"at": RELATED["at"]}
    counted = met | {"metric": "counter", "counter": "kept_items"}
    synthetic.write(passes_folder, content | {"verdicts": [met, counted]})
    body = section(make(passes_folder)[1], "Synthetic passes")
    assert "| time ms | n=2^28, operation=select_if | <= 1 | 0.75¶ |" in body
    assert "| kept items | n=2^28, operation=select_if | <= 1 | 0.75 |" in body


def test_what_is_not_known_of_the_sources_is_said(passes_folder):
    unknown = synthetic.provenance() | {"git_commit": "unknown", "git_dirty": None}
    synthetic.write(passes_folder, synthetic.passes() | {"provenance": unknown})
    body = section(make(passes_folder)[1], "Synthetic passes")
    assert "Commit `unknown` (whether with changes on top is not known) on" in body


def test_where_all_is_of_one_run_nothing_is_marked(passes_folder):
    content = synthetic.passes() | {"run": "run-b"}
    content["rows"][0] |= {"run": "run-b", "commit": synthetic.COMMIT}
    synthetic.write(passes_folder, content)
    assert "§" not in make(passes_folder)[1]


def write_part(folder, **changes):
    """A part of the experiment throughput, beside the whole ones."""
    content = synthetic.throughput() | changes
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "sample.throughput@few.json"
    path.write_text(json.dumps(content))
    return path


def test_a_part_of_an_experiment_does_not_stand_for_it(passes_folder, capsys):
    write_part(passes_folder, command="warpath run sample/throughput --set n=4")
    status, markdown, _ = make(passes_folder)
    assert status == 0
    assert "Synthetic throughput" not in markdown and "sample_throughput" not in markdown
    assert "1 met" not in markdown + capsys.readouterr().out
    assert not (passes_folder / "figures" / "sample_throughput.svg").exists()
    body = section(markdown, "Partial runs")
    assert "| sample/throughput@few | 382 |" in body
    assert "| `warpath run sample/throughput --set n=4` | `0123456789ab` | 2000-01-02 |" in body


def test_a_wrong_answer_in_a_part_is_loud_too(tmp_path, capsys):
    content = synthetic.throughput()
    content["rows"][0].update(time_ms=None, verified="failed", error="element 7: 3, expected 4")
    path = write_part(tmp_path / "results" / "gpu", rows=content["rows"])
    status, markdown, _ = make(path.parent)
    assert status == 1
    assert "1 point of sample/throughput@few failed" in markdown
    assert "element 7: 3" in section(markdown, "Partial runs")
    assert f"WRONG ANSWERS in {path}" in capsys.readouterr().err


def test_without_parts_there_is_no_section_of_them(gpu_report):
    assert "Partial runs" not in gpu_report[2]


def test_the_speedup_over_the_peer_is_shown(passes_folder):
    _, markdown, _ = make(passes_folder)
    body = section(markdown, "Synthetic passes")
    times = {v: synthetic.row(v, n=2**28)["time_ms"]["median"] for v in ("single_pass", "cub")}
    line = next(li for li in body.splitlines() if li.startswith("| 2^28 | single_pass"))
    assert line.endswith(f" {times['cub'] / times['single_pass']:.2f}x |")


def test_skipped_points_are_counted_with_the_reason(passes_folder):
    content = synthetic.passes()
    for row in content["rows"][:3]:
        row.update(time_ms=None, verified="not_verified", skipped="needs 96 GB, 80 GB are free")
    synthetic.write(passes_folder, content)
    status, markdown, _ = make(passes_folder)
    assert status == 0
    assert "| 3 | single_pass | needs 96 GB, 80 GB are free |" in markdown


def test_an_interrupted_run_is_called_incomplete(passes_folder, capsys):
    synthetic.write(passes_folder, synthetic.passes() | {"complete": False})
    status, markdown, _ = make(passes_folder)
    assert status == 0
    assert "--resume" in section(markdown, "Synthetic passes")
    printed = capsys.readouterr().out.splitlines()
    assert next(line for line in printed if "/passes" in line).endswith("incomplete")
    assert "report.html" in printed[-1]


def test_a_wrong_answer_is_loud(passes_folder, capsys):
    content = synthetic.passes()
    content["rows"][0].update(time_ms=None, verified="failed", error="element 7: 3, expected 4")
    synthetic.write(passes_folder, content)
    status, markdown, page = make(passes_folder)
    assert status == 1
    assert "> **Wrong answer.** 1 point of sample/passes failed" in markdown
    assert "element 7: 3, expected 4" in markdown
    assert 'class="note wrong"' in page
    captured = capsys.readouterr()
    assert "WRONG" in captured.out
    assert "WRONG ANSWERS" in captured.err


def test_an_experiment_in_which_everything_failed_is_reported(passes_folder):
    content = synthetic.passes()
    for row in content["rows"]:
        row.update(time_ms=None, verified="failed", error="cudaErrorLaunchFailure")
    synthetic.write(passes_folder, content)
    status, markdown, _ = make(passes_folder)
    assert status == 1
    assert "16 points of sample/passes failed" in markdown


def test_a_malformed_file_is_named_and_the_rest_is_reported(passes_folder, capsys):
    (passes_folder / "sample.broken.json").write_text('{"schema": 1')
    status, markdown, _ = make(passes_folder)
    assert status == 1
    assert "sample.broken.json: is no JSON" in markdown
    assert "sample.broken.json" in capsys.readouterr().err
    assert "Synthetic passes" in markdown


def test_mixed_devices_are_refused(passes_folder, capsys):
    provenance = synthetic.provenance(device="Another GPU")
    synthetic.write(passes_folder, synthetic.coalescing() | {"provenance": provenance})
    status, markdown, _ = make(passes_folder)
    assert status == 2
    assert markdown == ""
    assert "one figure shows one device" in capsys.readouterr().err


@pytest.mark.parametrize("exists", [True, False])
def test_a_folder_without_results_is_an_error_that_says_what_to_do(tmp_path, capsys, exists):
    folder = tmp_path / "nothing"
    if exists:
        folder.mkdir()
    assert report.main(["--results", str(folder)]) == 2
    said = capsys.readouterr().err
    assert str(folder) in said
    assert ("run `./run_all.sh`" if exists else "is no folder") in said


def test_the_ceilings_of_this_machine_are_listed(passes_folder):
    info = '{"schema": 1, "provenance": {}, "ceilings": {"copy_gb_per_s": '
    info += '[{"bytes": 1024, "value": 7.0}, {"bytes": 4096, "value": 1234.5}], "fma_per_s": 2e12}}'
    (passes_folder / "info.json").write_text(info)
    _, markdown, _ = make(passes_folder)
    assert "| copy_gb_per_s | 1234 | 2^12 bytes |" in markdown
    assert "| fma_per_s | 2.000e+12 |" in markdown


def test_the_links_of_this_machine_are_listed(passes_folder):
    info = {"schema": 1, "ceilings": {"fma_per_s": 2e12}, "links": synthetic.links()}
    (passes_folder / "info.json").write_text(json.dumps(info))
    _, markdown, _ = make(passes_folder)
    assert "| host and GPU 0 | 55 | 54 | 40 |" in markdown
    assert "| GPU 0 to 1 | 380 | 340 | 370 | 380 | 340 | 360 |" in markdown
    none = report.NONE
    assert f"| GPU 1 to 0 | 12.5 | {none} | {none} | 12.5 | {none} | {none} |" in markdown
    assert f"| all to all, 2 GPUs | {none} | {none} | {none} | 380 | 340 | 360 |" in markdown


def test_links_that_were_not_measured_have_no_table(passes_folder):
    info = {"schema": 1, "links": {"not_measured": "the emulated backend times nothing"}}
    (passes_folder / "info.json").write_text(json.dumps(info))
    _, markdown, _ = make(passes_folder)
    assert "Measured links" not in markdown


def test_texts_are_escaped():
    made = document.Document("a < b")
    made.add(
        document.Table(
            ["x|y"],
            [
                [
                    "<script>",
                ][:1],
                ["a|b"],
            ],
        ),
        document.Paragraph("`<i>`"),
    )
    page = made.page()
    assert "<script>" not in page
    assert "<code>&lt;i&gt;</code>" in page
    assert "a\\|b" in made.markdown(report.Path())


MARKDOWN = {
    "a <b>bold</b> title": r"a \<b>bold\</b> title",
    "n <= 2, n<3 && m < 4": "n <= 2, n<3 && m < 4",
    "<!-- <?x": r"\<!-- \<?x",
    "&lt; &#60;": r"\&lt; \&#60;",
    "[a](b) rows[3] [a][b]": r"[a]\(b) rows[3] [a]\[b]",
    "*a* _b_ a_b 2_ ~c~ $d$": r"\*a\* \_b\_ a_b 2\_ \~c\~ \$d\$",
    r"a\b \<i>": r"a\b \\\<i>",
    "**strong** `<b>` code": "**strong** `<b>` code",
    "** not strong": r"\*\* not strong",
    "a ` <b>": r"a \` \<b>",
    "`<b>``": r"`<b>`\`",
    "``<b>`": r"\`\`\<b>\`",
    "one\n\n# two": "one # two",
}


@pytest.mark.parametrize(("text", "written"), MARKDOWN.items())
def test_markdown_shows_texts_as_they_are(text, written):
    blocks = [
        (document.Heading(2, text), f"## {written}"),
        (document.Paragraph(text), written),
        (document.Note("info", text), f"> **Note.** {written}"),
        (document.Table([text], [[text]]), f"| {written} |\n| --- |\n| {written} |"),
        (document.Details("x", [document.Paragraph(text)]), written),
    ]
    for block, expected in blocks:
        made = document.Document(text, [block]).markdown(report.Path())
        assert made.startswith(f"# {written}\n\n")
        assert f"\n{expected}\n" in made


def test_a_bar_parts_no_cell_and_a_caption_ends_no_picture():
    made = document.Document("x|y", [document.Table(["a|b", "`c|d`"], [["1", "2"]])])
    assert made.markdown(report.Path()).startswith("# x|y\n\n| a\\|b | `c\\|d` |\n")
    picture = document.Picture(report.Path("f.svg"), report.Path("f.png"), "a] <i>")
    made = document.Document("x", [picture]).markdown(report.Path())
    assert "![a\\] \\<i>](f.png)\n\n*a] \\<i>*\n" in made


def test_a_command_does_not_end_its_block():
    made = document.Document("x", [document.Code("run\n```\n<b>")]).markdown(report.Path())
    assert "\n``````sh\nrun\n```\n<b>\n``````\n" in made


def test_texts_of_a_configuration_are_no_markup(passes_folder):
    title = "the <b>best</b> | *of* all"
    claims = dict.fromkeys(("claim", "source", "title"), title)
    synthetic.write(passes_folder, synthetic.passes() | claims)
    _, markdown, page = make(passes_folder)
    assert "<b>best" not in markdown.replace(r"\<b>", "") and "<b>best" not in page
    escaped = r"the \<b>best\</b> | \*of\* all"
    for place in ("### ", "Claim: ", "Source: "):
        assert place + escaped in markdown


@pytest.mark.parametrize("folder", [path.parent for path in ROOT.glob("results/*/REPORT.md")])
def test_a_committed_report_is_of_the_archives_beside_it(folder):
    text = (folder / "REPORT.md").read_text()
    for path in folder.glob("*.*.json"):
        archive = json.loads(path.read_text())
        assert archive["provenance"]["time"] in text, f"{path.name}: draw the report again"
        for verdict in archive["verdicts"]:
            if verdict["verdict"] in ("DIFFERS", "MISSED"):
                assert f"{verdict['measured']:.4g}" in text, f"{path.name}: draw the report again"
