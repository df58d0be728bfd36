#!/usr/bin/python3
"""Draws the figures of one device's results and writes REPORT.md and report.html beside them.

A section a technique, a part an experiment: figures, measured beside published with the verdicts,
tables with the speed-up over the peer, what was skipped and why, and the command and commit that
made it. Where an experiment was not timed on a GPU, this machine's correctness results and CPU
times are shown, and beside them the archived GPU results of other machines, labelled as archived.

Knows no technique by name: the figures come from plots/<slug>.py, the rest from the archives.
"""

from __future__ import annotations

import argparse
import operator
import os
import re
import sys
import traceback
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import figure
import history
from archive import (
    Archive,
    ArchiveError,
    Folder,
    LinkRates,
    Links,
    Row,
    Verdict,
    load_folder,
)
from document import Code, Details, Document, Heading, Note, Paragraph, Picture, Table

NONE = "\N{EN DASH}"


# ---- cells


def number(value: Any, digits: int = 4) -> str:
    """A number in few digits; powers of two from 2^10 on as such; a dash for none."""
    if value is None:
        return NONE
    if not is_number(value):
        return str(value)
    if isinstance(value, int) and value >= 1024 and value & (value - 1) == 0:
        return f"2^{value.bit_length() - 1}"
    if isinstance(value, int) or (digits <= 5 and 1e4 <= abs(value) < 1e5):
        return f"{value:,.0f}"
    return f"{value:.{digits}g}" if abs(value) < 1e5 else f"{value:.3e}"


def is_number(value: Any) -> bool:
    """Whether it is an integer or a fraction; a switch is neither."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


RELATIONS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "="}
HOLDS = {name: getattr(operator, name) for name in RELATIONS}
HOLDS["in"] = lambda value, values: value in values


def setting(name: str, value: Any) -> str:
    """`name=value`, or a configuration's condition such as `n >= 2^20`."""
    if not isinstance(value, dict):
        return f"{name}={number(value)}"
    parts = [
        f"{name} in {', '.join(map(number, operand))}"
        if relation == "in" and isinstance(operand, list)
        else f"{name} {RELATIONS.get(relation, relation)} {number(operand)}"
        for relation, operand in value.items()
    ]
    return " and ".join(parts)


def settings(values: dict[str, Any]) -> str:
    """Parameters, or conditions on them, in one line."""
    return ", ".join(setting(name, value) for name, value in values.items()) or NONE


def counted(count: int, noun: str) -> str:
    """`1 point`, `2 points`."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


# ---- one experiment


def state_counts(archive: Archive) -> Counter[str]:
    """How many points passed, failed, were skipped or timed."""
    counts: Counter[str] = Counter()
    for row in archive.rows:
        counts["points"] += 1
        if row.is_wrong:
            counts["failed"] += 1
        elif row.verified == "passed":
            counts["passed"] += 1
        else:
            counts["not verified"] += 1
        counts["timed on GPU"] += row.timing is not None and row.clock == "gpu"
        counts["timed on CPU"] += row.timing is not None and row.clock == "host"
    return counts


def failures(archive: Archive) -> list:
    """Every wrong answer and every point that ended with an error."""
    wrong = [row for row in archive.rows if row.is_wrong]
    if not wrong:
        return []
    rows = [[row.variant, settings(row.params), row.error or "wrong answer"] for row in wrong]
    return [
        Note("wrong", f"{counted(len(wrong), 'point')} of {archive.name} failed: no time counts."),
        Table(["variant", "point", "what is wrong"], rows),
    ]


def skipped(archive: Archive) -> list:
    """The points without a time, by reason."""
    reasons: dict[str, list[Row]] = {}
    for row in archive.rows:
        if row.skipped:
            reasons.setdefault(row.skipped, []).append(row)
    if not reasons:
        return []
    table = Table(
        ["count", "variants", "why"],
        [
            [str(len(rows)), ", ".join(sorted({row.variant for row in rows})), why]
            for why, rows in sorted(reasons.items(), key=lambda item: -len(item[1]))
        ],
    )
    return [Heading(4, "Skipped points"), table]


VERDICT_TABLES = {
    "claim": ("Claims of the source", ["required", "measured", "published", "verdict", "source"]),
    "aim": ("Aims of this project", ["required", "measured", "verdict", "remark"]),
    "comparison": (
        "Beside published figures of other hardware, not judged",
        ["measured", "published", "measured / published", "source"],
    ),
}
"""Of each kind of expected figures: its heading, and its columns after metric and place."""


def verdicts(archive: Archive) -> list:
    """What is expected beside what was measured: claims, aims and comparisons apart."""
    blocks = []
    for kind, (heading, columns) in VERDICT_TABLES.items():
        rows = [
            [metric_name(each), settings(each.where)]
            + [verdict_cells(archive, each)[column] for column in columns]
            for each in archive.verdicts
            if each.kind == kind
        ]
        if rows:
            blocks += [Heading(4, heading), Table(["metric", "where", *columns], rows)]
            marks = "".join(row[2:][columns.index("measured")] for row in rows)
            if text := marks_explained(marks):
                blocks.append(Paragraph(text))
    return blocks


def metric_name(verdict: Verdict) -> str:
    """The metric, and what it compares with."""
    name = (verdict.counter or verdict.metric).replace("_", " ")
    against = [str(v) if k == "variant" else f"{k}={v}" for k, v in verdict.baseline.items()]
    return " ".join([name, ", ".join(against)]).strip()


def verdict_cells(archive: Archive, verdict: Verdict) -> dict[str, str]:
    """The cells of a verdict's row, by column."""
    digits = digits_to_tell(verdict)
    bounds = [(">=", verdict.at_least), ("<=", verdict.at_most)]
    required = [f"{sign} {number(bound, digits)}" for sign, bound in bounds if bound is not None]
    times = NONE
    if verdict.measured is not None and is_number(verdict.published) and verdict.published:
        times = number(verdict.measured / verdict.published, 3)
    of, about = extent(archive, verdict), remark(archive, verdict)
    return {
        "required": " and ".join(required) or NONE,
        "measured": number(verdict.measured, digits) + verdict_doubts(archive, verdict),
        "published": number(verdict.published),
        "measured / published": times,
        "verdict": f"**{verdict.verdict}**" + (f" ({of})" if of else ""),
        "source": about,
        "remark": about,
    }


def extent(archive: Archive, verdict: Verdict) -> str:
    """How many of its settings a verdict rests on; nothing where all are there, or none is."""
    if verdict.measured is None:
        return ""
    texts = []
    if verdict.is_in_part:
        judged, every = settings_of(archive, verdict)
        known = 0 < judged < every  # else the rows are others than those that were judged
        texts.append(f"{judged} of {counted(every, 'setting')}" if known else "not all settings")
    if not archive.complete:
        texts.append("so far")
    return ", ".join(texts)


def settings_of(archive: Archive, verdict: Verdict) -> tuple[int, int]:
    """How many settings have a value of the metric, and how many there are.

    As `warpath judge` counts: where no variant is named, the technique's variants stand for one
    setting together.
    """
    any_variant = "variant" not in verdict.where
    judged, every = set(), set()
    for row in archive.rows:
        point = {**row.params, "variant": row.variant}
        if not all(holds(point.get(name), what) for name, what in verdict.where.items()):
            continue
        if any_variant and row.role != "technique":
            continue
        setting = (row.problem, None if any_variant else row.variant)
        every.add(setting)
        if has_metric(archive, verdict, row):
            judged.add(setting)
    return len(judged), len(every)


def holds(value: Any, condition: Any) -> bool:
    """Whether a parameter is what a configuration's condition asks for."""
    relations = condition if isinstance(condition, dict) else {"eq": condition}
    try:
        return all(HOLDS[name](value, operand) for name, operand in relations.items())
    except (LookupError, TypeError):  # another relation, or values that have no order
        return False


def has_metric(archive: Archive, verdict: Verdict, row: Row) -> bool:
    """Whether the row, with its baseline, says what the verdict is about."""
    if row.verified == "failed":
        return False
    if verdict.counter:
        return verdict.counter in row.counters
    if row.timing is None:
        return False
    if verdict.metric in ("gb_per_s", "percent_of_peak"):
        return getattr(row, verdict.metric) is not None
    if not verdict.baseline:
        return True
    other = row_at(archive, {**row.params, "variant": row.variant} | verdict.baseline)
    return other is not None and other.timing is not None


def verdict_doubts(archive: Archive, verdict: Verdict) -> str:
    """The marks of the row that decided and of its baseline; none of a counter.

    Of two times, the host's part counts where one has it and the other has not.
    """
    if verdict.counter or not verdict.at:
        return ""
    row = row_at(archive, verdict.at)
    baseline = row_at(archive, verdict.at | verdict.baseline) if verdict.baseline else None
    marks = doubts(archive, row) + doubts(archive, baseline)
    if row and baseline:
        unlike = row.time_has_host != baseline.time_has_host
        marks = marks.replace(WITH_HOST, "") + (WITH_HOST if unlike else "")
    return "".join(mark for mark in (FEW, WIDE, OTHER_RUN, WITH_HOST) if mark in marks)


def row_at(archive: Archive, point: dict[str, Any]) -> Row | None:
    """The first row that has all these parameters, `variant` among them."""
    for row in archive.rows:
        if {**row.params, "variant": row.variant} == {**row.params, **point}:
            return row
    return None


def digits_to_tell(verdict: Verdict) -> int:
    """Digits enough that the measured figure looks different from a bound that it is not."""
    bounds = [b for b in (verdict.at_least, verdict.at_most) if b not in (None, verdict.measured)]
    for digits in range(4, 9):
        if all(number(b, digits) != number(verdict.measured, digits) for b in bounds):
            return digits
    return 9


def remark(archive: Archive, verdict: Verdict) -> str:
    """The published figure's source, the point that decided, and what is missing."""
    parts = [verdict.source] if verdict.source else []
    swept = [*varying(archive.rows), "variant"]
    fixed = [name for name, value in verdict.where.items() if not isinstance(value, dict)]
    found = {k: v for k, v in verdict.at.items() if k in swept and k not in fixed}
    if found:
        parts.append(f"decided at {settings(found)}")
    if verdict.kind == "comparison" and (of := extent(archive, verdict)):
        parts.append(f"measured: {of}")
    if verdict.missing:
        parts.append(f"missing here: {verdict.missing}")
    return "; ".join(parts) or NONE


def varying(rows: list[Row]) -> list[str]:
    """The parameters that take more than one value, in the order of the archive."""
    names = list(dict.fromkeys(name for row in rows for name in row.params))
    return [name for name in names if len({str(row.params.get(name)) for row in rows}) > 1]


def constant(rows: list[Row]) -> dict[str, Any]:
    """The parameters that have one value throughout."""
    swept = set(varying(rows)) | {"variant"}
    return {name: value for name, value in rows[0].params.items() if name not in swept}


def varying_counters(rows: list[Row]) -> list[str]:
    """What the rows count beside times, like errors and bytes, where it is not the same for all."""
    names = dict.fromkeys(name for row in rows for name in row.counters)
    return [name for name in names if len({row.counters.get(name) for row in rows}) > 1]


def counter(value: float | None) -> str:
    """A counter: whole numbers as such."""
    if value is not None and float(value).is_integer():
        return number(int(value))
    return number(value, 3)


FEWEST_SAMPLES = 6
WIDEST_SPREAD = 0.1
FEW = "\N{DAGGER}"
WIDE = "\N{DOUBLE DAGGER}"
OTHER_RUN = "\N{SECTION SIGN}"
WITH_HOST = "\N{PILCROW SIGN}"


def doubts(archive: Archive, row: Row | None) -> str:
    """The marks of a row's median: few samples, wide spread, another run, host in a GPU's time."""
    if row is None or row.timing is None:
        return ""
    time = row.timing
    few = FEW if time.samples < FEWEST_SAMPLES else ""
    wide = WIDE if time.p90 - time.p10 > WIDEST_SPREAD * time.median else ""
    other_run = OTHER_RUN if archive.is_of_another_run(row) else ""
    with_host = WITH_HOST if row.gpu_time_has_host else ""
    return few + wide + other_run + with_host


def marks_explained(text: str) -> str:
    """What the marks in this text mean; nothing where there is none."""
    texts = [f"{FEW} Fewer than {FEWEST_SAMPLES} samples."] if FEW in text else []
    if WIDE in text:
        texts.append(f"{WIDE} p10 and p90 lie more than {WIDEST_SPREAD:.0%} of the median apart.")
    if OTHER_RUN in text:
        texts.append(f"{OTHER_RUN} Of another run than the rest, or compared with another run's.")
    if WITH_HOST in text:
        texts.append(
            f"{WITH_HOST} The call waits for the GPU: the host's part is in the time; at a "
            "speed-up or a ratio: in one of the two times only."
        )
    return " ".join(texts)


def other_runs(archive: Archive) -> str:
    """Which points are not of the archive's run, as a sentence; nothing where all are."""
    others = Counter(archive.origin_of(r) for r in archive.rows if archive.is_of_another_run(r))
    if not others:
        return ""
    runs = [
        f"{counted(count, 'point')} of run `{run or 'unknown'}` at commit `{commit[:12]}`"
        for (run, commit), count in others.items()
    ]
    return f" Marked {OTHER_RUN}, as not of this run: {', '.join(runs)}."


def timing_table(archive: Archive, rows: list[Row]) -> list:
    """All timed points, folded away where they are many; those at the largest n in the open."""
    names = [name for name in varying(rows) if name != "variant"]
    peaks = peaks_of(rows)
    columns = [*names, "variant", "median ms", "p10", "p90", "samples", "GB/s"]
    columns += ["% of peak"] if peaks else []
    columns += ["peak"] if len(peaks) > 1 else []
    gains = {id(row): archive.speedup_over_peer(row) for row in rows}
    peers = sorted({row.variant for row in rows if row.role == "peer"})
    if peers:
        columns.append(f"speed-up over {'/'.join(peers)}")
    counters = varying_counters(rows)
    columns += [name.replace("_", " ") for name in counters]
    has_choices = any(row.choices for row in rows)
    if has_choices:
        columns.append("chosen")

    def gain_of(row: Row) -> str:
        peer, gain = archive.peer_of(row), gains[id(row)]
        if not gain:
            return NONE
        across = archive.origin_of(row) != archive.origin_of(peer)
        unlike = row.gpu_time_has_host != peer.gpu_time_has_host
        return f"{gain:.2f}x{OTHER_RUN if across else ''}{WITH_HOST if unlike else ''}"

    def line(row: Row) -> list[str]:
        time = row.timing
        return [
            *(number(row.params.get(name)) for name in names),
            labelled(row),
            number(time.median) + doubts(archive, row),
            *(number(value) for value in (time.p10, time.p90, time.samples, row.gb_per_s)),
            *([number(row.percent_of_peak, 3)] if peaks else []),
            *([peak_of(row) or NONE] if len(peaks) > 1 else []),
            *([gain_of(row)] if peers else []),
            *(counter(row.counters.get(name)) for name in counters),
            *([settings(row.choices)] if has_choices else []),
        ]

    def order(row: Row) -> tuple:
        texts = tuple(str(row.params.get(n)) for n in names if isinstance(row.params.get(n), str))
        figures = tuple(
            row.params.get(n, 0) for n in names if not isinstance(row.params.get(n), str)
        )
        return texts, figures, row.timing.median

    ordered = sorted(rows, key=order)
    clock = "CPU, wall clock" if rows[0].clock == "host" else "GPU"
    legend = f"Times: {clock}; constant: {settings(constant(rows))}."
    legend += "".join(f" {peak_explained(archive, peak)}" for peak in peaks)
    if peers:
        fastest = "peer" if len(peers) == 1 else "fastest peer"
        legend += f" Speed-up: the {fastest}'s median time at the same point over this one's."
    marks = "".join(doubts(archive, row) + gain_of(row) for row in rows)
    blocks: list = [Paragraph(f"{legend} {marks_explained(marks)}".strip())]
    short = at_largest_n(ordered, names)
    if len(ordered) <= 24 or len(short) == len(ordered):
        return [*blocks, Table(columns, [line(row) for row in ordered])]
    if len(short) <= 64:
        blocks.append(Table(columns, [line(row) for row in short]))
    everything = Table(columns, [line(row) for row in ordered])
    return [*blocks, Details(f"All {len(ordered)} timed points", [everything])]


def labelled(row: Row) -> str:
    """The row's variant, with its role where that is another than the technique's."""
    return row.variant if row.role in ("technique", row.variant) else f"{row.variant} ({row.role})"


def peak_of(row: Row) -> str | None:
    """The ceiling that the row's share refers to: the copy bandwidth if the archive names none."""
    return None if row.percent_of_peak is None else row.peak or "copy"


def peaks_of(rows: list[Row]) -> list[str]:
    """The ceilings that the rows' shares refer to."""
    return sorted({peak for row in rows if (peak := peak_of(row))})


PEAKS = {"copy": "copy bandwidth", "fill": "fill bandwidth"}
PEAKS |= {"ex2": "rate of exponentials", "fma": "rate of fused multiply-adds"}


def peak_explained(archive: Archive, peak: str) -> str:
    """The ceiling that `% of peak` refers to, as the archive's run measured it."""
    what = PEAKS.get(peak, f"rate of {peak}")
    for name, unit in ((f"{peak}_gb_per_s", " GB/s"), (f"{peak}_per_s", "/s")):
        if name in archive.ceilings:
            what += f", {number(archive.ceilings[name])}{unit}"
    return f"Peak ({peak}): the measured {what}."


def at_largest_n(rows: list[Row], names: list[str]) -> list[Row]:
    """The rows at the largest n of each setting of the texts among `names`, like each operation."""

    def setting_of(row: Row) -> tuple:
        return tuple(
            row.params.get(name) for name in names if isinstance(row.params.get(name), str)
        )

    largest: dict[tuple, Any] = {}
    for row in rows:
        key = setting_of(row)
        largest[key] = max(largest.get(key, 0), row.params.get("n", 0))
    return [row for row in rows if row.params.get("n", 0) == largest[setting_of(row)]]


def correctness_table(archive: Archive) -> Table:
    """How many points of each variant were verified."""
    columns = ["variant", "role", "points", "passed", "failed", "not verified", "largest n"]
    rows = []
    for variant in dict.fromkeys(row.variant for row in archive.rows):
        own = [row for row in archive.rows if row.variant == variant]
        passed = [row for row in own if row.verified == "passed" and not row.is_wrong]
        failed = sum(row.is_wrong for row in own)
        largest = max((row.params.get("n", 0) for row in passed), default=None)
        counts = [len(own), len(passed), failed, len(own) - len(passed) - failed]
        rows.append([variant, own[0].role, *map(str, counts), number(largest or None)])
    return Table(columns, rows)


@dataclass(frozen=True)
class Measured:
    """Whether the code that rows of one commit measured has changed since."""

    archive: Archive
    commit: str
    count: int
    """How many of the archive's rows are of this commit."""
    change: history.Change | None
    """The last commit that changed it; None if none did, or if that cannot be told."""
    unknown: str | None
    """Why it cannot be told."""

    @property
    def text(self) -> str:
        """What the report says of it; empty where the code is still the same."""
        every = self.count == len(self.archive.rows)
        who = "Measured" if every else f"{counted(self.count, 'point')} measured"
        where = f"{who} at commit `{self.commit[:12]}`"
        if self.unknown:
            return f"{where}; whether that code has changed since cannot be told: {self.unknown}."
        if self.change is None:
            return ""
        made, listed = self.change, ""
        kept, _ = history.of_this_tree()
        if kept and (why := kept.listing.why_stale(slug(self.archive), self.commit)):
            listed = f" Kept for now: {why}."
        return (
            f"{where}. Commit `{made.commit[:12]}` of {made.date} changed what it measured: "
            f"{made.subject}.{listed}"
        )


def slug(archive: Archive) -> str:
    """`device/technique.experiment`, as `results/staleness.json` names archives."""
    return f"{archive.path.parent.name}/{archive.path.name.removesuffix('.json')}"


def measured(archive: Archive) -> list[Measured]:
    """Whether the measured code has changed, for each commit of the rows; empty without history."""
    known, _ = history.of_this_tree()
    found = []
    commits = Counter(archive.origin_of(row)[1] for row in archive.rows)
    for commit, count in commits.items() if known else []:
        try:
            change = known.last_change(archive.technique, archive.experiment, commit)
            found.append(Measured(archive, commit, count, change, None))
        except history.CannotTell as reason:
            found.append(Measured(archive, commit, count, None, str(reason)))
    return found


def is_stale(archive: Archive) -> bool:
    """Whether a commit since has changed what the archive measured."""
    return any(each.change for each in measured(archive))


def staleness(archive: Archive) -> list:
    """A note for each commit whose measured code has changed since, or may have."""
    return [
        Note("stale" if each.change else "info", each.text)
        for each in measured(archive)
        if each.text
    ]


def origin(archive: Archive) -> list:
    """The command (but for the folder that it wrote to), commit, device and date."""
    facts = archive.provenance
    text = f"Commit `{facts.commit}`"
    if facts.dirty is None:
        text += " (whether with changes on top is not known)"
    text += " with uncommitted changes" if facts.dirty else ""
    where = facts.device if facts.backend == "cuda" else f"{facts.host}, emulated backend"
    text += f" on {where}, {facts.time}, profile `{archive.profile}`."
    if not archive.complete:
        text += (
            " **Incomplete**: the run was interrupted; the same command with `--resume` ends it."
        )
    text += other_runs(archive)
    command = Code(re.sub(r" --out[ =]\S+", "", archive.command))
    return [*staleness(archive), Paragraph(text), command]


def drawings(archive: Archive, folder: Path) -> list:
    """The archive's figures; a note instead if they assume what the archive does not have."""
    try:
        return figure.draw_all(archive, folder)
    except OSError:  # the folder cannot be written
        raise
    except Exception as error:
        *_, last = traceback.extract_tb(error.__traceback__)
        place = f"{Path(last.filename).name}, line {last.lineno}"
        text = f"{archive.path}: its figures cannot be drawn: {type(error).__name__}: {error}"
        return [Note("left out", f"{text} ({place})")]


def gpu_part(archive: Archive, folder: Path) -> list:
    """Figures, verdicts and tables of an experiment that was timed on a GPU."""
    blocks: list = []
    for drawn in drawings(archive, folder):
        if isinstance(drawn, Note):
            blocks.append(drawn)
        elif drawn.svg:
            caption = f"{drawn.spec.caption} {archive.provenance.device}."
            blocks.append(Picture(drawn.svg, drawn.png, caption))
        else:
            blocks.append(Paragraph(f"Figure `{drawn.spec.name}` is left out: {drawn.why_not}."))
    blocks += verdicts(archive)
    blocks += [Heading(4, "Times"), *timing_table(archive, archive.gpu_rows())]
    return blocks + skipped(archive)


def own_part(archive: Archive, folder: Path) -> list:
    """This machine's results of one experiment."""
    blocks = [*origin(archive), *failures(archive)]
    if archive.gpu_rows():
        blocks += gpu_part(archive, folder)
    else:
        blocks += [Heading(4, "Correctness on this machine"), correctness_table(archive)]
        blocks += verdicts(archive) + skipped(archive)
    if archive.cpu_rows():
        blocks += [Heading(4, "CPU times"), *timing_table(archive, archive.cpu_rows())]
    return blocks


def archived_part(archive: Archive, folder: Path) -> list:
    """Another machine's GPU results of one experiment, labelled as archived."""
    facts = archive.provenance
    label = f"Not measured on this machine: archived results of {facts.device} from {facts.date}."
    return [
        Heading(3, f"{archive.title}: archived, {facts.device}"),
        Note("archived", label),
        *origin(archive),
        *gpu_part(archive, folder),
    ]


# ---- the whole


@dataclass(frozen=True)
class Inputs:
    """What the report is made from."""

    own: Folder
    archived: list[Folder]
    errors: list[ArchiveError]
    """Of folders that were left out as a whole."""

    def experiments(self) -> dict[str, list[str]]:
        """Each technique's experiments, here or archived, in the order of its figures."""
        found: dict[str, list[str]] = {}
        for folder in (self.own, *self.archived):
            for technique, experiment in folder.archives:
                names = found.setdefault(technique, [])
                if experiment not in names:
                    names.append(experiment)
        for technique, names in found.items():
            drawn = [spec.experiment for spec in figure.figures_of(technique)]
            names.sort(key=lambda name: (drawn.index(name) if name in drawn else len(drawn), name))
        return found

    def archived_of(self, key: tuple[str, str]) -> list[Archive]:
        """Archived results of one experiment that were timed on a GPU, one a device."""
        found = (folder.archives.get(key) for folder in self.archived)
        return [archive for archive in found if archive and archive.gpu_rows()]

    def shown_of(self, key: tuple[str, str]) -> tuple[Archive | None, list[Archive]]:
        """This machine's archive of one experiment and, unless a GPU timed it, the archived."""
        own = self.own.archives.get(key)
        return own, [] if own and own.gpu_rows() else self.archived_of(key)


def read_inputs(results: Path, archived: Path | None) -> Inputs:
    """Reads this machine's folder and, beside it, every device's folder under `archived`."""
    own = load_folder(results)
    others, errors = [], []
    if archived is not None and archived.is_dir():
        for folder in sorted(path for path in archived.iterdir() if path.is_dir()):
            same = folder.resolve() == results.resolve()
            if not same and any(folder.glob("*.*.json")):
                try:
                    others.append(load_folder(folder))
                except ArchiveError as error:
                    errors.append(error)
    return Inputs(own, others, errors)


def machine(inputs: Inputs) -> list:
    """The device, the host, and the measured ceilings."""
    archives = inputs.own.every()
    if not archives:
        return [Paragraph("This machine has no results of its own yet.")]
    facts = max(archives, key=lambda archive: archive.provenance.time).provenance
    rows = [["device", facts.device], ["backend", facts.backend]]
    rows += [["driver", facts.driver], ["CUDA", facts.cuda_version or NONE]] if facts.driver else []
    cores = f", {facts.host_cores} cores" if facts.host_cores else ""
    rows += [["host", f"{facts.host or 'unknown'}{cores}"], ["compiler", facts.compiler or NONE]]
    blocks: list = [Table(["measured on", ""], rows)]
    if ceilings := (inputs.own.info or {}).get("ceilings"):
        what = "this GPU" if facts.backend == "cuda" else "this host, not a GPU"
        blocks += [Heading(3, f"Measured ceilings of {what}"), ceiling_table(ceilings)]
        blocks.append(Paragraph("Each run measures them again: its percentages refer to its own."))
    if links := (inputs.own.info or {}).get("links"):
        blocks += [Heading(3, "Measured links of this machine, GB/s each way"), *link_tables(links)]
    if facts.backend == "emulated":
        text = (
            "No GPU was used: the kernels ran on the CPU through the SIMT executor, which shows "
            "that they are correct and times nothing. CPU times are real ones of host code. "
        )
        if any(inputs.archived_of(key) for folder in inputs.archived for key in folder.archives):
            text += "GPU figures and times are archived ones of other machines, and say so."
        else:
            text += "No archived GPU results were found to show beside them."
        blocks.insert(0, Note("info", text))
    return blocks


def ceiling_table(ceilings: dict[str, Any]) -> Table:
    """What `warpath info` measured: the best value, and at which size where sizes were swept."""
    rows = []
    for name, value in ceilings.items():
        if isinstance(value, list):
            best = max(value, key=lambda entry: entry["value"], default=None)
            if best:
                rows.append([name, number(best["value"]), f"{number(best['bytes'])} bytes"])
        else:
            rows.append([name, number(value), NONE])
    return Table(["ceiling", "measured", "at"], rows)


def link_tables(links: Links) -> list[Table]:
    """Rates of the links to the host, and of those between GPUs if there are several."""
    rows = [[f"host and GPU {gpu}", *map(number, rates)] for gpu, rates in links.host.items()]
    tables = [Table(["link", "to the GPU", "from the GPU", "both at once"], rows)]
    if not links.pairs:
        return tables

    def cells(rates: LinkRates) -> list[str]:
        return [number(rate) for rate in (rates.copy, rates.pull, rates.push)]

    rows = [
        [f"GPU {source} to {target}", *cells(one_way), *cells(both_ways)]
        for (source, target), (one_way, both_ways) in links.pairs.items()
    ]
    rows += [
        [f"all to all, {count} GPUs", NONE, NONE, NONE, *cells(rates)]
        for count, rates in links.all_to_all.items()
    ]
    movers = ["copy engine", "pull", "push"]
    return [*tables, Table(["link", *movers, *(f"{mover}, both ways" for mover in movers)], rows)]


KIND_NAMES = {
    "claim": "Claims of the sources",
    "aim": "aims of this project",
    "comparison": "figures of other hardware",
}
SUMMARY = ["experiment", "points", "passed", "failed", "not verified"]
SUMMARY += ["timed on GPU", "timed on CPU", "claims", "aims", "comparisons", "state"]


def tally(of_all: Iterable[Verdict], kind: str) -> str:
    """How many verdicts of a kind say what, and of all their settings or in part."""
    counts = Counter(
        each.verdict.lower() + (" in part" if each.is_in_part else "")
        for each in of_all
        if each.kind == kind
    )
    return ", ".join(f"{count} {word}" for word, count in counts.items()) or NONE


def state_of(archive: Archive) -> str:
    """The archive's state in a word: the worst one that applies."""
    if state_counts(archive)["failed"]:
        return "WRONG"
    if not archive.complete:
        return "incomplete"
    return "stale" if is_stale(archive) else "ok"


def summary_rows(inputs: Inputs) -> list[list[str]]:
    """One line an experiment of this machine."""
    rows = []
    for archive in inputs.own.archives.values():
        counts = state_counts(archive)
        tallies = [tally(archive.verdicts, kind) for kind in VERDICT_TABLES]
        figures = [str(counts[column]) for column in SUMMARY[1:7]]
        rows.append([archive.name, *figures, *tallies, state_of(archive)])
    return rows


HOW_TO_READ = (
    "A section is a technique, a part of it an experiment: its figures, what was expected beside "
    "what was measured, all times, what was skipped and why, and the command and the commit that "
    "made them. Claims of a source are REPRODUCED or DIFFER, aims of this project are MET or "
    "MISSED, published figures of other hardware are shown and not judged; what no row can say is "
    "NOT TESTABLE HERE. Where rows are missing for some settings of a verdict, it is of the others "
    "alone, and says of how many.",
    "Only verified answers have times: the median, and the 10th and 90th percentile beside it. "
    "GB/s counts the bytes that any solution must read and write. Peers are other libraries, naive "
    "and oracle are baselines; all other variants are this project's. What variants, parameters "
    "and counters are: `algorithms/<technique>/README.md`; how times are taken: "
    "`experiments/harness/README.md`.",
)


def devices(folder: Folder) -> list[str]:
    """The device of a folder's results, if it has any."""
    return list(dict.fromkeys(archive.provenance.device for archive in folder.every()))


def surprises(inputs: Inputs) -> list:
    """The claims that differ and the aims that were missed, of all experiments of this machine."""
    columns = ["experiment", "metric", "where", "required", "measured", "verdict", "remark"]
    rows = []
    for archive in inputs.own.archives.values():
        for each in archive.verdicts:
            if each.verdict in ("DIFFERS", "MISSED"):
                cells = verdict_cells(archive, each)
                rows.append([archive.name, metric_name(each), settings(each.where)])
                rows[-1] += [cells[column] for column in columns[3:]]
    if not rows:
        return []
    title = Heading(3, "Claims that differ and aims that were missed")
    marks = marks_explained("".join(row[columns.index("measured")] for row in rows))
    return [title, Table(columns, rows), *([Paragraph(marks)] if marks else [])]


def build(inputs: Inputs, figures: Path) -> Document:
    """The whole report; draws its figures into `figures`."""
    document = Document(" of ".join(["Warpath report", *devices(inputs.own)]))
    document.add(*(Paragraph(text) for text in HOW_TO_READ), *machine(inputs))
    for error in unreadable(inputs):
        document.add(Note("left out", str(error)))
    document.add(Heading(2, "Summary"))
    rows = summary_rows(inputs)
    if rows:
        document.add(Table(SUMMARY, rows))
        of_all = [each for archive in inputs.own.archives.values() for each in archive.verdicts]
        counts = [f"{name}: {tally(of_all, kind)}" for kind, name in KIND_NAMES.items()]
        document.add(Paragraph("In all. " + "; ".join(counts) + "."))
    document.add(*surprises(inputs), *stale_archives(inputs))
    for technique, experiments in sorted(inputs.experiments().items()):
        document.add(Heading(2, technique))
        for experiment in experiments:
            document.add(*experiment_part(inputs, (technique, experiment), figures))
    document.add(*partial_runs(inputs.own.partial))
    return document


def partial_runs(archives: list[Archive]) -> list:
    """A table of the parts of experiments, which have neither figures nor verdicts."""
    if not archives:
        return []
    text = (
        "Parts of experiments, run with `--set`, a filter or another profile and kept beside the "
        "whole ones. "
        "They have no figure here, and their verdicts are not counted."
    )
    rows = []
    for archive in archives:
        facts, counts = archive.provenance, state_counts(archive)
        figures = [str(counts[column]) for column in SUMMARY[1:7]]
        origin = [f"`{archive.command}`", f"`{facts.short_commit}`", facts.date]
        rows.append([archive.name, *figures, state_of(archive), *origin])
    columns = ["part", *SUMMARY[1:7], "state", "command", "commit", "date"]
    blocks = [Heading(2, "Partial runs"), Paragraph(text), Table(columns, rows)]
    return blocks + [block for archive in archives for block in failures(archive)]


def stale_archives(inputs: Inputs) -> list:
    """Which archives are stale, in one note; or why that cannot be told."""
    known, why_not = history.of_this_tree()
    if not known:
        return [Note("info", f"Whether an archive is stale cannot be told: {why_not}.")]
    every = inputs.own.every()
    for technique, experiments in inputs.experiments().items():
        for experiment in experiments:
            every += inputs.shown_of((technique, experiment))[1]
    names = [slug(archive) for archive in every if is_stale(archive)]
    if not names:
        return []
    text = (
        f"{len(names)} of {counted(len(every), 'archive')}: the code that they measured has "
        f"changed since, as each says below. {', '.join(names)}."
    )
    return [Note("stale", text)]


def experiment_part(inputs: Inputs, key: tuple[str, str], figures: Path) -> list:
    """This machine's results of one experiment and, unless a GPU timed it here, the archived."""
    own, others = inputs.shown_of(key)
    first = own or next(iter(others), None)
    if first is None:
        return []
    blocks: list = [Heading(3, first.title)]
    claim = f" Claim: {first.claim}" if first.claim else ""
    blocks.append(Paragraph(f"Experiment `{first.name}`.{claim}"))
    if first.source:
        blocks.append(Paragraph(f"Source: {first.source}"))
    if own:
        blocks += own_part(own, figures)
    for other in others:
        blocks += archived_part(other, figures / "archived" / other.path.parent.name)
    return blocks


def unreadable(inputs: Inputs) -> list[ArchiveError]:
    """The errors of all files that were left out."""
    folders = (inputs.own, *inputs.archived)
    return [*inputs.errors, *(error for folder in folders for error in folder.errors)]


def summary_lines(inputs: Inputs) -> list[str]:
    """The summary as an aligned text table."""
    table = [SUMMARY, *summary_rows(inputs)]
    widths = [max(len(line[column]) for line in table) for column in range(len(SUMMARY))]
    lines = []
    for line in table:
        cells = (
            cell.ljust(width) if column in (0, 7, 8) else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        lines.append("  ".join(cells).rstrip())
    return lines


def print_lines(lines: list[str]) -> bool:
    """Prints them; returns whether stdout took them, and says on stderr why not."""
    try:
        print(*lines, sep="\n", flush=True)
    except OSError as error:
        print(f"report: stdout cannot be written: {error.strerror}", file=sys.stderr)
        # The interpreter flushes what stdout still holds when it ends: that must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return False
    return True


def main(arguments: list[str] | None = None) -> int:
    """Returns 0; 1 where an answer was wrong or something was left out; 2 on bad arguments, and
    where the report or stdout cannot be written.
    """
    parser = argparse.ArgumentParser(
        description="Draws one device's figures and writes REPORT.md and report.html.",
        epilog="Example: plots/report.py --results results/runs/nvidia-h200 --archived results",
    )
    parser.add_argument(
        "--results",
        type=Path,
        required=True,
        metavar="DIR",
        help="one device's folder of <technique>.<experiment>.json; the report is written into it",
    )
    parser.add_argument(
        "--archived",
        type=Path,
        metavar="DIR",
        help="folder of the archived devices' folders, shown where this one was not timed on a GPU",
    )
    options = parser.parse_args(arguments)
    try:
        inputs = read_inputs(options.results, options.archived)
        if not inputs.experiments() and not inputs.own.partial and not unreadable(inputs):
            raise ArchiveError(
                f"{options.results}: holds no archive (<technique>.<experiment>.json): "
                "run `./run_all.sh` or `warpath run` first"
            )
        document = build(inputs, options.results / "figures")
        texts = {"REPORT.md": document.markdown(options.results), "report.html": document.page()}
        for name, text in texts.items():
            # A file's name may be no UTF-8.
            path = options.results / name
            path.write_text(text, encoding="utf-8", errors="backslashreplace")
    except (ArchiveError, OSError) as error:
        print(f"report: {error}", file=sys.stderr)
        return 2
    made = f"report: {options.results / 'REPORT.md'} and {options.results / 'report.html'}"
    is_printed = print_lines([*summary_lines(inputs), made])
    left_out = [b.text for b in document.blocks if isinstance(b, Note) and b.kind == "left out"]
    for text in left_out:
        print(f"report: left out: {text}", file=sys.stderr)
    wrong = [archive for archive in inputs.own.every() if state_counts(archive)["failed"]]
    for archive in wrong:
        print(f"report: WRONG ANSWERS in {archive.path}", file=sys.stderr)
    if not is_printed:
        return 2
    return 1 if wrong or left_out else 0


if __name__ == "__main__":
    if sys.stdout:  # None where it is closed
        sys.stdout.reconfigure(errors="backslashreplace")
    sys.exit(main())
