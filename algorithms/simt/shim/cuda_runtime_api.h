// The runtime API; here it comes with all the rest.
#pragma once
#include "cuda_runtime.h"
