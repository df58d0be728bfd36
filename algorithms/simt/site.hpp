// Where in the source a function was called, for diagnostics.
#pragma once

namespace simt {

struct Site {
  const char* file = nullptr;
  int line = 0;
  const void* barrier = nullptr;  // of a block barrier: an address that no other one has
};

}  // namespace simt

// The last parameters of a device function; the compiler fills in the caller's place.
#define SIMT_SITE const char *simt_file = __builtin_FILE(), int simt_line = __builtin_LINE()
#define SIMT_HERE        \
  ::simt::Site {         \
    simt_file, simt_line \
  }
