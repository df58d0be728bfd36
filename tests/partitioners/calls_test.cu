// What a call is to the host: it does not wait, allocates from the workspace only, and can be
// captured.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "../device_vectors.cuh"
#include "../emulated_device.cuh"
#include "../message_of.hpp"
#include "../stream.cuh"
#include "core/checked.hpp"
#include "partitioners/partitioners.cuh"

namespace warpath::partitioners::test {
namespace {

struct IsOdd {
  __device__ bool operator()(std::uint32_t value) const { return value % 2 != 0; }
};
struct IsSmall {
  __device__ bool operator()(std::uint32_t value) const { return value < 1000; }
};

/// While it lives, checks of the data are off: they synchronise.
struct Unchecked {
  Unchecked() { set_checked(false); }
  ~Unchecked() { set_checked(true); }
};

/// Arguments of every kind of call. All tuples have one coordinate twice, so that their numbers are
/// their order.
struct Calls {
  static constexpr std::int64_t n = 20'001;
  Stream stream;
  Workspace workspace;
  DeviceBuffer<std::int32_t> tuples;
  DeviceBuffer<std::uint32_t> references;
  DeviceBuffer<std::uint32_t> outs{3 * n, stream};
  DeviceBuffer<std::uint32_t> medians{2, stream};
  DeviceCount count{stream};
  DeviceCount second_count{stream};

  Calls() {
    std::vector<std::int32_t> coordinates;
    std::vector<std::uint32_t> numbers(n);
    std::iota(numbers.begin(), numbers.end(), 0u);
    for (std::int32_t i = 0; i < n; ++i) coordinates.insert(coordinates.end(), {i, i});
    tuples = on_device(coordinates, stream);
    references = on_device(numbers, stream);
  }
  static constexpr std::array names = {"source",      "look_back",  "side_bits",
                                       "two outputs", "one output", "three way"};
  void make(std::size_t which) {
    const DeviceSpan<const std::uint32_t> in = std::as_const(references).span();
    const auto out = [&](int i) { return DeviceSpan<std::uint32_t>{outs.data() + n * i, n}; };
    if (which < 3) {
      partition_level(Tuples<std::int32_t>{tuples.span(), 2, 0}, 0, in, in, out(0),
                      {{medians.data(), 1}, {}}, workspace, stream,
                      {.variant = static_cast<Variant>(which), .warps = 16});
    } else if (which == 3) {
      partition(in, out(0), out(1), IsOdd{}, count, workspace, stream);
    } else if (which == 4) {
      partition(in, out(0), IsOdd{}, count, workspace, stream);
    } else {
      partition_three_way(in, out(0), out(1), out(2), IsOdd{}, IsSmall{}, count, second_count,
                          workspace, stream);
    }
  }
  /// What the call has left, in words of each output.
  std::vector<std::uint32_t> result(std::size_t which) {
    std::vector<std::uint32_t> all = on_host(outs.data(), n / 2, stream);
    if (which < 3) {
      all.push_back(on_host(medians.data(), 1, stream)[0]);
    } else {
      all.push_back(static_cast<std::uint32_t>(count.get(stream)));
    }
    return all;
  }
  static std::vector<std::uint32_t> expected(std::size_t which) {
    std::vector<std::uint32_t> all(n / 2);
    std::iota(all.begin(), all.end(), 0u);
    if (which >= 3) {
      for (std::uint32_t& each : all) each = 2 * each + 1;
    }
    all.push_back(n / 2);
    return all;
  }
};

// A gate in the stream stays shut until the call has returned. If the call waited for the stream,
// the gate would open by itself, too late.
TEST(Calls, DoNotWaitForTheStream) {
  const Unchecked unchecked;
#ifdef SIMT_EMULATION
  // Else a stream of the emulator is done whenever a call returns.
  const bool was_lazy = std::exchange(simt::options().lazy, true);
#endif
  struct Gate {
    std::promise<void> opener;
    bool was_opened = false;
  };
  const auto pass = [](void* data) {
    auto& gate = *static_cast<Gate*>(data);
    gate.was_opened =
        gate.opener.get_future().wait_for(std::chrono::seconds(5)) == std::future_status::ready;
  };
  Calls calls;
  for (std::size_t which = 0; which < Calls::names.size(); ++which) {
    calls.make(which);  // the first call of a kernel may load it, which may wait
    WARPATH_CUDA_CHECK(cudaStreamSynchronize(calls.stream));
    Gate gate;
    WARPATH_CUDA_CHECK(cudaLaunchHostFunc(calls.stream, pass, &gate));
    calls.make(which);
    gate.opener.set_value();
    EXPECT_EQ(calls.result(which), Calls::expected(which)) << Calls::names[which];
    EXPECT_TRUE(gate.was_opened) << Calls::names[which];
  }
#ifdef SIMT_EMULATION
  simt::options().lazy = was_lazy;
#endif
}

// Calls of all kinds in turn with one workspace: what one leaves must not disturb the next.
TEST(Calls, ShareAWorkspace) {
  Calls calls;
  for (const std::size_t which : {5, 3, 1, 4, 5, 2, 0, 5, 5, 1, 3, 4, 2, 0}) {
    calls.make(which);
    EXPECT_EQ(calls.result(which), Calls::expected(which)) << Calls::names[which];
  }
}

TEST(Calls, TakeWhatTheHeaderSays) {
  constexpr std::int64_t n = Calls::n;
  constexpr std::int64_t level_tiles = divide_up(n, detail::LevelShape::tile_items);
  constexpr std::int64_t tiles = divide_up(n, detail::PartitionShape<4>::tile_items);
  constexpr std::int64_t padding = 256;
  constexpr std::array<std::int64_t, 6> most = {4 * n + 8 * 16 + 2 * padding,
                                                9 * level_tiles + 3 * 1024,
                                                9 * level_tiles + 3 * 1024 + n / 8 + padding,
                                                9 * tiles + 3 * 1024,
                                                9 * tiles + 3 * 1024,
                                                18 * tiles + 3 * 1024};
  for (std::size_t which = 0; which < most.size(); ++which) {
    Calls calls;
    calls.make(which);
    EXPECT_LE(calls.workspace.bytes(), most[which]) << Calls::names[which];
  }
}

#ifdef SIMT_EMULATION
TEST(Calls, CanBeCaptured) {
  const Unchecked unchecked;
  for (std::size_t which = 0; which < Calls::names.size(); ++which) {
    Calls calls;
    const auto said = [&] {
      simt::options().capturing = true;
      const std::string message = message_of<std::logic_error>([&] { calls.make(which); });
      simt::options().capturing = false;
      return message;
    };
    EXPECT_THAT(said(), testing::HasSubstr("cannot grow while its stream is captured"));
    calls.make(which);
    EXPECT_EQ(said(), "nothing") << Calls::names[which];
  }
}

TEST(Calls, RunOnOlderAndSmallerDevices) {
  for (const DeviceKind& kind : other_devices) {
    const EmulatedDevice device(kind);
    Calls calls;
    for (std::size_t which = 0; which < Calls::names.size(); ++which) {
      calls.make(which);
      EXPECT_EQ(calls.result(which), Calls::expected(which)) << kind.name;
    }
  }
}

// A device without room for the scratch memory: an exception, no leak, and a workspace that still
// works.
TEST(Calls, FailedAllocationsLeakNothing) {
  const Unchecked unchecked;
  Calls calls;
  const auto used_bytes = [] {
    WARPATH_CUDA_CHECK(cudaDeviceSynchronize());  // what is to be freed is freed
    return simt::device_bytes();
  };
  const std::size_t used = used_bytes();
  const std::size_t room = simt::options().device_memory;
  for (std::size_t which = 0; which < Calls::names.size(); ++which) {
    simt::options().device_memory = used + 100;
    EXPECT_THROW(calls.make(which), CudaError) << Calls::names[which];
    EXPECT_EQ(used_bytes(), used + static_cast<std::size_t>(calls.workspace.bytes()));
    simt::options().device_memory = room;
    calls.make(which);
    EXPECT_EQ(calls.result(which), Calls::expected(which)) << Calls::names[which];
    calls.workspace = {};
  }
}
#endif

}  // namespace
}  // namespace warpath::partitioners::test
