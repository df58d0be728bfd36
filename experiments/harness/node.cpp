#include "harness/node.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <nlohmann/json.hpp>

#include "harness/error.hpp"

namespace warpath::harness {
namespace {

constexpr std::size_t max_elements = 1'000'000;

/// The value as a whole number: 65536, and 6.5536e4 too.
bool whole_number(const Json& json, std::int64_t& value) {
  if (json.is_number_unsigned() && json.get<std::uint64_t>() > INT64_MAX) return false;
  if (json.is_number_integer()) {
    value = json.get<std::int64_t>();
    return true;
  }
  if (!json.is_number_float()) return false;
  const double real = json.get<double>();
  if (std::trunc(real) != real || std::abs(real) > 9e15) return false;
  value = static_cast<std::int64_t>(real);
  return true;
}

std::string range_text(double least, double most) {
  const auto bound = [](double value) {
    std::int64_t whole = 0;
    return whole_number(Json(value), whole) ? std::to_string(whole) : to_text(Value(value));
  };
  return " from " + bound(least) + " to " + bound(most);
}

/// A text that can stand in a point's name: on one line, and not so long that matching the name
/// with a regular expression exhausts the stack.
std::string name_part(const Node& node) {
  std::string text = node.text();
  const bool on_one_line = std::none_of(text.begin(), text.end(), [](char c) {
    return std::iscntrl(static_cast<unsigned char>(c)) != 0;
  });
  if (text.size() > 1000 || !on_one_line) {
    node.expected("a text of at most 1000 bytes, without control characters");
  }
  return text;
}

}  // namespace

Node::Node(std::string file, std::string path, Json json)
    : Node(std::move(file), std::move(path), std::make_shared<const Json>(std::move(json))) {}

Node::Node(std::string file, std::string path, const Value& value)
    : Node(std::move(file), std::move(path), to_json(value)) {}

std::string Node::json_text() const {
  return json_->dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool Node::is_object() const {
  return json_->is_object();
}

bool Node::is_array() const {
  return json_->is_array();
}

bool Node::has(const std::string& key) const {
  return json_->contains(key);
}

Node Node::part(std::string path, const Json& json) const {
  return {file_, std::move(path), std::shared_ptr<const Json>(json_, &json)};
}

Node Node::operator[](const std::string& key) const {
  return part(path_ + "." + key, json_->at(key));
}

Node Node::operator[](std::size_t index) const {
  return part(path_ + "[" + std::to_string(index) + "]", json_->at(index));
}

std::vector<std::string> Node::keys() const {
  std::vector<std::string> names;
  for (const auto& item : json_->items()) names.push_back(item.key());
  return names;
}

std::vector<Node> Node::elements() const {
  if (!json_->is_array()) expected("a list");
  if (json_->size() > max_elements) {
    fail("has " + std::to_string(json_->size()) + " elements; the limit is " +
         std::to_string(max_elements));
  }
  std::vector<Node> nodes;
  for (std::size_t i = 0; i < json_->size(); ++i) nodes.push_back((*this)[i]);
  return nodes;
}

void Node::expect_object(const std::vector<std::string>& required,
                         const std::vector<std::string>& optional) const {
  if (!json_->is_object()) expected("an object");
  std::vector<std::string> known = required;
  known.insert(known.end(), optional.begin(), optional.end());
  for (const std::string& key : keys()) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      fail("unknown key \"" + abridged(key) + "\"" + suggestion(key, known));
    }
  }
  for (const std::string& key : required) {
    if (!has(key)) fail("the key \"" + key + "\" is missing");
  }
}

std::string Node::text() const {
  if (!json_->is_string()) expected("a text");
  return json_->get<std::string>();
}

std::int64_t Node::integer(std::int64_t least, std::int64_t most) const {
  std::int64_t value = 0;
  if (!whole_number(*json_, value) || value < least || value > most) {
    expected("an integer" + range_text(static_cast<double>(least), static_cast<double>(most)));
  }
  return value;
}

double Node::real(double least, double most) const {
  if (!json_->is_number() || json_->get<double>() < least || json_->get<double>() > most) {
    expected("a number" + range_text(least, most));
  }
  return json_->get<double>();
}

void Node::expected(const std::string& what) const {
  fail("got " + abridged(json_text(), 80) + ", expected " + what);
}

void Node::fail(const std::string& what) const {
  throw UserError(file_ + ": " + abridged(path_, 200) + ": " + what);
}

Value read_value(const Node& node, const Parameter& parameter) {
  Value value;
  if (std::holds_alternative<std::int64_t>(parameter.default_value)) {
    value = node.integer(static_cast<std::int64_t>(parameter.least),
                         static_cast<std::int64_t>(parameter.most));
  } else if (std::holds_alternative<double>(parameter.default_value)) {
    value = node.real(parameter.least, parameter.most);
  } else {
    value = name_part(node);
  }
  const auto& choices = parameter.choices;
  const std::string text = to_text(value);
  if (!choices.empty() && std::find(choices.begin(), choices.end(), text) == choices.end()) {
    node.fail("unknown " + parameter.name + " \"" + abridged(text) + "\"" +
              suggestion(text, choices));
  }
  return value;
}

}  // namespace warpath::harness
