// Elements of any size: one suite for all of them, which chooses the type at run time.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "../test_size.hpp"
#include "compaction_suite.cuh"
#include "laboratory.cuh"
#include "warp_compaction/oracle.hpp"
#include "warp_compaction/warp_compaction.cuh"

namespace warpath::warp_compaction::test {

/// `Size` bytes, aligned to `Alignment`; the first one decides.
template <std::size_t Size, std::size_t Alignment = 1>
struct alignas(Alignment) Bytewise {
  unsigned char bytes[Size];
};

struct FirstByteIsOdd {
  template <class T>
  __host__ __device__ bool operator()(const T& element) const {
    return element.bytes[0] % 2 != 0;
  }
};

template <class T>
struct CompactAnySize {
  using Rule = detail::KeepIf<T, FirstByteIsOdd>;
  struct Prepared {
    std::vector<T> items;
    Expected expected;
  };

  static Prepared make(const Case& c) {
    Random random(c.seed);
    const auto flags = make_flags(c.distribution, c.n, run_length, random);
    Prepared prepared;
    prepared.items.resize(flags.size());
    for (std::size_t i = 0; i < flags.size(); ++i) {
      std::uint64_t state = i * 0x9E3779B97F4A7C15u + c.seed;
      for (unsigned char& byte : prepared.items[i].bytes) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        byte = static_cast<unsigned char>(state >> 56);
      }
      unsigned char& first = prepared.items[i].bytes[0];
      first = static_cast<unsigned char>((first & ~1u) | flags[i]);
    }
    prepared.expected.columns = {column_of(oracle::compact_if(prepared.items, FirstByteIsOdd{}))};
    return prepared;
  }

  static Result run(Laboratory& laboratory, const Case& c, const Prepared& prepared) {
    const cudaStream_t stream = laboratory.stream(c);
    const Input<T> in(prepared.items, c.in_offset, stream);
    Output<T> out(c.n, c.out_offset, stream);
    DeviceCount kept(stream);
    compact_if(in.span(), out.span(), FirstByteIsOdd{}, kept, laboratory.workspace, stream,
               c.way.options);
    return {{out.image()}, kept.get(stream), -1, in.is_intact()};
  }
};

/// An element type, for a suite that does not depend on it.
struct ElementKind {
  std::size_t bytes;
  std::size_t alignment;
  bool is_in_registers;
  bool has_pipeline;
  testing::AssertionResult (*check)(Laboratory&, const Case&);
};
template <std::size_t Size, std::size_t Alignment = 1>
constexpr ElementKind kind_of() {
  using Operation = CompactAnySize<Bytewise<Size, Alignment>>;
  return {Size, Alignment, detail::is_in_registers<typename Operation::Rule>,
          detail::has_pipeline<typename Operation::Rule>(), check<Operation>};
}

/// Expects right results for an element of this kind: in all variants at small and odd sizes, and
/// where calls used to change to another kernel, beyond 8 MiB of input.
inline void expect_right_at_all_sizes(const ElementKind& kind) {
  SCOPED_TRACE(std::to_string(kind.bytes) + " bytes, aligned to " + std::to_string(kind.alignment));
  Laboratory laboratory;
  std::uint64_t seed = 20261101 + kind.bytes;
  const auto expect_right = [&](const Way& way, std::int64_t n, Distribution distribution) {
    Case c{way, n, distribution, seed++};
    c.in_offset = static_cast<int>(c.seed % 7);
    c.out_offset = static_cast<int>(c.seed % 5);
    EXPECT_TRUE(kind.check(laboratory, c));
  };
  for (const Way& way : single_pass_ways) {
    // Elements that do not go through registers have one kernel, in two shapes, and the pipeline.
    const bool is_another = way.options.path == Path::automatic ||
                            way.options.path == Path::plain ||
                            (kind.has_pipeline && way.options.path == Path::pipeline);
    if (!kind.is_in_registers && !is_another) continue;
    for (const std::int64_t n : {1, 33, 1027, 2053, 9001}) {
      expect_right(way, n, Distribution::uniform);
    }
    expect_right(way, 5003, Distribution::everything);
    expect_right(way, 5003, Distribution::nothing);
  }
  if (is_small()) return;
  for (const Way& way : {two_pass_ways[0], two_pass_ways[3]}) {
    for (const std::int64_t n : {33, 70'001}) expect_right(way, n, Distribution::uniform);
  }
  const auto past_8_mib = static_cast<std::int64_t>((std::size_t{8} << 20) / kind.bytes) + 7;
  if (past_8_mib <= 2'200'000) {
    expect_right(single_pass_by(Path::automatic), past_8_mib, Distribution::uniform);
  }
}

}  // namespace warpath::warp_compaction::test
