// Tuples in the order of a superkey, on the host, in OpenMP tasks.
//
// A stable radix sort by the superkey's first coordinate, from the lowest digit to the highest;
// then each run of ties, in the same way by the next one, or by comparisons where it is short.
// Wholly equal tuples stay in the order of their numbers. Items hold the coordinate that they are
// sorted by.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/key_order.cuh"
#include "core/superkey.cuh"
#include "kd_tree/host_tasks.hpp"

namespace warpath::kd_tree::detail {

/// Needs two items of 8 or 16 bytes for each tuple.
template <class C>
class SuperkeySort {
 public:
  struct Item {
    OrderedBits<C> bits;  ///< of the last coordinate that it was sorted by
    std::uint32_t reference;
  };
  using Items = std::span<Item>;

  SuperkeySort(std::span<const C> coordinates, int dimensions)
      : coordinates_(coordinates),
        dimensions_(dimensions),
        count_(coordinates.size() / static_cast<std::size_t>(dimensions)),
        // Not set: the threads that write items first bring their pages in.
        items_(std::make_unique_for_overwrite<Item[]>(count_)),
        copies_(std::make_unique_for_overwrite<Item[]>(count_)) {}

  /// All tuples in the order of the superkey that begins with coordinate `primary`, until the next
  /// call. Equal tuples have equal bits. Inside in_tasks().
  std::span<const Item> sort(int primary) {
    primary_ = primary;
    const Items items(items_.get(), count_);
    for_each_chunk(std::ssize(items), [&](Chunk chunk) {
      for (std::int64_t i = chunk.begin; i < chunk.end; ++i) {
        items[static_cast<std::size_t>(i)].reference = static_cast<std::uint32_t>(i);
      }
    });
    sort_from(items, {copies_.get(), count_}, 0);
    return items;
  }

 private:
  static constexpr int digit_bits = 8;
  static constexpr std::size_t digits = 1 << digit_bits;
  using Counts = std::array<std::uint32_t, digits>;
  /// A run of as many items is sorted by comparisons.
  static constexpr std::size_t most_few = 1 << 9;

  [[nodiscard]] const C* tuple(std::uint32_t number) const {
    return coordinates_.data() +
           static_cast<std::size_t>(number) * static_cast<std::size_t>(dimensions_);
  }
  static Items part(Items items, Chunk chunk) {
    return items.subspan(static_cast<std::size_t>(chunk.begin),
                         static_cast<std::size_t>(chunk.end - chunk.begin));
  }

  void take_bits(Items items, int coordinate) const {
    for (Item& item : items) item.bits = key_bits(tuple(item.reference)[coordinate]);
  }
  /// The coordinate after the first `known_equal` ones of the superkey.
  [[nodiscard]] int coordinate_after(int known_equal) const {
    return (primary_ + known_equal) % dimensions_;
  }

  /// Sorts items that are in the order of their references, and of which the first `known_equal`
  /// coordinates of the superkeys are equal. copies: room for as many.
  void sort_from(Items items, Items copies, int known_equal) {  // NOLINT(misc-no-recursion)
    for_each_chunk(std::ssize(items), [&](Chunk chunk) {
      take_bits(part(items, chunk), coordinate_after(known_equal));
    });
    sort_by_bits(items, copies);
    sort_ties(items, copies, known_equal + 1);
  }
  /// Sorts a short run, of which the first `known_equal` coordinates are equal, and whose bits are
  /// those of the next one.
  void sort_few(Items items, int known_equal) const {
    std::sort(items.begin(), items.end(), [&](const Item& a, const Item& b) {
      if (a.bits != b.bits) return a.bits < b.bits;
      const int order = compare_superkeys(tuple(a.reference), tuple(b.reference), dimensions_,
                                          primary_, known_equal + 1);
      return order < 0 || (order == 0 && a.reference < b.reference);
    });
  }

  /// By the bits alone; stable.
  static void sort_by_bits(Items items, Items copies) {
    std::vector<Counts> counts(static_cast<std::size_t>(Chunk::count(std::ssize(items))));
    bool are_copies = false;
    for (std::size_t shift = 0; shift < 8 * sizeof(OrderedBits<C>); shift += digit_bits) {
      const auto digit = [&](const Item& item) {
        return static_cast<std::size_t>(item.bits >> shift) % digits;
      };
      const auto counts_of = [&](Chunk chunk) -> Counts& { return counts[chunk.number()]; };
      for_each_chunk(std::ssize(items), [&](Chunk chunk) {
        Counts& own = counts_of(chunk);
        own.fill(0);
        for (const Item& item : part(items, chunk)) ++own[digit(item)];
      });
      if (!begins_of(counts, items.size())) continue;
      for_each_chunk(std::ssize(items), [&](Chunk chunk) {
        Counts& next = counts_of(chunk);
        for (const Item& item : part(items, chunk)) copies[next[digit(item)]++] = item;
      });
      std::swap(items, copies);
      are_copies = !are_copies;
    }
    if (!are_copies) return;
    for_each_chunk(std::ssize(items), [&](Chunk chunk) {
      const Items own = part(items, chunk);
      std::copy(own.begin(), own.end(), part(copies, chunk).begin());
    });
  }
  /// From how many items of each chunk have a digit to where the first of these goes. False if all
  /// items have the same digit.
  static bool begins_of(std::vector<Counts>& counts, std::size_t items) {
    std::uint32_t begin = 0;
    for (std::size_t digit = 0; digit < digits; ++digit) {
      const std::uint32_t first = begin;
      for (Counts& of_chunk : counts) {
        const std::uint32_t count = std::exchange(of_chunk[digit], begin);
        begin += count;
      }
      if (begin - first == items) return false;
    }
    return true;
  }

  /// Sorts each run of items of equal bits by what is left of the superkeys.
  void sort_ties(Items items, Items copies, int known_equal) {  // NOLINT(misc-no-recursion)
    if (known_equal == dimensions_) return;
    const auto run_ends = [&](std::size_t begin) {  // the first item after that one's run
      return static_cast<std::size_t>(
          std::upper_bound(items.begin() + static_cast<std::ptrdiff_t>(begin), items.end(),
                           items[begin].bits,
                           [](auto bits, const Item& item) { return bits < item.bits; }) -
          items.begin());
    };
    // A task sorts the runs that begin in its chunk. Where these are is found before any is sorted,
    // since the bits change.
    const std::int64_t chunks = Chunk::count(std::ssize(items));
    std::vector<std::size_t> begins(static_cast<std::size_t>(chunks) + 1, items.size());
    for (std::int64_t i = 0; i < chunks; ++i) {
      const auto begin = static_cast<std::size_t>(Chunk::of(std::ssize(items), i).begin);
      const bool is_new = begin == 0 || items[begin - 1].bits != items[begin].bits;
      begins[static_cast<std::size_t>(i)] = is_new ? begin : run_ends(begin);
    }
    for_each_task(chunks, [&](std::int64_t i) {
      std::vector<Items> few;
      std::vector<Items> many;
      const std::size_t end = begins[static_cast<std::size_t>(i) + 1];
      for (std::size_t begin = begins[static_cast<std::size_t>(i)]; begin < end;) {
        std::size_t run = 1;
        while (begin + run < end && items[begin + run].bits == items[begin].bits) ++run;
        if (run > 1) (run <= most_few ? few : many).push_back(items.subspan(begin, run));
        begin += run;
      }
      // Tuples lie anywhere: those of all runs are read before one is sorted, so that none waits
      // for another.
      for (const Items run : few) take_bits(run, coordinate_after(known_equal));
      for (const Items run : few) sort_few(run, known_equal);
      for (const Items run : many) {
        sort_from(run,
                  copies.subspan(static_cast<std::size_t>(run.data() - items.data()), run.size()),
                  known_equal);
      }
    });
  }

  std::span<const C> coordinates_;
  int dimensions_;
  int primary_ = 0;
  std::size_t count_;
  std::unique_ptr<Item[]> items_;   // NOLINT(modernize-avoid-c-arrays)
  std::unique_ptr<Item[]> copies_;  // NOLINT(modernize-avoid-c-arrays)
};

}  // namespace warpath::kd_tree::detail
