// The partition of elements of one type on the device, judged by the oracle: what elements.hpp
// hides from the tests.
#pragma once

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "../device_vectors.cuh"
#include "../guarded.cuh"
#include "../stream.cuh"
#include "elements.hpp"
#include "partitioners/oracle.hpp"
#include "partitioners/partitioners.cuh"

namespace warpath::partitioners::test {

/// An element of which all bytes matter, and the lowest two bits say which class it is in.
template <std::size_t Size, std::size_t Alignment>
struct alignas(Alignment) Element {
  unsigned char bytes[Size];
  bool operator==(const Element& other) const { return std::memcmp(bytes, other.bytes, Size) == 0; }
};

/// Whether an element is in a class.
template <class T>
struct IsOfClass {
  int its_class;
  __host__ __device__ bool operator()(const T& element) const {
    return (element.bytes[0] & 3) == its_class;
  }
};

inline int class_of(Share share, std::int64_t i, std::int64_t n, std::mt19937_64& random) {
  switch (share) {
    case Share::nothing:
      return 2;
    case Share::everything:
      return 0;
    case Share::middle:
      return 1;
    case Share::half:
      return static_cast<int>(random() % 4 % 3);  // the first class has half of them
    case Share::only_first:
      return i == 0 ? 0 : 2;
    case Share::only_last:
      return i == n - 1 ? 0 : 2;
    default:
      return static_cast<int>(i % 3);
  }
}

template <class T>
std::vector<T> make_elements(const PartitionCase& c) {
  std::mt19937_64 random(c.seed);
  std::vector<T> elements(static_cast<std::size_t>(c.n));
  std::int64_t run_end = 0;
  int its_class = 0;
  for (std::int64_t i = 0; i < c.n; ++i) {
    if (c.share != Share::runs) {
      its_class = class_of(c.share, i, c.n, random);
    } else if (i == run_end) {
      its_class = static_cast<int>(random() % 3);
      run_end += 1 + static_cast<std::int64_t>(random() % 9000);
    }
    T& element = elements[static_cast<std::size_t>(i)];
    for (unsigned char& byte : element.bytes) byte = static_cast<unsigned char>(random() >> 40);
    element.bytes[0] = static_cast<unsigned char>((element.bytes[0] & ~3) | its_class);
  }
  return elements;
}

/// What a partition leaves: its outputs, as far as they are written, and its counts.
template <class T>
struct Outputs {
  std::vector<std::vector<T>> of_class;
  std::vector<std::int64_t> counts;
  bool operator==(const Outputs&) const = default;
};

template <class T>
Outputs<T> expected_outputs(Form form, const std::vector<T>& in) {
  const IsOfClass<T> is_first{0};
  if (form == Form::three_way) {
    auto classes = oracle::partition_three_way(in, is_first, IsOfClass<T>{1});
    return {classes,
            {static_cast<std::int64_t>(classes[0].size()),
             static_cast<std::int64_t>(classes[1].size())}};
  }
  auto [selected, rest] = oracle::partition(in, is_first);
  const std::vector<std::int64_t> counts = {static_cast<std::int64_t>(selected.size())};
  if (form == Form::two_outputs) return {{selected, rest}, counts};
  selected.insert(selected.end(), rest.begin(), rest.end());
  return {{selected}, counts};
}

/// By the public functions, or as they do it by the kernel that a case asks for.
template <class T>
class Call {
 public:
  Call(detail::PartitionPath path, DeviceSpan<const T> in, Workspace& workspace,
       cudaStream_t stream)
      : path_(path), in_(in), workspace_(workspace), stream_(stream) {}

  void two_outputs(DeviceSpan<T> selected, DeviceSpan<T> rest, DeviceCount& count) {
    if (is_public()) return partition(in_, selected, rest, is_first, count, workspace_, stream_);
    detail::run_partition<T>(two, in_, {{selected.data, rest.data}, {count.data()}, nullptr},
                             workspace_, stream_, path_);
  }
  void one_output(DeviceSpan<T> out, DeviceCount& count) {
    if (is_public()) return partition(in_, out, is_first, count, workspace_, stream_);
    const std::int64_t* selected = detail::run_count<T>(two, in_, workspace_, stream_);
    detail::run_partition<T>(two, in_, {{out.data, out.data}, {count.data()}, selected}, workspace_,
                             stream_, path_);
  }
  void three_way(DeviceSpan<T> first, DeviceSpan<T> second, DeviceSpan<T> rest,
                 DeviceCount& first_count, DeviceCount& second_count) {
    if (is_public()) {
      return partition_three_way(in_, first, second, rest, is_first, is_second, first_count,
                                 second_count, workspace_, stream_);
    }
    detail::run_partition<T>(
        detail::ThreeClasses<IsOfClass<T>, IsOfClass<T>>{is_first, is_second}, in_,
        {{first.data, second.data, rest.data}, {first_count.data(), second_count.data()}, nullptr},
        workspace_, stream_, path_);
  }

 private:
  [[nodiscard]] bool is_public() const {
    return path_ == detail::PartitionPath::automatic || in_.count == 0;
  }
  static constexpr IsOfClass<T> is_first{0};
  static constexpr IsOfClass<T> is_second{1};
  static constexpr detail::TwoClasses<IsOfClass<T>> two{is_first};

  detail::PartitionPath path_;
  DeviceSpan<const T> in_;
  Workspace& workspace_;
  cudaStream_t stream_;
};

template <class T>
Outputs<T> run(const PartitionCase& c, const std::vector<T>& in) {
  const Stream own_stream;
  const cudaStream_t stream = c.seed % 4 == 0 ? nullptr : static_cast<cudaStream_t>(own_stream);
  Workspace workspace;
  // Nothing beside the input may be read: the sanitizers see it.
  std::vector<T> padded(static_cast<std::size_t>(c.in_offset));
  padded.insert(padded.end(), in.begin(), in.end());
  const DeviceBuffer<T> memory = on_device(padded, stream);
  Call<T> call(c.path, {memory.data() + c.in_offset, c.n}, workspace, stream);
  Guarded<T> out(c.n, c.out_offset);
  Guarded<T> second(c.n, c.out_offset * 3 % 5);
  Guarded<T> rest(c.n);
  DeviceCount count(stream);
  DeviceCount second_count(stream);
  WARPATH_CUDA_CHECK(cudaDeviceSynchronize());  // what fills the outputs runs in another stream
  if (c.form == Form::two_outputs) {
    call.two_outputs(out.span(), rest.span(), count);
    const std::int64_t selected = count.get(stream);
    return {{out.get(selected), rest.get(c.n - selected)}, {selected}};
  }
  if (c.form == Form::one_output) {
    call.one_output(out.span(), count);
    return {{out.get()}, {count.get(stream)}};
  }
  call.three_way(out.span(), second.span(), rest.span(), count, second_count);
  const std::int64_t firsts = count.get(stream);
  const std::int64_t seconds = second_count.get(stream);
  return {{out.get(firsts), second.get(seconds), rest.get(c.n - firsts - seconds)},
          {firsts, seconds}};
}

template <class T>
testing::AssertionResult check(const PartitionCase& c) {
  const std::vector<T> in = make_elements<T>(c);
  if (run(c, in) == expected_outputs(c.form, in)) return testing::AssertionSuccess();
  return testing::AssertionFailure()
         << "wrong: form " << static_cast<int>(c.form) << ", path " << static_cast<int>(c.path)
         << ", " << sizeof(T) << " bytes, n = " << c.n << ", share " << static_cast<int>(c.share)
         << ", seed " << c.seed << ", offsets " << c.in_offset << " and " << c.out_offset;
}

template <std::size_t Size, std::size_t Alignment = 1>
constexpr ElementKind kind_of() {
  using T = Element<Size, Alignment>;
  return {Size, detail::PartitionShape<sizeof(T)>::tile_items,
          detail::PipelineShape<sizeof(T)>::tile_items, check<T>};
}

}  // namespace warpath::partitioners::test
