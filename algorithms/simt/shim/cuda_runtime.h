// CUDA's main header for the emulated backend: device functions, runtime API, and the twins of
// Hopper's features.
#pragma once

#define SIMT_EMULATION 1

// Kernels may ask which device they are compiled for; a kernel that finds no answer may be empty.
// One pass compiles for the host and the device, so that host code finds it defined, too.
// SIMT_CUDA_ARCH sets another value; 0 leaves it undefined.
#ifndef SIMT_CUDA_ARCH
#define SIMT_CUDA_ARCH 900
#endif
#if SIMT_CUDA_ARCH && !defined(__CUDA_ARCH__)
#define __CUDA_ARCH__ SIMT_CUDA_ARCH  // NOLINT(bugprone-reserved-identifier): the name is CUDA's
#endif

#include "simt/async_copy.hpp"
#include "simt/cuda/atomics.hpp"
#include "simt/cuda/conversions.hpp"
#include "simt/cuda/device_functions.hpp"
#include "simt/cuda/launch_syntax.hpp"
#include "simt/cuda/qualifiers.hpp"
#include "simt/cuda/runtime_api.hpp"
#include "simt/cuda/runtime_settings.hpp"
#include "simt/cuda/vector_types.hpp"
#include "simt/cuda/warp_functions.hpp"
#include "simt/diagnostics.hpp"
#include "simt/grid.hpp"
#include "simt/memory.hpp"
#include "simt/options.hpp"
#include "simt/shared_memory.hpp"
#include "simt/transaction.hpp"
