// What every test of a compaction needs: a case, memory that is watched, a stream and a workspace.
#pragma once

#include <cuda_runtime.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "../stream.cuh"
#include "core/buffer.cuh"
#include "distributions.hpp"
#include "judge.hpp"
#include "warp_compaction/variant.hpp"

namespace warpath::warp_compaction::test {

/// Every way to do a compaction.
struct Way {
  const char* name;
  Options options;
};
inline constexpr std::array single_pass_ways = {
    Way{"single_pass small", {Variant::single_pass, true, Path::small}},
    Way{"single_pass medium", {Variant::single_pass, true, Path::medium}},
    Way{"single_pass plain", {Variant::single_pass, true, Path::plain}},
    Way{"single_pass pipeline", {Variant::single_pass, true, Path::pipeline}},
    Way{"single_pass automatic", {Variant::single_pass, true, Path::automatic}},
};
constexpr Way single_pass_by(Path path) {
  for (const Way& way : single_pass_ways) {
    if (way.options.path == path) return way;
  }
  throw "no way takes this path";
}
inline constexpr std::array two_pass_ways = {
    Way{"two_pass_copy, coalescing", {Variant::two_pass_copy, true}},
    Way{"two_pass_copy", {Variant::two_pass_copy, false}},
    Way{"two_pass_recount, coalescing", {Variant::two_pass_recount, true}},
    Way{"two_pass_recount", {Variant::two_pass_recount, false}},
};

/// One call. The seed decides everything else about its input, and the stream.
struct Case {
  Way way = single_pass_ways[0];
  std::int64_t n = 0;
  Distribution distribution = Distribution::uniform;
  std::uint64_t seed = 0;
  int in_offset = 0;   ///< elements between aligned memory and an input's begin
  int out_offset = 0;  ///< the same for the outputs
};
inline std::string describe(const Case& c) {
  return std::string(c.way.name) + ", n = " + std::to_string(c.n) + ", " +
         to_string(c.distribution) + ", seed " + std::to_string(c.seed) + ", offsets " +
         std::to_string(c.in_offset) + " and " + std::to_string(c.out_offset);
}

/// One workspace for many calls. Three of four go to a stream of their own, the others to the
/// default one; each ends before the next begins.
struct Laboratory {
  Stream own_stream;
  Workspace workspace;

  [[nodiscard]] cudaStream_t stream(const Case& c) const {
    return c.seed % 4 == 0 ? nullptr : static_cast<cudaStream_t>(own_stream);
  }
};

/// A copy of `elements` on the device, `offset` elements after aligned memory, which ends with the
/// last of them. `elements` must outlive it.
template <class T>
class Input {
 public:
  Input(const std::vector<T>& elements, int offset, cudaStream_t stream)
      : elements_(elements),
        offset_(offset),
        stream_(stream),
        buffer_(static_cast<std::int64_t>(elements.size()) + offset, stream) {
    if (bytes() == 0) return;
    WARPATH_CUDA_CHECK(
        cudaMemcpyAsync(data(), elements.data(), bytes(), cudaMemcpyHostToDevice, stream));
  }
  [[nodiscard]] DeviceSpan<const T> span() const {
    return {data(), static_cast<std::int64_t>(elements_.size())};
  }
  /// Whether it is still what was copied. Blocks the host.
  [[nodiscard]] bool is_intact() const {
    if (bytes() == 0) return true;
    Bytes now(bytes());
    WARPATH_CUDA_CHECK(
        cudaMemcpyAsync(now.data(), data(), bytes(), cudaMemcpyDeviceToHost, stream_));
    WARPATH_CUDA_CHECK(cudaStreamSynchronize(stream_));
    return std::memcmp(now.data(), elements_.data(), bytes()) == 0;
  }

 private:
  [[nodiscard]] T* data() { return buffer_.data() + offset_; }
  [[nodiscard]] const T* data() const { return buffer_.data() + offset_; }
  [[nodiscard]] std::size_t bytes() const { return elements_.size() * sizeof(T); }

  const std::vector<T>& elements_;
  int offset_;
  cudaStream_t stream_;
  DeviceBuffer<T> buffer_;
};

/// Room for `count` elements, poisoned, between guard zones.
template <class T>
class Output {
 public:
  Output(std::int64_t count, int offset, cudaStream_t stream)
      : count_(count),
        begin_(guard_bytes + static_cast<std::size_t>(offset) * sizeof(T)),
        stream_(stream),
        poison_(poisoned(begin_ + static_cast<std::size_t>(count) * sizeof(T) + guard_bytes)),
        buffer_(static_cast<std::int64_t>(poison_.size()), stream) {
    WARPATH_CUDA_CHECK(cudaMemcpyAsync(buffer_.data(), poison_.data(), poison_.size(),
                                       cudaMemcpyHostToDevice, stream));
  }
  [[nodiscard]] DeviceSpan<T> span() {
    return {reinterpret_cast<T*>(buffer_.data() + begin_), count_};
  }
  /// All of it, with the guard zones. Blocks the host.
  [[nodiscard]] Image image() const {
    Image image{Bytes(poison_.size()), begin_};
    WARPATH_CUDA_CHECK(cudaMemcpyAsync(image.bytes.data(), buffer_.data(), poison_.size(),
                                       cudaMemcpyDeviceToHost, stream_));
    WARPATH_CUDA_CHECK(cudaStreamSynchronize(stream_));
    return image;
  }
  [[nodiscard]] bool is_untouched() const { return image().bytes == poison_; }

 private:
  std::int64_t count_;
  std::size_t begin_;
  cudaStream_t stream_;
  Bytes poison_;
  DeviceBuffer<unsigned char> buffer_;
};

}  // namespace warpath::warp_compaction::test
