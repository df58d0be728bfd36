// The planted bugs (bugs/), each in a process of its own, under the detector that must catch it. A
// detector that no longer detects, or no longer says where, fails here.
//
// A sanitizer's rows are asserted in that sanitizer's preset and skipped in the others. In the
// preset without sanitizers it is also asserted that an optional detector is needed: without it the
// bug goes unnoticed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <ostream>
#include <string>
#include <vector>

#include "process.hpp"

namespace {

using simt_test::Finished;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// ---------------------------------------------------------------- the table

enum class By {
  always,  // without any option
  seed,    // one of SIMT_SEED=1..8
  lazy,    // SIMT_LAZY=1 under one of these seeds
  guard,   // SIMT_GUARD=1
  asan,    // preset emulated-asan: AddressSanitizer
  ubsan,   // preset emulated-asan: UndefinedBehaviorSanitizer
  tsan     // preset emulated-tsan: ThreadSanitizer
};

// What the report must name: the marked line, or nothing for a result that is only wrong.
enum class Names { planted, allocated, launched, wrong_result };

struct Row {
  const char* bug;
  By by;
  Names names;
  const char* says;  // part of the message
  const char* environment = "";
};

std::ostream& operator<<(std::ostream& out, const Row& row) {
  return out << row.bug;
}

constexpr const char* impatient = "SIMT_WATCHDOG_MS=150";

const std::vector<Row> rows = {
    // barriers
    {"exit_before_barrier", By::always, Names::planted, "barrier divergence"},
    {"barriers_in_branches", By::always, Names::planted, "barrier divergence"},
    {"barriers_on_one_line", By::always, Names::planted, "another barrier on the same line"},
    {"unequal_barrier_counts", By::always, Names::planted, "barrier divergence"},
    {"barrier_against_collective", By::always, Names::planted, "deadlock"},
    {"block_leaves_cluster", By::always, Names::planted, "barrier of all blocks"},
    {"grid_barrier_without_cooperation", By::always, Names::planted, "not launched cooperatively"},
    // collectives
    {"different_collectives", By::always, Names::planted, "mismatched warp collectives"},
    {"mask_without_caller", By::always, Names::planted, "lacks the calling lane"},
    {"missing_lanes", By::always, Names::planted, "deadlock"},
    {"masks_differ", By::always, Names::planted, "mismatched warp collectives"},
    {"shuffle_width", By::always, Names::planted, "width 12"},
    {"shuffle_from_absent_lane", By::always, Names::wrong_result, "wrong result"},
    {"warp_barrier_in_branch", By::always, Names::planted, "deadlock"},
    {"matrix_product_of_few", By::always, Names::planted, "by the lanes 00ffffff"},
    // memory
    {"global_write_beyond_end", By::always, Names::allocated, "beyond the end of the 128 bytes"},
    {"global_write_beyond_end", By::guard, Names::allocated, "beyond the end of the 128 bytes"},
    {"global_write_beyond_end", By::asan, Names::planted, "heap-buffer-overflow"},
    {"global_write_before_begin", By::always, Names::allocated, "before the 128 bytes"},
    {"global_write_before_begin", By::asan, Names::planted, "heap-buffer-overflow"},
    {"global_read_beyond_end", By::guard, Names::allocated, "beyond the end of the 128 bytes"},
    {"global_read_beyond_end", By::asan, Names::planted, "heap-buffer-overflow"},
    {"dynamic_shared_beyond_end", By::always, Names::launched, "dynamic shared memory was written"},
    {"dynamic_shared_beyond_end", By::asan, Names::planted, "use-after-poison"},
    {"static_shared_beyond_end", By::ubsan, Names::planted, "out of bounds"},
    {"local_array_beyond_end", By::ubsan, Names::planted, "out of bounds"},
    {"use_after_free", By::guard, Names::allocated, "use after free"},
    {"use_after_free", By::asan, Names::planted, "heap-use-after-free"},
    {"wrong_device", By::guard, Names::allocated, "without peer access"},
    {"pool_of_wrong_device", By::guard, Names::allocated, "without access to its memory pool"},
    {"misaligned_vector", By::ubsan, Names::planted, "misaligned address"},
    {"shift_too_far", By::ubsan, Names::planted, "shift exponent 32"},
    {"cast_out_of_range", By::ubsan, Names::planted,
     "is outside the range of representable values"},
    {"double_free", By::always, Names::allocated, "has been freed already"},
    {"leak", By::always, Names::planted, "were never freed"},
    {"host_reads_device_memory", By::guard, Names::allocated, "which only a device may"},
    {"host_reads_device_memory", By::asan, Names::planted, "use-after-poison", "SIMT_GUARD=1"},
    {"uninitialised_global", By::always, Names::wrong_result, "wrong result"},
    {"uninitialised_dynamic_shared", By::always, Names::wrong_result, "wrong result"},
    {"uninitialised_static_shared", By::always, Names::wrong_result, "wrong result"},
    {"value_of_previous_block", By::always, Names::wrong_result, "wrong result"},
    {"stack_overflow", By::always, Names::wrong_result, "stack"},
    {"null_pointer", By::always, Names::wrong_result, "a null pointer"},
    // races
    {"missing_barrier", By::always, Names::wrong_result, "wrong result"},
    {"missing_barrier", By::tsan, Names::planted, "data race"},
    {"hidden_missing_barrier", By::seed, Names::wrong_result, "wrong result"},
    {"hidden_missing_barrier", By::tsan, Names::planted, "data race"},
    {"overwritten_too_early", By::always, Names::wrong_result, "wrong result"},
    {"overwritten_too_early", By::tsan, Names::planted, "data race"},
    {"missing_warp_barrier", By::always, Names::wrong_result, "wrong result"},
    {"missing_warp_barrier", By::tsan, Names::planted, "data race"},
    {"lost_updates", By::tsan, Names::planted, "data race"},
    {"relaxed_flag", By::tsan, Names::planted, "data race"},
    {"volatile_chain", By::tsan, Names::planted, "data race"},
    {"last_block_without_fence", By::tsan, Names::planted, "data race"},
    {"waits_for_block_index", By::seed, Names::planted, "livelock", impatient},
    {"check_then_act", By::seed, Names::wrong_result, "wrong result"},
    // asynchronous copies
    {"missing_pipeline_wait", By::always, Names::wrong_result, "wrong result"},
    {"early_kernel_does_not_wait", By::always, Names::launched,
     "no thread has waited for the kernel before"},
    {"bulk_read_before_wait", By::always, Names::wrong_result, "wrong result"},
    {"bulk_copy_not_awaited", By::always, Names::planted, "did not wait for its bulk copy"},
    {"bulk_wrong_bytes", By::always, Names::planted, "deadlock"},
    {"bulk_misaligned", By::always, Names::planted, "multiples of 16"},
    {"bulk_uninitialised", By::always, Names::planted, "before tx_init"},
    {"too_many_arrivals", By::always, Names::planted, "more arrivals"},
    {"overwritten_before_store", By::always, Names::wrong_result, "wrong result"},
    {"store_not_awaited", By::always, Names::planted, "without waiting for its bulk store"},
    // streams
    {"missing_stream_wait", By::lazy, Names::wrong_result, "wrong result"},
    {"missing_event_wait", By::lazy, Names::wrong_result, "wrong result"},
    {"host_buffer_reused", By::lazy, Names::wrong_result, "wrong result"},
    {"freed_on_other_stream", By::lazy, Names::allocated, "use after free", "SIMT_GUARD=1"},
    {"stream_of_other_device", By::always, Names::wrong_result, "the current device is 1"},
    {"stream_after_destroy", By::always, Names::wrong_result, "does not exist"},
    // misuse of the runtime
    {"copy_beyond_allocation", By::always, Names::allocated, "exceed the 256 bytes"},
    {"copy_of_wrong_kind", By::always, Names::wrong_result, "the kind says"},
    {"peer_copy_of_wrong_owner", By::always, Names::wrong_result, "is not memory of device 1"},
    {"too_much_shared", By::always, Names::planted, "50000 bytes of dynamic shared memory"},
    {"too_many_threads", By::always, Names::planted, "1025"},
    {"empty_grid", By::always, Names::planted, "a grid of 0"},
    {"cooperative_grid_too_large", By::always, Names::planted, "can be resident"},
    {"out_of_memory", By::always, Names::planted, "out of memory"},
    {"exception_in_kernel", By::always, Names::launched, "thrown in a kernel"},
    {"trap", By::always, Names::planted, "__trap()"},
    {"trap_launched_through_core", By::always, Names::launched, "__trap()"},
    {"device_assert", By::always, Names::planted, "cudaErrorAssert: device-side assert triggered"},
    {"unread_failure", By::always, Names::launched,
     "the program never read this error: __trap() at"},
    {"unread_refusal", By::always, Names::launched, "a block of 2000 x 1 x 1 threads"},
    {"unread_copy", By::always, Names::allocated, "exceed the 256 bytes"},
    // progress
    {"livelock", By::always, Names::planted, "livelock", impatient},
    {"waits_for_later_ticket", By::always, Names::planted, "livelock", impatient},
    {"poll_without_yield", By::always, Names::wrong_result, "simt::yield()", "SIMT_WATCHDOG_MS=60"},
    {"cluster_memory_after_exit", By::always, Names::wrong_result, "wrong result"},
};

// ---------------------------------------------------------------- running one

Finished run(const std::string& bug, const std::string& environment) {
  return simt_test::run_process("'" WARPATH_BUGS_PROGRAM "' " + bug, environment);
}

// "barriers.cu:17": where the comment `marker: bug` stands in the sources of the bugs.
std::string marked_place(const std::string& marker, const std::string& bug) {
  for (const char* file : {"asynchrony.cu", "barriers.cu", "collectives.cu", "memory.cu",
                           "misuse.cu", "progress.cu", "races.cu", "streams.cu"}) {
    std::ifstream source(std::string(WARPATH_BUGS_FOLDER) + "/" + file);
    std::string line;
    for (int number = 1; std::getline(source, line); ++number) {
      const auto at = line.find("// " + marker + ":");
      if (at == std::string::npos) continue;
      const std::string names = line.substr(at) + ",";
      if (names.find(" " + bug + ",") != std::string::npos)
        return std::string(file) + ":" + std::to_string(number);
    }
  }
  return "no line is marked '" + marker + ": " + bug + "'";
}

bool available(By by) {
#if defined(SIMT_ASAN)
  return by != By::tsan &&
         by != By::guard;  // AddressSanitizer explains faults itself: those rows say so
#elif defined(SIMT_TSAN)
  return by == By::tsan || by == By::always || by == By::seed || by == By::lazy;
#else
  return by != By::asan && by != By::ubsan && by != By::tsan;
#endif
}

#if defined(SIMT_ASAN) || defined(SIMT_TSAN)
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif

bool uses_seeds(By by) {
  return by == By::seed || by == By::lazy;
}

// The run that detects the bug: under some of a few seeds, where the schedule decides.
Finished detecting_run(const Row& row) {
  std::string environment = row.environment;
  if (row.by == By::guard) environment += " SIMT_GUARD=1";
  if (row.by == By::lazy) environment += " SIMT_LAZY=1";
  if (!uses_seeds(row.by)) return run(row.bug, environment);
  Finished result;
  for (int seed = 1; seed <= 8 && !result.status; ++seed)
    result = run(row.bug, environment + " SIMT_SEED=" + std::to_string(seed));
  return result;
}

class PlantedBug : public testing::TestWithParam<Row> {};

TEST_P(PlantedBug, IsDetectedAndLocated) {
  const Row& row = GetParam();
  if (!available(row.by)) GTEST_SKIP() << "asserted in the preset of its detector";

  const Finished found = detecting_run(row);
  EXPECT_NE(found.status, 0) << "undetected";
  EXPECT_NE(found.status, 124) << "it hangs";
  if (sanitized && row.by != By::asan && row.by != By::ubsan && row.by != By::tsan) {
    // A sanitizer may be first to find what the executor or a result would have shown.
    return;
  }
  EXPECT_THAT(found.output, HasSubstr(row.says));
  switch (row.names) {
    case Names::planted:
      EXPECT_THAT(found.output, HasSubstr(marked_place("planted", row.bug)));
      break;
    case Names::allocated:
      EXPECT_THAT(found.output, HasSubstr(marked_place("allocated", row.bug)));
      break;
    case Names::launched:
      EXPECT_THAT(found.output, HasSubstr(marked_place("launched", row.bug)));
      break;
    case Names::wrong_result:
      break;
  }
}

// Rows whose bug only an option shows.
std::vector<Row> rows_with_an_option() {
  std::vector<Row> result;
  for (const Row& row : rows) {
    const bool optional = row.by == By::seed || row.by == By::lazy || row.by == By::guard;
    const bool needed = std::none_of(rows.begin(), rows.end(), [&](const Row& other) {
      return other.by == By::always && other.bug == std::string(row.bug);
    });
    // What is read after it was freed may be anything, so nothing can be promised without the
    // guard.
    if (optional && needed && row.bug != std::string("use_after_free")) result.push_back(row);
  }
  return result;
}

class OptionalDetector : public testing::TestWithParam<Row> {};

TEST_P(OptionalDetector, IsNeeded) {
  if (sanitized)
    GTEST_SKIP() << "asserted in the preset without a sanitizer, which may find the bug by itself";
  EXPECT_EQ(run(GetParam().bug, "").status, 0) << "the table should say: always";
}

// ---------------------------------------------------------------- the process

TEST(Process, EndsWithTheLeaksExitCode) {
  EXPECT_EQ(run("leak", "").status, 23);
}

TEST(Process, EndsWithACodeOfItsOwnAfterAnErrorThatItNeverRead) {
  EXPECT_EQ(run("unread_failure", "").status, 26);
  EXPECT_EQ(run("unread_refusal", "").status, 26);
#ifndef SIMT_ASAN
  EXPECT_EQ(run("unread_copy", "").status, 26);
#endif
}

// The leaks of a program that stopped halfway are a consequence.
TEST(Process, SaysNothingOfLeaksAfterAnError) {
  for (const char* bug : {"unread_failure", "no_bug_failure_is_read", "leak_and_exit_code"})
    EXPECT_THAT(run(bug, "").output, Not(HasSubstr("leak: "))) << bug;
}

TEST(Process, KeepsTheExitCodeOfAProgramThatNoticed) {
  EXPECT_EQ(run("leak_and_exit_code", "").status, 7);
  const Finished unread = run("unread_failure_and_exit_code", "");
  EXPECT_EQ(unread.status, 7);
  EXPECT_THAT(unread.output, HasSubstr("never read"));
}

TEST(Process, MayAskAndBeRefused) {
  const Finished found = run("no_bug_asks_for_too_much", "");
  EXPECT_EQ(found.status, 0) << found.output;
}

TEST(Process, EndsWellIfItHasReadItsErrors) {
  const Finished found = run("no_bug_failure_is_read", "");
  EXPECT_EQ(found.status, 0) << found.output;
}

TEST(Process, IsPatientForTwelvePeriods) {
  const Finished found = run("poll_without_yield", "SIMT_WATCHDOG_MS=60");
  EXPECT_EQ(found.status, 25);
  EXPECT_THAT(found.output, AllOf(HasSubstr("the process ends after 720 ms of this"),
                                  HasSubstr("giving up after 720 ms, 12 times SIMT_WATCHDOG_MS")));
}

TEST(Process, EndsAsEverIfTheHostAsserts) {
  const Finished found = run("host_assert", "");
  EXPECT_NE(found.status, 0);
  EXPECT_THAT(found.output, HasSubstr("Assertion `trial.out == nullptr' failed"));
}

TEST(Process, SaysInWhichThreadAnAssertionFailed) {
  EXPECT_THAT(run("device_assert", "").output,
              AllOf(HasSubstr("assertion `threadIdx.x != 3` failed"), HasSubstr("misuse.cu:"),
                    HasSubstr("asserting_kernel"), HasSubstr("block (0,0,0), thread (3,0,0)")));
}

TEST(Process, RefusesAnOptionThatIsNoNumber) {
  const Finished found = run("leak", "SIMT_SEED=three");
  EXPECT_EQ(found.status, 2);
  EXPECT_THAT(found.output, HasSubstr("SIMT_SEED=three: expected a number"));
}

TEST(Process, RefusesAnOptionOutOfRange) {
  EXPECT_EQ(run("leak", "SIMT_DEVICES=17").status, 2);
  EXPECT_EQ(run("leak", "SIMT_WORKERS=-1").status, 2);
}

TEST(Process, WhoPollsAloneIsNotTakenForOneThatHangs) {
  const Finished found = run("no_bug_long_computation", "SIMT_WATCHDOG_MS=40");
  EXPECT_EQ(found.status, 0) << found.output;
}

std::string name_of(const testing::TestParamInfo<Row>& info) {
  static const char* const by[] = {"always", "seed", "lazy", "guard", "asan", "ubsan", "tsan"};
  return std::string(info.param.bug) + "_by_" + by[int(info.param.by)];
}

INSTANTIATE_TEST_SUITE_P(Simt, PlantedBug, testing::ValuesIn(rows), name_of);
INSTANTIATE_TEST_SUITE_P(Simt, OptionalDetector, testing::ValuesIn(rows_with_an_option()), name_of);

}  // namespace
