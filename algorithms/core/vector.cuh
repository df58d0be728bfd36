// Neighbouring elements in the fewest accesses. Whoever copies a struct may get an access for each
// of its members; a copy of one of CUDA's own vectors stays one.
#pragma once

#include <cuda_runtime.h>

#include <cstring>
#include <type_traits>

namespace warpath {

/// The widest access that `Bytes` bytes are a multiple of.
template <std::size_t Bytes>
using Access =
    std::conditional_t<Bytes % 16 == 0, uint4, std::conditional_t<Bytes % 8 == 0, uint2, unsigned>>;

/// `from` is aligned to the bytes of `elements`, or to 16 if that is less.
template <class T, int Count>
__device__ __forceinline__ void load_vector(const T* from, T (&elements)[Count]) {
  using Part = Access<sizeof(T) * Count>;
#pragma unroll
  for (std::size_t i = 0; i < sizeof(T) * Count / sizeof(Part); ++i) {
    const Part part = reinterpret_cast<const Part*>(from)[i];
    memcpy(reinterpret_cast<Part*>(elements) + i, &part, sizeof part);
  }
}

/// `to` is aligned as above.
template <class T, int Count>
__device__ __forceinline__ void store_vector(T* to, const T (&elements)[Count]) {
  using Part = Access<sizeof(T) * Count>;
#pragma unroll
  for (std::size_t i = 0; i < sizeof(T) * Count / sizeof(Part); ++i) {
    Part part;
    memcpy(&part, reinterpret_cast<const Part*>(elements) + i, sizeof part);
    reinterpret_cast<Part*>(to)[i] = part;
  }
}

}  // namespace warpath
