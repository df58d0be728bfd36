"""What the reader accepts, and that it names file, place and fault of what it refuses."""

import json
from pathlib import Path

import archive as archives
import pytest
import synthetic


def changed(folder: Path, change) -> Path:
    """A passes archive after `change` was applied to it."""
    content = synthetic.passes()
    change(content)
    return synthetic.write(folder, content)


def test_reads_a_complete_archive(tmp_path):
    archive = archives.load(synthetic.write(tmp_path, synthetic.throughput()))
    assert archive.name == "sample/throughput"
    assert archive.provenance.device == synthetic.GPU
    assert archive.provenance.short_commit == synthetic.COMMIT[:12]
    assert len(archive.rows) == len(synthetic.throughput()["rows"])
    assert len(archive.gpu_rows()) + len(archive.cpu_rows()) == len(archive.rows)
    assert {row.variant for row in archive.cpu_rows()} == {"std"}


def test_emulated_rows_are_never_gpu_rows(tmp_path):
    archive = archives.load(synthetic.write(tmp_path, synthetic.throughput("emulated")))
    assert archive.gpu_rows() == []
    assert {row.variant for row in archive.cpu_rows()} == {"std"}


def test_host_rows_of_a_gpu_machine_are_no_gpu_rows(tmp_path):
    archive = archives.load(synthetic.write(tmp_path, synthetic.throughput("cuda")))
    assert "std" not in {row.variant for row in archive.gpu_rows()}


def drop(key):
    return lambda content: content.pop(key)


def in_row(**values):
    return lambda content: content["rows"][3].update(values)


def in_time(**values):
    return lambda content: content["rows"][3]["time_ms"].update(values)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (drop("provenance"), "provenance is missing"),
        (drop("rows"), "rows is missing"),
        (drop("command"), "command is missing"),
        (lambda content: content.update(schema=2), "schema is 2, this program reads 1"),
        (lambda content: content.update(rows={}), "rows is an object, expected a list"),
        (lambda content: content.update(complete="yes"), "complete is a text, expected true or"),
        (lambda content: content.update(measure=[]), "measure is a list, expected an object"),
        (lambda content: content["rows"].append(7), r"rows\[16\] is a number, expected an object"),
        (lambda content: content["provenance"].pop("git_commit"), "provenance.git_commit is miss"),
        (lambda content: content["provenance"]["device"].pop("name"), "provenance.device.name is"),
        (
            lambda content: content["provenance"].update(backend="opencl"),
            'provenance.backend is "opencl", expected one of cuda, emulated',
        ),
        (in_row(role="friend"), r'rows\[3\].role is "friend", expected one of technique, peer'),
        (
            in_row(verified="maybe"),
            r'rows\[3\].verified is "maybe", expected one of passed, failed',
        ),
        (in_row(verified="failed"), r"rows\[3\].time_ms is set, but verified is \"failed\""),
        (in_row(verified="not_verified"), r"rows\[3\].time_ms is set, but verified"),
        (in_row(clock=None), r"rows\[3\].clock is missing: a time needs its clock"),
        (in_row(launches="many"), r"rows\[3\].launches is a text, expected an integer"),
        (in_row(choices=["tensor"]), r"rows\[3\].choices is a list, expected an object"),
        (in_row(choices={"variant": 7}), r"rows\[3\].choices.variant is a number, expected a text"),
        (in_row(params=[1]), r"rows\[3\].params is a list, expected an object"),
        (in_time(median="fast"), r"rows\[3\].time_ms.median is a text, expected a number"),
        (in_time(median=-1.0), r"rows\[3\].time_ms is not in order"),
        (in_time(p10=99.0), r"rows\[3\].time_ms is not in order"),
        (in_time(samples=True), r"rows\[3\].time_ms.samples is true or false, expected"),
        (
            lambda content: content["verdicts"].append(
                {"kind": "aim", "metric": "x", "verdict": "FINE"}
            ),
            r'verdicts\[0\].verdict is "FINE", expected one of REPRODUCED',
        ),
        (
            lambda content: content["verdicts"].append({"metric": "x", "verdict": "MET"}),
            r"verdicts\[0\].kind is missing",
        ),
    ],
)
def test_refuses_what_breaks_the_format(tmp_path, change, message):
    path = changed(tmp_path, change)
    with pytest.raises(archives.ArchiveError, match=message) as error:
        archives.load(path)
    assert str(path) in str(error.value)


def test_refuses_a_kernel_time_from_the_emulated_backend(tmp_path):
    content = synthetic.passes("emulated")
    content["rows"][0] = synthetic.row("single_pass", "cuda")
    with pytest.raises(archives.ArchiveError, match="emulated backend, which times nothing"):
        archives.load(synthetic.write(tmp_path, content))


def test_reads_launches(tmp_path):
    content = synthetic.throughput()
    content["rows"][0]["launches"] = 200
    archive = archives.load(synthetic.write(tmp_path, content))
    assert archive.rows[0].launches == 200
    assert {row.launches for row in archive.cpu_rows()} == {None}


def test_without_launches_a_gpu_sample_was_one(tmp_path):
    content = synthetic.throughput()
    for row in content["rows"]:
        del row["launches"]
    archive = archives.load(synthetic.write(tmp_path, content))
    assert {row.launches for row in archive.gpu_rows()} == {1}
    assert {row.launches for row in archive.cpu_rows()} == {None}


def test_reads_the_measure_settings_and_none_of_older_archives(tmp_path):
    content = synthetic.passes()
    assert archives.load(synthetic.write(tmp_path, content)).measure == synthetic.MEASURE
    del content["measure"]
    assert archives.load(synthetic.write(tmp_path, content)).measure == {}


def test_reads_choices_and_none_of_older_archives(tmp_path):
    content = synthetic.passes()
    content["rows"][0]["choices"] = {"variant": "tensor", "tile": "small"}
    content["rows"][1]["choices"] = {}
    archive = archives.load(synthetic.write(tmp_path, content))
    assert archive.rows[0].choices == {"variant": "tensor", "tile": "small"}
    assert archive.rows[1].choices == {}
    assert "choices" not in content["rows"][2]
    assert archive.rows[2].choices == {}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"schema": 1,\n  "rows": [', r"is no JSON \(line 2, column 12"),
        ("", r"is no JSON \(line 1, column 1"),
        ("[1]", "the file is a list, expected an object"),
    ],
)
def test_names_a_malformed_file(tmp_path, text, message):
    path = tmp_path / "sample.passes.json"
    path.write_text(text)
    with pytest.raises(archives.ArchiveError, match=message) as error:
        archives.load(path)
    assert str(path) in str(error.value)


def test_names_a_file_that_is_no_text(tmp_path):
    path = tmp_path / "sample.passes.json"
    path.write_bytes(b'{"schema": \xff}')
    with pytest.raises(archives.ArchiveError, match=r"is no UTF-8 text \(byte 11\)"):
        archives.load(path)


def test_names_a_file_that_is_missing(tmp_path):
    with pytest.raises(archives.ArchiveError, match="cannot be read"):
        archives.load(tmp_path / "sample.passes.json")


def test_refuses_a_file_with_another_experiments_name(tmp_path):
    path = tmp_path / "sample.throughput.json"
    path.write_text(json.dumps(synthetic.passes()))
    with pytest.raises(archives.ArchiveError, match=r"should be named sample\.passes\.j"):
        archives.load(path)


@pytest.mark.parametrize("name", ["sample.passes@.json", "sample.throughput@few.json", "x.y.json"])
def test_a_part_has_its_experiment_s_name_before_its_own(tmp_path, name):
    path = tmp_path / "sample.passes@n=4, few.json"
    path.write_text(json.dumps(synthetic.passes()))
    archive = archives.load(path)
    assert (archive.experiment, archive.partial) == ("passes", "n=4, few")
    assert archive.name == "sample/passes@n=4, few"
    folder = archives.load_folder(tmp_path)
    assert (folder.archives, len(folder.partial)) == ({}, 1)
    path = path.rename(tmp_path / name)
    with pytest.raises(archives.ArchiveError, match=r"should be named sample\.passes\.json"):
        archives.load(path)


def test_a_row_has_the_run_and_the_commit_of_its_archive_unless_it_has_its_own(tmp_path):
    content = synthetic.passes() | {"run": "b"}
    content["rows"][1] |= {"run": "a", "commit": "f" * 40}
    archive = archives.load(synthetic.write(tmp_path, content))
    assert archive.origin_of(archive.rows[0]) == ("b", synthetic.COMMIT)
    assert archive.origin_of(archive.rows[1]) == ("a", "f" * 40)
    assert [row for row in archive.rows if archive.is_of_another_run(row)] == [archive.rows[1]]
    older = archives.load(synthetic.write(tmp_path, synthetic.passes()))
    assert not any(older.is_of_another_run(row) for row in older.rows)


def test_a_bad_file_does_not_hide_the_others(gpu_folder):
    (gpu_folder / "sample.broken.json").write_text("{")
    folder = archives.load_folder(gpu_folder)
    assert len(folder.archives) == len(synthetic.EVERY)
    assert len(folder.errors) == 1
    assert "sample.broken.json" in str(folder.errors[0])


def test_refuses_to_mix_devices(gpu_folder):
    content = synthetic.passes() | {"provenance": synthetic.provenance(device="Another GPU")}
    synthetic.write(gpu_folder, content)
    with pytest.raises(archives.MixedDevices, match=r"Another GPU in .*passes") as error:
        archives.load_folder(gpu_folder)
    assert synthetic.GPU in str(error.value)


def test_a_line_through_two_parameters_is_refused(tmp_path):
    archive = archives.load(synthetic.write(tmp_path, synthetic.throughput()))
    rows = archives.where(archive.gpu_rows(), variant="cub", selectivity=0.5)
    with pytest.raises(archives.ArchiveError, match="differ in operation"):
        archives.along(rows, "n")


def test_speedup_is_the_peers_time_over_the_rows_at_the_same_point(tmp_path):
    content = synthetic.passes()
    archive = archives.load(synthetic.write(tmp_path, content))
    for row in archive.gpu_rows():
        if row.role != "technique":
            assert archive.speedup_over_peer(row) is None
            continue
        peer = synthetic.row("cub", n=row.params["n"])["time_ms"]["median"]
        assert archive.speedup_over_peer(row) == pytest.approx(peer / row.timing.median)


@pytest.mark.parametrize(
    ("row_has_host", "others", "expected"),
    [
        (False, {"alone": (2.0, False), "waits": (3.0, True)}, "alone"),
        (True, {"alone": (2.0, False), "waits": (3.0, True)}, "waits"),
        (False, {"waits": (3.0, True)}, "waits"),
        (True, {"alone": (2.0, False)}, "alone"),
        (False, {"alone": (2.0, False), "waits": (1.5, True)}, "waits"),
    ],
)
def test_the_host_is_in_both_times_or_in_none(tmp_path, row_has_host, others, expected):
    ours = synthetic.row("single_pass") | {"host_is_in_the_time": row_has_host}
    peers = [
        synthetic.timed(synthetic.row("cub"), median)
        | {"variant": variant, "host_is_in_the_time": has_host}
        for variant, (median, has_host) in others.items()
    ]
    content = synthetic.archive("passes", [ours, *peers])
    archive = archives.load(synthetic.write(tmp_path, content))
    assert archive.peer_of(archive.rows[0]).variant == expected


def test_times_of_the_hosts_clock_are_alike(tmp_path):
    ours = synthetic.row("std") | {"role": "technique", "host_is_in_the_time": True}
    peer = synthetic.row("std") | {"role": "peer", "host_is_in_the_time": True}
    faster = synthetic.timed(synthetic.row("std"), 0.001)
    faster |= {"role": "peer", "host_is_in_the_time": False}
    content = synthetic.archive("passes", [ours, peer, faster])
    archive = archives.load(synthetic.write(tmp_path, content))
    assert archive.peer_of(archive.rows[0]).timing.median == 0.001


def test_without_a_peer_at_that_point_there_is_no_speedup(tmp_path):
    archive = archives.load(synthetic.write(tmp_path, synthetic.coalescing()))
    assert {archive.speedup_over_peer(row) for row in archive.rows} == {None}


def test_a_counter_that_is_no_number_is_an_error(tmp_path):
    content = synthetic.passes()
    content["rows"][0]["counters"] = {"probes_per_search": "many"}
    with pytest.raises(archives.ArchiveError, match=r"counters\.probes_per_search is a text"):
        archives.load(synthetic.write(tmp_path, content))
