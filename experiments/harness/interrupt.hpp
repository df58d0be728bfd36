// Ctrl-C: the first one asks the run to end in good order, the second one ends it at once.
#pragma once

namespace warpath::harness {

/// From now on SIGINT and SIGTERM set interrupted(), once; a second signal has its usual effect.
void catch_interrupts();
bool interrupted();

}  // namespace warpath::harness
