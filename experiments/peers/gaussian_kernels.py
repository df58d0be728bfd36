"""Triton kernels of sum_j exp(-|x_i - y_j|^2) b_j, and of the nearest y_j, for triton_gaussian.py.

A program takes BLOCK_M rows, which stay in registers, and walks over its part of the columns in
tiles of BLOCK_N. It keeps a sum for each row and each column of the tile, and adds them up at its
end, in a fixed order: no atomics, so that the same launch has the same result each time. With one
part the result is written at once; with more, the parts' sums are a splits x m array, which
`sum_splits_kernel` adds up.
"""

import triton
import triton.language as tl

LOG2_E = tl.constexpr(1.4426950408889634)
ROOT_LOG2_E = tl.constexpr(1.2011224087864498)


@triton.jit
def differences_kernel(
    x,
    y,
    b,
    sums,
    m,
    n,
    split_columns,
    D: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    """For few dimensions: the distance by differences, coordinate by coordinate."""
    # 64-bit: rows times dimensions, and splits times rows, may exceed 32 bits.
    row = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    is_row = row < m
    rows = ()
    for k in tl.static_range(D):
        # Scaled once, so that a pair costs a power of two.
        coordinate = tl.load(x + row * D + k, mask=is_row, other=0.0) * ROOT_LOG2_E
        rows = rows + (coordinate,)  # noqa: RUF005 (Triton's tuples are not unpacked)
    first = tl.program_id(1).to(tl.int64) * split_columns
    columns = tl.minimum(split_columns, n - first)
    lane = tl.arange(0, BLOCK_N)
    y_tile = y + first * D + lane * D
    b_tile = b + first + lane
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for done in range(0, columns, BLOCK_N):
        is_column = lane < columns - done
        square = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
        for k in tl.static_range(D):
            column = tl.load(y_tile + k, mask=is_column, other=0.0) * ROOT_LOG2_E
            difference = rows[k][:, None] - column[None, :]
            square += difference * difference
        # Beyond the last column b is 0, and so is what it adds.
        signal = tl.load(b_tile, mask=is_column, other=0.0)
        total += tl.exp2(-square) * signal[None, :]
        y_tile += BLOCK_N * D
        b_tile += BLOCK_N
    out = sums + tl.program_id(1).to(tl.int64) * m + row
    tl.store(out, tl.sum(total, axis=1), mask=is_row)


@triton.jit
def gram_kernel(
    x,
    y,
    b,
    sums,
    m,
    n,
    split_columns,
    D: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    """For many dimensions, a power of two: |u - v|^2 = |u|^2 + |v|^2 - 2 u . v on the tensor cores.

    Large squares would cancel and leave their rounding; so that they stay small, all points are
    taken relative to the centre of the program's rows. Products take three tf32 terms.
    """
    lane_m = tl.arange(0, BLOCK_M)
    lane_n = tl.arange(0, BLOCK_N)
    lane_d = tl.arange(0, D)
    row = tl.program_id(0).to(tl.int64) * BLOCK_M + lane_m
    is_row = row < m
    u = tl.load(x + row[:, None] * D + lane_d[None, :], mask=is_row[:, None], other=0.0)
    count = tl.minimum(m - tl.program_id(0).to(tl.int64) * BLOCK_M, BLOCK_M)
    centre = tl.sum(u, axis=0) / count.to(tl.float32)
    # Rows beyond the last are set to the centre: their sums are finite, and not stored.
    u = tl.where(is_row[:, None], (u - centre[None, :]) * ROOT_LOG2_E, 0.0)
    u_square = tl.sum(u * u, axis=1)
    u = 2.0 * u
    first = tl.program_id(1).to(tl.int64) * split_columns
    columns = tl.minimum(split_columns, n - first)
    y_tile = y + first * D + lane_n[:, None] * D + lane_d[None, :]
    b_tile = b + first + lane_n
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for done in range(0, columns, BLOCK_N):
        is_column = lane_n < columns - done
        v = tl.load(y_tile, mask=is_column[:, None], other=0.0)
        v = (v - centre[None, :]) * ROOT_LOG2_E
        v_square = tl.sum(v * v, axis=1)
        product = tl.dot(u, tl.trans(v), input_precision="tf32x3")
        exponent = product - u_square[:, None] - v_square[None, :]
        signal = tl.load(b_tile, mask=is_column, other=0.0)
        total += tl.exp2(exponent) * signal[None, :]
        y_tile += BLOCK_N * D
        b_tile += BLOCK_N
    out = sums + tl.program_id(1).to(tl.int64) * m + row
    tl.store(out, tl.sum(total, axis=1), mask=is_row)


@triton.jit
def signals_kernel(
    x,
    y,
    b,
    sums,
    m,
    n,
    split_columns,
    D: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    E: tl.constexpr,
    BLOCK_E: tl.constexpr,
):
    """For few dimensions and signals of E numbers: the products with them on the tensor cores.

    Products take three tf32 terms. `sums` has m x E numbers for each part of the columns.
    """
    row = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    is_row = row < m
    rows = ()
    for k in tl.static_range(D):
        coordinate = tl.load(x + row * D + k, mask=is_row, other=0.0) * ROOT_LOG2_E
        rows = rows + (coordinate,)  # noqa: RUF005 (Triton's tuples are not unpacked)
    first = tl.program_id(1).to(tl.int64) * split_columns
    columns = tl.minimum(split_columns, n - first)
    lane = tl.arange(0, BLOCK_N)
    number = tl.arange(0, BLOCK_E)
    y_tile = y + first * D + lane * D
    b_tile = b + (first + lane[:, None]) * E + number[None, :]
    total = tl.zeros((BLOCK_M, BLOCK_E), tl.float32)
    for done in range(0, columns, BLOCK_N):
        is_column = lane < columns - done
        square = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
        for k in tl.static_range(D):
            column = tl.load(y_tile + k, mask=is_column, other=0.0) * ROOT_LOG2_E
            difference = rows[k][:, None] - column[None, :]
            square += difference * difference
        is_number = is_column[:, None] & (number < E)[None, :]
        signal = tl.load(b_tile, mask=is_number, other=0.0)
        # A sum of its own for each tile: the tensor cores truncate what they add.
        total += tl.dot(tl.exp2(-square), signal, input_precision="tf32x3")
        y_tile += BLOCK_N * D
        b_tile += BLOCK_N * E
    place = (tl.program_id(1).to(tl.int64) * m + row)[:, None] * E + number[None, :]
    tl.store(sums + place, total, mask=is_row[:, None] & (number < E)[None, :])


@triton.jit
def gram_signals_kernel(
    x,
    y,
    b,
    sums,
    m,
    n,
    split_columns,
    D: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    E: tl.constexpr,
    BLOCK_E: tl.constexpr,
):
    """For many dimensions and signals of E numbers: both products of the two kernels before."""
    lane_m = tl.arange(0, BLOCK_M)
    lane_n = tl.arange(0, BLOCK_N)
    lane_d = tl.arange(0, D)
    number = tl.arange(0, BLOCK_E)
    row = tl.program_id(0).to(tl.int64) * BLOCK_M + lane_m
    is_row = row < m
    u = tl.load(x + row[:, None] * D + lane_d[None, :], mask=is_row[:, None], other=0.0)
    count = tl.minimum(m - tl.program_id(0).to(tl.int64) * BLOCK_M, BLOCK_M)
    centre = tl.sum(u, axis=0) / count.to(tl.float32)
    u = tl.where(is_row[:, None], (u - centre[None, :]) * ROOT_LOG2_E, 0.0)
    u_square = tl.sum(u * u, axis=1)
    u = 2.0 * u
    first = tl.program_id(1).to(tl.int64) * split_columns
    columns = tl.minimum(split_columns, n - first)
    y_tile = y + first * D + lane_n[:, None] * D + lane_d[None, :]
    b_tile = b + (first + lane_n[:, None]) * E + number[None, :]
    total = tl.zeros((BLOCK_M, BLOCK_E), tl.float32)
    for done in range(0, columns, BLOCK_N):
        is_column = lane_n < columns - done
        v = tl.load(y_tile, mask=is_column[:, None], other=0.0)
        v = (v - centre[None, :]) * ROOT_LOG2_E
        v_square = tl.sum(v * v, axis=1)
        product = tl.dot(u, tl.trans(v), input_precision="tf32x3")
        power = tl.exp2(product - u_square[:, None] - v_square[None, :])
        is_number = is_column[:, None] & (number < E)[None, :]
        signal = tl.load(b_tile, mask=is_number, other=0.0)
        total += tl.dot(power, signal, input_precision="tf32x3")
        y_tile += BLOCK_N * D
        b_tile += BLOCK_N * E
    place = (tl.program_id(1).to(tl.int64) * m + row)[:, None] * E + number[None, :]
    tl.store(sums + place, total, mask=is_row[:, None] & (number < E)[None, :])


@triton.jit
def sum_splits_kernel(sums, out, m, splits, BLOCK_M: tl.constexpr, BLOCK_SPLITS: tl.constexpr):
    """out[i] = the sum over s of sums[s, i]."""
    row = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    is_row = row < m
    lane = tl.arange(0, BLOCK_SPLITS)
    total = tl.zeros((BLOCK_SPLITS, BLOCK_M), tl.float32)
    for done in range(0, splits, BLOCK_SPLITS):
        split = done + lane
        mask = (split < splits)[:, None] & is_row[None, :]
        place = sums + split.to(tl.int64)[:, None] * m + row[None, :]
        total += tl.load(place, mask=mask, other=0.0)
    tl.store(out + row, tl.sum(total, axis=0), mask=is_row)


@triton.jit
def nearest_kernel(
    x,
    y,
    values,
    columns,
    m,
    n,
    split_columns,
    D: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    """For many dimensions: |v|^2 - 2 u . v, relative to the mean of the program's rows, and where
    it is least.
    """
    lane_m = tl.arange(0, BLOCK_M)
    lane_n = tl.arange(0, BLOCK_N)
    lane_d = tl.arange(0, D)
    row = tl.program_id(0).to(tl.int64) * BLOCK_M + lane_m
    is_row = row < m
    u = tl.load(x + row[:, None] * D + lane_d[None, :], mask=is_row[:, None], other=0.0)
    count = tl.minimum(m - tl.program_id(0).to(tl.int64) * BLOCK_M, BLOCK_M)
    centre = tl.sum(u, axis=0) / count.to(tl.float32)
    u = tl.where(is_row[:, None], -2.0 * (u - centre[None, :]), 0.0)
    first = tl.program_id(1).to(tl.int64) * split_columns
    count = tl.minimum(split_columns, n - first)
    y_tile = y + first * D + lane_n[:, None] * D + lane_d[None, :]
    least = tl.full((BLOCK_M,), float("inf"), tl.float32)
    where = tl.zeros((BLOCK_M,), tl.int32)
    for done in range(0, count, BLOCK_N):
        is_column = lane_n < count - done
        v = tl.load(y_tile, mask=is_column[:, None], other=0.0)
        v = v - centre[None, :]
        v_square = tl.where(is_column, tl.sum(v * v, axis=1), float("inf"))
        product = tl.dot(u, tl.trans(v), input_precision="tf32x3")
        of_tile, place = tl.min(product + v_square[None, :], axis=1, return_indices=True)
        is_less = of_tile < least
        least = tl.where(is_less, of_tile, least)
        where = tl.where(is_less, place + done.to(tl.int32), where)
        y_tile += BLOCK_N * D
    place = tl.program_id(1).to(tl.int64) * m + row
    tl.store(values + place, least, mask=is_row)
    tl.store(columns + place, first + where.to(tl.int64), mask=is_row)


@triton.jit
def nearest_of_splits_kernel(values, parts, columns, m, splits, BLOCK_M: tl.constexpr):
    """columns[i] = parts[s, i] for the least values[s, i]."""
    row = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    is_row = row < m
    least = tl.load(values + row, mask=is_row, other=0.0)
    best = tl.load(parts + row, mask=is_row, other=0)
    for split in range(1, splits):
        value = tl.load(values + split.to(tl.int64) * m + row, mask=is_row, other=0.0)
        part = tl.load(parts + split.to(tl.int64) * m + row, mask=is_row, other=0)
        is_less = value < least
        least = tl.where(is_less, value, least)
        best = tl.where(is_less, part, best)
    tl.store(columns + row, best, mask=is_row)
