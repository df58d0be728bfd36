"""Made-up rows of map_reduce, of its configurations' shape."""

import math

import synthetic

HOST = ("cpu", "cpu_openmp")
PEERS = ("keops_1d", "keops_2d", "triton")
TORCH, NUMPY = ("torch_tensorized", "torch_cdist"), ("numpy_tensorized",)
ROLES = {"naive": "naive"} | dict.fromkeys(HOST, "oracle")
ROLES |= dict.fromkeys((*PEERS, *TORCH, *NUMPY, "torch_topk"), "peer")
# Invented: pairs a millisecond with many rows, the rows that are many, and the least time.
SPEEDS = {
    "gpu_1d": (1.0e9, 3e4, 0.01),
    "gpu_2d": (6.0e8, 1, 0.02),
    "tuned_1d": (1.9e9, 4e4, 0.01),
    "tuned_2d": (1.8e9, 2, 0.012),
    "tensor": (4.0e9, 40, 0.015),
    "automatic": (3.9e9, 20, 0.012),
    "naive": (5.0e7, 1, 0.03),
    "keops_1d": (9.0e8, 3e4, 0.06),
    "keops_2d": (4.0e8, 1, 0.08),
    "triton": (1.7e9, 4e4, 0.03),
    "torch_tensorized": (8.0e7, 1, 0.03),
    "torch_cdist": (9.0e7, 1, 0.03),
    "torch_topk": (7.0e7, 1, 0.05),
    "numpy_tensorized": (0.9e5, 1, 0),
    "cpu": (1.0e5, 1, 0),
    "cpu_openmp": (1.2e6, 1, 0.01),
}
OURS = ("gpu_1d", "gpu_2d", "tuned_1d", "tuned_2d", "tensor", "automatic")
ERRORS = {"plain": 3e-8, "block": 2e-8, "kahan": 6e-8}


def median_of(variant, m, n):
    rate, many, least = SPEEDS[variant]
    return least + max(m, many) * n / rate


def row(variant, backend="cuda", accuracy="block", **params):
    """A row as the harness writes it, of a Gaussian sum where nothing else is said."""
    point = {"m": 10**5, "n": 10**5, "d": 3, "formula": "gaussian", "reduction": "sum"}
    point |= {"number": "float32", "seed": 42, "block_threads": 192, "rows_per_thread": 0}
    point |= {"splits": 0, "accuracy": accuracy} | params
    m, n = point["m"], point["n"]
    kind = "cub" if variant in (*PEERS, *TORCH, "torch_topk") else "single_pass"
    kind = "std" if variant in (*HOST, *NUMPY) else kind
    made = synthetic.timed(synthetic.row(kind, backend), median_of(variant, m, n))
    made |= {"variant": variant, "role": ROLES.get(variant, "technique"), "params": point}
    if variant in (*HOST, *NUMPY):
        return made
    growth = math.sqrt(n) / 10 if accuracy == "plain" else 1
    needed = {"gpu_2d": 4 * m * -(-n // 192), "naive": 4 * m * n, "tuned_2d": 4 * m * 8}
    made |= {"cache": "warm", "launches": 20}
    share = 1 + 0.3 * list(SPEEDS).index(variant)
    made["counters"] = {"relative_error": ERRORS[accuracy] * growth * share}
    if variant not in (*PEERS, *TORCH, "torch_topk"):
        made["counters"]["workspace_bytes"] = needed.get(variant, 0)
    if variant == "automatic":
        made["choices"] = {"variant": "tuned_2d" if m < 200 else "tensor"}
    return made


def does_not_fit(made):
    why = "does not fit: needs 4000 GB of memory, and there are 139 GB"
    return made | {"time_ms": None, "verified": "not_verified", "skipped": why, "counters": {}}


def squares(backend, variants, sizes):
    made = [row(variant, backend, m=n, n=n) for n in sizes for variant in variants]
    return [
        does_not_fit(each) if each["variant"] == "naive" and each["params"]["n"] > 150_000 else each
        for each in made
    ]


def published(backend):
    variants = ("automatic", "gpu_1d", "gpu_2d", "naive", *PEERS)
    return squares(backend, variants, (10**4, 10**5, 10**6))


def variants(backend):
    sizes = [m for e in range(6) for m in (10**e, 3 * 10**e)] + [10**6]
    return [row(name, backend, m=m, n=10**6) for m in sizes for name in (*OURS, *PEERS)]


def block_size(backend):
    made = []
    for threads in (32, 64, 96, 128, 192, 256, 384, 512, 768, 1024):
        for name in ("gpu_1d", "gpu_2d"):
            each = row(name, backend, block_threads=threads)
            made.append(synthetic.timed(each, median_of(name, 10**5, 10**5) + threads / 100))
    return made


def memory(backend):
    variants = ("naive", "gpu_1d", "gpu_2d", "tuned_2d", "tensor", "automatic")
    return squares(backend, variants, (10**3, 10**4, 10**5, 2 * 10**5, 10**6))


def claims(backend):
    variants = ("automatic", "gpu_1d", "naive", *HOST, *TORCH, *NUMPY)
    return squares(backend, variants, (10**3, 10**4, 10**5, 10**6))


def cases(backend):
    kinds = [{"formula": "log_gaussian", "reduction": "log_sum_exp", "m": 10**6, "n": 10**6}]
    kinds += [{"formula": "squared_distance", "reduction": "argmin", "m": 10**6, "n": 10**6}]
    kinds += [{"formula": "squared_distance", "reduction": "argkmin"}, {"d": 64}, {"d": 10}]
    kinds += [{"formula": "laplacian"}, {"formula": "inner_product"}, {"number": "float64"}]
    kinds += [{"formula": "energy_distance", "reduction": "sum", "m": 10**3, "n": 10**6}]
    variants = ("automatic", "gpu_1d", "keops_1d")
    made = [row(name, backend, **kind) for kind in kinds for name in variants]
    return [*made, row("triton", backend, d=64), row("triton", backend, d=10)]


def accuracy(backend):
    made = []
    problems = [(1000, 10**e) for e in range(3, 8)] + [(10**4, 10**4), (10**5, 10**5)]
    for m, n in problems:
        ways = [(name, way) for name in ("gpu_1d", "tuned_1d") for way in ERRORS]
        ways += [("automatic", "block"), ("tensor", "block"), ("keops_1d", "plain")]
        made += [row(name, backend, way, m=m, n=n) for name, way in ways]
    return made


def few_rows(backend):
    variants = ("automatic", "tensor", "tuned_2d", "gpu_2d", *PEERS)
    problems = ((1000, 1000), (1, 10**6), (128, 10**6))
    return [row(name, backend, m=m, n=n) for m, n in problems for name in variants]


def signals(backend):
    variants = ("automatic", "tensor", "tuned_2d", *PEERS)
    problems = ((3, 10**5), (16, 10**5), (64, 2 * 10**4))
    return [row(name, backend, e=e, m=m, n=m) for e, m in problems for name in variants]


def extents(backend):
    variants = ("automatic", "tuned_2d", "triton")
    problems = [(extent, m) for extent in (1, 10) for m in (10**4, 10**5)]
    return [
        row(name, backend, extent=extent, m=m, n=m)
        for extent, m in problems
        for name in variants
    ]


def clouds(backend):
    variants = ("automatic", "tuned_2d", "triton")
    problems = [(extent, m) for extent in (4, 7) for m in (10**4, 10**5)]
    return [
        row(name, backend, extent=extent, averaged=12, m=m, n=m)
        for extent, m in problems
        for name in variants
    ]


def many_dimensions(backend):
    kinds = [{"d": d, "e": e} for d, e in ((16, 1), (64, 1), (64, 16))]
    return in_many_dimensions(backend, kinds, "triton")


def nearest(backend):
    kinds = [{"formula": "squared_distance", "reduction": "argmin", "d": d} for d in (16, 64)]
    return in_many_dimensions(backend, kinds, "triton")


def k_nearest(backend):
    kinds = [
        {"formula": "squared_distance", "reduction": name, "d": 64}
        for name in ("argkmin", "argkmin_100")
    ]
    return in_many_dimensions(backend, kinds, "torch_topk")


def in_many_dimensions(backend, kinds, peer):
    variants = ("automatic", "tensor", "tuned_2d", peer)
    problems = ((20_000, 20_000), (1000, 300_000))
    return [
        row(name, backend, m=m, n=n, **kind)
        for kind in kinds
        for m, n in problems
        for name in variants
    ]


def choice(backend):
    kinds = [{"formula": "log_gaussian", "reduction": "log_sum_exp"}, {"e": 16}, {"d": 64}]
    kinds += [{"formula": "squared_distance", "reduction": "argmin"}, {"number": "float64"}]
    problems = [(m, n) for m in (40, 7000, 45_000) for n in (7000, 45_000, 300_000)][:-1]
    variants = ("automatic", "tuned_1d", "tuned_2d")
    return [
        row(name, backend, m=m, n=n, **kind)
        for kind in kinds
        for m, n in problems
        for name in variants
    ]


ROWS = {"published": published, "variants": variants, "block_size": block_size}
ROWS |= {"memory": memory, "claims": claims, "cases": cases, "accuracy": accuracy}
ROWS |= {"few_rows": few_rows, "signals": signals, "choice": choice, "extents": extents, "clouds": clouds}
ROWS |= {"many_dimensions": many_dimensions, "nearest": nearest, "k_nearest": k_nearest}
