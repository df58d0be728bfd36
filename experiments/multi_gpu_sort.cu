// The experiments of multi_gpu_sort: inputs, variants, answers and costs.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "device_compare.cuh"
#include "harness/device.hpp"
#include "multi_gpu_sort/host_sorts.hpp"
#include "multi_gpu_sort/inputs.hpp"
#include "multi_gpu_sort/multi_gpu_sort.cuh"
#include "peers/cub_sort.hpp"
#include "scratch.cuh"
#include "several_devices.cuh"
#include "sort_data.cuh"
#include "techniques.hpp"

namespace warpath {
namespace {

using namespace experiments;  // NOLINT(google-build-using-namespace)
using harness::Parameters;

/// Keys, and values (or none) that say where each key was, in equal parts, one a device.
template <class K, bool has_values>
class Sorts : public harness::Problem {
 public:
  explicit Sorts(const Parameters& problem)
      : n_(problem.integer("n")), devices_(ordinals_of(problem)) {
    const std::vector<K> keys =
        multi_sorts::make_keys<K>(problem.text("distribution"), n_, problem.integer("seed"));
    const auto sorted =
        has_values ? multi_sorts::sorted_pairs(keys) : multi_sorts::sorted_keys(keys);
    devices_.for_each([&](int i, cudaStream_t) {
      const std::int64_t begin = n_ * i / devices_.count();
      const std::int64_t end = n_ * (i + 1) / devices_.count();
      parts_.push_back(std::make_unique<OfDevice>(keys, sorted, begin, end));
    });
    devices_.synchronize();
  }

  harness::Execution prepare(const Parameters& point) override {
    memory_ = std::make_unique<multi_gpu_sort::Memory>();
    peers_ = nullptr;
    steps_ = {};
    const std::string& variant = point.text("variant");
    if (variant == "host_sort" || variant == "copy_only") {
      throw harness::NotHere("is of keys in host memory");
    }
    if (variant.starts_with("cub_")) return prepare_peer(variant);
    options_ = {};
    options_.variant = harness::named<multi_gpu_sort::Variant>(point, "variant");
    options_.exchange = harness::named<multi_gpu_sort::Exchange>(point, "exchange");
    if (options_.variant == multi_gpu_sort::Variant::swap_merge &&
        (devices_.count() & (devices_.count() - 1)) != 0) {
      throw harness::NotHere("sorts on 2, 4, 8, ... devices");
    }
    if (options_.variant == multi_gpu_sort::Variant::radix_exchange && has_values) {
      throw harness::NotHere("sorts keys without values");
    }
    if (accesses_others() && !devices_.all_have_access()) {
      throw harness::NotHere("needs GPUs that access each other's memory");
    }
    return sort_by(options_);
  }
  harness::Execution restore() override {
    return [this](cudaStream_t stream) {
      devices_.follow(stream);
      devices_.for_each([&](int i, cudaStream_t) {
        OfDevice& own = of(i);
        devices_.copy(own.keys.data(), i, own.unsorted_keys.data(), i, own.keys.count());
        devices_.copy(own.values.data(), i, own.unsorted_values.data(), i, own.values.count());
      });
      devices_.lead(stream);
    };
  }
  void poison(cudaStream_t stream) override {
    devices_.follow(stream);
    devices_.for_each([&](int i, cudaStream_t own) {
      poison(of(i).keys, own);
      poison(of(i).values, own);
    });
    devices_.lead(stream);
  }
  std::optional<std::string> mismatch(const Parameters&, cudaStream_t stream) override {
    devices_.follow(stream);
    std::optional<std::string> wrong;
    devices_.for_each([&](int i, cudaStream_t own) {
      const std::string part = " of part " + std::to_string(i);
      const K* const keys = peers_ != nullptr ? peers_->sorted.keys : of(i).keys.data();
      if (!wrong) wrong = difference("keys" + part, keys, of(i).expected_keys, own);
      if (!wrong && peers_ == nullptr) {
        wrong = difference("values" + part, of(i).values.data(), of(i).expected_values, own);
      }
    });
    if (!wrong && peers_ == nullptr) measure_steps(stream);
    return wrong;
  }
  /// Reads and writes each key and value once.
  [[nodiscard]] harness::Cost cost() const override {
    return {n_, 2 * n_ * (static_cast<std::int64_t>(sizeof(K)) + (has_values ? 4 : 0))};
  }
  [[nodiscard]] std::map<std::string, double> counters() const override {
    if (peers_ != nullptr) return {};
    std::int64_t most = 0;
    for (int i = 0; i < devices_.count(); ++i) most = std::max(most, memory_->bytes(i));
    std::map<std::string, double> counters = steps_;
    counters["workspace_of_a_device_bytes"] = static_cast<double>(most);
    return counters;
  }

 private:
  /// The options are the execution's own: other variants are prepared before it runs.
  harness::Execution sort_by(const multi_gpu_sort::Options& options) {
    return [this, options](cudaStream_t stream) {
      devices_.follow(stream);
      const auto keys = spans(&OfDevice::keys);
      if constexpr (has_values) {
        const auto values = spans(&OfDevice::values);
        multi_gpu_sort::sort_pairs<K, std::uint32_t>(devices_, keys, values, *memory_, {}, options);
      } else {
        multi_gpu_sort::sort_keys<K>(devices_, keys, *memory_, {}, options);
      }
      devices_.lead(stream);
    };
  }

  /// What a peer on one GPU needs, and where it leaves the keys.
  struct Peer {
    cub_sort::Storage storage = std::make_shared<KeptStorage>();
    cub_sort::Sorted<K> sorted{};
  };
  /// The same execution, which keeps what the peer needs.
  harness::Execution kept(harness::Execution execution) const {
    return [execution = std::move(execution), peer = peers_](cudaStream_t stream) {
      execution(stream);
    };
  }
  harness::Execution prepare_peer(const std::string& variant) {
    if (devices_.count() > 1 || has_values) throw harness::NotHere("sorts keys on one GPU");
    peers_ = std::make_shared<Peer>();
    if constexpr (!harness::emulated && !has_values) {
      const PairArrays<K> arrays{of(0).keys.data(), nullptr, n_};
      peers_->sorted = {arrays.keys, nullptr, n_};
      if (variant == "cub_radix") {
        return kept(cub_sort::radix_keys(arrays, peers_->storage, &peers_->sorted));
      }
      if constexpr (std::is_same_v<K, std::uint32_t>) {
        return kept(cub_sort::keys(arrays, peers_->storage));
      }
    }
    throw harness::NotHere("is called with 32-bit integers only");
  }

  /// Whether kernels read or write the other devices' memory.
  [[nodiscard]] bool accesses_others() const {
    return options_.variant != multi_gpu_sort::Variant::splitter_merge ||
           options_.exchange == multi_gpu_sort::Exchange::direct;
  }
  /// Whether elements cross as the merge reads them, which nobody counts.
  [[nodiscard]] bool merges_from_others() const {
    return devices_.count() > 1 && options_.variant == multi_gpu_sort::Variant::splitter_merge &&
           options_.exchange == multi_gpu_sort::Exchange::direct;
  }
  /// The median time of each step over several sorts, of which none is timed as a whole: all
  /// devices wait for each other after each step. The emulated backend times nothing.
  void measure_steps(cudaStream_t stream) {
    double moved = 0;
    std::map<std::string, std::vector<double>> times;
    for (int i = 0; i < (harness::emulated ? 1 : 5); ++i) {
      moved = 0;
      for (const auto& [step, milliseconds] : steps_of_a_sort(stream, &moved)) {
        times[step].push_back(milliseconds);
      }
    }
    if (!merges_from_others()) steps_["moved_share"] = moved / static_cast<double>(n_);
    if (harness::emulated) return;
    for (auto& [step, of_sorts] : times) {
      const auto middle = of_sorts.begin() + static_cast<std::ptrdiff_t>(of_sorts.size() / 2);
      std::nth_element(of_sorts.begin(), middle, of_sorts.end());
      steps_[step] = *middle;
    }
  }
  /// Milliseconds; adds up what comes to another device.
  std::map<std::string, double> steps_of_a_sort(cudaStream_t stream, double* moved) {
    restore()(stream);
    WARPATH_CUDA_CHECK(cudaStreamSynchronize(stream));
    devices_.synchronize();
    std::map<std::string, double> times;
    for (const auto& [step, name] : enum_table(multi_gpu_sort::Step{})) {
      times[std::string(name) + "_ms"] = 0;
    }
    auto last = std::chrono::steady_clock::now();
    multi_gpu_sort::Options watched = options_;
    watched.after_step = [&](multi_gpu_sort::Step step, std::int64_t elements) {
      devices_.synchronize();
      const auto now = std::chrono::steady_clock::now();
      times[std::string(enum_name(step)) + "_ms"] +=
          std::chrono::duration<double, std::milli>(now - last).count();
      *moved += static_cast<double>(elements);
      last = std::chrono::steady_clock::now();
    };
    sort_by(watched)(stream);
    WARPATH_CUDA_CHECK(cudaStreamSynchronize(stream));
    return times;
  }

  /// What lies on one device, which is current while it is made.
  struct OfDevice {
    OfDevice(const std::vector<K>& all, const multi_sorts::Sorted<K>& sorted, std::int64_t begin,
             std::int64_t end) {
      const auto part = [&](const auto& elements) {
        return std::vector(elements.begin() + begin, elements.begin() + end);
      };
      unsorted_keys = upload(part(all));
      expected_keys = upload(part(sorted.keys));
      if constexpr (has_values) {
        std::vector<std::uint32_t> places(static_cast<std::size_t>(end - begin));
        std::iota(places.begin(), places.end(), static_cast<std::uint32_t>(begin));
        unsorted_values = upload(places);
        expected_values = upload(part(sorted.places));
      }
      keys = DeviceBuffer<K>(end - begin);
      values = DeviceBuffer<std::uint32_t>(has_values ? end - begin : 0);
      WARPATH_CUDA_CHECK(cudaDeviceSynchronize());
    }

    DeviceBuffer<K> keys;
    DeviceBuffer<std::uint32_t> values;
    DeviceBuffer<K> unsorted_keys;
    DeviceBuffer<std::uint32_t> unsorted_values;
    DeviceBuffer<K> expected_keys;
    DeviceBuffer<std::uint32_t> expected_values;
  };
  [[nodiscard]] OfDevice& of(int i) { return *parts_[static_cast<std::size_t>(i)]; }
  template <class T>
  [[nodiscard]] std::vector<DeviceSpan<T>> spans(DeviceBuffer<T> OfDevice::*buffer) {
    std::vector<DeviceSpan<T>> all;
    for (const auto& part : parts_) {
      all.push_back({((*part).*buffer).data(), ((*part).*buffer).count()});
    }
    return all;
  }
  template <class T>
  static void poison(DeviceBuffer<T>& buffer, cudaStream_t stream) {
    if (buffer.count() == 0) return;
    WARPATH_CUDA_CHECK(cudaMemsetAsync(
        buffer.data(), 0xA5, static_cast<std::size_t>(buffer.count()) * sizeof(T), stream));
  }

  std::int64_t n_;
  Devices devices_;
  std::vector<std::unique_ptr<OfDevice>> parts_;
  std::unique_ptr<multi_gpu_sort::Memory> memory_ = std::make_unique<multi_gpu_sort::Memory>();
  multi_gpu_sort::Options options_;      ///< of the variant that was prepared last
  std::map<std::string, double> steps_;  ///< milliseconds of each, and what was moved
  std::shared_ptr<Peer>
      peers_;  ///< of the peer that was prepared last, if none of ours was after it
};

std::unique_ptr<harness::Problem> make_sorts(const Parameters& problem) {
  const std::string& type = problem.text("type");
  if (problem.text("place") == "host") {
    if (problem.text("operation") == "pairs" || type != "uint32") {
      throw std::invalid_argument("place is host: expected operation keys, and type uint32");
    }
    return multi_sorts::make_host_sorts(problem);
  }
  if (problem.text("operation") == "pairs") {
    if (type == "float") return harness::make_problem<Sorts<float, true>>(problem);
    throw std::invalid_argument("type is " + type + ": of pairs, expected float");
  }
  if (type == "uint32") return harness::make_problem<Sorts<std::uint32_t, false>>(problem);
  if (type == "uint64") return harness::make_problem<Sorts<std::uint64_t, false>>(problem);
  return harness::make_problem<Sorts<float, false>>(problem);
}

/// What is sorted, the same before and after, and the copy of our workspace: all on one device, if
/// devices are virtual.
std::int64_t device_bytes(const Parameters& problem) {
  const std::int64_t size = problem.text("type") == "uint64" ? 8 : 4;
  const std::int64_t value = problem.text("operation") == "pairs" ? 4 : 0;
  const std::int64_t sharing = problem.on("virtual") ? 1 : problem.integer("devices");
  if (problem.text("place") == "host") {
    // Chunks, of which there are at least 32 of large arrays, stay there as far as they fit.
    return (problem.integer("n") / sharing * 5 / 4 + (1 << 22)) * size;
  }
  return problem.integer("n") / sharing * 4 * (size + value) + (1 << 20);
}

}  // namespace

harness::Technique multi_gpu_sort_technique() {
  using namespace harness;        // NOLINT(google-build-using-namespace)
  using multi_gpu_sort::Variant;  // not the harness's
  Technique technique = {
      .name = "multi_gpu_sort",
      .summary = "stable sort of keys and pairs that lie on several GPUs",
      .source = "J. Robinson, KdTreeGPU, GitHub: Two GPU Sort",
      .parameters =
          {choice_parameter("operation", {"keys", "pairs"},
                            "what is sorted: keys, or keys with a 32-bit value each"),
           integer_parameter("n", 1 << 20, 1, 4294967295, "keys, of all devices together"),
           integer_parameter("devices", 2, 1, 16, "among which the keys lie in equal parts"),
           switch_parameter("virtual", false, "whether all devices are the first GPU"),
           choice_parameter("place", {"devices", "host"},
                            "where the keys lie: on the devices, or in page-locked host memory"),
           choice_parameter("type", {"uint32", "float", "uint64"}, "of a key; pairs have float"),
           choice_parameter("distribution", multi_sorts::distributions(),
                            "of the keys: any numbers; in order, and the reverse; all equal, half "
                            "of them equal; Zipf's, of a million numbers"),
           seed_parameter("of the input"),
           of_variants(choice_parameter("exchange", multi_gpu_sort::Exchange::direct,
                                        "how elements come to another device")),
           of_variants(integer_parameter(
               "device_bytes", 0, 0, std::int64_t{1} << 50,
               "of each device that a sort of host memory may use; 0: what is free"))},
      .variants = variants_of<Variant>(
          {{Variant::swap_merge, Role::technique,
            "the source: halves swap what belongs to the other one, and merge"},
           {Variant::splitter_merge, Role::technique,
            "each device gets its slice of all sorted parts, and merges it"},
           {Variant::radix_exchange, Role::technique,
            "numbers go to their devices first, and are sorted there"}},
          {{"host_sort", Role::technique, Runs::anywhere,
            "keys in host memory: chunks are sorted, and slices of them merged"},
           {"copy_only", Role::naive, Runs::anywhere,
            "host memory to the devices and back, both directions at once; nothing is sorted"},
           {.name = "nccl_ranks",
            .role = Role::technique,
            .runs = Runs::elsewhere,
            .summary = "splitter_merge over NCCL, a process a GPU, started by mpirun",
            .program = "experiments/peers/nccl_ranks.py"},
           {"cub_radix", Role::peer, Runs::gpu, "CUB DeviceRadixSort on one GPU"},
           {"cub_merge", Role::peer, Runs::gpu, "CUB DeviceMergeSort on one GPU"}}),
      .device_bytes = device_bytes,
      .make_problem = make_sorts,
      .uses_links = [](const Parameters& problem) {
        return problem.integer("devices") > 1 && !problem.on("virtual");
      }};
  // They ask for sizes, or put more in several streams than is enqueued ahead.
  for (harness::Variant& variant : technique.variants) {
    variant.waits_for_gpu = variant.runs == Runs::anywhere;
  }
  return technique;
}

}  // namespace warpath
