#include "harness/values.hpp"

#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "harness/error.hpp"
#include "harness/nearest.hpp"

namespace warpath::harness {
namespace {

/// A whole number stays one, so that it may be the value of an integer parameter.
Value number(double value) {
  if (std::trunc(value) == value && std::abs(value) < 9e15) return static_cast<std::int64_t>(value);
  return value;
}

void check_count(double count, const Node& node) {
  if (count > static_cast<double>(max_values)) {
    node.fail("stands for " + to_text(Value(std::floor(count))) + " values; the limit is " +
              std::to_string(max_values));
  }
}

/// first, first + step, ... up to and with last.
std::vector<Value> arithmetic(double first, double last, double step, const Node& node,
                              const Parameter& parameter) {
  if (!(step > 0)) node.fail("the step is " + to_text(Value(step)) + ", expected more than 0");
  // The slack lets 0:1:+0.1 reach 1 although ten times 0.1 is not quite 1.
  const double count = std::floor((last - first) / step + 1e-9) + 1;
  check_count(count, node);
  std::vector<Value> values;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(count); ++i) {
    // Rounded to 12 digits, so that 3 * 0.1 is 0.3 in names and tables.
    const double exact = first + static_cast<double>(i) * step;
    const double scale = std::pow(10.0, 12 - std::ceil(std::log10(std::max(std::abs(exact), 1.0))));
    values.push_back(read_value(
        Node(node.file(), node.path(), number(std::round(exact * scale) / scale)), parameter));
  }
  return values;
}

/// first, first * factor, ... up to and with last.
std::vector<Value> geometric(double first, double last, double factor, const Node& node,
                             const Parameter& parameter) {
  if (!(factor > 1) || !(first > 0)) {
    node.fail("a range with a factor needs a first value above 0 and a factor above 1");
  }
  if (last < first) return {};
  const double count = std::floor(std::log(last / first) / std::log(factor) + 1e-9) + 1;
  check_count(count, node);
  std::vector<Value> values;
  double value = first;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(count); ++i) {
    values.push_back(read_value(Node(node.file(), node.path(), number(value)), parameter));
    value *= factor;
  }
  return values;
}

std::vector<Value> read_progression(const Node& node, const Parameter& parameter) {
  node.expect_object({}, {"pow2", "range"});
  if (node.keys().size() != 1) node.expected("one of pow2 and range");
  const std::string kind = node.keys().front();
  const Node list = node[kind];
  const std::vector<Node> bounds = list.elements();
  if (bounds.size() != 3) list.expected("[first, last, step]");
  if (kind == "range") {
    return arithmetic(bounds[0].real(-9e15, 9e15), bounds[1].real(-9e15, 9e15),
                      bounds[2].real(-9e15, 9e15), list, parameter);
  }
  const auto first = bounds[0].integer(0, 52);
  const auto last = bounds[1].integer(0, 52);
  const auto step = bounds[2].integer(1, 52);
  return geometric(std::exp2(first), std::exp2(last), std::exp2(step), list, parameter);
}

/// "65536", "64K", "2^20", "1e6", "0.5"; nothing if it is no number. K, M and G are decimal.
std::optional<double> parse_number(std::string_view text) {
  const auto plain = [](std::string_view digits) -> std::optional<double> {
    double value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
    return value;
  };
  for (const auto& [suffix, unit] : {std::pair{'K', 1e3}, {'M', 1e6}, {'G', 1e9}}) {
    if (!text.ends_with(suffix)) continue;
    const auto count = plain(text.substr(0, text.size() - 1));
    return count && std::isfinite(*count * unit) ? std::optional(*count * unit) : std::nullopt;
  }
  const std::size_t power = text.find('^');
  const auto base = plain(text.substr(0, power));
  const auto exponent = power == std::string_view::npos ? 1 : plain(text.substr(power + 1));
  if (!base || !exponent) return std::nullopt;
  const double value = std::pow(*base, *exponent);
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

constexpr const char* a_range = "a range like 2^20:2^28:*4 or 0:1:+0.1";

/// One item between the commas of --set.
std::vector<Value> read_item(const std::string& item, const Parameter& parameter) {
  const Node node("--set", parameter.name, Value(item));
  if (std::holds_alternative<std::string>(parameter.default_value)) {
    return {read_value(node, parameter)};
  }
  const std::vector<std::string> parts = split(item, ':');
  if (parts.size() == 1) {
    const auto value = parse_number(item);
    if (!value)
      node.expected(std::string("a number (1000, 64K, 2.5M, 1G, 2^20, 1e6) or ") + a_range);
    return {read_value(Node("--set", parameter.name, number(*value)), parameter)};
  }
  const bool has_step =
      parts.size() == 3 && (parts[2].starts_with('*') || parts[2].starts_with('+'));
  if (!has_step) node.expected(a_range);
  const auto bound = [&](std::string_view text) {
    const auto value = parse_number(text);
    if (!value) node.expected(a_range);
    return *value;
  };
  const double first = bound(parts[0]);
  const double last = bound(parts[1]);
  const double step = bound(std::string_view(parts[2]).substr(1));
  return parts[2].front() == '*' ? geometric(first, last, step, node, parameter)
                                 : arithmetic(first, last, step, node, parameter);
}

}  // namespace

std::vector<Value> read_values(const Node& node, const Parameter& parameter) {
  if (node.is_object()) return read_progression(node, parameter);
  if (!node.is_array()) return {read_value(node, parameter)};
  std::vector<Value> values;
  for (const Node& element : node.elements()) values.push_back(read_value(element, parameter));
  return values;
}

Values read_override(const std::string& text, const Technique& technique) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw UserError("--set " + abridged(text) +
                    ": expected name=value,value or name=first:last:*factor");
  }
  const std::string name = text.substr(0, equals);
  const Parameter parameter = find_parameter(technique, name, Node("--set", name, Value(text)));
  Values values{name, {}};
  for (const std::string& item : split(text.substr(equals + 1), ',')) {
    const auto more = read_item(item, parameter);
    values.second.insert(values.second.end(), more.begin(), more.end());
  }
  return values;
}

}  // namespace warpath::harness
