// Loads and stores of neighbouring elements with the fewest accesses. The copy of a struct may
// compile to one access per member; the copy of a CUDA vector type (uint4) is one access.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace warpath {

/// The widest type of one access whose size divides `Bytes`: 16, 8, 4, 2 bytes or one.
template <std::size_t Bytes>
using Access = std::conditional_t<
    Bytes % 16 == 0, uint4,
    std::conditional_t<
        Bytes % 8 == 0, uint2,
        std::conditional_t<Bytes % 4 == 0, unsigned,
                           std::conditional_t<Bytes % 2 == 0, std::uint16_t, unsigned char>>>>;

/// `part`, which is aligned to its type. A GPU faults where it is not. A CPU reads on, and UBSan
/// does not look at copies of structs: so the emulated backend looks here.
template <class Part>
__device__ __forceinline__ Part* aligned(Part* part) {
#ifdef SIMT_EMULATION
  if (reinterpret_cast<std::uintptr_t>(part) % alignof(Part) != 0) __trap();
#endif
  return part;
}

/// Reads `elements` from `from`, which is aligned to sizeof(elements) or to 16 bytes, whichever is
/// less.
template <class T, int Count>
__device__ __forceinline__ void load_vector(const T* from, T (&elements)[Count]) {
  using Part = Access<sizeof(T) * Count>;
#pragma unroll
  for (std::size_t i = 0; i < sizeof(T) * Count / sizeof(Part); ++i) {
    const Part part = *aligned(reinterpret_cast<const Part*>(from) + i);
    memcpy(reinterpret_cast<Part*>(elements) + i, &part, sizeof part);
  }
}

/// Writes `elements` to `to`, which is aligned as above.
template <class T, int Count>
__device__ __forceinline__ void store_vector(T* to, const T (&elements)[Count]) {
  using Part = Access<sizeof(T) * Count>;
#pragma unroll
  for (std::size_t i = 0; i < sizeof(T) * Count / sizeof(Part); ++i) {
    Part part;
    memcpy(&part, reinterpret_cast<const Part*>(elements) + i, sizeof part);
    *aligned(reinterpret_cast<Part*>(to) + i) = part;
  }
}

}  // namespace warpath
