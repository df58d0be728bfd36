"""Made-up rows of merge_sort: what its configurations sweep."""

PEERS = ("cub_merge", "cub_radix", "thrust")


def finish(row):
    """The parameters that a configuration leaves as they are, and what is counted."""
    row["params"] = {"low_level": "merge_path", "type": "float", "d": 4} | row["params"]
    row["counters"] = {"tied_items_percent": 63.2, "workspace_percent": 100.1}
    if row["variant"] not in PEERS:
        passes = 3 if row["variant"] == "multiway_merge" else 12
        moved = 16 * row["params"]["n"] * passes
        row["counters"] |= {"passes_count": passes, "moved_bytes": moved}
