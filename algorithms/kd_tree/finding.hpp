// What verification finds. Whether a tree is right, device and host say alike; of several flaws the
// device names the first one level after level, the host the first one depth first.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "core/enum_names.hpp"

namespace warpath::kd_tree {

/// What can be wrong with a tree.
enum class Flaw {
  none,
  wild_reference,  ///< a number of no tuple
  twice,           ///< a tuple that has a node already
  orphan,          ///< an entry of a median store without a parent
  wrong_tuple,     ///< a node that is not that of its own tuple
  too_deep,        ///< an entry that the balanced tree of so many nodes does not reach
  not_less,        ///< in the less-than subtree of a node that it does not come before
  not_greater,     ///< in the greater-than subtree of a node that it does not come after
  wrong_count      ///< another number of nodes than expected
};
constexpr auto enum_table(Flaw) {
  return std::to_array<EnumName<Flaw>>({{Flaw::none, "none"},
                                        {Flaw::wild_reference, "wild_reference"},
                                        {Flaw::twice, "twice"},
                                        {Flaw::orphan, "orphan"},
                                        {Flaw::wrong_tuple, "wrong_tuple"},
                                        {Flaw::too_deep, "too_deep"},
                                        {Flaw::not_less, "not_less"},
                                        {Flaw::not_greater, "not_greater"},
                                        {Flaw::wrong_count, "wrong_count"}});
}

/// The first flaw of a tree.
struct Finding {
  Flaw flaw = Flaw::none;
  int level = 0;            ///< of the node; of a wrong count, 0
  std::uint32_t entry = 0;  ///< of the level's median store; of a wrong count, how many there are
  std::uint32_t tuple = 0;  ///< what the entry holds; of a wrong count, how many there should be

  [[nodiscard]] bool is_right() const { return flaw == Flaw::none; }
  bool operator==(const Finding&) const = default;
};

/// A sentence that says what is wrong, and where.
inline std::string describe(const Finding& finding) {
  const auto number = [](std::uint32_t n) { return std::to_string(n); };
  const std::string where = "entry " + number(finding.entry) + " of level " +
                            std::to_string(finding.level) + ", tuple " + number(finding.tuple) +
                            ", ";
  switch (finding.flaw) {
    case Flaw::none:
      return "the tree is right";
    case Flaw::wild_reference:
      return where + "is the number of no tuple";
    case Flaw::twice:
      return where + "has a node already";
    case Flaw::orphan:
      return where + "has no parent";
    case Flaw::wrong_tuple:
      return where + "has the node of another tuple";
    case Flaw::too_deep:
      return where + "lies deeper than the balanced tree is there";
    case Flaw::not_less:
      return where + "does not come before a node in whose less-than subtree it is";
    case Flaw::not_greater:
      return where + "does not come after a node in whose greater-than subtree it is";
    default:
      return "the tree has " + number(finding.entry) + " nodes: expected " + number(finding.tuple);
  }
}

}  // namespace warpath::kd_tree
