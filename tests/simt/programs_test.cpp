// The CUDA programs of programs/, compiled from nvcc's launch syntax and run in processes of their
// own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <string>

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

// What launch_syntax.py makes of a source. The file carries the process's number: tests run side by
// side.
Finished rewrite(const std::string& source) {
  const std::string path =
      testing::TempDir() + "launch_syntax_test_" + std::to_string(getpid()) + ".cu";
  std::ofstream(path) << source;
  return simt_test::run_process("'" WARPATH_LAUNCH_SYNTAX "' '" + path + "'");
}

TEST(LaunchSyntax, CallsTheKernelWithArgumentsThatAreEvaluatedOnce) {
  EXPECT_THAT(
      rewrite("n::k<int, (3 > 2)><<<dim3(2, 3), f(1, 2) >> 1>>>(p++, g<1, 2>(x), 0, {1, 2});\n")
          .output,
      HasSubstr("simt::launch_call(\"n::k<int, (3 > 2)>\", "
                "simt::address_of_kernel(n::k<int, (3 > 2)>), "
                "simt::LaunchSyntax(dim3(2, 3), f(1, 2) >> 1), "
                "[=, simt_0 = (p++), simt_1 = ( g<1, 2>(x))] "
                "{ n::k<int, (3 > 2)>(simt_0, simt_1, 0, {1, 2}); });"));
}

TEST(LaunchSyntax, LeavesCommentsAndLiteralsAlone) {
  const std::string source =
      "// k<<<1, 2>>>(x)\n/* extern __shared__ */ auto s = \"k<<<1, 2>>>(x)\";\n";
  EXPECT_THAT(rewrite(source).output, HasSubstr(source));
}

TEST(LaunchSyntax, NamesTheLineThatItCannotRead) {
  for (const char* source : {"\n\nk<<<1, 2>>>;", "\n\nk<<<1, 2;", "\n\nk<<<1, 2>>>(x;",
                             "\n\nextern __shared__ int s;", "\n\n<<<1, 2>>>(x);"}) {
    const Finished found = rewrite(source);
    EXPECT_EQ(found.status, 1) << source;
    EXPECT_THAT(found.output, HasSubstr("launch_syntax_test_")) << source;
  }
}

}  // namespace
