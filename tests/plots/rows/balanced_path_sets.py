"""Made-up rows of balanced_path_sets, of its configurations' shape."""

import itertools

import synthetic

# Invented: share of the copy bandwidth at large n.
SPEEDS = {"single_pass": 0.6, "compact": 0.2, "count_scan_stream": 0.15, "thrust": 0.35}
SPEEDS |= {"single_pass_get": 0.55}
OPERATIONS = ("intersection", "union", "difference", "symmetric_difference")
TYPES = (("i32", "off"), ("i32", "on"), ("i64", "off"), ("i64", "on"))


def row(variant, backend, **params):
    point = {"n": 10**6, "a_percent": 50, "key": "i32", "values": "off", "distribution": "doc"}
    point |= {"seed": 42, "operation": "intersection"} | params
    made = synthetic.row("single_pass", backend, n=point["n"])
    size = 4 if point["key"] == "i32" else 8
    made |= {"variant": variant, "params": point, "bytes_min": 2 * size * point["n"]}
    made["role"] = "peer" if variant == "thrust" else "technique"
    if variant == "thrust":
        made["runs"] = "gpu"
    return synthetic.timed(
        made, 0.01 + made["bytes_min"] / (SPEEDS[variant] * synthetic.COPY_GB_PER_S * 1e6)
    )


def throughput(backend):
    rows = [
        row(variant, backend, n=2 * 10**8, key=key, values=values, operation=operation)
        for variant, (key, values), operation in itertools.product(SPEEDS, TYPES, OPERATIONS)
    ]
    return rows + [
        row(variant, backend, n=n, operation=operation)
        for variant, operation, n in itertools.product(SPEEDS, OPERATIONS, (10**6, 10**7, 10**8))
    ]


def distributions(backend):
    kinds = [("doc", 50), ("few", 50), ("unique", 50), ("heavy1000", 50), ("huge16", 50)]
    return [
        row(variant, backend, n=n, operation=operation, distribution=kind, a_percent=percent)
        for variant, (kind, percent), operation, n in itertools.product(
            ("single_pass", "thrust"), [*kinds, ("doc", 99)], OPERATIONS, (10**6, 10**7, 2 * 10**8)
        )
    ]


def published(backend):
    return [
        row(variant, backend, n=n, key=key, values=values, operation=operation)
        for variant, (key, values), operation, n in itertools.product(
            ("single_pass", "single_pass_get", "count_scan_stream", "thrust"), TYPES, OPERATIONS, (10**4, 10**6)
        )
    ]


ROWS = {"throughput": throughput, "distributions": distributions, "published": published}
