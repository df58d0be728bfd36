// Partitions of elements of many sizes on the device, judged by the oracle. What is compiled for
// each size is in elements.cu and large_elements.cu.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "partitioners/tuning.hpp"

namespace warpath::partitioners::test {

/// Which elements are in which class; of three classes, all by turns.
enum class Share {
  nothing,     ///< all in the last class
  everything,  ///< all in the first
  middle,      ///< all in the second of three
  half,        ///< at random
  runs,        ///< up to some tiles long
  only_first,  ///< the first element alone is selected
  only_last,
  alternating
};
inline constexpr std::array all_shares = {Share::nothing,   Share::everything, Share::middle,
                                          Share::half,      Share::runs,       Share::only_first,
                                          Share::only_last, Share::alternating};

enum class Form { two_outputs, one_output, three_way };
inline constexpr std::array all_forms = {Form::two_outputs, Form::one_output, Form::three_way};

struct PartitionCase {
  Form form = Form::two_outputs;
  detail::PartitionPath path = detail::PartitionPath::automatic;
  std::int64_t n = 0;
  Share share = Share::half;
  std::uint64_t seed = 0;
  int in_offset = 0;  ///< elements between aligned memory and the input
  int out_offset = 0;
};

/// An element type, for tests that do not depend on it.
struct ElementKind {
  std::size_t bytes;
  std::int64_t plain_tile_items;
  std::int64_t pipeline_tile_items;
  testing::AssertionResult (*check)(const PartitionCase&);
};
std::span<const ElementKind> small_elements();  ///< of one byte first, of a word last
std::span<const ElementKind> large_elements();

}  // namespace warpath::partitioners::test
