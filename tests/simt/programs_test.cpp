// The CUDA programs of programs/, compiled from nvcc's launch syntax and run in processes of their
// own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "process.hpp"

namespace {

using simt_test::Finished;
using testing::AllOf;
using testing::HasSubstr;

Finished run(const std::string& program, const std::string& environment = "") {
  return simt_test::run_process("'" WARPATH_PROGRAMS_FOLDER "/warpath_test_simt_" + program + "'",
                                environment);
}

TEST(Programs, VectorAddRunsAsItIsWritten) {
  const Finished found = run("vector_add");
  EXPECT_EQ(found.status, 0);
  EXPECT_EQ(found.output, "PASSED\n");
}

// 10000 values over 100 bins of which i * 7 hits each equally often.
TEST(Programs, HistogramRunsAsItIsWritten) {
  for (const char* environment : {"", "SIMT_SEED=3 SIMT_LAZY=1"}) {
    const Finished found = run("histogram", environment);
    EXPECT_EQ(found.status, 0);
    EXPECT_EQ(found.output, "least 100, greatest 100, sum 10000\n");
  }
}

TEST(Programs, AnUncheckedFailureHasAnExitCodeOfItsOwn) {
  const Finished found = run("unchecked");
#ifdef SIMT_ASAN
  EXPECT_NE(found.status, 0);
  EXPECT_THAT(found.output, HasSubstr("heap-buffer-overflow"));
#else
  EXPECT_EQ(found.status, 26);
  EXPECT_THAT(found.output, AllOf(HasSubstr("PASSED"), HasSubstr("never read"),
                                  HasSubstr("beyond the end of the 400 bytes"),
                                  HasSubstr("unchecked.cu:12 was written"),
                                  HasSubstr("fill, launched at"), HasSubstr("unchecked.cu:13")));
  EXPECT_THAT(found.output, testing::Not(HasSubstr("leak"))) << "noise after an error";
#endif
}

}  // namespace
