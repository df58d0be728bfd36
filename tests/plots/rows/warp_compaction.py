"""Made-up rows of warp_compaction: all that `synthetic` makes has their shape."""

import functools

import synthetic


def rows_of(experiment, backend):
    return synthetic.EVERY[experiment](backend)["rows"]


ROWS = {experiment: functools.partial(rows_of, experiment) for experiment in synthetic.EVERY}
