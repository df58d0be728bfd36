// Keys and values of every type.
#include "support.cuh"

namespace warpath::balanced_path_sets::test {
namespace {

template <SetOperation operation, class Fixture>
void expect_all_inputs(Fixture& fixture) {
  using Key = typename Fixture::Key;
  std::vector<Inputs> all = multisets();
  for (Inputs& inputs : many_tiles(5'000)) all.push_back(std::move(inputs));
  for (const Inputs& inputs : all) {
    SCOPED_TRACE(inputs.name);
    fixture.template expect_operation<operation, true>(keys_of<Key>(inputs.a),
                                                       keys_of<Key>(inputs.b), std::less<Key>{});
  }
}

using UnsignedAndDoubles = Sets<std::uint32_t, double>;
TEST_F(UnsignedAndDoubles, Union) {
  expect_all_inputs<SetOperation::set_union>(*this);
}

using FloatsAndUnsigned = Sets<float, std::uint32_t>;
TEST_F(FloatsAndUnsigned, SymmetricDifference) {
  expect_all_inputs<SetOperation::symmetric_difference>(*this);
}

using Longs = Sets<std::int64_t, std::int64_t>;
TEST_F(Longs, Difference) {
  expect_all_inputs<SetOperation::difference>(*this);
}

using UnsignedLongsAndInts = Sets<std::uint64_t, std::int32_t>;
TEST_F(UnsignedLongsAndInts, Intersection) {
  expect_all_inputs<SetOperation::intersection>(*this);
}

using DoublesAndFloats = Sets<double, float>;
TEST_F(DoublesAndFloats, Union) {
  expect_all_inputs<SetOperation::set_union>(*this);
}

/// Of 12 bytes: no whole number of them fills a line of a bulk copy.
struct Triple {
  int key = 0;
  int rest[2] = {};

  Triple() = default;
  __host__ __device__ explicit Triple(int key_) : key(key_) {}
  __host__ __device__ bool operator<(const Triple& other) const { return key < other.key; }
  bool operator==(const Triple& other) const { return key == other.key; }
  friend std::ostream& operator<<(std::ostream& out, const Triple& triple) {
    return out << triple.key;
  }
};
using Triples = Sets<Triple, std::int32_t>;
TEST_F(Triples, Union) {
  expect_all_inputs<SetOperation::set_union>(*this);
}

}  // namespace
}  // namespace warpath::balanced_path_sets::test
