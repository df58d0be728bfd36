// The program as a user meets it: started, interrupted, killed and resumed.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>
#include <thread>

#include "harness/device.hpp"
#include "harness/json_file.hpp"
#include "scratch_folder.hpp"

namespace warpath::harness {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

struct Outcome {
  int code = 0;  ///< of the exit; negative: the signal that ended it
  std::string out;
  std::string err;
};

constexpr const char* quick_and_slow =
    R"({"schema": 1, "technique": "fake", "experiment": "e", "title": "t",
        "measure": {"min_samples": 100, "max_samples": 100, "max_noise": 0, "max_seconds": 3600},
        "sweep": [{"cross": {"variant": "host_fast", "delay_ms": [0, 1000, 10000]}}]})";

class ProgramTest : public testing::Test {
 protected:
  /// Starts the program in the scratch folder, with its output in out.txt and err.txt there.
  /// `prepare` runs in the new process just before.
  pid_t start(
      std::vector<std::string> arguments, const std::string& tag = "",
      const std::function<void()>& prepare = [] {}) {
    // It lies beside this test, wherever both were copied to.
    arguments.insert(
        arguments.begin(),
        std::filesystem::read_symlink("/proc/self/exe").replace_filename("warpath_fake_program"));
    std::vector<char*> pointers;
    pointers.reserve(arguments.size() + 1);
    for (std::string& argument : arguments) pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    const std::string out = folder_ / ("out.txt" + tag);
    const std::string err = folder_ / ("err.txt" + tag);
    std::filesystem::remove(err);  // else a test may read an earlier process's words
    const pid_t child = fork();
    if (child != 0) return child;
    if (chdir(folder_.path().c_str()) != 0) _exit(126);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) std::signal(signal, SIG_DFL);
    dup2(open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644), STDOUT_FILENO);
    dup2(open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644), STDERR_FILENO);
    prepare();
    execv(pointers[0], pointers.data());
    _exit(127);
  }

  Outcome wait_for(pid_t child, const std::string& tag = "") {
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status),
            read_text(folder_ / ("out.txt" + tag)), read_text(folder_ / ("err.txt" + tag))};
  }

  Outcome run(
      const std::vector<std::string>& arguments, const std::string& tag = "",
      const std::function<void()>& prepare = [] {}) {
    return wait_for(start(arguments, tag, prepare), tag);
  }

  /// Waits until the program has said it on stderr, and fails the test if it never does.
  void wait_for_words(const std::string& words) {
    for (int i = 0; i < 3000 && read_text(folder_ / "err.txt").find(words) == std::string::npos;
         ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    ASSERT_THAT(read_text(folder_ / "err.txt"), HasSubstr(words));
  }

  /// Starts a run whose one point is in its first execution, of that many milliseconds. (It takes
  /// the ceilings from the record of another point.)
  pid_t start_in_a_point(const std::string& delay_ms) {
    folder_.write("c.json", quick_and_slow);
    EXPECT_EQ(run({"run", "c.json", "--set", "delay_ms=0"}).code, 0);
    const pid_t child = start({"run", "c.json", "--resume", "--set", "delay_ms=0," + delay_ms});
    wait_for_words("[0/1] fake/e host_fast");
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    return child;
  }

  /// What is in the results folder beside archives, records and their folders.
  std::vector<std::string> left_over() {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(results())) {
      const bool expected = entry.is_directory() || entry.path().extension() == ".json";
      if (!expected) names.push_back(entry.path().filename());
    }
    return names;
  }

  /// A configuration of host variants, which take their time on both backends.
  void write_config(const std::string& sweep, const std::string& fixed = "{}") {
    folder_.write("c.json",
                  R"({"schema": 1, "technique": "fake", "experiment": "e", "title": "Doubling",
      "fixed": )" + fixed +
                      R"(, "measure": {"min_samples": 2, "max_samples": 2}, "sweep": )" + sweep +
                      "}");
  }

  std::filesystem::path results() { return folder_ / "results" / "runs" / query_device().slug; }

  std::vector<std::filesystem::path> records() {
    std::vector<std::filesystem::path> files;
    if (!std::filesystem::exists(results() / "fake.e")) return files;
    for (const auto& entry : std::filesystem::directory_iterator(results() / "fake.e")) {
      if (entry.path().extension() == ".json") files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    return files;
  }

  Json archive(const std::string& part = "") {
    return read_json(results() / ("fake.e" + (part.empty() ? part : "@" + part) + ".json"));
  }

  /// Waits until that many records are there, and fails the test if they never are.
  void wait_for_records(std::size_t count) {
    for (int i = 0; i < 3000 && records().size() < count; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    ASSERT_GE(records().size(), count);
  }

  ScratchFolder folder_;
};

constexpr const char* ten_slow_points =
    R"([{"cross": {"n": {"range": [1, 10, 1]}, "variant": "host_fast", "delay_ms": 100}}])";

TEST_F(ProgramTest, RunsAConfigurationEndToEnd) {
  write_config(
      R"([{"cross": {"n": [16, 32], "variant": ["kernel", "library", "host_fast", "oracle"]}}])");
  const Outcome outcome = run({"run", "c.json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("fake/e: Doubling"), HasSubstr("median ms"), HasSubstr("passed")));
  EXPECT_EQ(records().size(), 8U);
  const Json written = archive();
  EXPECT_EQ(written.at("schema"), 1);
  EXPECT_EQ(written.at("technique"), "fake");
  EXPECT_EQ(written.at("complete"), true);
  EXPECT_EQ(written.at("profile"), "paper");
  EXPECT_EQ(written.at("command"), "warpath run c.json");
  EXPECT_EQ(written.at("rows").size(), 8U);
  const Json measure = {{"cache", "cold"},   {"min_samples", 2},   {"max_samples", 2},
                        {"max_noise", 0.02}, {"max_seconds", 5.0}, {"min_clock", 0.75},
                        {"launches", 1}};
  EXPECT_EQ(written.at("measure"), measure);
  EXPECT_EQ(written.at("provenance").at("backend"), emulated ? "emulated" : "cuda");
  EXPECT_TRUE(written.at("ceilings").contains("copy_gb_per_s"));
  for (const Json& row : written.at("rows")) {
    EXPECT_FALSE(row.contains("error")) << row.dump();
    const bool timed = !emulated || row.at("runs") == "host";
    EXPECT_EQ(row.at("time_ms").is_null(), !timed) << row.dump();
  }
}

TEST_F(ProgramTest, KilledRunResumesWithWhatIsMissing) {
  write_config(ten_slow_points);
  const pid_t child = start({"run", "c.json"});
  wait_for_records(3);
  kill(child, SIGKILL);
  EXPECT_EQ(wait_for(child).code, -SIGKILL);
  const auto kept = records();
  ASSERT_LT(kept.size(), 10U) << "it ended before it was killed";
  std::map<std::string, std::string> before;
  for (const auto& file : kept) before[file] = read_text(file);

  const Outcome outcome = run({"run", "c.json", "--resume"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err,
              HasSubstr("resuming: " + std::to_string(kept.size()) + " points are finished, " +
                        std::to_string(10 - kept.size()) + " are to be measured"));
  for (const auto& [file, text] : before)
    EXPECT_EQ(read_text(file), text) << "measured again: " << file;
  EXPECT_EQ(records().size(), 10U);
  EXPECT_EQ(archive().at("complete"), true);
  EXPECT_EQ(archive().at("rows").size(), 10U);
}

TEST_F(ProgramTest, HalfWrittenRecordIsMeasuredAgain) {
  write_config(R"([{"cross": {"n": [1, 2], "variant": "host_fast"}}])");
  ASSERT_EQ(run({"run", "c.json"}).code, 0);
  const std::filesystem::path half = records().at(0);
  std::filesystem::resize_file(half, std::filesystem::file_size(half) / 2);
  const Outcome outcome = run({"run", "c.json", "--resume"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.err, HasSubstr("1 points are finished, 1 are to be measured"));
  EXPECT_EQ(read_json(half).at("row").at("verified"), "passed");
}

TEST_F(ProgramTest, EditedRecordsAreNamedAndMeasuredAgain) {
  write_config(R"([{"cross": {"n": [1, 2, 3], "variant": "host_fast"}}])");
  ASSERT_EQ(run({"run", "c.json"}).code, 0);
  const auto edit = [&](std::size_t which, const char* place, const Json& value) {
    Json record = read_json(records().at(which));
    record[Json::json_pointer(place)] = value;
    folder_.write(std::filesystem::relative(records().at(which), folder_.path()), record.dump());
  };
  edit(0, "/row/time_ms/median", "0.1");
  edit(1, "/row/params/n", 4096);
  const Outcome outcome = run({"run", "c.json", "--resume"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err,
              AllOf(HasSubstr("1 points are finished, 2 are to be measured"),
                    HasSubstr(records().at(0).filename().string() + ": row.time_ms.median: got"),
                    HasSubstr(records().at(1).filename().string() + ": row.params: got")));
  const Json written = archive();
  ASSERT_EQ(written.at("rows").size(), 3U);
  for (int n = 1; n <= 3; ++n) {
    const Json& row = written.at("rows").at(static_cast<std::size_t>(n - 1));
    EXPECT_EQ(row.at("params").at("n"), n);
    EXPECT_TRUE(row.at("time_ms").at("median").is_number());
  }
}

TEST_F(ProgramTest, ResumingAFinishedRunMeasuresNothing) {
  write_config(R"([{"cross": {"n": [1, 2], "variant": "host_fast"}}])");
  ASSERT_EQ(run({"run", "c.json"}).code, 0);
  const std::string before = read_text(records().at(0));
  const Outcome outcome = run({"run", "c.json", "--resume"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("2 points are finished, 0 are to be measured"));
  EXPECT_EQ(read_text(records().at(0)), before);
  EXPECT_EQ(archive().at("complete"), true);
}

TEST_F(ProgramTest, SignalKeepsFinishedPointsAndSaysHowToResume) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    std::filesystem::remove_all(folder_ / "results");
    write_config(ten_slow_points);
    const pid_t child = start({"run", "c.json"});
    wait_for_records(2);
    kill(child, signal);
    const Outcome outcome = wait_for(child);
    EXPECT_EQ(outcome.code, 128 + signal);
    EXPECT_THAT(outcome.err, AllOf(HasSubstr("interrupted"), HasSubstr(" run c.json --resume")));
    if (signal != SIGHUP) {
      EXPECT_THAT(outcome.err, HasSubstr("ending after this point; again to end at once"));
    }
    EXPECT_EQ(archive().at("complete"), false);
    const std::size_t finished = archive().at("rows").size();
    EXPECT_GE(finished, 2U);
    EXPECT_LT(finished, 10U);
    EXPECT_EQ(records().size(), finished);
    EXPECT_THAT(left_over(), IsEmpty());
  }
  EXPECT_EQ(run({"run", "c.json", "--resume"}).code, 0);
  EXPECT_EQ(archive().at("complete"), true);
}

// Its samples would take 100 s.
TEST_F(ProgramTest, SignalIsHeededBetweenTheSamplesOfAPoint) {
  const pid_t child = start_in_a_point("1000");
  const auto before = std::chrono::steady_clock::now();
  kill(child, SIGTERM);
  EXPECT_EQ(wait_for(child).code, 143);
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(60));
  const Json cut = archive("delay_ms=0,1000");
  EXPECT_EQ(cut.at("complete"), false);
  EXPECT_EQ(cut.at("rows").size(), 1U);
}

// Nothing can be done about an execution of 10 s but to end the process.
TEST_F(ProgramTest, SecondSignalEndsAtOnceAndLeavesNoLock) {
  for (const int signal : {SIGINT, SIGTERM}) {
    const pid_t child = start_in_a_point("10000");
    kill(child, signal);
    wait_for_words("again to end at once");
    EXPECT_TRUE(std::filesystem::exists(results() / ".lock"));
    EXPECT_EQ(waitpid(child, nullptr, WNOHANG), 0) << "it ended before the second signal";
    kill(child, signal);
    EXPECT_EQ(wait_for(child).code, 128 + signal);
    EXPECT_THAT(left_over(), IsEmpty());
  }
}

TEST_F(ProgramTest, SignalAfterTheLastPointSpoilsNothing) {
  write_config(R"([{"cross": {"n": [1, 2], "variant": "host_fast", "delay_ms": 50}}])");
  ASSERT_EQ(run({"run", "c.json"}).code, 0);
  std::filesystem::remove(results() / "fake.e.json");
  // Nothing is left to measure: the signal comes before the archive is written, or after.
  const pid_t child = start({"run", "c.json", "--resume"}, "", [] {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_BLOCK, &set, nullptr);
    kill(getpid(), SIGTERM);
  });
  const Outcome outcome = wait_for(child);
  EXPECT_THAT(outcome.err, HasSubstr("again to end at once"));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(archive().at("complete"), true);
  EXPECT_EQ(archive().at("rows").size(), 2U);
}

TEST_F(ProgramTest, WhatItsParentIgnoresIsIgnored) {
  write_config(R"([{"cross": {"n": [1, 2, 3], "variant": "host_fast", "delay_ms": 50}}])");
  const pid_t child = start({"run", "c.json"}, "", [] { std::signal(SIGHUP, SIG_IGN); });
  wait_for_records(1);
  kill(child, SIGHUP);
  EXPECT_EQ(wait_for(child).code, 0);
  EXPECT_EQ(archive().at("rows").size(), 3U);
}

/// Makes `into` a pipe without a reader.
void close_the_other_end(int into) {
  int ends[2];
  if (pipe(ends) != 0) _exit(125);
  close(ends[0]);
  dup2(ends[1], into);
}

TEST_F(ProgramTest, ClosedPipeEndsTheRunInOrder) {
  write_config(ten_slow_points);
  // 2>&1 | head: the first line of progress finds no reader.
  const Outcome early = run({"run", "c.json"}, "", [] { close_the_other_end(STDERR_FILENO); });
  EXPECT_EQ(early.code, 128 + SIGPIPE);
  EXPECT_EQ(archive().at("complete"), false);
  EXPECT_LT(records().size(), 10U);
  EXPECT_THAT(left_over(), IsEmpty());
  // | head: only the summary finds no reader.
  write_config(R"([{"cross": {"n": [1, 2], "variant": "host_fast"}}])");
  const Outcome late = run({"run", "c.json"}, "", [] { close_the_other_end(STDOUT_FILENO); });
  EXPECT_EQ(late.code, 128 + SIGPIPE);
  EXPECT_EQ(archive().at("complete"), true);
  EXPECT_THAT(left_over(), IsEmpty());
}

TEST_F(ProgramTest, OutputThatCannotBeWrittenIsAnError) {
  write_config(R"([{"cross": {"n": 1, "variant": "host_fast"}}])");
  std::filesystem::create_directories(folder_ / "configs/fake");
  std::filesystem::copy_file(folder_ / "c.json", folder_ / "configs/fake/e.json");
  ASSERT_EQ(run({"run", "c.json"}).code, 0);
  const std::string made = (results() / "fake.e.json").string();
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"list"},
                                             {"run", "c.json"},
                                             {"run", "c.json", "--dry-run"},
                                             {"run", "c.json", "--benchmark_list_tests"},
                                             {"verify", "c.json"},
                                             {"judge", made},
                                             {"compare", made, made},
                                             {"demo", "fake"},
                                             {"info", "--json"},
                                             {"run", "--help"},
                                             {"--help"},
                                             {"--version"}}) {
    const Outcome outcome =
        run(arguments, "", [] { dup2(open("/dev/full", O_WRONLY), STDOUT_FILENO); });
    EXPECT_EQ(outcome.code, 1) << testing::PrintToString(arguments);
    EXPECT_THAT(outcome.err, HasSubstr("the output could not be written")) << arguments[0];
  }
}

// A limit on the size of files stands for a full disk, which a test cannot have: the lock fits, a
// record does not.
TEST_F(ProgramTest, FullDiskIsSaidAndWhatIsThereIsKept) {
  write_config(R"([{"cross": {"n": [1, 2], "variant": "host_fast"}}])");
  ASSERT_EQ(run({"run", "c.json", "--set", "n=1"}).code, 0);
  const std::string before = read_text(records().at(0));
  const Outcome full = run({"run", "c.json", "--resume"}, "", [] {
    const rlimit limit{500, 500};
    setrlimit(RLIMIT_FSIZE, &limit);
  });
  EXPECT_EQ(full.code, 1);
  EXPECT_THAT(full.err,
              AllOf(HasSubstr("cannot write"), HasSubstr("n=2"),
                    HasSubstr("File too large; what is there is kept"), Not(HasSubstr("FAILED"))));
  EXPECT_EQ(read_text(records().at(0)), before);
  EXPECT_THAT(left_over(), IsEmpty());
  EXPECT_EQ(run({"run", "c.json", "--resume"}).code, 0);
  EXPECT_EQ(archive().at("complete"), true);
}

TEST_F(ProgramTest, HostileConfigurationsAreRefusedByName) {
  const auto refused = [&](const std::string& named) {
    // A program that waits is ended by the alarm.
    const Outcome outcome = run({"verify", named}, "", [] { alarm(60); });
    EXPECT_EQ(outcome.code, 2) << named.substr(0, 100) << ": " << outcome.err.substr(0, 300);
    EXPECT_LT(outcome.err.size(), 2000U);
    return outcome.err;
  };
  const auto says = [](const std::string& name, const std::string& why) {
    return AllOf(HasSubstr(name), HasSubstr(why));
  };
  ASSERT_EQ(mkfifo((folder_ / "fifo.json").c_str(), 0600), 0);
  std::filesystem::create_symlink("loop.json", folder_ / "loop.json");
  std::filesystem::create_symlink("nothing", folder_ / "dangling.json");
  std::filesystem::create_directory(folder_ / "folder.json");
  EXPECT_THAT(refused("fifo.json"), says("fifo.json", "no regular file"));
  EXPECT_THAT(refused("/dev/zero"), says("/dev/zero", "no regular file"));
  EXPECT_THAT(refused("loop.json"), says("loop.json", "symbolic links"));
  EXPECT_THAT(refused("dangling.json"), says("dangling.json", "No such file"));
  EXPECT_THAT(refused("folder.json"), says("folder.json", "is a folder"));
  EXPECT_THAT(refused(std::string(30'000, 'x')), says("xxx...", "no such file"));
  EXPECT_THAT(refused(std::string(30'000, '/')), HasSubstr("cannot be read"));
  std::filesystem::resize_file(folder_.write("large.json", ""), 65 << 20);
  EXPECT_THAT(refused("large.json"), says("large.json", "more than 64 MiB"));

  const auto refused_text = [&](const std::string& text) {
    folder_.write("c.json", text);
    return refused("c.json");
  };
  const std::string deep(100'000, '[');
  EXPECT_THAT(refused_text(deep), says("c.json", "nested deeper than 64 levels"));
  EXPECT_THAT(refused_text(deep + std::string(100'000, ']')), HasSubstr("deeper than 64"));
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += R"({"a":)";
  EXPECT_THAT(refused_text(objects), says("c.json", "nested deeper than 64 levels"));
  std::string many = "{";
  for (int i = 0; i < 10'001; ++i) many += "\"k" + std::to_string(i) + "\": 0,";
  EXPECT_THAT(refused_text(many), says("c.json", "more than 10000 keys"));
  EXPECT_THAT(refused_text("{\"" + std::string(30'000, 'k') + "\": 1}"),
              says("c.json", "unknown key \"kkk"));
  const auto with = [](const std::string& experiment, const std::string& fixed) {
    return R"({"schema": 1, "technique": "fake", "title": "t", "experiment": ")" + experiment +
           R"(", "fixed": )" + fixed + R"(, "sweep": [{}]})";
  };
  EXPECT_THAT(refused_text(with(std::string(30'000, 'e'), "{}")), HasSubstr("100 characters"));
  EXPECT_THAT(refused_text(with("e", R"({"n": 1e999})")), says("c.json", "too large"));
  EXPECT_THAT(refused_text(with("e", R"({"n": )" + std::string(400, '9') + "}")),
              says("c.json", "too large"));
  EXPECT_THAT(refused_text(with("e", R"({"n": )" + std::string(40, '9') + "}")),
              says("c.json: $.fixed.n", "expected an integer"));
  for (const std::string& text : {std::string(30'000, 'v'), std::string(R"(a\nb)")}) {
    EXPECT_THAT(refused_text(with("e", R"({"faulty": ")" + text + "\"}")),
                says("c.json: $.fixed.faulty", "at most 1000 bytes, without control characters"));
  }
  EXPECT_THAT(refused_text(with("e", R"({")" + std::string(30'000, 'p') + R"(": 1})")),
              says("c.json", "unknown parameter \"ppp"));
}

TEST_F(ProgramTest, SecondRunOnTheFolderIsRefused) {
  write_config(ten_slow_points);
  const pid_t first = start({"run", "c.json"});
  wait_for_records(1);
  const Outcome second = run({"run", "c.json"}, ".second");
  EXPECT_EQ(second.code, 2);
  EXPECT_THAT(second.err, AllOf(HasSubstr("another run is writing to"),
                                HasSubstr("process " + std::to_string(first))));
  EXPECT_EQ(wait_for(first).code, 0);
  EXPECT_EQ(archive().at("rows").size(), 10U);
}

TEST_F(ProgramTest, UnwritableFolderIsAnErrorBeforeAnythingRuns) {
  write_config(ten_slow_points);
  folder_.write("occupied", "");
  const Outcome outcome = run({"run", "c.json", "--out", "occupied"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("occupied"), HasSubstr("not writable"),
                                 HasSubstr("nothing was run")));
  const Outcome long_name = run({"run", "c.json", "--out", std::string(30'000, 'o')});
  EXPECT_EQ(long_name.code, 2);
  EXPECT_THAT(long_name.err, HasSubstr("ooo... is not writable (File name too long)"));
}

TEST_F(ProgramTest, WrongAnswerFailsTheRunLoudly) {
  write_config(R"([{"cross": {"n": 16, "variant": ["kernel", "host_fast", "host_slow"]}}])",
               R"({"fault": "wrong_answer", "faulty": "host_slow", "seed": 7})");
  const Outcome outcome = run({"run", "c.json"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("FAILED fake/e/variant:host_slow/n:16"),
                                 HasSubstr("seed:7"), HasSubstr("wrong answer: element 15")));
  const Json written = archive();
  for (const Json& row : written.at("rows")) {
    EXPECT_EQ(row.at("verified") == "failed", row.at("variant") == "host_slow");
    if (row.at("verified") == "failed") {
      EXPECT_TRUE(row.at("time_ms").is_null());
      EXPECT_EQ(row.at("params").at("seed"), 7);
    }
  }
  EXPECT_EQ(run({"verify", "c.json"}).code, 1);
}

TEST_F(ProgramTest, CudaErrorIsRecordedAndTheRunGoesOn) {
  write_config(R"([{"cross": {"n": [16, 32], "variant": ["host_slow", "host_fast"]}}])",
               R"({"fault": "cuda_error", "faulty": "host_slow"})");
  const Outcome outcome = run({"run", "c.json"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(archive().at("complete"), true);
  EXPECT_EQ(archive().at("rows").size(), 4U);
  const Json written = archive();
  for (const Json& row : written.at("rows")) {
    if (row.at("variant") == "host_slow") {
      EXPECT_THAT(row.at("error").get<std::string>(), HasSubstr("cudaMemcpyAsync"));
    } else {
      EXPECT_FALSE(row.at("time_ms").is_null());
    }
  }
  // What failed is not finished.
  EXPECT_THAT(run({"run", "c.json", "--resume"}).err,
              HasSubstr("2 points are finished, 2 are to be measured"));
}

// One point takes the device from its process, while it is verified or (on a GPU) timed.
TEST_F(ProgramTest, RunGoesOnWithoutThePointThatLosesTheDevice) {
  for (const std::string when : {"verifying", "timing"}) {
    if (emulated && when == "timing") continue;
    write_config(R"([{"cross": {"n": [16, 32, 64], "variant": ["host_fast", "kernel", "naive"]}}])",
                 R"({"fault": "device_lost", "faulty": "kernel", "when": ")" + when + R"("})");
    const Outcome outcome = run({"run", "c.json"});
    EXPECT_EQ(outcome.code, 1) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("going on in a new one"));
    const Json written = archive();
    EXPECT_EQ(written.at("complete"), true);
    EXPECT_EQ(written.at("rows").size(), 9U);
    for (const Json& row : written.at("rows")) {
      EXPECT_EQ(row.contains("error"), row.at("variant") == "kernel") << row;
      if (row.at("variant") == "host_fast") {
        EXPECT_FALSE(row.at("time_ms").is_null()) << row;
      }
      if (row.at("variant") == "naive") {
        EXPECT_EQ(row.at("verified"), "passed") << row;
      }
    }
    // The three are tried again in the next run, and a run does not take an earlier one's records.
    EXPECT_THAT(run({"run", "c.json", "--resume"}).err,
                HasSubstr("6 points are finished, 3 are to be measured"));
    EXPECT_THAT(run({"run", "c.json"}).err, Not(HasSubstr("9 points are finished")));
  }
}

TEST_F(ProgramTest, VanishedDeviceFailsThePointsThatAreLeft) {
  write_config(R"([{"cross": {"n": [16, 32], "variant": ["kernel", "naive"]}}])",
               R"({"fault": "device_vanishes", "faulty": "kernel"})");
  const Outcome outcome = run({"run", "c.json"});
  EXPECT_EQ(outcome.code, 1) << outcome.err;
  const Json written = archive();
  EXPECT_EQ(written.at("complete"), true);
  EXPECT_EQ(written.at("rows").size(), 4U);
  for (const Json& row : written.at("rows")) EXPECT_TRUE(row.contains("error")) << row;
}

TEST_F(ProgramTest, VerifyEndsWhereTheDeviceIsLost) {
  write_config(R"([{"cross": {"n": [16, 32], "variant": ["kernel", "naive"]}}])",
               R"({"fault": "device_lost", "faulty": "kernel"})");
  const Outcome outcome = run({"verify", "c.json"});
  EXPECT_EQ(outcome.code, 1) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("1 failed"), HasSubstr("3 were not verified")));
}

TEST_F(ProgramTest, PointThatDoesNotFitIsSkippedWithBytes) {
  write_config(R"([{"cross": {"fault": ["too_large", "none"], "variant": "host_fast"}}])");
  const Outcome outcome = run({"run", "c.json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("skipped fake/e"), HasSubstr("needs 1.00 EiB"),
                                 HasSubstr("are free")));
  EXPECT_EQ(archive().at("rows").size(), 2U);
  // A size that does not fit must be reported.
  EXPECT_EQ(run({"run", "c.json", "--set", "fault=too_large"}).code, 1);
  EXPECT_EQ(run({"run", "c.json", "--set", "fault=too_large,none"}).code, 1);
}

TEST_F(ProgramTest, RefusedPointIsNoFailure) {
  folder_.write("c.json", R"({"schema": 1, "technique": "fake", "experiment": "e", "title": "t",
      "measure": {"min_samples": 2, "max_samples": 2},
      "sweep": [{"cross": {"n": [16, 32], "variant": ["host_slow", "host_fast"]}}],
      "expected": [
        {"kind": "aim", "where": {"variant": "host_slow"}, "metric": "time_ms", "at_most": 1e9},
        {"kind": "aim", "where": {"variant": "host_fast"}, "metric": "ratio", "baseline": {"variant": "host_slow"},
         "at_most": 1e9},
        {"kind": "aim", "where": {"variant": "host_fast"}, "metric": "time_ms", "at_most": 1e9}]})");
  const std::vector<std::string> arguments = {"run",   "c.json",          "--set", "fault=not_here",
                                              "--set", "faulty=host_slow"};
  const Outcome outcome = run(arguments);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const Json written = archive("fault=not_here,faulty=host_slow");
  EXPECT_EQ(written.at("complete"), true);
  EXPECT_EQ(written.at("rows").size(), 4U);
  for (const Json& row : written.at("rows")) {
    const bool refused = row.at("variant") == "host_slow";
    EXPECT_EQ(row.at("time_ms").is_null(), refused) << row;
    EXPECT_EQ(row.at("verified"), refused ? "not_verified" : "passed") << row;
    EXPECT_EQ(row.value("skipped", ""), refused ? "host_slow does not fit this machine" : "");
    EXPECT_FALSE(row.contains("error")) << row;
  }
  const Json& verdicts = written.at("verdicts");
  for (const std::size_t needs_it : {0, 1}) {
    EXPECT_EQ(verdicts[needs_it].at("verdict"), "NOT TESTABLE HERE");
    EXPECT_THAT(verdicts[needs_it].at("missing").get<std::string>(),
                HasSubstr("host_slow does not fit this machine"));
  }
  EXPECT_EQ(verdicts[2].at("verdict"), "MET");
  std::vector<std::string> again = arguments;
  again.emplace_back("--resume");
  EXPECT_THAT(run(again).err, HasSubstr("4 points are finished, 0 are to be measured"));
  EXPECT_EQ(run({"verify", "c.json", "--set", "fault=not_here", "--set", "faulty=host_slow"}).code,
            0);
}

TEST_F(ProgramTest, PointWithoutRoomIsNoFailureAndIsTriedAgain) {
  write_config(R"([{"cross": {"n": [16, 32], "variant": ["host_slow", "host_fast"]}}])",
               R"({"fault": "no_room", "faulty": "host_slow"})");
  const Outcome outcome = run({"run", "c.json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const Json written = archive();
  EXPECT_EQ(written.at("complete"), true);
  for (const Json& row : written.at("rows")) {
    const bool refused = row.at("variant") == "host_slow";
    EXPECT_EQ(row.value("skipped", ""),
              refused ? "does not fit now: host_slow needs 8 bytes more" : "");
  }
  EXPECT_THAT(run({"run", "c.json", "--resume"}).err,
              HasSubstr("2 points are finished, 2 are to be measured"));
}

// A bound that was moved after the run: only the verdict follows it.
TEST_F(ProgramTest, JudgesAnArchiveAgain) {
  std::filesystem::create_directories(folder_ / "configs/fake");
  const auto write = [&](const std::string& most) {
    folder_.write("configs/fake/e.json",
                  R"({"schema": 1, "technique": "fake", "experiment": "e", "title": "t",
      "measure": {"min_samples": 2, "max_samples": 2},
      "sweep": [{"cross": {"n": 16, "variant": "host_fast"}}],
      "expected": [{"kind": "aim", "where": {}, "metric": "time_ms", "at_most": )" +
                      most + "}]}");
  };
  write("1e9");
  ASSERT_EQ(run({"run", "fake/e"}).code, 0);
  const Json before = archive();
  EXPECT_EQ(before.at("verdicts").at(0).at("verdict"), "MET");
  write("0");
  for (const std::string& named : {results().string(), (results() / "fake.e.json").string()}) {
    const Outcome outcome = run({"judge", named});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("MISSED (aim): time_ms"));
  }
  Json after = archive();
  EXPECT_EQ(after.at("verdicts").at(0).at("verdict"), "MISSED");
  after["verdicts"] = before.at("verdicts");
  EXPECT_EQ(after, before);

  EXPECT_EQ(run({"judge"}).code, 2);
  const Outcome nowhere = run({"judge", "nowhere.json"});
  EXPECT_EQ(nowhere.code, 2);
  EXPECT_THAT(nowhere.err, HasSubstr("nowhere.json"));
  EXPECT_THAT(run({"judge", "configs"}).err, HasSubstr("no archive is in this folder"));
  for (const std::string text : {"[]", "7", R"({"technique": "fake"})", R"({"rows": []})"}) {
    folder_.write("no.archive.json", text);
    const Outcome refused = run({"judge", "no.archive.json"});
    EXPECT_EQ(refused.code, 2) << text;
    EXPECT_THAT(refused.err, HasSubstr("no.archive.json: $: is no archive")) << text;
  }
  std::filesystem::remove(folder_ / "configs/fake/e.json");
  const Outcome none = run({"judge", results().string()});
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.err, HasSubstr("configs/fake/e.json"));
  EXPECT_EQ(archive().at("verdicts").at(0).at("verdict"), "MISSED");
}

TEST_F(ProgramTest, ArchiveThatCannotBeJudgedKeepsNoOtherFromIt) {
  std::filesystem::create_directories(folder_ / "configs/fake");
  const auto write = [&](const std::string& experiment, const std::string& most) {
    folder_.write("configs/fake/" + experiment + ".json",
                  R"({"schema": 1, "technique": "fake", "experiment": ")" + experiment +
                      R"(", "title": "t", "measure": {"min_samples": 2, "max_samples": 2},
      "sweep": [{"cross": {"n": 16, "variant": "host_fast"}}],
      "expected": [{"kind": "aim", "where": {}, "metric": "time_ms", "at_most": )" +
                      most + "}]}");
  };
  for (const std::string experiment : {"d", "e", "f"}) write(experiment, "1e9");
  ASSERT_EQ(run({"run", "fake"}).code, 0);
  for (const std::string experiment : {"d", "e", "f"}) write(experiment, "0");
  std::filesystem::remove(folder_ / "configs/fake/d.json");
  const std::string e = (results() / "fake.e.json").string();
  const std::string before = read_text(e);
  std::filesystem::resize_file(e, before.size() / 2);
  const Outcome outcome = run({"judge", results().string()});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("fake.d.json was not judged: configs/fake/d.json"),
                                 HasSubstr("fake.e.json was not judged")));
  EXPECT_THAT(outcome.out, HasSubstr("fake.f.json\nMISSED (aim)"));
  const auto verdict = [&](const std::string& name) {
    return read_json(results() / name).at("verdicts").at(0).at("verdict");
  };
  EXPECT_EQ(verdict("fake.d.json"), "MET");
  EXPECT_EQ(read_text(e), before.substr(0, before.size() / 2));
  EXPECT_EQ(verdict("fake.f.json"), "MISSED");
}

TEST_F(ProgramTest, BenchmarkFilterAndListKeepWorking) {
  write_config(R"([{"cross": {"n": [16, 32], "variant": ["host_fast", "oracle"]}}])");
  const Outcome listed =
      run({"run", "c.json", "--benchmark_list_tests", "--benchmark_filter=n:16"});
  EXPECT_EQ(listed.code, 0) << listed.err;
  EXPECT_THAT(listed.out, AllOf(HasSubstr("fake/e/variant:host_fast/n:16/"),
                                HasSubstr("fake/e/variant:oracle/n:16/"), Not(HasSubstr("n:32"))));
  EXPECT_EQ(records().size(), 0U);

  const Outcome outcome = run({"run", "c.json", "--benchmark_filter=host_fast/n:32",
                               "--benchmark_out=b.json", "--benchmark_format=json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  ASSERT_EQ(records().size(), 1U);
  EXPECT_THAT(records()[0].string(), AllOf(HasSubstr("host_fast"), HasSubstr("n=32")));
  const Json filtered = archive("filter=host_fast,n=32");
  EXPECT_EQ(filtered.at("rows").size(), 1U);
  EXPECT_EQ(filtered.at("complete"), true);
  const Json native = read_json(folder_ / "b.json");
  ASSERT_EQ(native.at("benchmarks").size(), 1U);
  EXPECT_DOUBLE_EQ(native.at("benchmarks")[0].at("real_time"),
                   filtered.at("rows")[0].at("time_ms").at("median"));

  const Outcome none = run({"run", "c.json", "--benchmark_filter=nothing"});
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.err, HasSubstr("--benchmark_filter=nothing leaves none of 4 points"));
}

TEST_F(ProgramTest, DryRunListsPointsAndBytesAndWritesNothing) {
  write_config(R"([{"cross": {"n": [16, 32], "variant": "kernel"}}])");
  const Outcome outcome = run({"run", "c.json", "--dry-run", "--set", "n=2^10:2^12:*2"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("n:1024"), HasSubstr("n:2048"), HasSubstr("n:4096"),
                    HasSubstr("32.00 KiB (32768 bytes)"), HasSubstr("3 points; about")));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "results"));
}

TEST_F(ProgramTest, DryRunMarksWhatIsFinishedAndWhatCannotRunHere) {
  write_config(R"([{"cross": {"n": [16, 32], "variant": ["library", "host_fast"]}}])");
  ASSERT_EQ(run({"run", "c.json", "--set", "n=16", "--set", "variant=host_fast"}).code, 0);
  EXPECT_THAT(run({"run", "c.json", "--dry-run"}).out, Not(HasSubstr("finished")));
  const Outcome outcome = run({"run", "c.json", "--dry-run", "--resume"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, testing::ContainsRegex("host_fast/n:16/[^\n]*\\(finished\\)"));
  EXPECT_THAT(outcome.out, HasSubstr("4 points, 1 of them finished"));
  if (emulated) {
    EXPECT_THAT(outcome.out, testing::ContainsRegex("library/n:32/[^\n]*\\(needs a GPU\\)"));
    EXPECT_THAT(outcome.out, HasSubstr("2 of them cannot run here"));
    EXPECT_THAT(run({"run", "c.json", "--dry-run", "--set", "fault=too_large"}).out,
                testing::ContainsRegex("host_fast[^\n]*\\(does not fit: [^\n]* are free\\)"));
  }
  EXPECT_THAT(run({"run", "c.json", "--dry-run", "--benchmark_filter=n:32"}).out,
              AllOf(HasSubstr("2 points"), Not(HasSubstr("n:16"))));
}

// 10^12 steps.
TEST_F(ProgramTest, HoursOnTheExecutorAreEstimatedAndRefused) {
  if (!emulated) GTEST_SKIP() << "kernels run on the GPU";
  folder_.write("c.json", R"({"schema": 1, "technique": "fake", "experiment": "e", "title": "t",
      "fixed": {"fault": "endless"}, "profiles": {"smoke": {"n": [1]}},
      "sweep": [{"cross": {"n": [1, 1024], "variant": ["kernel", "library"]}}]})");
  const std::string estimate = run({"run", "c.json", "--dry-run"}).out;
  EXPECT_THAT(estimate, testing::ContainsRegex("kernels run on the CPU for [0-9]+ h"));
  for (const std::string command : {"run", "verify"}) {
    const Outcome refused = run({command, "c.json"});
    EXPECT_EQ(refused.code, 2);
    EXPECT_THAT(refused.err,
                AllOf(HasSubstr("kernels run on the CPU, which would take about"),
                      HasSubstr("The longest is fake/e/variant:kernel/n:1024"),
                      HasSubstr("--profile smoke"), HasSubstr("--force runs it as it is")));
    EXPECT_TRUE(records().empty());
    // The size that it names would do.
    const std::size_t begin = refused.err.find("--set n=") + 6;
    const std::string size = refused.err.substr(begin, refused.err.find(' ', begin) - begin);
    EXPECT_EQ(run({command, "c.json", "--set", size}).code, 0) << size;
    std::filesystem::remove_all(results() / "fake.e");
    EXPECT_EQ(run({command, "c.json", "--force"}).code, 0);
    std::filesystem::remove_all(results() / "fake.e");
  }
  // What is not asked for does not count.
  EXPECT_EQ(run({"run", "c.json", "--benchmark_filter=n:1/"}).code, 0);
}

TEST_F(ProgramTest, SizesForAGpuAreSaidWhereThereIsNone) {
  if (!emulated) GTEST_SKIP() << "there is one";
  folder_.write("c.json", R"({"schema": 1, "technique": "fake", "experiment": "e", "title": "t",
      "measure": {"min_samples": 2, "max_samples": 2}, "profiles": {"smoke": {"n": [16]}},
      "sweep": [{"cross": {"n": 32, "variant": "kernel"}}]})");
  EXPECT_THAT(run({"run", "c.json"}).err, HasSubstr("the profile \"paper\" has sizes for a GPU"));
  EXPECT_THAT(run({"run", "c.json", "--profile", "smoke"}).err, Not(HasSubstr("sizes for a GPU")));
  write_config(R"([{"cross": {"n": 32, "variant": "kernel"}}])");
  EXPECT_THAT(run({"run", "c.json"}).err, Not(HasSubstr("sizes for a GPU")));
}

TEST_F(ProgramTest, VerifyTakesTheFilterOfRun) {
  write_config(R"([{"cross": {"n": [16, 32], "variant": ["kernel", "host_fast"]}}])");
  EXPECT_THAT(run({"verify", "c.json", "--benchmark_filter=host_fast"}).out,
              HasSubstr("2 of 2 points are right"));
  EXPECT_THAT(
      run({"verify", "c.json", "--benchmark_filter=n:16", "--benchmark_list_tests"}).out,
      AllOf(HasSubstr("variant:kernel/n:16"), Not(HasSubstr("n:32")), Not(HasSubstr("right"))));
  EXPECT_EQ(run({"verify", "c.json", "--benchmark_filter=nothing"}).code, 2);
}

TEST_F(ProgramTest, BenchmarkFlagsAreHonouredOrRefused) {
  write_config(R"([{"cross": {"n": 16, "variant": "host_fast"}}])");
  const auto refused = [&](const std::vector<std::string>& arguments) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.code, 2) << testing::PrintToString(arguments);
    EXPECT_EQ(outcome.out, "");
    return outcome.err;
  };
  for (const std::string flag :
       {"min_time=1", "repetitions=3", "help", "perf_counters=CYCLES", "v=2", "fliter=x"}) {
    EXPECT_THAT(refused({"run", "c.json", "--benchmark_" + flag}),
                AllOf(HasSubstr("has no effect on warpath run"), HasSubstr("did you mean")));
  }
  EXPECT_THAT(refused({"run", "c.json", "--benchmark_filter=*("}),
              HasSubstr("--benchmark_filter=*(: is no regular expression"));
  EXPECT_THAT(refused({"verify", "c.json", "--benchmark_filter=" + std::string(30'000, '(')}),
              HasSubstr("at most 1000 characters"));
  EXPECT_THAT(refused({"run", "c.json", "--benchmark_format=xml"}),
              HasSubstr("console, json, csv"));
  EXPECT_THAT(refused({"run", "c.json", "--benchmark_filter", "n:16"}), HasSubstr("needs a value"));
  EXPECT_THAT(refused({"run", "c.json", "--benchmark_list_tests=perhaps"}),
              HasSubstr("expected true or false"));
  EXPECT_THAT(refused({"run", "c.json", "--benchmark_out=nowhere/b.json"}),
              HasSubstr("its folder does not exist"));
  EXPECT_THAT(refused({"verify", "c.json", "--benchmark_format=json"}),
              HasSubstr("has no effect on warpath verify"));
  for (const std::string command : {"list", "info", "judge", "compare", "demo"}) {
    EXPECT_THAT(refused({command, "--benchmark_filter=x"}), HasSubstr("has no effect")) << command;
  }
  EXPECT_TRUE(records().empty());
}

TEST_F(ProgramTest, ReportsOfBenchmarksStayParsable) {
  write_config(R"([{"cross": {"n": [16, 32], "variant": ["host_fast", "library"]}}])",
               R"({"fault": "exception", "faulty": "library"})");
  const auto names = [](const std::string& text) {
    std::vector<std::string> found;
    const Json report = parse_json(text, "report");
    for (const Json& each : report.at("benchmarks")) found.push_back(each.at("name"));
    return found;
  };
  // The second time nothing is measured, and all is reported.
  for (const std::string resume : {"--force", "--resume"}) {
    const Outcome json =
        run({"run", "c.json", resume, "--benchmark_format=json", "--benchmark_context=purpose=test",
             "--benchmark_out=b.csv", "--benchmark_out_format=csv"});
    EXPECT_EQ(json.code, emulated ? 0 : 1) << json.err;
    EXPECT_EQ(names(json.out).size(), 4U);
    EXPECT_EQ(parse_json(json.out, "stdout").at("context").at("purpose"), "test");
    EXPECT_THAT(json.err, AllOf(HasSubstr("median ms"), HasSubstr("fake.e.json")));
    const std::string csv = read_text(folder_ / "b.csv");
    EXPECT_TRUE(csv.starts_with("name,iterations,real_time")) << csv;
    EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 5);
  }
  EXPECT_TRUE(run({"run", "c.json", "--benchmark_format=csv"}).out.starts_with("name,iterations"));
  // A row without a time, and so without rates, comes first.
  write_config(R"([{"cross": {"n": [16, 32], "variant": ["library", "host_fast"]}}])",
               R"({"fault": "not_here", "faulty": "library"})");
  const Outcome untimed_first = run({"run", "c.json", "--benchmark_format=csv"});
  EXPECT_EQ(untimed_first.code, 0) << untimed_first.err;
  EXPECT_THAT(untimed_first.out, HasSubstr("gb_per_s"));
  EXPECT_EQ(run({"run", "c.json", "--benchmark_out=/proc/report.json"}).code, 2);
  // What the environment says is not what was typed.
  const Outcome outcome = run({"run", "c.json", "--benchmark_format=json"}, "", [] {
    setenv("BENCHMARK_REPETITIONS", "3", 1);
    setenv("BENCHMARK_FILTER", "nothing", 1);
    setenv("BENCHMARK_OUT", "/nowhere/at/all", 1);
  });
  EXPECT_EQ(names(outcome.out).size(), 4U) << outcome.err;
}

TEST_F(ProgramTest, RecordedCommandHasNoPathOfThisMachine) {
  std::filesystem::create_directories(folder_ / "configs/a folder");
  folder_.write("configs/schema.json", "{}");
  const std::string file =
      folder_.write("configs/a folder/it's {one}.json",
                    R"({"schema": 1, "technique": "fake", "experiment": "e", "title": "t",
          "measure": {"min_samples": 2, "max_samples": 2}, "sweep": [{"cross": {"n": 1, "variant": "host_fast"}}]})");
  const auto recorded = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"run", file, "--profile", "paper"});
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return archive().at("command").get<std::string>();
  };
  const std::string command =
      R"(warpath run 'configs/a folder/it'\''s {one}.json' --profile paper)";
  EXPECT_EQ(recorded({}), command);
  EXPECT_EQ(recorded({"--out", "results/runs"}), command + " --out results/runs");
  EXPECT_EQ(recorded({"--out", folder_ / "results/runs"}), command);
  EXPECT_EQ(recorded({"--out=" + (folder_ / "results/runs").string(), "--resume",
                      "--benchmark_out=" + (folder_ / "b.json").string()}),
            command + " --resume");
  EXPECT_EQ(recorded({"--benchmark_filter=host_fast"}), command + " --benchmark_filter=host_fast");
}

TEST_F(ProgramTest, SuggestedCommandGoesOnAsItStands) {
  const std::string file = folder_.write("it's a long run.json", quick_and_slow);
  ASSERT_EQ(run({"run", file, "--set", "delay_ms=0"}).code, 0);
  const pid_t child = start({"run", file, "--set", "delay_ms=0,1000"});
  wait_for_words("[0/2");
  kill(child, SIGTERM);
  const std::string err = wait_for(child).err;
  const std::size_t begin = err.rfind("with\n  ") + 7;
  ASSERT_NE(begin, std::string::npos + 7) << err;
  std::string command = err.substr(begin, err.find('\n', begin) - begin);
  ASSERT_THAT(command, HasSubstr("--resume"));
  command = "cd '" + folder_.path() + "' && " + command + " --dry-run > dry.txt";
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
  EXPECT_THAT(read_text(folder_ / "dry.txt"), HasSubstr("2 points"));
}

TEST_F(ProgramTest, ListTakesTechniquesAndPrintsJson) {
  const Json list = parse_json(run({"list", "--json"}).out, "stdout");
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list[0].at("name"), "fake");
  EXPECT_EQ(list[0].at("variants").size(), 6U);
  EXPECT_EQ(list[0].at("variants")[2].at("runs"), "gpu");
  const Json& n = list[0].at("parameters")[0];
  EXPECT_EQ(n.at("name"), "n");
  EXPECT_EQ(n.at("default"), 1024);
  EXPECT_EQ(n.at("most"), 1 << 28);
  EXPECT_EQ(list[0].at("configurations"), Json::array());
  EXPECT_THAT(run({"list", "fake"}).out, HasSubstr("fake: doubles integers"));
  EXPECT_EQ(parse_json(run({"list", "fake", "--json"}).out, "stdout"), list);
  const Outcome unknown = run({"list", "fale"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("unknown technique \"fale\"; did you mean \"fake\"?"));
}

TEST_F(ProgramTest, ComparesTheArchivesOfTwoRuns) {
  write_config(R"([{"cross": {"n": 16, "variant": "host_fast", "delay_ms": 5}}])");
  ASSERT_EQ(run({"run", "c.json", "--out", "a"}).code, 0);
  ASSERT_EQ(run({"run", "c.json", "--out", "b"}).code, 0);
  const std::string device = query_device().slug;
  const std::vector<std::string> arguments = {"compare", "a/" + device, "b/" + device};
  const Outcome outcome = run(arguments);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("1 rows compared"));
  // Ten times as slow.
  const std::filesystem::path file = folder_ / ("b/" + device + "/fake.e.json");
  Json slow = read_json(file);
  for (auto& [name, value] : slow["rows"][0]["time_ms"].items()) {
    if (name != "samples") value = name == "noise" ? 0.01 : 10 * value.get<double>();
  }
  folder_.write(std::filesystem::relative(file, folder_.path()), slow.dump());
  EXPECT_THAT(run(arguments).out, HasSubstr("1 slower and 0 faster"));
  std::vector<std::string> gated = arguments;
  gated.insert(gated.end(), {"--fail-above", "5%"});
  const Outcome failed = run(gated);
  EXPECT_EQ(failed.code, 1);
  EXPECT_THAT(failed.err, HasSubstr("1 rows are slower by more than 5 %"));
  EXPECT_EQ(run({"compare", "a"}).code, 2);
  EXPECT_EQ(run({"compare", arguments[1], arguments[2], "--fail-above", "much"}).code, 2);
}

TEST_F(ProgramTest, ColoursAreForTerminals) {
  write_config(R"([{"cross": {"n": 16, "variant": "host_fast"}}])",
               R"({"fault": "wrong_answer", "faulty": "host_fast"})");
  const auto on_a_terminal = [&](const std::string& no_colour, const std::string& term) {
    const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
    EXPECT_TRUE(terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0);
    const std::string name = ptsname(terminal);
    const pid_t child = start({"verify", "c.json"}, "", [&] {
      dup2(open(name.c_str(), O_RDWR | O_NOCTTY), STDERR_FILENO);
      setenv("NO_COLOR", no_colour.c_str(), 1);
      setenv("TERM", term.c_str(), 1);
    });
    EXPECT_EQ(wait_for(child).code, 1);
    // A terminal hands over what was written in pieces, and an error after the last.
    std::string text;
    std::array<char, 4096> piece{};
    for (ssize_t length = 1; length > 0;) {
      length = read(terminal, piece.data(), piece.size());
      text.append(piece.data(), static_cast<std::size_t>(std::max<ssize_t>(length, 0)));
    }
    close(terminal);
    return text;
  };
  const std::string red = "\033[31mFAILED\033[0m";
  EXPECT_THAT(on_a_terminal("", "xterm"), HasSubstr(red));
  EXPECT_THAT(on_a_terminal("1", "xterm"), AllOf(HasSubstr("FAILED"), Not(HasSubstr(red))));
  EXPECT_THAT(on_a_terminal("", "dumb"), AllOf(HasSubstr("FAILED"), Not(HasSubstr(red))));
  EXPECT_THAT(run({"verify", "c.json"}).err, Not(HasSubstr("\033")));
}

TEST_F(ProgramTest, VerifyTimesAndWritesNothing) {
  write_config(R"([{"cross": {"n": [16, 32], "variant": ["kernel", "host_fast"]}}])");
  const Outcome outcome = run({"verify", "c.json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("4 of 4 points are right"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "results"));
}

TEST_F(ProgramTest, VerifyTakesATechniqueForAllOfItsConfigurations) {
  std::filesystem::create_directories(folder_ / "configs" / "fake");
  for (const std::string name : {"a", "b"}) {
    folder_.write("configs/fake/" + name + ".json",
                  R"({"schema": 1, "technique": "fake", "experiment": ")" + name +
                      R"(", "title": "t", "sweep": [{"cross": {"n": 16, "variant": "kernel"}}]})");
  }
  const Outcome outcome = run({"verify", "fake"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("2 of 2 points are right"));
  EXPECT_THAT(run({"list"}).out,
              AllOf(HasSubstr("configs/fake/a.json"), HasSubstr("configs/fake/b.json")));
}

TEST_F(ProgramTest, NamesOfConfigurationsAreFoundAndSuggested) {
  std::filesystem::create_directories(folder_ / "configs/fake");
  folder_.write("configs/fake/e.json", R"({"schema": 1, "technique": "fake", "experiment": "e",
      "title": "t", "sweep": [{"cross": {"n": [16, 32], "variant": "host_fast"}}]})");
  EXPECT_EQ(run({"run", "fake"}).code, 0);
  EXPECT_EQ(run({"run", "fake/e"}).code, 0);
  EXPECT_EQ(run({"verify", "configs/fake/e.json"}).code, 0);
  const Outcome unknown = run({"verify", "fakke"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, AllOf(HasSubstr("fakke: cannot be read: no such file, and no technique"),
                                 HasSubstr("did you mean \"fake\"?")));
}

TEST_F(ProgramTest, CompleteArchiveOutlivesARunThatIsCutShort) {
  write_config(R"([{"cross": {"n": [16, 32], "variant": "host_fast"}}])");
  EXPECT_EQ(run({"run", "c.json"}).code, 0);
  const Json whole = archive();
  write_config(ten_slow_points);
  const pid_t child = start({"run", "c.json"});
  wait_for_records(4);
  kill(child, SIGTERM);
  const Outcome outcome = wait_for(child);
  EXPECT_EQ(outcome.code, 143);
  EXPECT_THAT(outcome.err, HasSubstr("is of a complete run, and stays as it is"));
  EXPECT_EQ(archive(), whole);
}

TEST_F(ProgramTest, VerifyFailsWhereASizeThatWasAskedForDoesNotFit) {
  write_config(R"([{"cross": {"n": [16], "variant": "host_fast"}}])");
  EXPECT_EQ(run({"verify", "c.json", "--set", "fault=too_large"}).code, 1);
}

TEST_F(ProgramTest, PartOfASweepStandsBesideTheWhole) {
  write_config(R"([{"cross": {"n": [16, 32], "variant": "host_fast"}}])");
  EXPECT_EQ(run({"run", "c.json"}).code, 0);
  const Json whole = archive();
  EXPECT_EQ(whole.at("rows").size(), 2U);
  EXPECT_EQ(run({"run", "c.json", "--set", "n=16,64", "--set", "seed=7"}).code, 0);
  EXPECT_EQ(run({"run", "c.json", "--benchmark_filter=n:16/"}).code, 0);
  EXPECT_EQ(archive(), whole);
  EXPECT_EQ(archive("n=16,64,seed=7").at("rows").size(), 2U);
  EXPECT_EQ(archive("filter=n=16,").at("rows").size(), 1U);
  EXPECT_EQ(run({"run", "c.json", "--benchmark_filter=host"}).code, 0);
  EXPECT_NE(archive().at("run"), whole.at("run")) << "a filter that leaves all is the whole";
}

TEST_F(ProgramTest, AnotherProfileDoesNotReplaceTheArchiveOfTheDefaultOne) {
  folder_.write("c.json",
                R"({"schema": 1, "technique": "fake", "experiment": "e", "title": "t",
      "measure": {"min_samples": 2, "max_samples": 2}, "profiles": {"smoke": {"n": 16}, "full": {}},
      "sweep": [{"cross": {"n": [16, 32], "variant": "host_fast"}}]})");
  const auto run_profile = [&](const std::string& name, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"run", "c.json", "--profile", name});
    const Outcome outcome = run(more);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome.out;
  };
  // Alone it stands for the experiment, until there is one of the default profile.
  EXPECT_THAT(run_profile("smoke"), HasSubstr("fake.e.json"));
  EXPECT_EQ(archive().at("profile"), "smoke");
  run_profile("paper");
  const Json whole = archive();
  EXPECT_EQ(whole.at("profile"), "paper");
  EXPECT_THAT(run_profile("smoke"), HasSubstr("fake.e@profile=smoke.json"));
  run_profile("full");
  EXPECT_EQ(archive(), whole);
  EXPECT_EQ(archive("profile=smoke").at("rows").size(), 1U);
  EXPECT_EQ(archive("profile=full").at("rows").size(), 2U);
  // Nor a part of it.
  run_profile("paper", {"--set", "seed=7"});
  run_profile("smoke", {"--set", "seed=7"});
  EXPECT_EQ(archive("seed=7").at("rows").size(), 2U);
  EXPECT_EQ(archive("profile=smoke,seed=7").at("rows").size(), 1U);
}

TEST_F(ProgramTest, RowsOfAnotherRunSaySo) {
  write_config(R"([{"cross": {"n": [16, 32], "variant": "host_fast"}}])");
  EXPECT_EQ(run({"run", "c.json", "--benchmark_filter=n:16/"}).code, 0);
  const Json first = archive("filter=n=16,");
  EXPECT_FALSE(first.at("rows")[0].contains("run")) << "all rows are of this run";
  EXPECT_EQ(run({"run", "c.json", "--resume"}).code, 0);
  const Json both = archive();
  EXPECT_NE(both.at("run"), first.at("run"));
  EXPECT_EQ(both.at("rows")[0].at("run"), first.at("run"));
  EXPECT_EQ(both.at("rows")[0].at("commit"), first.at("provenance").at("git_commit"));
  EXPECT_FALSE(both.at("rows")[1].contains("run"));
}

TEST_F(ProgramTest, PercentagesReferToTheCeilingsOfTheArchive) {
  write_config(R"([{"cross": {"n": [16, 32, 64], "variant": ["kernel", "host_fast"]}}])");
  ASSERT_EQ(run({"run", "c.json"}).code, 0);
  // As if other runs had measured the first two points: one that found twice the bandwidth, and one
  // that found none.
  const std::string timed = emulated ? "host_fast" : "kernel";
  for (const auto& file : records()) {
    Json record = read_json(file);
    Json& row = record["row"];
    const int n = row.at("params").at("n");
    if (row.at("variant") != timed || n == 64) continue;
    Json& ceilings = record["ceilings"];
    ceilings = n == 16 ? Json{{"copy_gb_per_s", 2 * ceilings["copy_gb_per_s"].get<double>()}}
                       : Json::object();
    row["percent_of_peak"] = row["percent_of_peak"].get<double>() / 2;
    folder_.write(std::filesystem::relative(file, folder_.path()), record.dump());
  }
  EXPECT_THAT(run({"run", "c.json", "--resume"}).err, HasSubstr("6 points are finished"));
  const Json written = archive();
  const double copy = written.at("ceilings").at("copy_gb_per_s");
  std::size_t compared = 0;
  for (const Json& row : written.at("rows")) {
    if (row.at("variant") != timed) continue;
    ++compared;
    EXPECT_EQ(row.contains("peak"), row.at("params").at("n") != 32) << row;
    EXPECT_EQ(row.at("percent_of_peak").is_null(), !row.contains("peak")) << row;
    if (!row.contains("peak")) continue;
    const double expected = 100 * row.at("gb_per_s").get<double>() / copy;
    EXPECT_NEAR(row.at("percent_of_peak").get<double>(), expected, 1e-9 * expected) << row;
  }
  EXPECT_EQ(compared, 3U);
}

TEST_F(ProgramTest, OnlyWhatUsesLinksHasTheirRates) {
  write_config(R"([{"cross": {"scale": [0.5, 1], "variant": ["host_fast"]}}])");
  ASSERT_EQ(run({"run", "c.json"}).code, 0);
  ASSERT_EQ(records().size(), 2U);
  for (const auto& file : records()) {
    const Json record = read_json(file);
    const bool uses_links = record.at("row").at("params").at("scale") == 1;
    EXPECT_EQ(record.contains("links"), uses_links && !emulated);
  }
  EXPECT_EQ(archive().contains("links"), !emulated);
}

TEST_F(ProgramTest, LinksOfRecordsGoToTheArchive) {
  write_config(R"([{"cross": {"scale": [0.5, 1], "variant": ["host_fast"]}}])");
  ASSERT_EQ(run({"run", "c.json"}).code, 0);
  const Json links = {{"bytes", 1}, {"host", Json::array()}};
  for (const auto& file : records()) {
    Json record = read_json(file);
    if (record.at("row").at("params").at("scale") != 1) continue;
    record["links"] = links;
    folder_.write(std::filesystem::relative(file, folder_.path()), record.dump());
  }
  EXPECT_THAT(run({"run", "c.json", "--resume"}).err, HasSubstr("2 points are finished"));
  EXPECT_EQ(archive().at("links"), links);
}

TEST_F(ProgramTest, ListShowsVariantsAndParameters) {
  const Outcome outcome = run({"list"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("fake: doubles integers"), HasSubstr("host_slow"), HasSubstr("peer"),
                    HasSubstr("delay_ms"), HasSubstr("1 to 268435456"), HasSubstr("default 1024")));
}

TEST_F(ProgramTest, DemoPrintsTheDemonstration) {
  EXPECT_EQ(run({"demo", "fake"}).out, "twice 21 is 42\n");
  EXPECT_THAT(run({"list"}).out, HasSubstr("demonstration: warpath demo fake"));
  const Outcome unknown = run({"demo", "fale"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("no demonstration of \"fale\"; did you mean \"fake\"?"));
  EXPECT_EQ(run({"demo"}).code, 2);
}

TEST_F(ProgramTest, HelpIsThereForEveryCommand) {
  for (const std::string command : {"list", "run", "verify", "judge", "compare", "demo", "info"}) {
    const Outcome outcome = run({command, "--help"});
    EXPECT_EQ(outcome.code, 0);
    EXPECT_THAT(outcome.out, HasSubstr("warpath " + command));
    EXPECT_EQ(run({command, "-h"}).out, outcome.out);
  }
  EXPECT_THAT(run({"--help"}).out, HasSubstr("warpath verify"));
}

TEST_F(ProgramTest, VersionNamesVersionCommitAndBackend) {
  const Outcome outcome = run({"--version"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, testing::MatchesRegex(
                               "warpath [0-9]+\\.[0-9]+\\.[0-9]+ \\(commit "
                               "([0-9a-f]+|unknown)(, changed)?, backend (emulated|cuda)\\)\n"));
  EXPECT_THAT(outcome.out, HasSubstr(emulated ? "emulated" : "cuda"));
  EXPECT_THAT(run({"--help"}).out, HasSubstr("warpath --version"));
}

TEST_F(ProgramTest, BadCommandLinesNameWhatIsKnown) {
  write_config(R"([{"cross": {"n": 16}}])");
  const auto error = [&](const std::vector<std::string>& arguments) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    return outcome.err;
  };
  EXPECT_THAT(error({}), HasSubstr("name a command"));
  EXPECT_THAT(error({"rum"}), HasSubstr("unknown command \"rum\"; did you mean \"run\"?"));
  EXPECT_THAT(error({"run"}), HasSubstr("name at least one configuration"));
  EXPECT_THAT(error({"run", "c.json", "--resum"}),
              HasSubstr("unknown option --resum; did you mean \"--resume\"?"));
  EXPECT_THAT(error({"run", "c.json", "--profile", "smoke"}),
              HasSubstr("unknown profile \"smoke\""));
  EXPECT_THAT(error({"run", "c.json", "--set", "m=1"}), HasSubstr("unknown parameter \"m\""));
  EXPECT_THAT(error({"run", "c.json", "--set", "n=5", "--set", "seed=1", "--set", "n=6"}),
              HasSubstr("--set n=6: another --set names \"n\", too"));
  EXPECT_THAT(error({"verify", "c.json", "--set", "n=5", "--set", "n=5"}), HasSubstr("another"));
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"run", "c.json", "--out", ""}, {"info", "--out="}}) {
    EXPECT_THAT(error(arguments), HasSubstr("--out"));
  }
  EXPECT_THAT(error({"run", "c.json", "--benchmark_nothing=1"}), HasSubstr("--benchmark_nothing"));
  EXPECT_THAT(error({"run", "d.json"}), HasSubstr("d.json: cannot be read"));
  EXPECT_THAT(error({"verify", "fake"}), HasSubstr("no configurations under configs/fake"));
  EXPECT_FALSE(std::filesystem::exists(results() / "fake.e"));
}

TEST_F(ProgramTest, InfoWritesTheCeilings) {
  const Outcome outcome = run({"info", "--json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const Json info = read_json(results() / "info.json");
  EXPECT_EQ(parse_json(outcome.out, "stdout"), info);
  EXPECT_EQ(info.at("schema"), 1);
  EXPECT_EQ(info.at("provenance").at("backend"), emulated ? "emulated" : "cuda");
  EXPECT_GE(info.at("ceilings").at("copy_gb_per_s").size(), 3U);
  for (const Json& size : info.at("ceilings").at("copy_gb_per_s")) EXPECT_GT(size.at("value"), 0);
  EXPECT_EQ(info.at("links").contains("not_measured"), emulated);
  EXPECT_EQ(info.at("links").contains("host"), !emulated);
}

TEST_F(ProgramTest, InfoSaysThatTheExecutorHasNoLinks) {
  if (!emulated) return;
  for (const char* devices : {"1", "4"}) {
    const Outcome outcome = run({"info"}, "", [devices] { setenv("SIMT_DEVICES", devices, 1); });
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, testing::EndsWith("links: not measured: the emulated backend times "
                                               "nothing\n"));
  }
}

}  // namespace
}  // namespace warpath::harness
