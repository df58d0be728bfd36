#include "harness/point.hpp"

#include "harness/value.hpp"

namespace warpath::harness {

std::string Point::name() const {
  std::string name = technique->name + "/" + experiment + "/variant:" + variant->name;
  for (const Parameter& parameter : technique->parameters) {
    name += "/" + parameter.name + ":" + to_text(parameters.all().at(parameter.name));
  }
  return name;
}

std::string Point::short_name() const {
  std::string name = variant->name;
  for (const Parameter& parameter : technique->parameters) {
    const Value& value = parameters.all().at(parameter.name);
    if (value != parameter.default_value) name += " " + parameter.name + ":" + to_text(value);
  }
  return name;
}

std::string Point::group() const {
  std::string name = technique->name + "/" + experiment;
  const Parameters shaping = problem();
  for (const auto& [parameter, value] : shaping.all())
    name += "/" + parameter + ":" + to_text(value);
  return name;
}

Parameters Point::problem() const {
  Parameters shaping;
  for (const Parameter& parameter : technique->parameters) {
    if (parameter.shapes_problem) shaping.set(parameter.name, parameters.all().at(parameter.name));
  }
  return shaping;
}

Parameters Point::settings() const {
  Parameters settings;
  for (const auto& [name, value] : parameters.all()) {
    if (name != "variant") settings.set(name, value);
  }
  return settings;
}

}  // namespace warpath::harness
