// The emulated backend's ceilings: this host's memory, one thread, as the std:: baselines use it.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>

#include "harness/ceilings.hpp"
#include "harness/links.hpp"

namespace warpath::harness {
namespace {

double best_seconds(const std::function<void()>& work) {
  double best = 1e9;
  for (int i = 0; i < 5; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    best = std::min(best, took.count());
  }
  return best;
}

}  // namespace

Ceilings measure_ceilings(GpuClock&, bool quick) {
  Ceilings ceilings;
  const std::vector<int> exponents = quick ? std::vector<int>{24} : std::vector<int>{20, 24, 26};
  for (const int exponent : exponents) {
    const std::int64_t elements = std::int64_t{1} << exponent;
    const std::int64_t bytes = elements * 4;
    std::vector<std::uint32_t> from(static_cast<std::size_t>(elements), 1);
    std::vector<std::uint32_t> to(static_cast<std::size_t>(elements), 2);
    const double copied =
        best_seconds([&] { std::memcpy(to.data(), from.data(), static_cast<std::size_t>(bytes)); });
    ceilings.copy.push_back({elements, 2 * bytes, 2e-9 * static_cast<double>(bytes) / copied});
    // The value changes with the round, so that no round can be left out.
    std::uint32_t value = 3;
    const double filled = best_seconds([&] { std::fill(to.begin(), to.end(), ++value); });
    ceilings.fill.push_back({elements, bytes, 1e-9 * static_cast<double>(bytes) / filled});
  }
  return ceilings;
}

Links measure_links() {
  Links links;
  links.not_measured = "the emulated backend times nothing";
  return links;
}

}  // namespace warpath::harness
