"""The command line of a peer program: measures its peers at archives' problems, on this GPU."""

from __future__ import annotations

import argparse
import importlib.util
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from peer_points import Bench, Outcome, Peer
from peer_rows import InputError, add_rows, archives_of


def missing_package(packages: Iterable[str]) -> str | None:
    """The first of the packages that this Python does not have, as a reason."""
    for package in packages:
        if importlib.util.find_spec(package) is None:
            return f"{package} is not installed"
    return None


def why_no_bench(packages: Iterable[str]) -> str | None:
    """Why nothing can be measured here, if so."""
    reason = missing_package(packages)
    if reason:
        return reason
    import torch

    return None if torch.cuda.is_available() else "no GPU"


def make_bench(packages: Sequence[str]) -> Bench | str:
    """This machine's GPU, or why there is none to measure on."""
    reason = why_no_bench(packages)
    if reason:
        return reason
    import peer_gpu

    return peer_gpu.GpuBench()


def main(
    description: str, peers: Sequence[Peer], packages: Sequence[str], arguments: Sequence[str]
) -> int:
    """A peer program: 0 good, 1 a wrong answer or an error, 2 bad input."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("places", nargs="+", type=Path, metavar="ARCHIVE.json", help="or a folder")
    limits = ", ".join(f"{peer.max_pairs:g} for {peer.variant}" for peer in peers)
    parser.add_argument("--max-pairs", type=float, help=f"skip larger problems ({limits})")
    options = parser.parse_args(arguments)
    for peer in peers:
        peer.max_pairs = options.max_pairs or peer.max_pairs
    try:
        bench = make_bench(packages)
        outcomes: list[Outcome] = []
        for path in archives_of(options.places):
            outcomes += add_rows(path, peers, packages, bench)
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    return 0 if all(outcome.is_good for outcome in outcomes) else 1
