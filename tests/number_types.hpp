// For tests: the types of numbers that they are compiled for. Where compiling takes long, for
// sanitizers and by nvcc without a GPU, one type of 4 bytes and one of 8 stand for the others; so
// do some sizes of elements, numbers of dimensions and formulas, one for each path of the code.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <type_traits>

namespace warpath {

#ifdef WARPATH_TEST_FEW_TYPES
inline constexpr bool has_few_types = true;
using CoordinateTypes = testing::Types<float, std::int64_t>;
using KeyTypes = CoordinateTypes;
using FloatTypes = testing::Types<float>;
#else
inline constexpr bool has_few_types = false;
using CoordinateTypes = testing::Types<float, double, std::int32_t, std::int64_t>;
using FloatTypes = testing::Types<float, double>;
using KeyTypes =
    testing::Types<std::uint32_t, std::int32_t, float, std::uint64_t, std::int64_t, double>;
#endif

/// Whether tests are compiled for a type.
template <class T>
inline constexpr bool is_tested =
    !has_few_types || std::is_same_v<T, float> || std::is_same_v<T, std::int64_t>;

}  // namespace warpath
