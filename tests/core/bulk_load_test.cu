// Bulk loads of parts that begin and end anywhere in a line, at the array's ends too: what is
// wanted arrives, nothing beyond the part's lines is written, nothing outside the array is read
// (compute-sanitizer and SIMT_GUARD see that).
#include <numeric>

#include "core/bulk_load.cuh"
#include "core/launch.cuh"
#include "support.cuh"

namespace warpath::core_test {
namespace {

constexpr int most = 64;
/// Elements of a 16-byte line.
template <class T>
constexpr int line_of = hopper::bulk_bytes / static_cast<int>(sizeof(T));
/// A cache line before the part, and one in which it begins.
template <class T>
constexpr int room_of = most + 2 * hopper::cache_line_elements<T>;

template <class T>
struct LoadStorage {
  alignas(hopper::cache_line_bytes) T elements[room_of<T>];
  hopper::TransactionBarrier loaded;
};

/// One warp: loads elements [first, first + count) of the array after a line, and stores the whole
/// storage to `out`; what was not loaded is `untouched`.
template <class T>
__global__ void load_part_kernel(const T* array, std::int64_t elements, std::int64_t first,
                                 int count, T untouched, T* out) {
  auto& shared = dynamic_shared<LoadStorage<T>>();
  constexpr int room = room_of<T>;
  for (int i = lane_index(); i < room; i += warp_threads) shared.elements[i] = untouched;
  if (lane_index() == 0) hopper::init(shared.loaded, 1);
  hopper::fence_for_bulk();
  __syncthreads();
  T* const to =
      shared.elements + hopper::cache_line_elements<T> + hopper::place_in_cache_line(array + first);
  const unsigned bytes =
      hopper::warp_bulk_load(to, array + first, count, first, elements - first, shared.loaded);
  __syncwarp();
  if (lane_index() == 0) hopper::arrive_expect(shared.loaded, bytes);
  hopper::wait(shared.loaded, 0);
  for (int i = lane_index(); i < room; i += warp_threads) out[i] = shared.elements[i];
}

template <class T>
class BulkLoad : public testing::Test {
 protected:
  void SetUp() override {
    if (!can_run(load_part_kernel<T>, {.hopper = true})) {
      GTEST_SKIP() << "needs bulk copies: compute capability 9.0 or more";
    }
  }
};
using Elements = testing::Types<std::uint8_t, std::uint16_t, std::uint32_t, double>;
TYPED_TEST_SUITE(BulkLoad, Elements);

TYPED_TEST(BulkLoad, BringsAnyPartOfAnArray) {
  using T = TypeParam;
  constexpr int line = line_of<T>;
  constexpr int cache_line = hopper::cache_line_elements<T>;
  constexpr T untouched = 251;
  for (const int offset : {0, 1, line - 1}) {  // of the array in its first line
    for (const int elements : {1, line - 1, line, line + 1, 3 * line, 3 * line + 1}) {
      std::vector<T> values(static_cast<std::size_t>(elements));
      for (int i = 0; i < elements; ++i)
        values[static_cast<std::size_t>(i)] = static_cast<T>(i + 1);
      std::vector<T> shifted(static_cast<std::size_t>(offset), T{0});
      shifted.insert(shifted.end(), values.begin(), values.end());
      const DeviceBuffer<T> memory = on_device(shifted);
      DeviceBuffer<T> out(room_of<T>);
      for (int first = 0; first <= elements; first += elements > 2 * line && line > 8 ? 5 : 1) {
        for (const int count : {0, 1, elements - first - 1, elements - first}) {
          if (count < 0 || count > elements - first) continue;
          SCOPED_TRACE(std::to_string(count) + " of " + std::to_string(elements) + " from " +
                       std::to_string(first) + ", offset " + std::to_string(offset));
          launch({1, warp_threads, sizeof(LoadStorage<T>)}, load_part_kernel<T>,
                 memory.data() + offset, elements, first, count, untouched, out.data());
          const std::vector<T> found = on_host(out);
          // Device memory is aligned to a cache line.
          const int begin = cache_line + (offset + first) % cache_line;
          const int end = begin + count;
          for (int i = 0; i < count; ++i) {
            ASSERT_EQ(found[static_cast<std::size_t>(begin + i)],
                      values[static_cast<std::size_t>(first + i)]);
          }
          // What lies beside the part in its lines may have come; nothing beyond.
          for (int i = 0; i < static_cast<int>(found.size()); ++i) {
            if (i < begin / line * line || (i >= (end + line - 1) / line * line)) {
              ASSERT_EQ(found[static_cast<std::size_t>(i)], untouched) << "element " << i;
            }
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace warpath::core_test
