#include "harness/condition.hpp"

#include <algorithm>

#include "harness/nearest.hpp"

namespace warpath::harness {
namespace {

Clause read_clause(const std::string& name, const Node& node, const Technique& technique) {
  const Parameter parameter = find_parameter(technique, name, node);
  if (!node.is_object()) return {name, Relation::eq, {read_value(node, parameter)}};
  if (node.keys().size() != 1) node.expected("one relation, like {\"gt\": 1024}");
  const std::string relation = node.keys().front();
  Clause clause{name, Relation::eq, {}};
  const std::vector<std::string> known = enum_names<Relation>();
  if (std::find(known.begin(), known.end(), relation) == known.end()) {
    node.fail("unknown key \"" + abridged(relation) + "\"" + suggestion(relation, known));
  }
  clause.relation = enum_value<Relation>(relation);
  // A bound may lie beyond what the parameter allows: {"gt": 0} is allowed.
  Parameter unbounded = parameter;
  unbounded.least = -9e15;
  unbounded.most = 9e15;
  if (clause.relation == Relation::in) {
    for (const Node& element : node[relation].elements()) {
      clause.operands.push_back(read_value(element, parameter));
    }
  } else {
    clause.operands.push_back(read_value(node[relation], unbounded));
  }
  return clause;
}

bool holds(const Clause& clause, const Value& value) {
  const Value& operand = clause.operands.empty() ? value : clause.operands.front();
  switch (clause.relation) {
    case Relation::eq:
      return value == operand;
    case Relation::lt:
      return value < operand;
    case Relation::le:
      return value <= operand;
    case Relation::gt:
      return value > operand;
    case Relation::ge:
      return value >= operand;
    case Relation::in:
      break;
  }
  return std::find(clause.operands.begin(), clause.operands.end(), value) != clause.operands.end();
}

}  // namespace

Parameter variant_parameter(const Technique& technique) {
  Parameter parameter;
  parameter.name = "variant";
  parameter.default_value = std::string();
  for (const Variant& variant : technique.variants) parameter.choices.push_back(variant.name);
  parameter.help = "which implementation";
  return parameter;
}

Parameter find_parameter(const Technique& technique, const std::string& name, const Node& where) {
  if (name == "variant") return variant_parameter(technique);
  std::vector<std::string> known = {"variant"};
  for (const Parameter& parameter : technique.parameters) {
    if (parameter.name == name) return parameter;
    known.push_back(parameter.name);
  }
  where.fail("unknown parameter \"" + abridged(name) + "\" of " + technique.name +
             suggestion(name, known));
}

Condition read_condition(const Node& node, const Technique& technique) {
  if (!node.is_object()) node.expected("an object of parameters and what holds for them");
  Condition condition;
  for (const std::string& name : node.keys()) {
    condition.push_back(read_clause(name, node[name], technique));
  }
  return condition;
}

bool holds(const Condition& condition, const Parameters& point) {
  return std::all_of(condition.begin(), condition.end(), [&](const Clause& clause) {
    return holds(clause, point.all().at(clause.name));
  });
}

bool mentions(const Condition& condition, const std::string& name) {
  return std::any_of(condition.begin(), condition.end(),
                     [&](const Clause& clause) { return clause.name == name; });
}

}  // namespace warpath::harness
