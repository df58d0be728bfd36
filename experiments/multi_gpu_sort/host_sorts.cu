// Sorts of host memory, and plain copies of it to the devices and back.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/divide_up.hpp"
#include "harness/device.hpp"
#include "multi_gpu_sort/host_sort.cuh"
#include "multi_gpu_sort/host_sorts.hpp"
#include "multi_gpu_sort/inputs.hpp"
#include "several_devices.cuh"

namespace warpath::experiments::multi_sorts {
namespace {

using Key = std::uint32_t;
using harness::Parameters;
using multi_gpu_sort::HostMemory;

/// An array in page-locked memory.
class Keys {
 public:
  explicit Keys(std::int64_t n)
      : n_(n),
        data_(reinterpret_cast<Key*>(memory_.take(n * static_cast<std::int64_t>(sizeof(Key))))) {}

  [[nodiscard]] std::span<Key> span() { return {data_, static_cast<std::size_t>(n_)}; }
  /// On all cores.
  void copy_from(const Key* keys) {
    in_parts(n_, [&](std::int64_t first, std::int64_t last) {
      std::memcpy(data_ + first, keys + first,
                  static_cast<std::size_t>(last - first) * sizeof(Key));
    });
  }
  void poison() {
    in_parts(n_, [&](std::int64_t first, std::int64_t last) {
      std::memset(data_ + first, 0xA5, static_cast<std::size_t>(last - first) * sizeof(Key));
    });
  }
  /// The first place where it differs; -1 if there is none.
  [[nodiscard]] std::int64_t first_difference(const Key* expected) const {
    std::atomic<std::int64_t> found = n_;
    in_parts(n_, [&](std::int64_t first, std::int64_t last) {
      std::int64_t i = first;
      while (i < last && data_[i] == expected[i]) ++i;
      std::int64_t least = found;
      while (i < last && i < least && !found.compare_exchange_weak(least, i)) {
      }
    });
    return found < n_ ? found.load() : -1;
  }

 private:
  std::int64_t n_;
  multi_gpu_sort::PinnedMemory memory_;
  Key* data_;
};

/// Copies all keys to the devices and back, pieces in turn: both directions are busy, and nothing
/// is done on the devices.
void copy_through(HostMemory& memory, std::span<Key> from, std::span<Key> to) {
  const auto n = static_cast<std::int64_t>(from.size());
  constexpr std::int64_t slots = 3;
  constexpr std::int64_t most_piece = std::int64_t{1} << 23;  // 32 MiB
  const std::int64_t devices = memory.devices().count();
  const std::int64_t piece = std::min(most_piece, divide_up(n, devices));
  std::vector<Key*> places;
  for (int i = 0; i < devices; ++i) {
    auto& lane = memory.lane(i);
    const CurrentDevice current(lane.ordinal());
    const auto [place] = lane.elements.take<Key>(lane.work(), slots * piece);
    places.push_back(place);
    WARPATH_CUDA_CHECK(cudaStreamSynchronize(lane.work()));
  }
  for (std::int64_t begin = 0, turn = 0; begin < n; begin += piece, ++turn) {
    auto& lane = memory.lane(static_cast<int>(turn % devices));
    const CurrentDevice current(lane.ordinal());
    const std::int64_t slot_number = turn / devices % slots;
    const auto& slot = lane.slots[static_cast<std::size_t>(slot_number)];
    Key* const place = places[static_cast<std::size_t>(lane.number)] + slot_number * piece;
    const std::size_t bytes = static_cast<std::size_t>(std::min(piece, n - begin)) * sizeof(Key);
    slot.left.hold(lane.in);
    WARPATH_CUDA_CHECK(
        cudaMemcpyAsync(place, from.data() + begin, bytes, cudaMemcpyHostToDevice, lane.in));
    slot.arrived.record(lane.in);
    slot.arrived.hold(lane.out);
    WARPATH_CUDA_CHECK(
        cudaMemcpyAsync(to.data() + begin, place, bytes, cudaMemcpyDeviceToHost, lane.out));
    slot.left.record(lane.out);
  }
  for (int i = 0; i < devices; ++i) {
    WARPATH_CUDA_CHECK(cudaStreamSynchronize(memory.lane(i).in));
    WARPATH_CUDA_CHECK(cudaStreamSynchronize(memory.lane(i).out));
  }
}

class HostSorts : public harness::Problem {
 public:
  explicit HostSorts(const Parameters& problem)
      : n_(problem.integer("n")), devices_(ordinals_of(problem)), keys_(n_), unsorted_(n_) {
    const std::vector<Key> keys =
        make_keys<Key>(problem.text("distribution"), n_, problem.integer("seed"));
    unsorted_.copy_from(keys.data());
    sorted_ = sorted_keys(keys).keys;
  }

  harness::Execution prepare(const Parameters& point) override {
    const std::string& variant = point.text("variant");
    is_copy_ = variant == "copy_only";
    if (!is_copy_ && variant != "host_sort") {
      throw harness::NotHere("sorts keys that lie on the devices");
    }
    if (is_copy_) {
      return [this](cudaStream_t) {
        is_copy_ = true;
        copy_through(of_copies_, unsorted_.span(), keys_.span());
      };
    }
    const std::int64_t limit = point.integer("device_bytes");
    of_sorts_ = &of_limits_.try_emplace(limit, devices_).first->second;
    return [this, limit, memory = of_sorts_](cudaStream_t) {
      is_copy_ = false;
      of_sorts_ = memory;
      auto last = std::chrono::steady_clock::now();
      steps_ = {{"sort_ms", 0}, {"merge_ms", 0}};
      const auto after_step = [&](multi_gpu_sort::Step step, std::int64_t) {
        const auto now = std::chrono::steady_clock::now();
        steps_[std::string(enum_name(step)) + "_ms"] +=
            std::chrono::duration<double, std::milli>(now - last).count();
        last = now;
      };
      multi_gpu_sort::sort_host_keys(keys_.span(), *memory, {}, {limit, 0, after_step});
    };
  }
  harness::Execution restore() override {
    if (is_copy_) return {};
    return [this](cudaStream_t) { keys_.copy_from(unsorted_.span().data()); };
  }
  void poison(cudaStream_t) override { keys_.poison(); }
  std::optional<std::string> mismatch(const Parameters&, cudaStream_t) override {
    const Key* const expected = is_copy_ ? unsorted_.span().data() : sorted_.data();
    const std::int64_t place = keys_.first_difference(expected);
    if (place < 0) return std::nullopt;
    return "keys[" + std::to_string(place) + "] of " + std::to_string(n_) + " is wrong";
  }
  /// Each key crosses the host's link once in each direction; no ceiling of a device is near.
  [[nodiscard]] harness::Cost cost() const override {
    return {n_, 2 * n_ * static_cast<std::int64_t>(sizeof(Key)), 0, ""};
  }
  [[nodiscard]] std::map<std::string, double> counters() const override {
    const HostMemory& memory = is_copy_ ? of_copies_ : *of_sorts_;
    std::int64_t most = 0;
    for (int i = 0; i < devices_.count(); ++i) most = std::max(most, memory.bytes(i));
    std::map<std::string, double> counters;
    if (!harness::emulated && !is_copy_) counters = steps_;
    counters["workspace_of_a_device_bytes"] = static_cast<double>(most);
    counters["page_locked_bytes"] = static_cast<double>(memory.host_bytes());
    return counters;
  }
  [[nodiscard]] std::map<std::string, std::string> choices() const override {
    if (is_copy_) return {};
    return {{"runs", of_sorts_->host_bytes() > 0 ? "staged" : "resident"}};
  }

 private:
  std::int64_t n_;
  Devices devices_;
  Keys keys_;
  Keys unsorted_;
  std::vector<Key> sorted_;
  /// By the limit of a device's memory. Kept: page-locked memory takes longer to get than to sort.
  std::map<std::int64_t, HostMemory> of_limits_;
  HostMemory of_copies_{devices_};
  // What was prepared, or executed, last:
  bool is_copy_ = false;
  HostMemory* of_sorts_ = nullptr;
  std::map<std::string, double> steps_;  ///< of the last sort
};

}  // namespace

std::unique_ptr<harness::Problem> make_host_sorts(const Parameters& problem) {
  return std::make_unique<HostSorts>(problem);
}

}  // namespace warpath::experiments::multi_sorts
