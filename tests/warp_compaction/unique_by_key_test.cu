// unique_by_key: two columns, of equal and of very different widths; its arguments.
#include <functional>

#include "../emulated_device.cuh"
#include "compaction_suite.cuh"
#include "elements.cuh"
#include "operations.hpp"
#include "preconditions.cuh"
#include "warp_compaction/oracle.hpp"
#include "warp_compaction/warp_compaction.cuh"

namespace warpath::warp_compaction::test {

namespace {

template <class K, class V, class Equal = SameKey>
struct UniqueByKey {
  using Rule = detail::KeepFirstOfRun<K, V, Equal>;
  struct Prepared {
    std::vector<K> keys;
    std::vector<V> values;
    Expected expected;
  };
  static std::string name() {
    return "UniqueByKey" + std::to_string(sizeof(K)) + "And" + std::to_string(sizeof(V)) + "Bytes";
  }

  static Prepared make(const Case& c) {
    Random random(c.seed);
    const auto keys = make_keys(c.distribution, c.n, run_length, random);
    constexpr bool is_tagged = std::is_same_v<Equal, SameKey>;
    Prepared prepared;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const std::uint64_t tag = i % (1u << SameKey::tag_bits);
      prepared.keys.push_back(
          make_element<K>(is_tagged ? keys[i] << SameKey::tag_bits | tag : keys[i]));
      prepared.values.push_back(make_element<V>(i));
    }
    const auto pairs = oracle::unique_by_key(prepared.keys, prepared.values, Equal{});
    prepared.expected.columns = {column_of(pairs.first), column_of(pairs.second)};
    return prepared;
  }

  static Result run(Laboratory& laboratory, const Case& c, const Prepared& prepared) {
    const cudaStream_t stream = laboratory.stream(c);
    const Input<K> keys(prepared.keys, c.in_offset, stream);
    const Input<V> values(prepared.values, c.in_offset * 5 % 8, stream);
    Output<K> out_keys(c.n, c.out_offset, stream);
    Output<V> out_values(c.n, c.out_offset * 3 % 8, stream);
    DeviceCount kept(stream);
    unique_by_key(keys.span(), values.span(), out_keys.span(), out_values.span(), kept,
                  laboratory.workspace, stream, Equal{}, c.way.options);
    return {{out_keys.image(), out_values.image()},
            kept.get(stream),
            -1,
            keys.is_intact() && values.is_intact()};
  }
};

using UniqueByKeyTypes =
    testing::Types<UniqueByKey<std::uint64_t, std::uint32_t>, UniqueByKey<Element16, Element16>>;
INSTANTIATE_TYPED_TEST_SUITE_P(UniqueByKey, CompactionTest, UniqueByKeyTypes, OperationNames);

#ifdef SIMT_EMULATION
// Tiles of 32 bytes an element are the largest that go through shared memory.
TEST(UniqueByKey, FitsDevicesWithLessSharedMemory) {
  using Operation = UniqueByKey<Element16, Element16>;
  for (const DeviceKind& kind : other_devices) {
    const EmulatedDevice device(kind);
    Laboratory laboratory;
    for (const Way& way : single_pass_ways) {
      EXPECT_TRUE(check<Operation>(laboratory, {way, 9001, Distribution::uniform, 20261102}))
          << kind.name;
    }
  }
}
#endif

using Element = std::uint32_t;

class UniqueByKeyArguments : public PreconditionTest {
 protected:
  UniqueByKeyArguments() { write_zeros(memory_); }
  void call(DeviceSpan<const Element> keys, DeviceSpan<const Element> values,
            DeviceSpan<Element> out_keys, DeviceSpan<Element> out_values) {
    unique_by_key(keys, values, out_keys, out_values, kept_, workspace_, stream_);
  }
  /// Place number i for an argument; all are apart.
  [[nodiscard]] Element* place(int i) { return memory_.data() + 2 * n * i; }
  DeviceBuffer<Element> memory_{10 * n, stream_};
};

TEST_F(UniqueByKeyArguments, AValueForEachKey) {
  rejects({"values", "99", "100", "keys"}, [&] {
    call({place(0), n}, {place(1), n - 1}, {place(2), n}, {place(3), n});
  });
}

TEST_F(UniqueByKeyArguments, OutputsNeedRoomForAll) {
  rejects({"out_keys", "99", "100"}, [&] {
    call({place(0), n}, {place(1), n}, {place(2), n - 1}, {place(3), n});
  });
  rejects({"out_values", "99", "100"}, [&] {
    call({place(0), n}, {place(1), n}, {place(2), n}, {place(3), n - 1});
  });
}

TEST_F(UniqueByKeyArguments, CountIsApartFromAll) {
  const auto kept = on_kept<Element>(n);
  rejects({"kept overlaps keys"}, [&] { call(kept, {place(1), n}, {place(2), n}, {place(3), n}); });
  rejects({"kept overlaps values"}, [&] {
    call({place(0), n}, kept, {place(2), n}, {place(3), n});
  });
  rejects({"out_keys overlaps kept"}, [&] {
    call({place(0), n}, {place(1), n}, kept, {place(3), n});
  });
  rejects({"out_values overlaps kept"}, [&] {
    call({place(0), n}, {place(1), n}, {place(2), n}, kept);
  });
}

TEST_F(UniqueByKeyArguments, OutputsAreApartFromInputsAndEachOther) {
  rejects({"out_keys overlaps keys"}, [&] {
    call({place(0), n}, {place(1), n}, {place(0) + n - 1, n}, {place(3), n});
  });
  rejects({"out_values overlaps values"}, [&] {
    call({place(0), n}, {place(1), n}, {place(2), n}, {place(1) + n - 1, n});
  });
  rejects({"out_values overlaps keys"}, [&] {
    call({place(0), n}, {place(1), n}, {place(2), n}, {place(0) + 1, n});
  });
  rejects({"out_keys overlaps values"}, [&] {
    call({place(0), n}, {place(1), n}, {place(1), n}, {place(3), n});
  });
  rejects({"out_values overlaps out_keys"}, [&] {
    call({place(0), n}, {place(1), n}, {place(2), n}, {place(2) + n - 1, n});
  });
}

TEST_F(UniqueByKeyArguments, CountsAreNotNegativeAndMemoryIsThere) {
  constexpr const char* names[] = {"keys", "values", "out_keys", "out_values"};
  for (int wrong = 0; wrong < 4; ++wrong) {
    const auto count = [&](int i) { return i == wrong ? -1 : n; };
    rejects({std::string(names[wrong]) + " has -1"}, [&] {
      call({place(0), count(0)}, {place(1), count(1)}, {place(2), count(2)}, {place(3), count(3)});
    });
    const auto data = [&](int i) { return i == wrong ? nullptr : place(i); };
    rejects({std::string(names[wrong]) + " is null"}, [&] {
      call({data(0), n}, {data(1), n}, {data(2), n}, {data(3), n});
    });
  }
}

TEST_F(UniqueByKeyArguments, OptionsAreWhatTheTableHas) {
  const Options options{.variant = static_cast<Variant>(3)};
  rejects({"options.variant is 3"}, [&] {
    unique_by_key(DeviceSpan<Element>{place(0), n}, DeviceSpan<Element>{place(1), n},
                  DeviceSpan<Element>{place(2), n}, DeviceSpan<Element>{place(3), n}, kept_,
                  workspace_, stream_, options);
  });
}

TEST_F(UniqueByKeyArguments, InputsMayBeTheSame) {
  accepts([&] { call({place(0), n}, {place(0), n}, {place(2), n}, {place(3), n}); });
}

}  // namespace

testing::AssertionResult check_unique_by_key(Laboratory& laboratory, const Case& c) {
  return check<UniqueByKey<std::uint64_t, std::uint32_t>>(laboratory, c);
}

}  // namespace warpath::warp_compaction::test
