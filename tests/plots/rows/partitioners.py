"""Made-up rows of partitioners: what its configurations sweep."""

PEERS = ("cub",)


def finish(row):
    """The parameters that a configuration leaves as they are."""
    row["params"] = {"partitioner": "by_level", "warps": 2048, "level": 0} | row["params"]
