// Must not compile: one case at a time, by REJECTED. The tests look for the reason in the message.
#include "warp_compaction/warp_compaction.cuh"

namespace {

#if REJECTED == 1
struct alignas(32) Element {
  float words[8];
};
#elif REJECTED == 2
struct Element {
  Element() = default;
  Element(const Element& other) : word(other.word) {}
  Element& operator=(const Element&) = default;
  float word;
};
#elif REJECTED == 3
struct Element {
  unsigned char bytes[257];
};
#else  // compiles, so that it is known that the cases differ from this in one thing only
struct alignas(16) Element {
  unsigned char bytes[256];
};
#endif

struct All {
  __device__ bool operator()(const Element&) const { return true; }
};

}  // namespace

void call(warpath::DeviceSpan<const Element> in, warpath::DeviceSpan<Element> out,
          warpath::DeviceCount& kept, warpath::Workspace& workspace) {
  warpath::warp_compaction::compact_if(in, out, All{}, kept, workspace, nullptr);
}
