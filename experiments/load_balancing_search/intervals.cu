// interval_expand and interval_move, what they are built on, and what one would do without them.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <stdexcept>

#include "array_problem.cuh"
#include "core/divide_up.hpp"
#include "harness/device.hpp"
#include "load_balancing_search/intervals.cuh"
#include "load_balancing_search/intervals.hpp"
#include "load_balancing_search/oracle.hpp"
#include "peers/cub_batched.hpp"
#include "peers/thrust_search.hpp"
#include "scratch.cuh"

namespace warpath::experiments {
namespace {

using harness::Parameters;
namespace oracle = load_balancing_search::oracle;

template <int Bytes>
struct alignas(Bytes % 16 == 0 ? 16 : 4) Words {
  std::uint32_t words[Bytes / 4];
};

template <class T>
struct ValueOfObject {
  const T* values;
  T* out;
  __device__ void operator()(std::int64_t item, std::int64_t object, std::int64_t) const {
    out[item] = values[object];
  }
};

template <class T>
struct MovedItem {
  const std::int32_t* gather;
  const std::int32_t* scatter;
  const T* in;
  T* out;
  __device__ void operator()(std::int64_t, std::int64_t interval, std::int64_t rank) const {
    out[scatter[interval] + rank] = in[gather[interval] + rank];
  }
};

/// Elements whose bytes tell their index.
template <class T>
std::vector<T> numbered_elements(std::size_t count) {
  std::vector<T> elements(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t bits[2];
    bits[0] = (i + 1) * 0x9E3779B97F4A7C15u;
    bits[0] ^= bits[0] >> 31;
    bits[1] = bits[0] * 0xBF58476D1CE4E5B9u;
    std::memcpy(&elements[i], bits, sizeof(T));
  }
  return elements;
}

/// Where each interval begins, if they follow one another with no gap: in their own order, or in
/// steps of the golden ratio, which leave no neighbours together.
std::vector<std::int32_t> interval_starts(const std::vector<std::int32_t>& counts,
                                          bool is_permuted) {
  const std::size_t intervals = counts.size();
  std::size_t step = 1;
  if (is_permuted) {
    step = std::max<std::size_t>(1, intervals * 618 / 1000);
    while (std::gcd(step, intervals) != 1) ++step;
  }
  std::vector<std::int32_t> starts(intervals);
  std::int32_t place = 0;
  for (std::size_t k = 0, i = 0; k < intervals; ++k, i = (i + step) % intervals) {
    starts[i] = place;
    place += counts[i];
  }
  return starts;
}

template <class T>
__global__ void gather_kernel(const std::int32_t* numbers, std::int64_t items, const T* values,
                              T* out) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < items;
       i += stride) {
    out[i] = values[numbers[i]];
  }
}

/// The result is an array of words, whatever an element has: the bytes after the last one stay as
/// they are poisoned.
template <class T>
class Intervals : public ArrayProblem<std::uint32_t> {
 public:
  Intervals(const Parameters& problem, const std::vector<std::int32_t>& counts)
      : ArrayProblem("word", divide_up(problem.integer("n") * bytes_of_element, 4)),
        is_move_(problem.text("operation") == "interval_move"),
        items_(problem.integer("n")),
        objects_(static_cast<std::int64_t>(counts.size())),
        scan_(upload(oracle::exclusive_scan(counts))) {
    const auto in = numbered_elements<T>(is_move_ ? static_cast<std::size_t>(items_)
                                                  : static_cast<std::size_t>(objects_));
    in_ = upload(in);
    if (is_move_) {
      const auto gather = interval_starts(counts, problem.text("order") == "gathered");
      const auto scatter = interval_starts(counts, false);
      std::vector<T> out(in.size());
      oracle::interval_move(counts, gather, scatter, in, out);
      expect_elements(out);
      gather_ = upload(gather);
      scatter_ = upload(scatter);
      counts_ = upload(counts);
    } else {
      expect_elements(oracle::interval_expand(counts, in));
      numbers_ = DeviceBuffer<std::int32_t>(items_);
    }
  }

  harness::Execution prepare(const Parameters& point) override {
    const std::string& variant = point.text("variant");
    scratch_ = {};
    if (is_move_) return prepare_move(variant);
    if (variant == "interval_expand") {
      return [this](cudaStream_t stream) {
        load_balancing_search::interval_expand(items_, scan_.span(), in_.span(), out(),
                                               *scratch_.workspace, stream);
      };
    }
    if (variant == "for_each_work_item") {
      return for_each(ValueOfObject<T>{in_.data(), out().data});
    }
    if (variant == "search_alone") return search();
    if constexpr (!harness::emulated) {
      if (variant == "search_then_gather") {
        return [find = search(),
                gather = thrust_search::gather(bytes_of_element, numbers_.data(), items_,
                                               in_.data(), out().data)](cudaStream_t stream) {
          find(stream);
          gather(stream);
        };
      }
    }
    throw harness::NotHere(variant + " expands no values");
  }

  void poison(cudaStream_t stream) override {
    ArrayProblem::poison(stream);
    if (is_move_) return;
    WARPATH_CUDA_CHECK(cudaMemsetAsync(
        numbers_.data(), 0, static_cast<std::size_t>(items_) * sizeof(std::int32_t), stream));
  }

  std::optional<std::string> mismatch(const Parameters& point, cudaStream_t stream) override {
    if (point.text("variant") == "search_alone") {
      // What it found is right if it leads to the right values.
      launch({1024, 256, 0, stream}, gather_kernel<T>, numbers_.data(), items_, in_.data(),
             out().data);
    }
    return ArrayProblem::mismatch(point, stream);
  }

  [[nodiscard]] harness::Cost cost() const override {
    const std::int64_t of_object = is_move_ ? 3 * 4 : 4 + bytes_of_element;
    return {items_, items_ * bytes_of_element * (is_move_ ? 2 : 1) + objects_ * of_object, 0,
            "copy"};
  }
  [[nodiscard]] std::map<std::string, double> counters() const override {
    return {{"objects_count", static_cast<double>(objects_)},
            {"workspace_bytes", static_cast<double>(scratch_.bytes())}};
  }

 private:
  static constexpr int bytes_of_element = static_cast<int>(sizeof(T));

  harness::Execution prepare_move(const std::string& variant) {
    if (variant == "interval_move") {
      return [this](cudaStream_t stream) {
        load_balancing_search::interval_move(items_, scan_.span(), gather_.span(), scatter_.span(),
                                             in_.span(), out(), *scratch_.workspace, stream);
      };
    }
    if (variant == "for_each_work_item") {
      return for_each(MovedItem<T>{gather_.data(), scatter_.data(), in_.data(), out().data});
    }
    if constexpr (!harness::emulated) {
      const cub_batched::Intervals intervals{gather_.data(), scatter_.data(), counts_.data(),
                                             objects_};
      if (variant == "cub_batched_copy") {
        return cub_batched::copy(bytes_of_element, in_.data(), out().data, intervals,
                                 scratch_.peer);
      }
      if (variant == "cub_batched_memcpy") {
        return cub_batched::memory_copy(bytes_of_element, in_.data(), out().data, intervals,
                                        scratch_.peer);
      }
    }
    throw harness::NotHere(variant + " moves no intervals");
  }

  template <class Body>
  harness::Execution for_each(const Body& body) {
    return [this, body](cudaStream_t stream) {
      load_balancing_search::for_each_work_item(items_, scan_.span(), body, *scratch_.workspace,
                                                stream);
    };
  }
  harness::Execution search() {
    return [this](cudaStream_t stream) {
      load_balancing_search::load_balancing_search(items_, scan_.span(), numbers_.span(),
                                                   *scratch_.workspace, stream);
    };
  }

  DeviceSpan<T> out() { return {reinterpret_cast<T*>(result_.data()), items_}; }

  void expect_elements(const std::vector<T>& elements) {
    std::vector<std::uint32_t> words(static_cast<std::size_t>(result_.count()), 0xA5A5A5A5u);
    std::memcpy(words.data(), elements.data(), elements.size() * sizeof(T));
    expect(words);
  }

  bool is_move_;
  std::int64_t items_;
  std::int64_t objects_;
  DeviceBuffer<std::int32_t> scan_;
  DeviceBuffer<T> in_;  ///< values, or what is moved
  DeviceBuffer<std::int32_t> gather_;
  DeviceBuffer<std::int32_t> scatter_;
  DeviceBuffer<std::int32_t> counts_;
  DeviceBuffer<std::int32_t> numbers_;  ///< of each work item's object
  Scratch scratch_;
};

}  // namespace

std::unique_ptr<harness::Problem> make_intervals(const Parameters& problem,
                                                 const std::vector<std::int32_t>& counts) {
  switch (problem.integer("element_bytes")) {
    case 1:
      return std::make_unique<Intervals<std::uint8_t>>(problem, counts);
    case 4:
      return std::make_unique<Intervals<std::uint32_t>>(problem, counts);
    case 8:
      return std::make_unique<Intervals<std::uint64_t>>(problem, counts);
    case 12:
      return std::make_unique<Intervals<Words<12>>>(problem, counts);
    case 16:
      return std::make_unique<Intervals<Words<16>>>(problem, counts);
    default:
      throw std::invalid_argument("element_bytes is " +
                                  std::to_string(problem.integer("element_bytes")) +
                                  ": expected 1, 4, 8, 12 or 16");
  }
}

std::int64_t intervals_device_bytes(const Parameters& problem, std::int64_t objects) {
  const std::int64_t n = problem.integer("n");
  const std::int64_t bytes = problem.integer("element_bytes");
  // Inputs, the result, and what is expected; where each interval is, and the peers' storage.
  return 3 * bytes * n + 4 * n + (bytes + 48) * objects + (1 << 26);
}

}  // namespace warpath::experiments
