"""Made-up rows of biased_binary_search: what its configurations sweep."""

PEERS = ("thrust",)


def finish(row):
    """Counted probes, of the technique's own variants."""
    if row["variant"] != "thrust":
        levels = row["params"]["levels"] if row["variant"] == "biased" else 0
        row["counters"] = {"probes_per_search": 25.0 - 3 * levels}
