// make_float4 and its kin; here they come with all the rest.
#pragma once
#include "cuda_runtime.h"
