"""Made-up rows of warp_compaction: all that `synthetic` makes has their shape."""

import functools

import synthetic


MADE = synthetic.EVERY | {"records": synthetic.records}


def rows_of(experiment, backend):
    return MADE[experiment](backend)["rows"]


ROWS = {experiment: functools.partial(rows_of, experiment) for experiment in MADE}
