// Barriers of the block, of the cluster and of the grid.
#pragma once

#include "site.hpp"

namespace simt {

enum class Vote { count, all, any };

/// __syncthreads and its voting forms; call barrier_votes right after it.
void block_barrier(Site, int predicate = 0);
int barrier_votes(Vote);

void cluster_barrier(Site);
void grid_barrier(Site);

/// Of this block within its cluster (0 without one).
unsigned cluster_rank();
unsigned cluster_size();
/// The address in block `rank` of this cluster of what `pointer` is in this block's shared memory.
void* map_shared_rank(void* pointer, unsigned rank);

}  // namespace simt
