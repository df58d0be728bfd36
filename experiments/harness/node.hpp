// One place in a configuration: a JSON value that knows its file and path, so that every error
// names both.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/enum_names.hpp"
#include "harness/error.hpp"
#include "harness/nearest.hpp"
#include "harness/value.hpp"

namespace warpath::harness {

class Node {
 public:
  Node(std::string file, std::string path, Json json);
  Node(std::string file, std::string path, const Value& value);

  [[nodiscard]] const Json& json() const { return *json_; }
  [[nodiscard]] std::string json_text() const;  ///< on one line
  [[nodiscard]] bool is_object() const;
  [[nodiscard]] bool is_array() const;
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] bool has(const std::string& key) const;

  /// The member or element; its path is this one's, then ".key" or "[index]".
  [[nodiscard]] Node operator[](const std::string& key) const;
  [[nodiscard]] Node operator[](std::size_t index) const;
  [[nodiscard]] std::vector<std::string> keys() const;  ///< in the order of the file
  [[nodiscard]] std::vector<Node> elements() const;     ///< of an array; throws if it is none

  /// Throws unless this is an object that has all `required` keys, and none but these and the
  /// `optional` ones.
  void expect_object(const std::vector<std::string>& required,
                     const std::vector<std::string>& optional) const;
  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::int64_t integer(std::int64_t least, std::int64_t most) const;
  [[nodiscard]] double real(double least, double most) const;
  /// The value that the text names in the table of `Enum`. `what` says what is unknown if it is in
  /// none of the table's lines.
  template <class Enum>
  [[nodiscard]] Enum named(const std::string& what) const {
    const std::string name = text();
    for (const EnumName<Enum>& entry : enum_table(Enum{})) {
      if (entry.name == name) return entry.value;
    }
    fail("unknown " + what + " \"" + abridged(name) + "\"" + suggestion(name, enum_names<Enum>()));
  }

  /// Throws UserError "<file>: <path>: got <this value>, expected <expected>".
  [[noreturn]] void expected(const std::string& what) const;
  /// Throws UserError "<file>: <path>: <what>".
  [[noreturn]] void fail(const std::string& what) const;

 private:
  Node(std::string file, std::string path, std::shared_ptr<const Json> json)
      : file_(std::move(file)), path_(std::move(path)), json_(std::move(json)) {}
  /// A part of the same document.
  [[nodiscard]] Node part(std::string path, const Json& json) const;

  std::string file_;
  std::string path_;
  std::shared_ptr<const Json> json_;
};

/// The value of a parameter. Throws UserError if it has another type, or is out of its range or
/// choices.
Value read_value(const Node& node, const Parameter& parameter);

}  // namespace warpath::harness
