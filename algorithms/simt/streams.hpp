// Streams: queues of operations, and the events between them.
//
// Eager (the default): an operation runs when it is put in the queue, so that a failure shows where
// it was caused. Lazy (SIMT_LAZY): it runs only when the host waits for it, and streams overtake
// each other at random (SIMT_SEED), so that a missing wait shows.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>

#include "cuda/runtime_types.hpp"

namespace simt {

/// Held by every runtime call that touches streams, and while operations run.
std::recursive_mutex& runtime_mutex();

/// An error of a device that only cudaDeviceReset clears, and the calling thread's last error.
cudaError_t sticky_error(int device);
void set_sticky_error(int device, cudaError_t);
bool any_sticky_error();

/// The device that cudaSetDevice chose for the calling thread.
int& current_device();

/// Null where the handle is not of a stream that exists; the null handle is the current device's
/// default stream.
CUstream_st* find_stream(cudaStream_t);
int stream_device(const CUstream_st&);

cudaStream_t create_stream(int device, bool non_blocking);
/// Its operations still run; the handle is invalid at once.
void destroy_stream(cudaStream_t);

/// Puts an operation at the end of the stream's queue. ready: it must not run while this says
/// false.
void enqueue(CUstream_st&, std::function<void()> run, std::function<bool()> ready = nullptr);

bool stream_is_idle(const CUstream_st&);
void run_stream(CUstream_st&);
void run_device(int device);
void run_everything();
/// Runs one operation of any stream, if one can run: what polling for completion does.
void run_one();

cudaEvent_t create_event(bool timing);
/// Null where the handle is not of an event that exists.
CUevent_st* find_event(cudaEvent_t);
void destroy_event(cudaEvent_t);
void record_event(CUevent_st&, CUstream_st&);
void wait_event(CUstream_st&, CUevent_st&);
void run_event(CUevent_st&);
bool event_is_done(const CUevent_st&);
/// Milliseconds of the host's clock. False: one of them was not recorded, or keeps no time.
bool elapsed(const CUevent_st& from, const CUevent_st& to, float& milliseconds);

}  // namespace simt
