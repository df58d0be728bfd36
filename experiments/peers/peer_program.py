"""The command line of a peer program: measures its peers where archives have rows of them."""

from __future__ import annotations

import argparse
import importlib.util
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from peer_points import Bench, Outcome, Peer
from peer_rows import InputError, archives_of, fill_rows


def missing_package(packages: Iterable[str]) -> str | None:
    """The first of the packages that this Python does not have, as a reason."""
    for package in packages:
        if importlib.util.find_spec(package) is None:
            return f"{package} is not installed"
    return None


def make_bench(peers: Sequence[Peer], packages: Sequence[str]) -> Bench | str:
    """What times the peers on this machine, or why nothing can be measured on it."""
    reason = missing_package(packages)
    if reason:
        return reason
    if all(peer.clock == "host" for peer in peers):
        import peer_host

        return peer_host.HostBench()
    import torch

    if not torch.cuda.is_available():
        return "no GPU"
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
    bench = make_bench(peers, packages)
    outcomes: list[Outcome] = []
    refused = False
    for path in archives_of(options.places):
        try:
            outcomes += fill_rows(path, peers, packages, bench)
        except InputError as error:  # the other archives go on
            print(error, file=sys.stderr)
            refused = True
    if refused:
        return 2
    return 0 if all(outcome.is_good for outcome in outcomes) else 1
