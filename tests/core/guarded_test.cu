// The guard zones of the tests: an element before or after the output is noticed.
#include <gtest/gtest-spi.h>

#include "../guarded.cuh"
#include "support.cuh"

namespace warpath::core_test {
namespace {

void write(int* to) {
  WARPATH_CUDA_CHECK(cudaMemset(to, 1, sizeof(int)));
}

TEST(Guarded, GivesWhatWasWritten) {
  for (const int offset : {0, 1, 5}) {
    Guarded<int> out(3, offset);
    for (int i = 0; i < 3; ++i) write(out.span().data + i);
    EXPECT_THAT(out.get(), testing::Each(0x01010101));
  }
  EXPECT_TRUE(Guarded<double>(0).get().empty());
}

TEST(Guarded, NoticesWhatIsWrittenBesideTheOutput) {
  for (const int place : {-256, -1, 3, 3 + 255}) {
    Guarded<int> out(3);
    write(out.span().data + place);
    EXPECT_NONFATAL_FAILURE(std::ignore = out.get(), "was written");
  }
}

}  // namespace
}  // namespace warpath::core_test
