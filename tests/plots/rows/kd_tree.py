"""Made-up rows of kd_tree: what its configurations sweep."""

PEERS = ()

DEFAULTS = {
    "duplicates": 0.0,
    "removes_duplicates": "off",
    "distribution": "uniform",
    "k": 8,
    "threads": 0,
}


def finish(row):
    """The parameters that a configuration leaves as they are."""
    row["params"] = DEFAULTS | row["params"]
