#include "judge.hpp"

#include <algorithm>

namespace warpath::warp_compaction::test {

Bytes poisoned(std::size_t count) {
  Bytes bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = poison(i);
  return bytes;
}

namespace {

std::string hex(const unsigned char* bytes, std::size_t count) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text = "0x";
  for (std::size_t i = count; i-- > 0;) {
    text += digits[bytes[i] / 16];
    text += digits[bytes[i] % 16];
  }
  return text;
}

/// Empty, or the first thing that is wrong with a column.
std::string find_difference(const Image& image, const Column& expected) {
  Bytes wanted = poisoned(image.bytes.size());
  if (image.begin + expected.bytes.size() > wanted.size()) return "more kept than it can hold";
  std::copy(expected.bytes.begin(), expected.bytes.end(),
            wanted.begin() + static_cast<std::ptrdiff_t>(image.begin));
  const auto [is, should] = std::mismatch(image.bytes.begin(), image.bytes.end(), wanted.begin());
  if (is == image.bytes.end()) return {};
  const auto at = static_cast<std::size_t>(is - image.bytes.begin());
  const std::size_t end = image.begin + expected.bytes.size();
  if (at < image.begin) {
    return "written " + std::to_string(image.begin - at) + " bytes before its begin";
  }
  if (at >= end) return "written " + std::to_string(at - end) + " bytes after the last kept";
  const std::size_t element = (at - image.begin) / expected.element_bytes;
  const std::size_t from = image.begin + element * expected.element_bytes;
  return "element " + std::to_string(element) + " is " +
         hex(image.bytes.data() + from, expected.element_bytes) + ", expected " +
         hex(wanted.data() + from, expected.element_bytes);
}

}  // namespace

testing::AssertionResult judge(const Result& result, const Expected& expected) {
  if (result.kept != expected.kept()) {
    return testing::AssertionFailure()
           << "kept " << result.kept << ", expected " << expected.kept();
  }
  if (result.first_disorder != expected.first_disorder) {
    return testing::AssertionFailure() << "first disorder at " << result.first_disorder
                                       << ", expected " << expected.first_disorder;
  }
  if (result.columns.size() != expected.columns.size()) {
    return testing::AssertionFailure()
           << result.columns.size() << " columns, expected " << expected.columns.size();
  }
  for (std::size_t i = 0; i < result.columns.size(); ++i) {
    const std::string difference = find_difference(result.columns[i], expected.columns[i]);
    if (!difference.empty()) {
      return testing::AssertionFailure() << "column " << i << ": " << difference;
    }
  }
  if (!result.inputs_intact) return testing::AssertionFailure() << "an input was written";
  return testing::AssertionSuccess();
}

}  // namespace warpath::warp_compaction::test
