#include "harness/value.hpp"

#include <array>
#include <charconv>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace warpath::harness {
namespace {

const Value& find(const Parameters& parameters, std::string_view name) {
  const auto found = parameters.all().find(name);
  if (found == parameters.all().end()) {
    throw std::invalid_argument("no parameter is called " + std::string(name));
  }
  return found->second;
}

[[noreturn]] void wrong_type(std::string_view name, const Value& value, const char* expected) {
  throw std::invalid_argument("parameter " + std::string(name) + " is " + to_text(value) +
                              ", which is not " + expected);
}

}  // namespace

std::int64_t Parameters::integer(std::string_view name) const {
  const Value& value = find(*this, name);
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return *integer;
  wrong_type(name, value, "an integer");
}

double Parameters::real(std::string_view name) const {
  const Value& value = find(*this, name);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
  wrong_type(name, value, "a number");
}

const std::string& Parameters::text(std::string_view name) const {
  const Value& value = find(*this, name);
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  wrong_type(name, value, "a text");
}

Parameter integer_parameter(std::string name, std::int64_t default_value, std::int64_t least,
                            std::int64_t most, std::string help) {
  Parameter parameter{std::move(name), default_value};
  parameter.least = static_cast<double>(least);
  parameter.most = static_cast<double>(most);
  parameter.help = std::move(help);
  return parameter;
}

Parameter count_parameter(std::string name, std::int64_t default_value, std::string help) {
  return integer_parameter(std::move(name), default_value, 1, 2147483647, std::move(help));
}

Parameter real_parameter(std::string name, double default_value, double least, double most,
                         std::string help) {
  Parameter parameter{std::move(name), default_value};
  parameter.least = least;
  parameter.most = most;
  parameter.help = std::move(help);
  return parameter;
}

Parameter choice_parameter(std::string name, std::vector<std::string> choices, std::string help) {
  Parameter parameter{std::move(name), choices.at(0), std::move(choices)};
  parameter.help = std::move(help);
  return parameter;
}

Parameter switch_parameter(std::string name, bool default_value, std::string help) {
  Parameter parameter = choice_parameter(std::move(name), {"on", "off"}, std::move(help));
  parameter.default_value = std::string(default_value ? "on" : "off");
  return parameter;
}

Parameter seed_parameter(std::string help) {
  return integer_parameter("seed", 42, 0, 9'000'000'000'000'000, std::move(help));
}

Parameter of_variants(Parameter parameter) {
  parameter.shapes_problem = false;
  return parameter;
}

std::string to_text(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return std::to_string(*integer);
  std::array<char, 32> digits{};
  const auto end =
      std::to_chars(digits.data(), digits.data() + digits.size(), std::get<double>(value));
  return {digits.data(), end.ptr};
}

Json to_json(const Value& value) {
  return std::visit([](const auto& held) { return Json(held); }, value);
}

Json to_json(const Parameters& parameters) {
  Json json = Json::object();
  for (const auto& [name, value] : parameters.all()) json[name] = to_json(value);
  return json;
}

std::string bytes_text(std::int64_t bytes) {
  const char* const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return std::to_string(bytes) + " bytes";
  double scaled = static_cast<double>(bytes) / 1024;
  int unit = 0;
  while (scaled >= 1024 && unit < 5) {
    scaled /= 1024;
    ++unit;
  }
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.2f %s (%lld bytes)", scaled, units[unit],
                static_cast<long long>(bytes));
  return text.data();
}

}  // namespace warpath::harness
