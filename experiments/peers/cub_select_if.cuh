// select_if of cub_select.hpp, for elements of any type.
#pragma once

#include <cub/device/device_select.cuh>

#include "peers/cub_call.hpp"
#include "peers/cub_select.hpp"

namespace warpath::experiments::cub_select {

template <class T>
harness::Execution select_if(const T* in, T* out, std::int64_t* kept, std::int64_t n,
                             KeyBelow<T> predicate, const Storage& storage) {
  return cub_call(storage, [=](void* memory, std::size_t& bytes, cudaStream_t stream) {
    return cub::DeviceSelect::If(memory, bytes, in, out, kept, n, predicate, stream);
  });
}

}  // namespace warpath::experiments::cub_select
