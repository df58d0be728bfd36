// What the compactions must give, by std:: alone. Shares no code with what it judges.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

namespace warpath::warp_compaction::oracle {

template <class T, class Predicate>
std::vector<T> compact_if(const std::vector<T>& in, Predicate predicate) {
  std::vector<T> out;
  std::copy_if(in.begin(), in.end(), std::back_inserter(out), predicate);
  return out;
}

template <class T, class Flag>
std::vector<T> compact_flagged(const std::vector<T>& in, const std::vector<Flag>& flags) {
  std::vector<T> out;
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (flags[i] != Flag{}) out.push_back(in[i]);
  }
  return out;
}

template <class T, class Equal>
std::vector<T> unique(const std::vector<T>& in, Equal equal) {
  std::vector<T> out;
  std::unique_copy(in.begin(), in.end(), std::back_inserter(out), equal);
  return out;
}

/// Two columns of equal length.
template <class T, class U>
struct Pairs {
  std::vector<T> first;
  std::vector<U> second;
  bool operator==(const Pairs&) const = default;
};

/// The first of every run of equal keys, with its value.
template <class K, class V, class Equal>
Pairs<K, V> unique_by_key(const std::vector<K>& keys, const std::vector<V>& values, Equal equal) {
  Pairs<K, V> out;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (i > 0 && equal(keys[i - 1], keys[i])) continue;
    out.first.push_back(keys[i]);
    out.second.push_back(values[i]);
  }
  return out;
}

/// The superkey order: coordinate `primary` first, then the next ones cyclically.
template <class C>
std::vector<C> superkey(const std::vector<C>& tuples, std::int64_t reference, int dimensions,
                        int primary) {
  std::vector<C> key;
  for (int k = 0; k < dimensions; ++k) {
    key.push_back(
        tuples[static_cast<std::size_t>(reference * dimensions + (primary + k) % dimensions)]);
  }
  return key;
}

template <class C, class R>
struct DistinctTuples {
  Pairs<C, R> kept;
  std::int64_t first_disorder = -1;  ///< the first tuple that is less than the one before it
};

/// The references whose tuple differs from the one before, with their values.
template <class C, class R>
DistinctTuples<C, R> remove_duplicates(const std::vector<C>& values,
                                       const std::vector<R>& references,
                                       const std::vector<C>& tuples, int dimensions, int primary) {
  DistinctTuples<C, R> out;
  std::vector<C> before;
  for (std::size_t i = 0; i < references.size(); ++i) {
    const std::vector<C> key =
        superkey(tuples, static_cast<std::int64_t>(references[i]), dimensions, primary);
    if (i > 0 && key < before && out.first_disorder < 0)
      out.first_disorder = static_cast<std::int64_t>(i);
    if (i == 0 || key != before) {
      out.kept.first.push_back(values[i]);
      out.kept.second.push_back(references[i]);
    }
    before = key;
  }
  return out;
}

}  // namespace warpath::warp_compaction::oracle
