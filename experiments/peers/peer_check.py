"""Whether a peer's answer is right, by the tolerances that `warpath` has for its own variants.

Every row is compared with the answer in double precision, by the two errors that
algorithms/map_reduce/oracle.hpp defines: that of all rows, and that of the row which is worst.
"""

from __future__ import annotations

import numpy as np
from peer_inputs import Points
from peer_points import Outcome, Scale, Tolerance, tolerances


def relative_error(found: np.ndarray, expected: np.ndarray) -> float:
    """|found - expected| / |expected|, Euclidean norms over all; equal infinities are left out."""
    counts = ~(np.isinf(expected) & (found == expected))
    difference = np.linalg.norm(found[counts] - expected[counts])
    return 0.0 if difference == 0 else float(difference / np.linalg.norm(expected[counts]))


def worst_error(found: np.ndarray, expected: np.ndarray, scale: Scale) -> tuple[int, float]:
    """The place of the result that is furthest off, and its error in units of the scale."""
    unit = np.ones_like(expected)
    if scale == "itself":
        unit = np.abs(expected)
    elif scale == "all_rows":
        unit = np.maximum(np.abs(expected), np.sqrt(np.mean(np.square(expected))))
    with np.errstate(divide="ignore", invalid="ignore"):
        errors = np.where(found == expected, 0.0, np.abs(found - expected) / unit)
    errors = np.where(np.isnan(errors), np.inf, errors).reshape(-1)
    place = int(errors.argmax())
    return place, float(errors[place])


def why_wrong(found: np.ndarray, expected: np.ndarray, allowed: Tolerance) -> str | None:
    """What is wrong, and where; None where the answer is right."""
    place, error = worst_error(found, expected, allowed.scale)
    if not error <= allowed.each:
        results = f"{found.reshape(-1)[place]:.9g}: expected {expected.reshape(-1)[place]:.9g}"
        return f"result {place} is {results}; the error is {error:.3g}, allowed {allowed.each:g}"
    error = relative_error(found, expected)
    if not error <= allowed.overall:
        return f"relative error {error:.3g}, allowed {allowed.overall:g}"
    return None


def judge(points: Points, found: np.ndarray, expected_of_different: np.ndarray) -> Outcome:
    """The outcome of a verification.

    `found` has m x K results, `expected_of_different` K for each different row. The outcome's
    choice `accuracy` is the strictest accuracy of ours whose tolerance the answer meets.
    """
    expected = points.repeated(expected_of_different).astype(np.float64)
    found = found.astype(np.float64)
    if found.shape != expected.shape:
        wrong = f"results of shape {found.shape}, expected {expected.shape}"
        return Outcome(verified="failed", error=f"wrong answer: {wrong}")
    allowed = tolerances(points.problem)
    (strictest, *_) = allowed.values()
    counters = {
        "relative_error": relative_error(found, expected),
        "worst_error": worst_error(found, expected, strictest.scale)[1],
        "checked_rows": float(points.problem.m),
        "oracle_rows": float(points.different),
    }
    # JSON has no NaN and no infinity.
    finite = {name: value for name, value in counters.items() if np.isfinite(value)}
    wrong = None
    for accuracy, tolerance in allowed.items():
        wrong = why_wrong(found, expected, tolerance)
        if wrong is None:
            choices = {"accuracy": accuracy}
            return Outcome(verified="passed", counters=finite, choices=choices)
    return Outcome(verified="failed", counters=finite, error=f"wrong answer: {wrong}")
