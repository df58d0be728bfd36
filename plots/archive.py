"""Reads the archives that `warpath run` writes, and decides which of their rows may be drawn.

An archive is one JSON file an experiment, `<device-slug>/<technique>.<experiment>.json`; a part of
an experiment's sweep is kept beside it, as `<technique>.<experiment>@<name>.json`. Every
figure and table of the report rests on what is read here, so a file that breaks the format is an
error that names the file, the place in it and what was expected; nothing is guessed.

Three rules are kept here, once, for every figure:
  - a time belongs to an answer that was verified; anything else is refused;
  - the emulated backend times no kernel; a kernel's time in an emulated archive is refused;
  - one figure shows one device.
"""

from __future__ import annotations

import json
import re
import stat
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

SCHEMA = 1
ROLES = ("technique", "peer", "naive", "oracle")
STATES = ("passed", "failed", "not_verified")
CLOCKS = ("gpu", "host")
BACKENDS = ("cuda", "emulated")
KINDS = ("claim", "aim", "comparison")
MOST_BYTES = 1 << 26
"""A larger file is no archive."""
NO_TECHNIQUES = ("archive", "document", "figure", "history", "modern_gpu", "report", "style")
"""Modules of this folder that belong to no technique: an archive of such a name is refused."""
VERDICTS = ("REPRODUCED", "DIFFERS", "MET", "MISSED", "SHOWN", "NOT TESTABLE HERE")


class ArchiveError(Exception):
    """A file that is no valid archive; the message says which, where in it, and what is wrong."""


class MixedDevices(ArchiveError):
    """Rows of more than one device were asked for in one figure."""


class NothingToDraw(Exception):
    """The archive is valid, but has no row that this figure may show. The message says why."""


@dataclass(frozen=True)
class Timing:
    """Times of one point in milliseconds, over `samples` executions."""

    median: float
    least: float
    p10: float
    p90: float
    samples: int


@dataclass(frozen=True)
class Row:
    """One measured, or skipped, or failed point."""

    variant: str
    role: str
    params: dict[str, Any]
    verified: str
    timing: Timing | None
    clock: str | None
    cache: str | None
    launches: int | None
    items_per_s: float | None
    bytes_min: float | None
    gb_per_s: float | None
    percent_of_peak: float | None
    peak: str | None
    stop: str | None
    skipped: str | None
    error: str | None
    counters: dict[str, float]
    choices: dict[str, str]
    run: str | None
    """The run that measured it, if that is not the archive's; None in older archives."""
    commit: str | None
    """The program's commit, if that is not the archive's."""
    host_is_in_the_time: bool
    """Whether launches and waiting are in the time, beside the GPU's work."""

    @property
    def time_has_host(self) -> bool:
        """Whether the host's part is in the time; in times of the host's clock it always is."""
        return self.clock == "host" or self.host_is_in_the_time

    @property
    def gpu_time_has_host(self) -> bool:
        """Whether it was timed on the GPU, and the host's part is in that time."""
        return self.clock == "gpu" and self.host_is_in_the_time

    @property
    def is_wrong(self) -> bool:
        """The answer was wrong, or the point ended with an error."""
        return self.verified == "failed" or self.error is not None

    @property
    def problem(self) -> tuple[tuple[str, Any], ...]:
        """The point's parameters without its variant: what rows must share to be compared."""
        return tuple(sorted((k, v) for k, v in self.params.items() if k != "variant"))

    def gb_per_s_at(self, milliseconds: float) -> float:
        """The point's minimal bytes over `milliseconds`, in GB/s."""
        if self.bytes_min is None:
            raise ValueError(f"{self.variant}: bytes_min is missing")
        return self.bytes_min / milliseconds / 1e6


@dataclass(frozen=True)
class Verdict:
    """What became of one expected figure: `measured` is the worst value, found `at` a point."""

    kind: str
    """claim (of a source), aim (of this project) or comparison (not judged)."""
    where: dict[str, Any]
    metric: str
    counter: str | None
    baseline: dict[str, Any]
    published: float | str | None
    at_least: float | None
    at_most: float | None
    measured: float | None
    at: dict[str, Any]
    verdict: str
    missing: str | None
    source: str | None

    @property
    def is_in_part(self) -> bool:
        """Whether only some of its settings have a value: those decided."""
        return self.measured is not None and self.missing is not None


@dataclass(frozen=True)
class Provenance:
    """Where an archive's figures come from."""

    commit: str
    """`unknown` of a program that was built outside of a git checkout."""
    dirty: bool | None
    """Whether there were changes on top of the commit; None if it is not known."""
    backend: str
    device: str
    uuid: str | None
    driver: str | None
    cuda_version: str | None
    compiler: str | None
    flags: str | None
    host: str | None
    host_cores: int | None
    time: str
    details: dict[str, Any] = field(repr=False)

    @property
    def short_commit(self) -> str:
        """Twelve digits of the commit, marked where the tree had changes on top of it."""
        return self.commit[:12] + ("+changes" if self.dirty else "")

    @property
    def date(self) -> str:
        """The day of the measurement (UTC)."""
        return self.time[:10]


@dataclass(frozen=True)
class LinkRates:
    """GB/s out of one GPU, by what moves the data; None where it cannot."""

    copy: float
    pull: float | None
    push: float | None

    @property
    def fastest(self) -> float:
        """The rate of what moves it fastest."""
        return max(rate for rate in (self.copy, self.pull, self.push) if rate is not None)


@dataclass(frozen=True)
class Links:
    """The measured rates of the links between GPUs, and of those to the host."""

    host: dict[int, tuple[float, float, float]]
    """Of a GPU: GB/s to it, from it, and each way while both are busy."""
    pairs: dict[tuple[int, int], tuple[LinkRates, LinkRates]]
    """From one GPU to another: one way, and each way while both are busy."""
    all_to_all: dict[int, LinkRates]
    """Of so many GPUs, each of which sends to all others."""


@dataclass(frozen=True)
class Archive:
    """One experiment's results on one device."""

    path: Path
    technique: str
    experiment: str
    partial: str | None
    """The name of a part of the experiment's sweep; None of the experiment itself."""
    run: str | None
    title: str
    source: str
    figure: str
    claim: str
    profile: str
    command: str
    complete: bool
    measure: dict[str, Any]
    provenance: Provenance
    ceilings: dict[str, float]
    links: Links | None
    """None where the experiment uses none, and in older archives."""
    rows: list[Row]
    verdicts: list[Verdict]

    @property
    def name(self) -> str:
        """`technique/experiment`, as the command line takes it; a part has `@name` after it."""
        part = f"@{self.partial}" if self.partial else ""
        return f"{self.technique}/{self.experiment}{part}"

    def origin_of(self, row: Row) -> tuple[str | None, str]:
        """The run and the commit of a row."""
        return row.run or self.run, row.commit or self.provenance.commit

    def is_of_another_run(self, row: Row) -> bool:
        """Whether the row was not measured in the run that the archive is of."""
        return self.origin_of(row) != (self.run, self.provenance.commit)

    def gpu_rows(self) -> list[Row]:
        """The rows that were verified and timed on a GPU: all that a GPU figure may show."""
        if self.provenance.backend != "cuda":
            return []
        return [row for row in self.rows if row.timing and row.clock == "gpu"]

    def timed_rows(self, variants: Iterable[str] | None = None) -> list[Row]:
        """The same, of `variants` where they are given. Raises NothingToDraw if there are none."""
        wanted = None if variants is None else list(variants)
        rows = [row for row in self.gpu_rows() if wanted is None or row.variant in wanted]
        if not rows:
            of = "" if wanted is None else f" of {' or '.join(wanted)}"
            raise NothingToDraw(f"{self.name} has no point{of} that was timed on a GPU")
        return rows

    def cpu_rows(self) -> list[Row]:
        """The rows that were verified and timed by the host's clock: to be marked as CPU."""
        return [row for row in self.rows if row.timing and row.clock == "host"]

    @cached_property
    def _fastest_peers(self) -> dict[tuple, Row]:
        """The fastest peer by clock, problem, and whether a GPU time has the host's part in it."""
        found: dict[tuple, Row] = {}
        for row in self.rows:
            if row.role != "peer" or not row.timing:
                continue
            key = row.clock, row.problem, row.gpu_time_has_host
            if key not in found or row.timing.median < found[key].timing.median:
                found[key] = row
        return found

    def peer_of(self, row: Row) -> Row | None:
        """The fastest peer at the row's own point that the same clock timed.

        Peers that were timed like the row come first: the host's part is in both times, or in
        neither. One that was timed otherwise is taken if there is no such peer, or if it is faster
        although its time has the host's part.
        """
        alike, other = (
            self._fastest_peers.get((row.clock, row.problem, has_host))
            for has_host in (row.gpu_time_has_host, not row.gpu_time_has_host)
        )
        if alike is None or other is None:
            return alike or other
        is_faster = other.gpu_time_has_host and other.timing.median < alike.timing.median
        return other if is_faster else alike

    def speedup_over_peer(self, row: Row) -> float | None:
        """The peer's median time over the row's: above 1 the row is faster."""
        if row.timing is None or row.timing.median == 0 or row.role == "peer":
            return None
        peer = self.peer_of(row)
        return peer.timing.median / row.timing.median if peer else None


class _Reader:
    """Takes typed members out of one JSON object; errors name the file and the member."""

    def __init__(self, path: Path, where: str, value: Any):
        self.path, self.where, self.value = path, where, value
        if not isinstance(value, dict):
            self.fail("", f"is {_kind(value)}, expected an object")

    def fail(self, key: str, what: str) -> None:
        place = ".".join(part for part in (self.where, key) if part) or "the file"
        raise ArchiveError(f"{self.path}: {place} {what}")

    def get(self, key: str, kinds: type | tuple[type, ...], default: Any = ...) -> Any:
        value = self.value.get(key)
        if value is None:
            if default is ...:
                self.fail(key, "is missing")
            return default
        kinds = kinds if isinstance(kinds, tuple) else (kinds,)
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            expected = " or ".join(_KIND_NAMES[kind] for kind in kinds if kind is not int)
            self.fail(key, f"is {_kind(value)}, expected {expected or 'an integer'}")
        return value

    def number(self, key: str, default: Any = ...) -> Any:
        return self.get(key, (int, float), default)

    def choice(self, key: str, allowed: tuple[str, ...], default: Any = ...) -> Any:
        value = self.get(key, str, default)
        if value is not default and value not in allowed:
            self.fail(key, f'is "{value}", expected one of {", ".join(allowed)}')
        return value

    def slug(self, key: str) -> str:
        """A name that is part of the names of files."""
        value = self.get(key, str)
        if not re.fullmatch("[a-z0-9_]+", value) or value in NO_TECHNIQUES:
            self.fail(key, f"is {value!r}, which cannot be the name of one")
        return value

    def child(self, key: str) -> _Reader:
        return _Reader(self.path, f"{self.where}.{key}".strip("."), self.get(key, dict))


_KIND_NAMES = {str: "a text", int: "a number", float: "a number", bool: "true or false"}
_KIND_NAMES |= {dict: "an object", list: "a list", type(None): "null"}


def _kind(value: Any) -> str:
    return _KIND_NAMES.get(type(value), type(value).__name__)


def _read_text(path: Path) -> str:
    """The text of a plain file of a sane size. Raises ArchiveError."""
    try:
        facts = path.stat()
        if not stat.S_ISREG(facts.st_mode):
            raise ArchiveError(f"{path}: is no plain file")
        if facts.st_size > MOST_BYTES:
            raise ArchiveError(f"{path}: has {facts.st_size} bytes, at most {MOST_BYTES} are read")
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise ArchiveError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ArchiveError(f"{path}: is no UTF-8 text (byte {error.start})") from error


def _finite(text: str) -> float:
    value = float(text)
    if abs(value) == float("inf"):
        raise ValueError(f"{text} is out of range")
    return value


def _integer(text: str) -> int:
    if len(text) > 20:
        raise ValueError(f"{text[:20]}... is out of range")
    return int(text)


def _no_number(text: str) -> None:
    raise ValueError(f"{text} is no number")


def _read_json(path: Path) -> Any:
    """The file's content: finite numbers, and texts that can be written. Raises ArchiveError."""
    text = _read_text(path)
    try:
        content = json.loads(
            text, parse_float=_finite, parse_int=_integer, parse_constant=_no_number
        )
        json.dumps(content, ensure_ascii=False).encode("utf-8")
        return content
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise ArchiveError(f"{path}: is no JSON ({place}: {error.msg})") from error
    except UnicodeEncodeError as error:
        raise ArchiveError(f"{path}: has a text with half of a surrogate pair") from error
    except ValueError as error:
        raise ArchiveError(f"{path}: is no JSON ({error})") from error
    except RecursionError as error:
        raise ArchiveError(f"{path}: is nested too deep") from error


def _read_provenance(reader: _Reader) -> Provenance:
    device = reader.child("device")
    host = _Reader(reader.path, f"{reader.where}.host", reader.get("host", dict, {}))
    return Provenance(
        commit=reader.get("git_commit", str),
        dirty=reader.get("git_dirty", bool, None),
        backend=reader.choice("backend", BACKENDS),
        device=device.get("name", str),
        uuid=device.get("uuid", str, None),
        driver=reader.get("driver", str, None),
        cuda_version=reader.get("cuda_version", str, None),
        compiler=reader.get("compiler", str, None),
        flags=reader.get("flags", str, None),
        host=host.get("cpu", str, None),
        host_cores=host.get("cores", int, None),
        time=reader.get("time", str),
        details=reader.value,
    )


def _read_timing(reader: _Reader) -> Timing | None:
    if reader.get("time_ms", dict, None) is None:
        return None
    time = reader.child("time_ms")
    timing = Timing(
        median=time.number("median"),
        least=time.number("min"),
        p10=time.number("p10"),
        p90=time.number("p90"),
        samples=time.get("samples", int),
    )
    if not 0 <= timing.least <= timing.p10 <= timing.median <= timing.p90:
        time.fail("", "is not in order: expected 0 <= min <= p10 <= median <= p90")
    return timing


def _read_counters(reader: _Reader) -> dict[str, float]:
    counters = _Reader(reader.path, f"{reader.where}.counters", reader.get("counters", dict, {}))
    return {name: counters.number(name) for name in counters.value}


def _read_choices(reader: _Reader) -> dict[str, str]:
    choices = _Reader(reader.path, f"{reader.where}.choices", reader.get("choices", dict, {}))
    return {name: choices.get(name, str) for name in choices.value}


def _read_params(reader: _Reader) -> dict[str, Any]:
    """Parameters: numbers, texts and switches; `n`, if there is one, counts items."""
    params = _Reader(reader.path, f"{reader.where}.params", reader.get("params", dict))
    found = {name: params.get(name, (int, float, str, bool)) for name in params.value}
    if "n" in found:
        params.number("n")
    return found


def _check_params(path: Path, rows: list[Row]) -> None:
    """A parameter is of one kind throughout: else its values have no order."""
    kinds: dict[str, str] = {}
    for i, row in enumerate(rows):
        for name, value in row.params.items():
            kind = _kind(value)
            if kinds.setdefault(name, kind) != kind:
                place = f"rows[{i}].params.{name}"
                raise ArchiveError(f"{path}: {place} is {kind}, elsewhere it is {kinds[name]}")


def _read_ceilings(reader: _Reader) -> dict[str, float]:
    ceilings = _Reader(reader.path, "ceilings", reader.get("ceilings", dict, {}))
    return {name: ceilings.number(name) for name in ceilings.value}


def _read_links(reader: _Reader) -> Links | None:
    """What `warpath info` measured of links; None if it did not."""
    if reader.get("links", dict, None) is None:
        return None
    links = reader.child("links")
    if links.get("not_measured", str, None) is not None:
        return None

    def entries(name: str) -> list[_Reader]:
        of = enumerate(links.get(name, list))
        return [_Reader(reader.path, f"{links.where}.{name}[{i}]", entry) for i, entry in of]

    return Links(
        host={
            link.get("gpu", int): (
                _read_rate(link, "to_gpu_gb_per_s"),
                _read_rate(link, "from_gpu_gb_per_s"),
                _read_rate(link, "both_ways_gb_per_s"),
            )
            for link in entries("host")
        },
        pairs={
            (link.get("from", int), link.get("to", int)): (
                _read_link_rates(link.child("one_way")),
                _read_link_rates(link.child("both_ways")),
            )
            for link in entries("pairs")
        },
        all_to_all={
            all_to_all.get("gpus", int): _read_link_rates(all_to_all.child("each_way"))
            for all_to_all in entries("all_to_all")
        },
    )


def _read_link_rates(reader: _Reader) -> LinkRates:
    return LinkRates(
        copy=_read_rate(reader, "copy_gb_per_s"),
        pull=_read_rate(reader, "pull_gb_per_s", None),
        push=_read_rate(reader, "push_gb_per_s", None),
    )


def _read_rate(reader: _Reader, key: str, default: Any = ...) -> Any:
    """A number above 0: shares of it are drawn."""
    rate = reader.number(key, default)
    if rate is not None and rate <= 0:
        reader.fail(key, f"is {rate}, expected more than 0")
    return rate


def _read_launches(reader: _Reader) -> int | None:
    """Executions a sample; where an older archive is silent, each of the GPU's samples was one."""
    on_gpu = reader.get("clock", str, None) == "gpu"
    return reader.get("launches", int, 1 if on_gpu else None)


def _read_row(reader: _Reader, backend: str) -> Row:
    row = Row(
        variant=reader.get("variant", str),
        role=reader.choice("role", ROLES),
        params=_read_params(reader),
        verified=reader.choice("verified", STATES),
        timing=_read_timing(reader),
        clock=reader.choice("clock", CLOCKS, None),
        cache=reader.get("cache", str, None),
        launches=_read_launches(reader),
        items_per_s=reader.number("items_per_s", None),
        bytes_min=reader.number("bytes_min", None),
        gb_per_s=reader.number("gb_per_s", None),
        percent_of_peak=reader.number("percent_of_peak", None),
        peak=reader.get("peak", str, None),
        stop=reader.get("stop", str, None),
        skipped=reader.get("skipped", str, None),
        error=reader.get("error", str, None),
        counters=_read_counters(reader),
        choices=_read_choices(reader),
        run=reader.get("run", str, None),
        commit=reader.get("commit", str, None),
        host_is_in_the_time=reader.get("host_is_in_the_time", bool, False),
    )
    if row.timing and row.verified != "passed":
        reader.fail(
            "time_ms",
            f'is set, but verified is "{row.verified}": only a verified answer has a time',
        )
    if row.timing and row.clock is None:
        reader.fail("clock", "is missing: a time needs its clock")
    if row.timing and row.clock == "gpu" and backend != "cuda":
        reader.fail("time_ms", "is a kernel's time from the emulated backend, which times nothing")
    return row


def _read_verdict(reader: _Reader) -> Verdict:
    return Verdict(
        kind=reader.choice("kind", KINDS),
        where=reader.get("where", dict, {}),
        metric=reader.get("metric", str),
        counter=reader.get("counter", str, None),
        baseline=reader.get("baseline", dict, {}),
        published=reader.get("published", (int, float, str), None),
        at_least=reader.number("at_least", None),
        at_most=reader.number("at_most", None),
        measured=reader.number("measured", None),
        at=reader.get("at", dict, {}),
        verdict=reader.choice("verdict", VERDICTS),
        missing=reader.get("missing", str, None),
        source=reader.get("source", str, None),
    )


def _part_of_name(reader: _Reader, whole: str) -> str | None:
    """What the file's name has after `@`; None where it is `<technique>.<experiment>.json`."""
    name, at, part = reader.path.name.removesuffix(".json").partition("@")
    if name != whole or (at and not part):
        raise ArchiveError(
            f"{reader.path}: holds {whole.replace('.', '/', 1)}, so it should be named {whole}.json"
        )
    return part or None


def load(path: Path) -> Archive:
    """Reads one archive. Raises ArchiveError."""
    reader = _Reader(path, "", _read_json(path))
    if (schema := reader.get("schema", int)) != SCHEMA:
        reader.fail("schema", f"is {schema}, this program reads {SCHEMA}")
    technique, experiment = reader.slug("technique"), reader.slug("experiment")
    provenance = _read_provenance(reader.child("provenance"))
    rows = [
        _read_row(_Reader(path, f"rows[{i}]", row), provenance.backend)
        for i, row in enumerate(reader.get("rows", list))
    ]
    _check_params(path, rows)
    return Archive(
        path=path,
        technique=technique,
        experiment=experiment,
        partial=_part_of_name(reader, f"{technique}.{experiment}"),
        run=reader.get("run", str, None),
        title=reader.get("title", str),
        source=reader.get("source", str, ""),
        figure=reader.get("figure", str, ""),
        claim=reader.get("claim", str, ""),
        profile=reader.get("profile", str, ""),
        command=reader.get("command", str),
        complete=reader.get("complete", bool),
        measure=reader.get("measure", dict, {}),
        provenance=provenance,
        ceilings=_read_ceilings(reader),
        links=_read_links(reader),
        rows=rows,
        verdicts=[
            _read_verdict(_Reader(path, f"verdicts[{i}]", verdict))
            for i, verdict in enumerate(reader.get("verdicts", list, []))
        ],
    )


def load_info(path: Path) -> dict[str, Any]:
    """What `warpath info` wrote: its ceilings are numbers, or lists of them by size; its links."""
    reader = _Reader(path, "", _read_json(path))
    ceilings = _Reader(path, "ceilings", reader.get("ceilings", dict, {}))
    for name in ceilings.value:
        value = ceilings.get(name, (int, float, list))
        for i, entry in enumerate(value if isinstance(value, list) else []):
            at_size = _Reader(path, f"ceilings.{name}[{i}]", entry)
            at_size.number("value")
            at_size.number("bytes")
    return reader.value | {"links": _read_links(reader)}


@dataclass(frozen=True)
class Folder:
    """One device's archives by (technique, experiment), and what could not be read."""

    path: Path
    archives: dict[tuple[str, str], Archive]
    partial: list[Archive]
    """Parts of experiments, which stand for no experiment."""
    info: dict[str, Any] | None
    errors: list[ArchiveError]

    def every(self) -> list[Archive]:
        """The archives of experiments, then those of parts."""
        return [*self.archives.values(), *self.partial]


def load_folder(path: Path) -> Folder:
    """Reads all archives of one device's folder, and its info.json.

    Raises ArchiveError where the folder does not exist or holds more than one device; a file that
    cannot be read does not hide the others: it is in `errors`.
    """
    if not path.is_dir():
        raise ArchiveError(f"{path}: is no folder")
    archives, partial, errors = {}, [], []
    for file in sorted(path.glob("*.*.json")):
        try:
            archive = load(file)
        except ArchiveError as error:
            errors.append(error)
        else:
            if archive.partial:
                partial.append(archive)
            else:
                archives[archive.technique, archive.experiment] = archive
    info, info_file = None, path / "info.json"
    if info_file.exists() or info_file.is_symlink():
        try:
            info = load_info(info_file)
        except ArchiveError as error:
            errors.append(error)
    one_device([*archives.values(), *partial])
    return Folder(path, archives, partial, info, errors)


def one_device(archives: Iterable[Archive]) -> str | None:
    """The device that all the archives come from. Raises MixedDevices where there are more."""
    seen: dict[str, Path] = {}
    for archive in archives:
        seen.setdefault(archive.provenance.device, archive.path)
    if len(seen) > 1:
        places = "; ".join(f"{device} in {path}" for device, path in seen.items())
        raise MixedDevices(f"one figure shows one device, but these are {len(seen)}: {places}")
    return next(iter(seen), None)


def values_of(rows: Iterable[Row], name: str) -> list[Any]:
    """The distinct values of one parameter, in ascending order (texts in order of appearance)."""
    found = list(dict.fromkeys(row.params[name] for row in rows if name in row.params))
    return found if any(isinstance(value, str) for value in found) else sorted(found)


def where(rows: Iterable[Row], **fixed: Any) -> list[Row]:
    """The rows whose parameters, or variant, have the given values (1 equals 1.0)."""
    return [
        row
        for row in rows
        if all(
            (row.variant if k == "variant" else row.params.get(k)) == v for k, v in fixed.items()
        )
    ]


def nearest(rows: Iterable[Row], name: str, target: float) -> Any:
    """The value of a numeric parameter nearest to `target`. Raises NothingToDraw without any."""
    found = values_of(rows, name)
    if not found:
        raise NothingToDraw(f"no timed row has the parameter {name}")
    return min(found, key=lambda value: abs(target - value))


def along(rows: Iterable[Row], name: str) -> list[Row]:
    """One variant's rows in ascending order of one parameter: the points of one line.

    Raises ArchiveError where two rows share a value: then another parameter varies, too, and a line
    through both would mean nothing.
    """
    ordered = sorted((row for row in rows if name in row.params), key=lambda row: row.params[name])
    for left, right in pairwise(ordered):
        if left.params[name] == right.params[name]:
            differ = [k for k in left.params if left.params[k] != right.params.get(k)]
            what = f"differ in {', '.join(differ)}" if differ else "are the same point"
            raise ArchiveError(
                f"two rows of {left.variant} at {name} = {left.params[name]} {what}: "
                "choose one value before drawing a line"
            )
    return ordered
