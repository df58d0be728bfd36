// What a technique tells the harness: its parameters, its variants, and how to set up, run, check
// and count one problem. The harness knows no technique, and a technique's experiment file knows no
// JSON and no clock.
#pragma once

#include <cuda_runtime.h>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/enum_names.hpp"

namespace warpath::harness {

/// A parameter's value. A switch is the text "on" or "off".
using Value = std::variant<std::int64_t, double, std::string>;

/// The values of one point of a sweep, by name. Reading an unknown name or another type throws
/// std::invalid_argument.
class Parameters {
 public:
  void set(std::string name, Value value) { values_[std::move(name)] = std::move(value); }
  [[nodiscard]] std::int64_t integer(std::string_view name) const;
  [[nodiscard]] double real(std::string_view name) const;  ///< an integer reads as a real, too
  [[nodiscard]] const std::string& text(std::string_view name) const;
  [[nodiscard]] bool on(std::string_view name) const { return text(name) == "on"; }
  [[nodiscard]] const std::map<std::string, Value, std::less<>>& all() const { return values_; }
  bool operator==(const Parameters&) const = default;

 private:
  std::map<std::string, Value, std::less<>> values_;
};

/// One parameter that a configuration may set or sweep.
struct Parameter {
  std::string name;
  Value default_value;                    ///< its type is the parameter's type
  std::vector<std::string> choices = {};  ///< texts: what is allowed; empty: anything
  double least = 0;                       ///< numbers: the closed range that is allowed
  double most = 9e15;
  bool shapes_problem =
      true;  ///< false: it only configures a variant, so that one Problem serves all of its values
  std::string help = {};  ///< with the unit
};

/// A whole number from `least` to `most`.
Parameter integer_parameter(std::string name, std::int64_t default_value, std::int64_t least,
                            std::int64_t most, std::string help);
/// How many there are of something: 1 to 2^31 - 1.
Parameter count_parameter(std::string name, std::int64_t default_value, std::string help);
/// A number from `least` to `most`.
Parameter real_parameter(std::string name, double default_value, double least, double most,
                         std::string help);
/// One of these texts; the first is the default.
Parameter choice_parameter(std::string name, std::vector<std::string> choices, std::string help);
/// "on" or "off".
Parameter switch_parameter(std::string name, bool default_value, std::string help);
/// The parameter `seed`, 42 unless told otherwise. `help` says of what.
Parameter seed_parameter(std::string help);
/// The same parameter, of some variants only: one Problem serves all of its values.
Parameter of_variants(Parameter parameter);

/// One of the names in the table of `Enum`; read it with named<Enum>().
template <class Enum>
Parameter choice_parameter(std::string name, Enum default_value, std::string help) {
  Parameter parameter = choice_parameter(std::move(name), enum_names<Enum>(), std::move(help));
  parameter.default_value = std::string(enum_name(default_value));
  return parameter;
}

/// The value that a point's text names in the table of `Enum`.
template <class Enum>
Enum named(const Parameters& point, std::string_view parameter) {
  return enum_value<Enum>(point.text(parameter), std::string(parameter));
}

enum class Role { technique, peer, naive, oracle };
constexpr auto enum_table(Role) {
  return std::to_array<EnumName<Role>>({{Role::technique, "technique"},
                                        {Role::peer, "peer"},
                                        {Role::naive, "naive"},
                                        {Role::oracle, "oracle"}});
}

/// Where a variant can run, and so which clock times it.
enum class Runs {
  anywhere,  ///< a kernel of this project: timed on a GPU, only verified on the emulated backend
  gpu,       ///< a device library (CUB, Thrust): the cuda backend only
  host,      ///< plain C++ on the CPU: timed by the wall clock on both backends
  elsewhere  ///< not in this program: another one measures it, and writes its rows into the archive
};
constexpr auto enum_table(Runs) {
  return std::to_array<EnumName<Runs>>({{Runs::anywhere, "anywhere"},
                                        {Runs::gpu, "gpu"},
                                        {Runs::host, "host"},
                                        {Runs::elsewhere, "elsewhere"}});
}

struct Variant {
  std::string name;
  Role role = Role::technique;
  Runs runs = Runs::anywhere;
  std::string summary;
  std::string program = {};  ///< Runs::elsewhere: the program that measures it
  /// Its call returns only when the GPU is done, as Thrust's that return a count: what the caller
  /// waits is timed.
  bool waits_for_gpu = false;
};

/// A value of a technique's enum of variants, as a variant of its experiments.
template <class Enum>
struct Described {
  Enum value;
  Role role = Role::technique;
  std::string summary;
};

/// The variants that a technique implements, named by the table of its enum, then the `others`
/// (peers, oracles). Throws std::logic_error unless each value of the enum is described once.
template <class Enum>
std::vector<Variant> variants_of(const std::vector<Described<Enum>>& described,
                                 const std::vector<Variant>& others) {
  std::vector<Variant> variants;
  for (const EnumName<Enum>& entry : enum_table(Enum{})) {
    const std::size_t before = variants.size();
    for (const Described<Enum>& each : described) {
      if (each.value != entry.value) continue;
      variants.push_back({std::string(entry.name), each.role, Runs::anywhere, each.summary});
    }
    if (variants.size() != before + 1) {
      throw std::logic_error("the variant " + std::string(entry.name) + " is described " +
                             std::to_string(variants.size() - before) + " times, not once");
    }
  }
  variants.insert(variants.end(), others.begin(), others.end());
  return variants;
}

/// What one execution of the variant that was prepared last does at least. Only the ceiling may
/// differ between variants.
struct Cost {
  std::int64_t items = 0;        ///< what items_per_s counts
  std::int64_t bytes_min = 0;    ///< bytes that any solution must read and write
  double operations = 0;         ///< arithmetic, where that is the ceiling; else 0
  std::string ceiling = "copy";  ///< of `warpath info`: copy, fill, fma, ex2; empty: none
};

/// One execution of one variant: enqueues its work on the stream (Runs::host: does it before it
/// returns).
using Execution = std::function<void(cudaStream_t)>;

/// This variant, or none, can run this point on this machine, which is no failure; what() says why.
class NotHere : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Too little memory is free for what this variant allocates: --resume tries the point again.
class NoRoom : public NotHere {
 public:
  using NotHere::NotHere;
};

/// One setting of the parameters that shape the problem: inputs on the device, room for the result,
/// and the oracle's answer.
class Problem {
 public:
  virtual ~Problem() = default;
  /// Does all work that must not be timed (choosing the kernel, temporary storage), and returns the
  /// execution that is timed. May throw NotHere.
  virtual Execution prepare(const Parameters& point) = 0;
  /// Brings back what executions of the variant that was prepared last destroy, as a sort in place
  /// does its input: done before each execution, outside of its time. Empty: they destroy nothing.
  [[nodiscard]] virtual Execution restore() { return {}; }
  /// Overwrites the result, so that nothing stale can pass for an answer.
  virtual void poison(cudaStream_t stream) = 0;
  /// Compares the result of the last execution, all of it, with the oracle's. Empty: it is right;
  /// else what is wrong, and where.
  virtual std::optional<std::string> mismatch(const Parameters& point, cudaStream_t stream) = 0;
  [[nodiscard]] virtual Cost cost() const = 0;
  /// Further numbers for the record, each with its unit in its name.
  [[nodiscard]] virtual std::map<std::string, double> counters() const { return {}; }
  /// What a variant chose by itself for the point that was prepared last, like {"variant",
  /// "tensor"}.
  [[nodiscard]] virtual std::map<std::string, std::string> choices() const { return {}; }
};

struct Technique {
  std::string name;                   ///< the slug
  std::string summary;                ///< one line
  std::string source;                 ///< document and section
  std::vector<Parameter> parameters;  ///< `variant` is not among them
  std::vector<Variant> variants;
  /// Bytes of device memory that a problem needs with all that its variants allocate.
  std::function<std::int64_t(const Parameters&)> device_bytes;
  /// May throw NotHere, before it makes any input.
  std::function<std::unique_ptr<Problem>(const Parameters&)> make_problem;
  /// Steps of one execution (elements, pairs, probes), for estimates of its time; empty if
  /// they are about as many as words of 4 bytes in device_bytes.
  std::function<double(const Parameters&)> steps = {};
  /// Whether a problem's data crosses to another GPU, or from the host: its records have the rates
  /// of the links. Empty: none does.
  std::function<bool(const Parameters&)> uses_links = {};
  /// The source's own demonstration, as text in its layout; empty if it has none.
  std::function<std::string()> demonstration = {};
};

/// For Technique::make_problem: constructs `Made` from the parameters.
template <class Made>
std::unique_ptr<Problem> make_problem(const Parameters& problem) {
  return std::make_unique<Made>(problem);
}

}  // namespace warpath::harness
