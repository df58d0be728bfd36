// CUDA's main header for the emulated backend: device functions, runtime API, and the twins of
// Hopper's features.
#pragma once

#define SIMT_EMULATION 1

#include "simt/async_copy.hpp"
#include "simt/cuda/atomics.hpp"
#include "simt/cuda/device_functions.hpp"
#include "simt/cuda/qualifiers.hpp"
#include "simt/cuda/runtime_api.hpp"
#include "simt/cuda/vector_types.hpp"
#include "simt/cuda/warp_functions.hpp"
#include "simt/diagnostics.hpp"
#include "simt/grid.hpp"
#include "simt/memory.hpp"
#include "simt/options.hpp"
#include "simt/shared_memory.hpp"
#include "simt/transaction.hpp"
