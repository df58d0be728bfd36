// Conditions on a point, as `exclude` and `where` have them: {"variant": "cub", "n": {"gt":
// 67108864}}.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "harness/node.hpp"

namespace warpath::harness {

/// `variant` as a parameter among the others, whose choices are the technique's variants.
Parameter variant_parameter(const Technique& technique);
/// The parameter or `variant`; throws UserError that names the nearest known one.
Parameter find_parameter(const Technique& technique, const std::string& name, const Node& where);

enum class Relation { eq, lt, le, gt, ge, in };
constexpr auto enum_table(Relation) {
  return std::to_array<EnumName<Relation>>({{Relation::eq, "eq"},
                                            {Relation::lt, "lt"},
                                            {Relation::le, "le"},
                                            {Relation::gt, "gt"},
                                            {Relation::ge, "ge"},
                                            {Relation::in, "in"}});
}

struct Clause {
  std::string name;
  Relation relation = Relation::eq;
  std::vector<Value> operands;  ///< one, or those of `in`
};

/// All clauses hold. Without a clause it holds for every point.
using Condition = std::vector<Clause>;

/// Throws UserError for an unknown parameter, relation or value.
Condition read_condition(const Node& node, const Technique& technique);
bool holds(const Condition& condition, const Parameters& point);
/// Whether the condition says anything of `name`.
bool mentions(const Condition& condition, const std::string& name);

}  // namespace warpath::harness
