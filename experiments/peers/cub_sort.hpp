// CUB's device-wide sorts, as peers of merge_sort: the cuda backend only.
#pragma once

#include <cstdint>
#include <memory>

#include "harness/technique.hpp"
#include "scratch.cuh"
#include "sort_data.cuh"

namespace warpath::experiments::cub_sort {

// Each makes the execution, which sorts in place and is stable, with its temporary storage in
// `storage`: asked for and allocated once, outside of what is timed. Counts have 32 bits: with 64,
// CUB computes all of its offsets so.
using Storage = std::shared_ptr<KeptStorage>;

/// Merge sort of keys alone: of std::uint32_t.
template <class K>
harness::Execution keys(const PairArrays<K>& arrays, const Storage& storage);
/// Merge sort of keys and values: of float keys.
template <class K>
harness::Execution pairs(const PairArrays<K>& arrays, const Storage& storage);

/// Merge sort of coordinates and references as one sequence of two columns (a zip iterator): so
/// they are merged where they are to end, and need one copy, while keys that hold both would be
/// packed before and unpacked after, with a second copy. The coordinates are read through the
/// references by the iterator that CUB's first pass takes its input from (StableSortKeysCopy), and
/// not by a kernel before it. That pass writes a tile only after it has read all of it, so that
/// input and output may be the same references, as StableSortKeys has it.
/// C: float, double, std::int32_t or std::int64_t.
template <class C>
harness::Execution by_superkey(const SuperkeyArrays<C>& arrays, const Storage& storage);

// Radix sorts, which alternate between the arrays and a copy in `storage` (CUB's DoubleBuffer: the
// form that needs no second one); each execution says in `*sorted` where the result is.
template <class K>
using Sorted = PairArrays<const K, const std::uint32_t>;
/// Of std::uint32_t, std::uint64_t or float.
template <class K>
harness::Execution radix_keys(const PairArrays<K>& arrays, const Storage& storage,
                              Sorted<K>* sorted);
/// Of float keys.
template <class K>
harness::Execution radix_pairs(const PairArrays<K>& arrays, const Storage& storage,
                               Sorted<K>* sorted);

}  // namespace warpath::experiments::cub_sort
