// The OS threads that kernels run on. The host's threads never run kernels themselves.
#pragma once

#include <functional>

namespace simt {

struct Worker;

/// Runs job(rank, worker) for each rank below `count` at the same time, on an OS thread each, and
/// returns when all have ended. Threads are started when first needed and kept. One call at a time.
void run_on_workers(unsigned count, const std::function<void(unsigned rank, Worker&)>& job);

/// The worker that run_on_workers will give to this rank.
Worker& worker_of_rank(unsigned rank);

}  // namespace simt
