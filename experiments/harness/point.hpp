// One point of a sweep: a variant with all of its parameters, and its names.
#pragma once

#include <string>

#include "harness/technique.hpp"

namespace warpath::harness {

struct Point {
  const Technique* technique = nullptr;
  const Variant* variant = nullptr;
  std::string experiment;
  Parameters parameters;  ///< every parameter of the technique, and `variant`

  /// "<technique>/<experiment>/variant:x/n:65536/...": all parameters in the technique's order, so
  /// that a name depends on nothing but the point.
  [[nodiscard]] std::string name() const;
  /// What follows the experiment, without the parameters that are not of interest to people at
  /// their default.
  [[nodiscard]] std::string short_name() const;
  /// Points of one group share a problem: technique, experiment and the parameters that shape the
  /// problem.
  [[nodiscard]] std::string group() const;
  /// The parameters that shape the problem.
  [[nodiscard]] Parameters problem() const;
  /// All parameters but `variant`.
  [[nodiscard]] Parameters settings() const;
};

}  // namespace warpath::harness
