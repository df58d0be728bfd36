// CUDA's qualifiers, as a plain C++ compiler can take them.
#pragma once

// NOLINTBEGIN(bugprone-reserved-identifier): the names are CUDA's.

#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __maxnreg__(...)
// As the compiler pleases: forced, it makes so much more code that compiling takes half as long
// again under AddressSanitizer.
#define __forceinline__ inline
// Empty: the C++ library writes the word within attributes, where nothing is allowed.
#define __noinline__
#define __align__(n) __attribute__((aligned(n)))

// Shared memory is storage of the OS thread, because an OS thread runs one block at a time
// (shared_memory.hpp).
#ifdef SIMT_SHARED_SECTION
#define __shared__ thread_local __attribute__((section("simt_shared")))
#else
#define __shared__ thread_local
#endif

// NOLINTEND(bugprone-reserved-identifier)
