// Buffers, workspace and counts: who owns what, that nothing is lost, and that all of it keeps to
// its stream.
#include <functional>
#include <utility>

#include "core/buffer.cuh"
#include "core/launch.cuh"
#include "support.cuh"

#ifdef SIMT_EMULATION
#include "simt/options.hpp"
#endif

namespace warpath::core_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr std::int64_t more_than_any_device = std::int64_t{1} << 50;  // bytes

template <class T>
__global__ void fill_kernel(T* out, std::int64_t count, T value) {
  const std::int64_t i = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x;
  if (i < count) out[i] = value;
}

template <class T>
void fill(cudaStream_t stream, T* out, std::int64_t count, T value) {
  if (count == 0) return;
  launch({static_cast<unsigned>(count / 64 + 1), 64, 0, stream}, fill_kernel<T>, out, count, value);
}

// ---------------------------------------------------------------- DeviceBuffer

TEST(DeviceBuffer, HoldsWhatItIsGiven) {
  const std::vector<int> values{3, 1, 4, 1, 5};
  const DeviceBuffer<int> buffer = on_device(values);
  EXPECT_EQ(buffer.count(), 5);
  EXPECT_EQ(buffer.span().data, buffer.data());
  EXPECT_EQ(buffer.span().count, 5);
  EXPECT_EQ(on_host(buffer), values);
}

TEST(DeviceBuffer, OfNothingHasNoMemory) {
  const std::uint64_t before = allocated_bytes();
  DeviceBuffer<int> buffer(0);
  EXPECT_EQ(buffer.data(), nullptr);
  EXPECT_EQ(buffer.count(), 0);
  EXPECT_EQ(allocated_bytes(), before);
}

TEST(DeviceBuffer, MovesItsMemory) {
  static_assert(!std::is_copy_constructible_v<DeviceBuffer<int>>);
  static_assert(!std::is_copy_assignable_v<DeviceBuffer<int>>);
  static_assert(std::is_nothrow_move_constructible_v<DeviceBuffer<int>>);
  static_assert(std::is_nothrow_move_assignable_v<DeviceBuffer<int>>);
  const std::uint64_t before = allocated_bytes();
  {
    DeviceBuffer<int> first = on_device(std::vector<int>{1, 2, 3});
    int* const memory = first.data();
    DeviceBuffer<int> second(std::move(first));
    EXPECT_EQ(first.data(), nullptr);  // NOLINT(bugprone-use-after-move): it is empty now
    EXPECT_EQ(first.count(), 0);
    EXPECT_EQ(second.data(), memory);

    DeviceBuffer<int> third = on_device(std::vector<int>{4, 5});
    const std::uint64_t with_both = allocated_bytes();
    third = std::move(second);
    EXPECT_EQ(second.data(), nullptr);  // NOLINT(bugprone-use-after-move)
    EXPECT_EQ(third.data(), memory);
    EXPECT_LT(allocated_bytes(), with_both) << "what it held before was not freed";
    EXPECT_EQ(on_host(third), (std::vector<int>{1, 2, 3}));

    DeviceBuffer<int>& itself = third;
    third = std::move(itself);
    EXPECT_EQ(on_host(third), (std::vector<int>{1, 2, 3}));
  }
  EXPECT_EQ(allocated_bytes(), before);
}

TEST(DeviceBuffer, WorksInAStream) {
  const Stream stream;
  const std::uint64_t before = allocated_bytes();
  for (int round = 0; round < 10; ++round) {
    DeviceBuffer<int> buffer(1000, stream);
    fill(stream, buffer.data(), 1000, round);
    EXPECT_EQ(on_host(buffer, stream), std::vector<int>(1000, round));
  }
  EXPECT_EQ(allocated_bytes(), before);
}

// The buffers are gone before the stream has come to the kernels that use them.
TEST(DeviceBuffer, OutlivesTheWorkBeforeItsEnd) {
  const Stream stream;
  DeviceBuffer<int> result(1000, stream);
  {
    DeviceBuffer<int> scratch(1000, stream);
    fill(stream, scratch.data(), 1000, 42);
    WARPATH_CUDA_CHECK(cudaMemcpyAsync(result.data(), scratch.data(), 1000 * sizeof(int),
                                       cudaMemcpyDeviceToDevice, stream));
  }
  {
    DeviceBuffer<int> next(1000, stream);
    fill(stream, next.data(), 1000, -1);
  }
  EXPECT_EQ(on_host(result, stream), std::vector<int>(1000, 42));
}

TEST(DeviceBuffer, SaysWhatCouldNotBeAllocated) {
  const std::uint64_t before = allocated_bytes();
  EXPECT_THAT(
      message_of<CudaError>([] { DeviceBuffer<char> b(more_than_any_device); }),
      AllOf(HasSubstr("cudaMallocAsync(" + std::to_string(more_than_any_device) + " bytes)"),
            HasSubstr(" bytes free"), HasSubstr("buffer.cuh:"),
            HasSubstr("cudaErrorMemoryAllocation")));
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
  EXPECT_EQ(allocated_bytes(), before);
  EXPECT_EQ(on_host(on_device(std::vector<int>{8})), std::vector<int>{8});  // others still work
}

TEST(DeviceBuffer, RefusesCountsThatNoMemoryHas) {
  for (const std::int64_t count :
       {std::int64_t{-1}, std::numeric_limits<std::int64_t>::min(), std::int64_t{1} << 60,
        std::int64_t{1} << 61, std::numeric_limits<std::int64_t>::max()}) {
    EXPECT_THAT(message_of<std::exception>([&] { DeviceBuffer<std::int64_t> b(count); }),
                AllOf(HasSubstr(std::to_string(count)), HasSubstr("expected")));
  }
}

// ---------------------------------------------------------------- Workspace

struct Wide {
  double of[5];
};

bool is_aligned(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer) % 256 == 0;
}

TEST(Workspace, GivesSeparateAlignedArraysOfSeveralTypes) {
  const Stream stream;
  Workspace workspace;
  for (const std::int64_t count : {1, 3, 63, 64, 65, 1000, 7, 5000, 5001}) {
    SCOPED_TRACE("arrays of " + std::to_string(count));
    const auto [chars, ints, nothing, doubles, wide] =
        workspace.take<char, int, float, double, Wide>(stream, count, count + 1, 0, count, 1);
    EXPECT_TRUE(is_aligned(chars) && is_aligned(ints) && is_aligned(nothing) &&
                is_aligned(doubles) && is_aligned(wide));
    EXPECT_GE(workspace.bytes(), count * 13 + 4 + static_cast<std::int64_t>(sizeof(Wide)));
    // Each is filled by its own value; none may have overwritten another.
    fill(stream, chars, count, 'c');
    fill(stream, ints, count + 1, -7);
    fill(stream, doubles, count, 0.25);
    fill(stream, wide, 1, Wide{{1, 2, 3, 4, 5}});
    EXPECT_THAT(on_host(chars, count, stream), testing::Each('c'));
    EXPECT_THAT(on_host(ints, count + 1, stream), testing::Each(-7));
    EXPECT_THAT(on_host(doubles, count, stream), testing::Each(0.25));
    EXPECT_THAT(on_host(wide, 1, stream)[0].of, testing::ElementsAre(1, 2, 3, 4, 5));
  }
}

TEST(Workspace, GrowsOnlyWhenItMust) {
  const std::uint64_t before = allocated_bytes();
  {
    Workspace workspace;
    EXPECT_EQ(workspace.bytes(), 0);
    const auto [first] = workspace.take<int>(nullptr, 1000);
    const std::int64_t bytes = workspace.bytes();
    EXPECT_GE(bytes, 4000);
    EXPECT_LT(bytes, 4000 + 256);
    const auto [smaller] = workspace.take<int>(nullptr, 10);
    EXPECT_EQ(smaller, first);
    EXPECT_EQ(workspace.bytes(), bytes);
    std::ignore = workspace.take<int>(nullptr, 2000);
    EXPECT_GE(workspace.bytes(), 8000);
    EXPECT_EQ(allocated_bytes(), before + static_cast<std::uint64_t>(workspace.bytes()))
        << "the old memory was not freed";
  }
  EXPECT_EQ(allocated_bytes(), before);
}

TEST(Workspace, GivesNothingWhereNothingIsAsked) {
  Workspace workspace;
  const auto [ints, doubles] = workspace.take<int, double>(nullptr, 0, 0);
  EXPECT_EQ(ints, nullptr);
  EXPECT_EQ(doubles, nullptr);
  EXPECT_EQ(workspace.bytes(), 0);
}

TEST(Workspace, GivesTicketsThatAreZeroAtFirstAndThenAsTheyWereLeft) {
  const Stream stream;
  const std::uint64_t before = allocated_bytes();
  {
    Workspace workspace;
    EXPECT_EQ(workspace.tickets(stream, 0), nullptr);
    EXPECT_EQ(workspace.bytes(), 0);
    unsigned* const first = workspace.tickets(stream, 100);
    EXPECT_EQ(workspace.bytes(), 100 * 4);
    EXPECT_EQ(on_host(first, 100, stream), std::vector<unsigned>(100, 0));

    // No other call touches them, nor does one that needs fewer.
    fill(stream, first, 100, 7u);
    for (const std::int64_t count : {100, 1, 0, 99}) {
      EXPECT_EQ(workspace.tickets(stream, count), first);
    }
    const auto [ints] = workspace.take<int>(stream, 1000);
    fill(stream, ints, 1000, -1);
    EXPECT_EQ(workspace.bytes(), 100 * 4 + 16 * 256);
    EXPECT_EQ(on_host(first, 100, stream), std::vector<unsigned>(100, 7));

    // More of them are all new.
    unsigned* const more = workspace.tickets(stream, 101);
    EXPECT_EQ(on_host(more, 101, stream), std::vector<unsigned>(101, 0));
    EXPECT_EQ(workspace.bytes(), 101 * 4 + 16 * 256);
    EXPECT_EQ(on_host(ints, 1000, stream), std::vector<int>(1000, -1));
  }
  EXPECT_EQ(allocated_bytes(), before);
}

TEST(Workspace, CanBeUsedAfterItCouldNotGrow) {
  const std::uint64_t before = allocated_bytes();
  {
    Workspace workspace;
    std::ignore = workspace.take<int>(nullptr, 100);
    EXPECT_THROW(std::ignore = workspace.take<char>(nullptr, more_than_any_device), CudaError);
    EXPECT_THROW(std::ignore = workspace.look_back(nullptr, more_than_any_device / 8), CudaError);
    const auto [ints] = workspace.take<int>(nullptr, 100);
    fill(nullptr, ints, 100, 5);
    EXPECT_EQ(on_host(ints, 100), std::vector<int>(100, 5));
  }
  EXPECT_EQ(allocated_bytes(), before);
}

TEST(Workspace, MovesItsMemory) {
  const std::uint64_t before = allocated_bytes();
  {
    Workspace workspace;
    const auto [first] = workspace.take<int>(nullptr, 1000);
    Workspace moved(std::move(workspace));
    const auto [again] = moved.take<int>(nullptr, 1000);
    EXPECT_EQ(again, first);
  }
  EXPECT_EQ(allocated_bytes(), before);
}

#ifdef SIMT_EMULATION
/// While it lives, streams are lazy and memory that was freed is closed.
class LazyAndGuarded {
 public:
  LazyAndGuarded() { simt::options().lazy = simt::options().guard = true; }
  ~LazyAndGuarded() {
    // A kernel that met closed memory fails this test only.
    if (cudaDeviceSynchronize() != cudaSuccess) cudaDeviceReset();
    simt::options() = before_;
  }
  LazyAndGuarded(const LazyAndGuarded&) = delete;
  LazyAndGuarded& operator=(const LazyAndGuarded&) = delete;

 private:
  simt::Options before_ = simt::options();
};
#endif

// Two streams share it, ordered by an event. What the second one still works on must not be freed
// in the order of the first.
TEST(Workspace, FreesMemoryAfterTheLastCallThatUsedIt) {
#ifdef SIMT_EMULATION
  WARPATH_CUDA_CHECK(cudaDeviceSynchronize());
  const LazyAndGuarded late;
#endif
  constexpr std::int64_t count = 1000;
  for (int round = 0; round < 10; ++round) {  // the streams' order is another one in each
    const Stream first;
    const Stream second;
    Workspace workspace;
    const auto [in_first] = workspace.take<int>(first, count);
    fill(first, in_first, count, 1);
    cudaEvent_t first_is_done = nullptr;
    WARPATH_CUDA_CHECK(cudaEventCreateWithFlags(&first_is_done, cudaEventDisableTiming));
    WARPATH_CUDA_CHECK(cudaEventRecord(first_is_done, first));
    WARPATH_CUDA_CHECK(cudaStreamWaitEvent(second, first_is_done));
    const auto [in_second] = workspace.take<int>(second, count);
    fill(second, in_second, count, 2);
    const auto [larger] = workspace.take<int>(second, 2 * count);
    WARPATH_CUDA_CHECK(cudaStreamSynchronize(first));
    fill(second, larger, 2 * count, 3);
    EXPECT_EQ(on_host(larger, 2 * count, second), std::vector<int>(2 * count, 3));
    WARPATH_CUDA_CHECK(cudaEventDestroy(first_is_done));
  }
}

#ifdef SIMT_EMULATION
// On a device that has no room for the old memory and the new at once.
TEST(Workspace, GivesTheOldMemoryBackBeforeItAsksForMore) {
  const std::size_t before = simt::options().device_memory;
  simt::options().device_memory = allocated_bytes() + 5 * 4096;
  {
    Workspace workspace;
    std::ignore = workspace.take<char>(nullptr, 2 * 4096);
    EXPECT_NO_THROW(std::ignore = workspace.take<char>(nullptr, 4 * 4096));
  }
  simt::options().device_memory = before;
}
#endif

TEST(Workspace, OutlivesStreamsThatItNoLongerUses) {
  const std::uint64_t before = allocated_bytes();
  {
    const Stream last;
    Workspace workspace;
    {
      const Stream first;
      std::ignore = workspace.take<int>(first, 100);
      std::ignore = workspace.look_back(first, 100);
    }
    std::ignore = workspace.take<int>(last, 100);
    std::ignore = workspace.look_back(last, 100);
  }
  EXPECT_EQ(allocated_bytes(), before);
}

// ---------------------------------------------------------------- DeviceCount

__global__ void add_to_count_kernel(std::int64_t* count, std::int64_t value) {
  *count += value;
}

TEST(Workspace, IsAsGoodAsNewAfterAMove) {
  Workspace from;
  static_cast<void>(from.take<int>(nullptr, 100));
  static_cast<void>(from.look_back(nullptr, 100));
  const std::int64_t bytes = from.bytes();
  Workspace to = std::move(from);
  EXPECT_EQ(to.bytes(), bytes);
  EXPECT_EQ(from.bytes(), 0);
  EXPECT_EQ(from.device(), -1);
  EXPECT_NE(std::get<0>(from.take<int>(nullptr, 10)), nullptr);
  from = std::move(to);
  EXPECT_EQ(from.bytes(), bytes);
  EXPECT_EQ(to.device(), -1);
}

TEST(Workspace, RefusesCountsThatNoMemoryHas) {
  Workspace workspace;
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const auto message = [&](auto... counts) {
    return message_of<std::invalid_argument>([&] {
      static_cast<void>(
          workspace.take<std::conditional_t<true, int, decltype(counts)>...>(nullptr, counts...));
    });
  };
  EXPECT_THAT(message(std::int64_t{-5}), testing::StartsWith("an array of -5 elements of 4 bytes"));
  EXPECT_THAT(message(most), testing::HasSubstr("expected 0 to"));
  EXPECT_THAT(message(most / 4 - 10), testing::HasSubstr("expected 0 to"));
  EXPECT_THAT(message(most / 8, most / 8), testing::HasSubstr("expected 0 to"));
  EXPECT_EQ(workspace.bytes(), 0);
}

TEST(DeviceCount, SaysThatItWasMovedFrom) {
  DeviceCount from;
  DeviceCount to = std::move(from);
  to.set_zero(nullptr);
  EXPECT_EQ(to.get(nullptr), 0);
  EXPECT_THAT(message_of<std::invalid_argument>([&] { from.set_zero(nullptr); }),
              testing::StartsWith("DeviceCount was moved from"));
  EXPECT_EQ(to.span().data, std::as_const(to).data());
  EXPECT_EQ(to.span().count, 1);
}

TEST(DeviceCount, IsSetAndRead) {
  DeviceCount count;
  count.set_zero(nullptr);
  EXPECT_EQ(count.get(nullptr), 0);
  const std::int64_t large = (std::int64_t{1} << 40) + 3;
  launch({1, 1}, add_to_count_kernel, count.data(), large);
  launch({1, 1}, add_to_count_kernel, count.data(), 1);
  EXPECT_EQ(count.get(nullptr), large + 1);
  count.set_zero(nullptr);
  EXPECT_EQ(count.get(nullptr), 0);
}

TEST(DeviceCount, WaitsForTheWorkInItsStream) {
  const Stream stream;
  DeviceCount count(stream);
  count.set_zero(stream);
  for (int i = 1; i <= 10; ++i) launch({1, 1, 0, stream}, add_to_count_kernel, count.data(), i);
  EXPECT_EQ(count.get(stream), 55);
}

// ---------------------------------------------------------------- several devices

/// Switches to a device while it lives.
class OnDevice {
 public:
  explicit OnDevice(int device) { WARPATH_CUDA_CHECK(cudaSetDevice(device)); }
  ~OnDevice() { cudaSetDevice(before_); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  int before_ = current_device();
};

class SeveralDevices : public testing::Test {
 protected:
  void SetUp() override {
    int devices = 0;
    WARPATH_CUDA_CHECK(cudaGetDeviceCount(&devices));
    if (devices < 2) GTEST_SKIP() << "needs two devices";
  }
  static std::string message(const std::function<void()>& act) {
    return message_of<std::invalid_argument>(act);
  }
};

TEST(DeviceBuffer, GivesConstElementsIfItIsConst) {
  using Buffer = DeviceBuffer<int>;
  static_assert(std::is_same_v<decltype(std::declval<Buffer&>().data()), int*>);
  static_assert(std::is_same_v<decltype(std::declval<const Buffer&>().data()), const int*>);
  static_assert(std::is_same_v<decltype(std::declval<Buffer&>().span()), DeviceSpan<int>>);
  static_assert(
      std::is_same_v<decltype(std::declval<const Buffer&>().span()), DeviceSpan<const int>>);
  static_assert(
      std::is_same_v<decltype(std::declval<const DeviceCount&>().data()), const std::int64_t*>);
}

TEST(DeviceBuffer, KnowsItsDevice) {
  EXPECT_EQ(DeviceBuffer<int>().device(), -1);
  EXPECT_EQ(DeviceBuffer<int>(0).device(), current_device());
  DeviceBuffer<int> buffer(3);
  EXPECT_EQ(buffer.device(), current_device());
  const DeviceBuffer<int> moved(std::move(buffer));
  EXPECT_EQ(moved.device(), current_device());
  EXPECT_EQ(buffer.device(), -1);  // NOLINT(bugprone-use-after-move): it is empty now
}

TEST_F(SeveralDevices, ABufferSaysWhereItDoesNotBelong) {
  DeviceBuffer<int> buffer = on_device(std::vector<int>{1, 2, 3});
  const DeviceBuffer<int>& same = buffer;
  {
    const OnDevice other(1);
    for (const std::string& said : {message([&] { std::ignore = buffer.span(); }),
                                    message([&] { std::ignore = same.span(); })}) {
      EXPECT_THAT(said, HasSubstr("DeviceBuffer of device 0 used while device 1 is current"));
    }
    EXPECT_EQ(message([&] { std::ignore = DeviceBuffer<int>().span(); }), "nothing");
    // For copies between devices there is the pointer.
    DeviceBuffer<int> copy(3);
    EXPECT_EQ(copy.device(), 1);
    WARPATH_CUDA_CHECK(cudaMemcpyPeer(copy.data(), 1, buffer.data(), 0, 3 * sizeof(int)));
    EXPECT_EQ(on_host(copy), (std::vector<int>{1, 2, 3}));
  }
  EXPECT_EQ(message([&] { std::ignore = buffer.span(); }), "nothing");
}

// In the order of the default stream of its own device: nothing leaks, and no kernel there finds
// its memory gone.
TEST_F(SeveralDevices, ABufferIsFreedOnItsOwnDevice) {
#ifdef SIMT_EMULATION
  WARPATH_CUDA_CHECK(cudaDeviceSynchronize());
  const LazyAndGuarded late;
#endif
  const std::uint64_t before = allocated_bytes();
  DeviceBuffer<int> result(1000);
  {
    DeviceBuffer<int> buffer(1000);
    fill(nullptr, buffer.data(), 1000, 42);
    WARPATH_CUDA_CHECK(cudaMemcpyAsync(result.data(), buffer.data(), 1000 * sizeof(int),
                                       cudaMemcpyDeviceToDevice));
    const OnDevice other(1);
    buffer = {};
    EXPECT_EQ(current_device(), 1);
    WARPATH_CUDA_CHECK(cudaDeviceSynchronize());
  }
  EXPECT_EQ(on_host(result), std::vector<int>(1000, 42));
  result = {};
  EXPECT_EQ(allocated_bytes(), before);
}

TEST_F(SeveralDevices, AWorkspaceBelongsToTheDeviceOfItsFirstCall) {
  Workspace workspace;
  EXPECT_EQ(workspace.device(), -1);
  {
    const OnDevice other(1);
    std::ignore = workspace.take<int>(nullptr, 10);
    EXPECT_EQ(workspace.device(), 1);
  }
  const auto says_so = HasSubstr("Workspace of device 1 used while device 0 is current");
  EXPECT_THAT(message([&] { std::ignore = workspace.take<int>(nullptr, 1); }), says_so);
  EXPECT_THAT(message([&] { std::ignore = workspace.take<int>(nullptr, 0); }), says_so);
  EXPECT_THAT(message([&] { std::ignore = workspace.look_back(nullptr, 1); }), says_so);
  EXPECT_THAT(message([&] { std::ignore = workspace.tickets(nullptr, 1); }), says_so);
  const OnDevice other(1);
  EXPECT_EQ(message([&] { std::ignore = workspace.take<int>(nullptr, 100); }), "nothing");
}

TEST_F(SeveralDevices, ACountSaysWhereItDoesNotBelong) {
  DeviceCount count;
  count.set_zero(nullptr);
  {
    const OnDevice other(1);
    const auto says_so = HasSubstr("DeviceCount of device 0 used while device 1 is current");
    EXPECT_THAT(message([&] { std::ignore = count.data(); }), says_so);
    EXPECT_THAT(message([&] { count.set_zero(nullptr); }), says_so);
    EXPECT_THAT(message([&] { std::ignore = count.get(nullptr); }), says_so);
  }
  EXPECT_EQ(count.get(nullptr), 0);
}

// ---------------------------------------------------------------- stream capture

#ifdef SIMT_EMULATION
// Asks for scratch memory, look-back state and tickets, as a call does.
void use_everything(Workspace& workspace, cudaStream_t stream, std::int64_t count) {
  const auto [ints] = workspace.take<int>(stream, count);
  fill(stream, ints, count, 1);
  std::ignore = workspace.look_back(stream, count);
  std::ignore = workspace.tickets(stream, count);
}

// There are no graphs, but a stream can say that it is captured.
TEST(Workspace, SaysThatItCannotGrowInACapture) {
  const Stream stream;
  const auto said = [&](Workspace& workspace, std::int64_t count) {
    simt::options().capturing = true;
    const std::string message =
        message_of<std::logic_error>([&] { use_everything(workspace, stream, count); });
    simt::options().capturing = false;
    return message;
  };
  const auto cannot_grow = AllOf(HasSubstr("cannot grow while its stream is captured"),
                                 HasSubstr("make the same call once before the capture"));
  Workspace workspace;
  EXPECT_THAT(said(workspace, 100), cannot_grow);
  use_everything(workspace, stream, 100);
  EXPECT_EQ(said(workspace, 100), "nothing");
  EXPECT_EQ(said(workspace, 10), "nothing");
  EXPECT_THAT(said(workspace, 1000), cannot_grow);
  EXPECT_EQ(said(workspace, 100), "nothing") << "what it had is gone";

  Workspace other;
  std::ignore = other.take<int>(stream, 10'000);
  EXPECT_THAT(said(other, 100), cannot_grow) << "of the look-back state";
  std::ignore = other.look_back(stream, 100);
  EXPECT_THAT(said(other, 100), cannot_grow) << "of the tickets";
  std::ignore = other.tickets(stream, 100);
  EXPECT_EQ(said(other, 100), "nothing");
}
#endif

// A warmed workspace, captured once, replayed several times.
TEST(Workspace, ServesAGraph) {
#ifdef SIMT_EMULATION
  GTEST_SKIP() << "needs CUDA graphs, which the executor has not";
#else
  constexpr std::int64_t count = 1000;
  const Stream stream;
  Workspace workspace;
  DeviceBuffer<int> out(count, stream);
  const auto call = [&] {
    const auto [ints] = workspace.take<int>(stream, count);
    fill(stream, ints, count, 7);
    WARPATH_CUDA_CHECK(
        cudaMemcpyAsync(out.data(), ints, count * sizeof(int), cudaMemcpyDeviceToDevice, stream));
  };
  const auto capture = [&](const auto& captured) {
    cudaGraph_t graph = nullptr;
    WARPATH_CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    const std::string said = message_of<std::logic_error>(captured);
    WARPATH_CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
    return std::pair(said, graph);
  };
  const auto [cold_said, cold] = capture(call);
  EXPECT_THAT(cold_said, HasSubstr("cannot grow while its stream is captured"));
  WARPATH_CUDA_CHECK(cudaGraphDestroy(cold));

  call();
  const auto [said, graph] = capture(call);
  EXPECT_EQ(said, "nothing");
  cudaGraphExec_t replay = nullptr;
  WARPATH_CUDA_CHECK(cudaGraphInstantiate(&replay, graph, 0));
  for (int round = 0; round < 3; ++round) {
    fill(stream, out.data(), count, -1);
    WARPATH_CUDA_CHECK(cudaGraphLaunch(replay, stream));
    EXPECT_EQ(on_host(out, stream), std::vector<int>(count, 7));
  }
  WARPATH_CUDA_CHECK(cudaGraphExecDestroy(replay));
  WARPATH_CUDA_CHECK(cudaGraphDestroy(graph));
#endif
}

}  // namespace
}  // namespace warpath::core_test
