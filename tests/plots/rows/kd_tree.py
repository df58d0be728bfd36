"""Made-up rows of kd_tree: what its configurations sweep."""

PEERS = ()

DEFAULTS = {
    "duplicates": 0.0,
    "removes_duplicates": "off",
    "type": "float",
    "query_order": "random",
    "found": 16,
    "distribution": "uniform",
    "k": 8,
    "threads": 0,
    "devices": 1,
    "virtual": "off",
    "sort": "splitter_merge",
}

COLUMNS = ("init", "sort_and_remove", "kd", "verify", "total")
LEVELS = {f"partition_{level:02}_ms": 0.3 + 0.01 * level for level in range(24)}
STEPS = {
    "four_partitioners": {"sort_00_ms": 0.8, "remove_duplicates_00_ms": 0.1} | LEVELS,
    "half_sorts": {"sort_00_ms": 0.8} | dict(list(LEVELS.items())[1:]),
    "fast": {"gather_00_ms": 0.1, "move_02_ms": 0.3, "finish_03_ms": 1.1}
    | {f"select_{level:02}_ms": 0.2 for level in range(3)},
    "cpu": {"sort_00_ms": 300.0, "partition_00_ms": 400.0},
}


def finish(row):
    """The parameters that a configuration leaves as they are, and counters."""
    row["params"] = params = DEFAULTS | row["params"]
    if row["variant"] == "cpu":
        row |= {"role": "oracle", "runs": "host", "clock": "host", "cache": None, "launches": None}
    if params["operation"] == "build" and row["variant"] != "cpu":
        row["counters"] = {"allocated_per_tuple_bytes": 11.0 * params["d"]}
    if params["operation"] == "from_host":
        row["counters"] = {f"{column}_ms": 3.0 for column in COLUMNS} | STEPS[row["variant"]]
