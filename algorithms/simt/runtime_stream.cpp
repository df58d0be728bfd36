// Runtime API: streams, events, launches.
#include <mutex>
#include <utility>

#include "cuda/runtime_api.hpp"
#include "diagnostics.hpp"
#include "exit_report.hpp"
#include "grid.hpp"
#include "memory.hpp"
#include "options.hpp"
#include "runtime.hpp"
#include "streams.hpp"

namespace simt {

int shared_limit(const void* kernel);
std::uint64_t most_resident_blocks(int threads, std::size_t shared_bytes);

namespace {

cudaError_t no_such_stream(const char* call) {
  return error(cudaErrorInvalidResourceHandle,
               text("%s: the stream does not exist (any more)", call));
}

cudaError_t no_such_event(const char* call) {
  return error(cudaErrorInvalidResourceHandle,
               text("%s: the event does not exist (any more)", call));
}

Launch described(const cudaLaunchConfig_t& c) {
  Launch l;
  l.grid = c.gridDim;
  l.block = c.blockDim;
  l.shared_bytes = c.dynamicSmemBytes;
  for (unsigned i = 0; i < c.numAttrs; ++i) {
    const cudaLaunchAttribute& a = c.attrs[i];
    if (a.id == cudaLaunchAttributeClusterDimension)
      l.cluster = {a.val.clusterDim.x, a.val.clusterDim.y, a.val.clusterDim.z};
    if (a.id == cudaLaunchAttributeCooperative) l.cooperative = a.val.cooperative;
    if (a.id == cudaLaunchAttributeProgrammaticStreamSerialization)
      l.starts_early = a.val.programmaticStreamSerializationAllowed;
  }
  return l;
}

cudaError_t check(const Launch& l) {
  const auto refuse = [&](cudaError_t e, const std::string& why) {
    return error(e, text("%s; launch of %s at %s:%d", why.c_str(), name_of(l).c_str(), l.site.file,
                         l.site.line));
  };
  const std::uint64_t threads = std::uint64_t(l.block.x) * l.block.y * l.block.z;
  const std::uint64_t blocks = std::uint64_t(l.grid.x) * l.grid.y * l.grid.z;
  if (!threads || threads > 1024 || l.block.z > 64)
    return refuse(cudaErrorInvalidConfiguration,
                  text("a block of %u x %u x %u threads; expected 1 to 1024 in all", l.block.x,
                       l.block.y, l.block.z));
  if (!blocks || l.grid.x > 0x7fffffff || l.grid.y > 65535 || l.grid.z > 65535)
    return refuse(cudaErrorInvalidConfiguration,
                  text("a grid of %u x %u x %u blocks; expected 1 to 2^31 - 1, 65535, 65535",
                       l.grid.x, l.grid.y, l.grid.z));
  const unsigned cluster = l.cluster.x * l.cluster.y * l.cluster.z;
  if (!cluster || cluster > 16 || l.grid.x % l.cluster.x || l.grid.y % l.cluster.y ||
      l.grid.z % l.cluster.z)
    return refuse(
        cudaErrorInvalidConfiguration,
        text("clusters of %u x %u x %u blocks: at most 16, and the grid must be a multiple",
             l.cluster.x, l.cluster.y, l.cluster.z));
  const std::size_t limit = std::size_t(shared_limit(l.kernel));
  if (l.shared_bytes > limit)
    return refuse(cudaErrorInvalidValue, text("%zu bytes of dynamic shared memory, but its limit "
                                              "is %zu (cudaFuncSetAttribute raises it)",
                                              l.shared_bytes, limit));
  const std::uint64_t resident = most_resident_blocks(int(threads), l.shared_bytes);
  if (l.cooperative && blocks > resident)
    return refuse(
        cudaErrorCooperativeLaunchTooLarge,
        text("%llu blocks of a cooperative grid, of which %llu can be resident",
             static_cast<unsigned long long>(blocks), static_cast<unsigned long long>(resident)));
  return cudaSuccess;
}

void run_launch(const Launch& l, int device) {
  if (sticky_error(device)) return;
  GridResult result;
  {
    const OpenMemory open(device);
    result = run_grid(l);
    if (!result.error) {
      const std::string overrun = find_overrun();
      if (!overrun.empty()) result = {cudaErrorLaunchFailure, launch_message(l, overrun, "")};
    }
  }
  if (!result.error) return;
  note_unread(result.error, result.diagnostic);
  set_diagnostic(std::move(result.diagnostic));
  set_sticky_error(device, result.error);
}

}  // namespace

cudaError_t launch_kernel(const cudaLaunchConfig_t& config, const void* kernel, InvokeKernel invoke,
                          std::shared_ptr<void> arguments, Site site, const char* name) {
  const std::lock_guard lock(runtime_mutex());
  if (const cudaError_t e = outcome()) return e;
  Launch l = described(config);
  l.invoke = invoke;
  l.kernel = kernel;
  l.name = name;
  l.site = site;
  l.arguments = arguments.get();
  CUstream_st* s = find_stream(config.stream);
  if (!s) return no_such_stream("launch");
  const int device = stream_device(*s);
  if (device != current_device())
    return error(cudaErrorInvalidResourceHandle,
                 text("launch at %s:%d: the stream is of device %d, the current device is %d",
                      site.file, site.line, device, current_device()));
  if (const cudaError_t e = check(l)) return e;
  enqueue(*s, [l, kept = std::move(arguments), device] { run_launch(l, device); });
  return outcome();
}

}  // namespace simt

using namespace simt;

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  const std::lock_guard lock(runtime_mutex());
  if (flags > cudaStreamNonBlocking)
    return error(cudaErrorInvalidValue, text("stream flags %u", flags));
  *stream = create_stream(current_device(), flags == cudaStreamNonBlocking);
  return cudaSuccess;
}

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithFlags(stream, 0);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int) {
  return cudaStreamCreateWithFlags(stream, flags);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  const std::lock_guard lock(runtime_mutex());
  if (!stream || !find_stream(stream)) return no_such_stream("cudaStreamDestroy");
  destroy_stream(stream);
  return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  const std::lock_guard lock(runtime_mutex());
  CUstream_st* s = find_stream(stream);
  if (!s) return no_such_stream("cudaStreamSynchronize");
  run_stream(*s);
  return outcome();
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  const std::lock_guard lock(runtime_mutex());
  CUstream_st* s = find_stream(stream);
  if (!s) return no_such_stream("cudaStreamQuery");
  const bool idle = stream_is_idle(*s);
  if (!idle) run_one();
  return idle ? outcome() : cudaErrorNotReady;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  const std::lock_guard lock(runtime_mutex());
  CUstream_st* s = find_stream(stream);
  if (!s) return no_such_stream("cudaStreamWaitEvent");
  if (!find_event(event)) return no_such_event("cudaStreamWaitEvent");
  wait_event(*s, *event);
  return cudaSuccess;
}

cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device) {
  const std::lock_guard lock(runtime_mutex());
  const CUstream_st* s = find_stream(stream);
  if (!s) return no_such_stream("cudaStreamGetDevice");
  *device = stream_device(*s);
  return cudaSuccess;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  const std::lock_guard lock(runtime_mutex());
  if (!find_stream(stream)) return no_such_stream("cudaStreamIsCapturing");
  *status = options().capturing ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* user_data) {
  const std::lock_guard lock(runtime_mutex());
  CUstream_st* s = find_stream(stream);
  if (!s) return no_such_stream("cudaLaunchHostFunc");
  enqueue(*s, [=] { function(user_data); });
  return outcome();
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  const std::lock_guard lock(runtime_mutex());
  *event = create_event(!(flags & cudaEventDisableTiming));
  return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, 0);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  const std::lock_guard lock(runtime_mutex());
  if (!find_event(event)) return no_such_event("cudaEventDestroy");
  destroy_event(event);
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  const std::lock_guard lock(runtime_mutex());
  CUstream_st* s = find_stream(stream);
  if (!s) return no_such_stream("cudaEventRecord");
  if (!find_event(event)) return no_such_event("cudaEventRecord");
  record_event(*event, *s);
  return outcome();
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  const std::lock_guard lock(runtime_mutex());
  if (!find_event(event)) return no_such_event("cudaEventSynchronize");
  run_event(*event);
  return outcome();
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  const std::lock_guard lock(runtime_mutex());
  if (!find_event(event)) return no_such_event("cudaEventQuery");
  const bool done = event_is_done(*event);
  if (!done) run_one();
  return done ? outcome() : cudaErrorNotReady;
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
  const std::lock_guard lock(runtime_mutex());
  if (!find_event(from) || !find_event(to)) return no_such_event("cudaEventElapsedTime");
  if (!event_is_done(*from) || !event_is_done(*to)) return cudaErrorNotReady;
  if (!elapsed(*from, *to, *milliseconds))
    return error(
        cudaErrorInvalidResourceHandle,
        "cudaEventElapsedTime: an event was never recorded, or was created without timing");
  return cudaSuccess;
}
