"""Made-up rows of load_balancing_search, of its configurations' shape."""

import itertools

import synthetic

# Invented: share of the copy bandwidth at large n.
SPEEDS = {"output_aligned": 0.85, "merge_path": 0.5, "upper_bound": 0.1}
SPEEDS |= {"thrust_scatter_scan": 0.3, "thrust_upper_bound": 0.05}
ALL = tuple(SPEEDS)
SPEEDS |= {"interval_expand": 0.8, "interval_move": 0.85, "for_each_work_item": 0.5}
SPEEDS |= {"search_alone": 0.9, "search_then_gather": 0.4}
SPEEDS |= {"cub_batched_copy": 0.55, "cub_batched_memcpy": 0.6}
PEERS = ("thrust", "cub", "search_then")


def row(variant, backend, **params):
    point = {"n": 10**8, "objects": 0, "average": 4.0, "distribution": "random"}
    point |= {"operation": "search", "element_bytes": 4, "order": "packed"}
    point |= {"seed": 42, "items_per_thread": 11} | params
    objects = point["objects"] or round(point["n"] / point["average"])
    made = synthetic.row("single_pass", backend, n=point["n"])
    made |= {"variant": variant, "params": point, "bytes_min": 4 * (point["n"] + objects)}
    made["role"] = "peer" if variant.startswith(PEERS) else "technique"
    if variant.startswith(PEERS):
        made["runs"] = "gpu"
    return synthetic.timed(
        made, 0.005 + made["bytes_min"] / (SPEEDS[variant] * synthetic.COPY_GB_PER_S * 1e6)
    )


def throughput(backend):
    cases = [(1, "random"), (4, "random"), (16, "random"), (64, "random"), (4, "power_law")]
    rows = [row(variant, backend, n=n) for variant in ALL for n in (10**6, 10**7, 10**8)]
    return rows + [
        row(variant, backend, n=5 * 10**8, average=float(average), distribution=distribution)
        for variant in ALL
        for average, distribution in cases
    ]


def distributions(backend):
    kinds = ("uniform", "random", "power_law", "one_big", "mostly_empty")
    return [
        row(variant, backend, average=average, distribution=kind)
        for variant, kind, average in itertools.product(ALL, kinds, (0.25, 1.0, 4.0, 16.0, 64.0))
    ]


def published(backend):
    quarter = [10_000 * 10**e for e in range(4)]
    pairs = [(3 * n // 4, n // 4) for n in quarter]
    pairs += [(10_000_000 - o, o) for o in (500_000, 4_500_000, 9_500_000)]
    return [row(v, backend, n=n, objects=objects) for v in ALL for n, objects in pairs]


def tile_size(backend):
    return [
        row("merge_path", backend, average=average, items_per_thread=steps)
        for average in (1.0, 4.0, 16.0)
        for steps in (3, 7, 11, 15, 23)
    ]


def intervals(backend):
    expand = ("interval_expand", "for_each_work_item", "search_alone", "search_then_gather")
    move = ("interval_move", "for_each_work_item", "cub_batched_copy", "cub_batched_memcpy")
    rows = [
        row(variant, backend, operation="interval_expand", average=average)
        for variant, average in itertools.product(expand, (1.0, 4.0, 64.0))
    ]
    rows += [
        row(variant, backend, operation="interval_move", average=average, order=order)
        for variant, average, order in itertools.product(
            move, (4.0, 64.0, 1000.0), ("packed", "gathered")
        )
    ]
    for size in (1, 8, 12, 16):
        rows += [
            row(variant, backend, operation="interval_expand", element_bytes=size)
            for variant in expand
            if variant != "search_alone"
        ]
        rows += [
            row(variant, backend, operation="interval_move", element_bytes=size, order="gathered")
            for variant in move
        ]
    return rows


ROWS = {
    "throughput": throughput,
    "distributions": distributions,
    "published": published,
    "tile_size": tile_size,
    "intervals": intervals,
}
