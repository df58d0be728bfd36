// The driver API's header: programs include it for CUDA_VERSION. Its calls are not emulated.
#pragma once
#include "cuda_runtime.h"
