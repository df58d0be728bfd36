"""Made-up rows of multi_gpu_sort: what its configurations sweep."""

PEERS = ("cub_radix", "cub_merge")

DEFAULTS = {
    "operation": "keys",
    "exchange": "direct",
    "virtual": "off",
    "place": "devices",
    "device_bytes": 0,
    "type": "uint32",
    "distribution": "uniform",
}


def rates(copy, pull, push):
    return {"copy_gb_per_s": copy, "pull_gb_per_s": pull, "push_gb_per_s": push}


ARCHIVE = {
    "links": {
        "bytes": 2**28,
        "host": [],
        "pairs": [],
        "all_to_all": [
            {"gpus": gpus, "each_way": rates(380.0 - gpus, 300.0, 350.0)} for gpus in (2, 3, 4)
        ],
    }
}
EXCHANGE_GB_PER_S = {
    "swap_merge": 150.0,
    "splitter_merge": 300.0,
    "radix_exchange": 250.0,
    "nccl_ranks": 200.0,
}


def finish(row):
    """The parameters that a configuration leaves as they are, and counters."""
    row["params"] = DEFAULTS | row["params"]
    if row["params"]["place"] == "host":
        steps = {"sort_ms": 90.0, "merge_ms": 95.0} if row["variant"] == "host_sort" else {}
        memory = {"workspace_of_a_device_bytes": 1e9, "page_locked_bytes": 4e9}
        row["counters"] = steps | memory
        row["role"] = "technique" if row["variant"] == "host_sort" else "naive"
    elif row["variant"] not in PEERS:
        params = row["params"]
        moved = params["n"] * 4 * 0.5 / params["devices"]
        exchange = 0.01 + moved / EXCHANGE_GB_PER_S[row["variant"]] / 1e6
        steps = {"sort_ms": 4.0, "split_ms": 0.1, "exchange_ms": exchange, "merge_ms": 0.7}
        row["counters"] = steps | {"moved_share": 0.5, "workspace_of_a_device_bytes": 1e6}
        if (row["variant"], params["exchange"]) == ("splitter_merge", "direct"):
            # Its merge reads from the others, uncounted.
            row["counters"]["exchange_ms"] = 0.0
            del row["counters"]["moved_share"]
