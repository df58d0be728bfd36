// Records: whole or not there, valid only for the same point, build, device and way of measuring.
#include "harness/store.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "fake_technique.hpp"
#include "harness/error.hpp"
#include "harness/group_run.hpp"
#include "harness/json_file.hpp"
#include "harness/provenance.hpp"
#include "harness/row.hpp"
#include "scratch_folder.hpp"

namespace warpath::harness {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class StoreTest : public testing::Test {
 protected:
  StoreTest() {
    for (const Parameter& parameter : technique_.parameters) {
      point_.parameters.set(parameter.name, parameter.default_value);
    }
    point_.parameters.set("variant", std::string("kernel"));
    device_.name = "Test GPU";
    device_.uuid = "GPU-1";
    device_.driver = "1.0";
    key_ = record_key(point_, measure_, device_);
    record_ = {{"schema", 1},
               {"run", "this one"},
               {"key", key_},
               {"row", make_row(point_, result(), measure_, {})},
               {"ceilings", {{"copy_gb_per_s", 12.5}}},
               {"provenance", provenance(device_)}};
  }

  static PointResult result() {
    PointResult result;
    result.verified = Verified::passed;
    result.time = summarize({1.0, 1.5, 2.0});
    result.cost = Cost{1024, 8192};
    result.counters = {{"blocks_count", 4}};
    result.choices = {{"loop", "even"}};
    return result;
  }

  /// The one record's file.
  std::filesystem::path file() {
    std::filesystem::path found;
    for (const auto& entry : std::filesystem::directory_iterator(folder_ / "results" / "fake.e")) {
      EXPECT_TRUE(found.empty()) << "more than one file: " << entry.path();
      found = entry.path();
    }
    return found;
  }

  ScratchFolder folder_;
  Technique technique_ = fake::technique();
  Point point_{&technique_, technique_.variants.data(), "e", {}};
  Measure measure_;
  Device device_;
  Json key_;
  Json record_;
};

TEST_F(StoreTest, FindsWhatItWrote) {
  const Store store(folder_ / "results");
  EXPECT_TRUE(store.find(point_, key_).is_null());
  store.write(point_, record_);
  EXPECT_EQ(store.find(point_, key_), record_);
  EXPECT_TRUE(is_finished(record_));
}

TEST_F(StoreTest, AnotherBuildDeviceDriverOrMeasureIsAnotherKey) {
  const Store store(folder_ / "results");
  store.write(point_, record_);
  Device device = device_;
  device.uuid = "GPU-2";
  EXPECT_TRUE(store.find(point_, record_key(point_, measure_, device)).is_null());
  device = device_;
  device.driver = "1.1";
  EXPECT_TRUE(store.find(point_, record_key(point_, measure_, device)).is_null());
  Measure measure = measure_;
  measure.cache = Cache::warm;
  EXPECT_TRUE(store.find(point_, record_key(point_, measure, device_)).is_null());
  const Json warm = record_key(point_, measure, device_);
  measure.launches = 200;
  EXPECT_NE(record_key(point_, measure, device_), warm);
  Json key = key_;
  key["build"] = "another";
  EXPECT_TRUE(store.find(point_, key).is_null());
}

TEST_F(StoreTest, HalfWrittenAndForeignRecordsAreIgnored) {
  const Store store(folder_ / "results");
  store.write(point_, record_);
  const std::string whole = read_text(file());
  for (const std::string& text :
       {whole.substr(0, whole.size() / 2), std::string(), std::string("[1, 2]"),
        std::string("null"), std::string(R"({"key": 1})"), std::string("\x00\xff", 2)}) {
    std::ofstream(file(), std::ios::binary) << text;
    EXPECT_TRUE(store.find(point_, key_).is_null()) << text;
  }
  store.write(point_, record_);
  EXPECT_EQ(store.find(point_, key_), record_);
}

// What an editor may have done to a record whose key is right.
TEST_F(StoreTest, MistypedRecordsAreAbsentAndNamed) {
  const std::vector<std::pair<const char*, Json>> edits = {{"/row", Json::array()},
                                                           {"/row/variant", 7},
                                                           {"/row/variant", "naive"},
                                                           {"/row/role", "king"},
                                                           {"/row/verified", true},
                                                           {"/row/params", nullptr},
                                                           {"/row/params/n", 2048},
                                                           {"/row/params/n", Json::array()},
                                                           {"/row/params/new", 1},
                                                           {"/row/time_ms", 1.5},
                                                           {"/row/time_ms", nullptr},
                                                           {"/row/time_ms/median", "fast"},
                                                           {"/row/time_ms/noise", -1},
                                                           {"/row/gb_per_s", "many"},
                                                           {"/row/counters", 3},
                                                           {"/row/counters/blocks_count", "four"},
                                                           {"/row/skipped", false},
                                                           {"/row/error", 1},
                                                           {"/ceilings", 12.5},
                                                           {"/ceilings/copy_gb_per_s", "high"},
                                                           {"/links", 400},
                                                           {"/provenance", "mine"},
                                                           {"/provenance/git_commit", 5},
                                                           {"/row/clock", "sun"},
                                                           {"/row/launches", "x"},
                                                           {"/row/choices/a", 5},
                                                           {"/row/time_ms/p90", 0},
                                                           {"/run", 5}};
  int stores = 0;
  for (const auto& [place, value] : edits) {
    // A store says it once of a file.
    const Store store(folder_ / ("results" + std::to_string(++stores)));
    Json edited = record_;
    edited[Json::json_pointer(place)] = value;
    store.write(point_, edited);
    testing::internal::CaptureStderr();
    EXPECT_TRUE(store.find(point_, key_).is_null()) << place << " " << value;
    EXPECT_TRUE(store.find(point_, key_).is_null());
    const std::string said = testing::internal::GetCapturedStderr();
    // Parameters are compared as a whole.
    const std::string path = place;
    const std::string where =
        path.starts_with("/row/params") ? "params" : path.substr(path.rfind('/') + 1);
    EXPECT_THAT(said, AllOf(HasSubstr("/fake.e/variant=kernel"), HasSubstr(where),
                            HasSubstr("it counts as no record")))
        << place;
    EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1);
  }
  for (const std::string key : {"row", "run", "ceilings", "provenance"}) {
    const Store store(folder_ / ("without_" + key));
    Json edited = record_;
    edited.erase(key);
    store.write(point_, edited);
    EXPECT_TRUE(store.find(point_, key_).is_null()) << key;
  }
}

TEST_F(StoreTest, WhatIsNoFileIsNoRecordAndIsNotWaitedFor) {
  const Store store(folder_ / "results");
  store.write(point_, record_);
  const std::filesystem::path place = file();
  std::filesystem::remove(place);
  ASSERT_EQ(mkfifo(place.c_str(), 0600), 0);
  testing::internal::CaptureStderr();
  EXPECT_TRUE(store.find(point_, key_).is_null());
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("no regular file"));
  // A new record takes its place.
  store.write(point_, record_);
  EXPECT_EQ(store.find(point_, key_), record_);
}

TEST_F(StoreTest, FailedAndSkippedPointsAreMeasuredAgain) {
  EXPECT_FALSE(is_finished(nullptr));
  record_["row"] = {{"verified", "failed"}, {"error", "wrong answer"}};
  EXPECT_FALSE(is_finished(record_));
  record_["row"] = {{"verified", "passed"}, {"error", "an error while timing"}};
  EXPECT_FALSE(is_finished(record_));
  record_["row"] = {{"verified", "not_verified"}, {"skipped", "does not fit: needs 8 bytes"}};
  EXPECT_FALSE(is_finished(record_));
  record_["row"]["skipped"] = "does not fit now: 8 bytes are free";
  EXPECT_FALSE(is_finished(record_));
  record_["row"] = {{"verified", "passed"},
                    {"skipped", "the GPU throttled in every one of 500 samples"}};
  EXPECT_FALSE(is_finished(record_));
  record_["row"] = {{"verified", "not_verified"}, {"skipped", "needs a GPU"}};
  EXPECT_TRUE(is_finished(record_));
  record_["row"] = {{"verified", "not_verified"}, {"skipped", "what a variant refuses for"}};
  EXPECT_TRUE(is_finished(record_));
  record_["row"] = {{"verified", "not_verified"}};
  EXPECT_FALSE(is_finished(record_));
}

TEST_F(StoreTest, LongAndStrangeNamesGetFilesOfTheirOwn) {
  const Store store(folder_ / "results");
  const std::vector<std::string> texts = {"../../x", "a b", "a_b", std::string(300, 'y'), "ä"};
  for (const std::string& text : texts) {
    Point point = point_;
    point.parameters.set("faulty", text);
    const Json key = record_key(point, measure_, device_);
    Json record = record_;
    record["key"] = key;
    record["row"] = make_row(point, result(), measure_, {});
    store.write(point, record);
    EXPECT_EQ(store.find(point, key), record);
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_ / "results" / "fake.e"), {}),
            5);
}

TEST_F(StoreTest, OneRunAtATime) {
  const Store store(folder_ / "results");
  EXPECT_THAT(thrown<UserError>([&] { Store second(folder_ / "results"); }),
              AllOf(HasSubstr("another run is writing to"),
                    HasSubstr("process " + std::to_string(getpid())), HasSubstr("--out DIR")));
}

TEST_F(StoreTest, LockGoesWithItsHolder) {
  { const Store store(folder_ / "results"); }
  EXPECT_FALSE(std::filesystem::exists(folder_ / "results" / ".lock"));
  // What a killed run has left is no lock.
  folder_.write("results/.lock", "process 1 since yesterday");
  const Store store(folder_ / "results");
}

TEST_F(StoreTest, LockFollowsNoLink) {
  std::filesystem::create_directories(folder_ / "results");
  const std::string precious = folder_.write("precious", "text");
  std::filesystem::create_symlink(precious, folder_ / "results" / ".lock");
  EXPECT_THAT(thrown<UserError>([&] { Store store(folder_ / "results"); }),
              AllOf(HasSubstr("is not writable"), HasSubstr(".lock is a link")));
  EXPECT_EQ(read_text(precious), "text");
}

TEST_F(StoreTest, TemporariesOfKilledRunsAreRemoved) {
  std::filesystem::create_directories(folder_ / "results" / "fake.e");
  for (const std::string name : {"fake.e.json.tmp.17", "fake.e/a.json.tmp.4194304"}) {
    folder_.write("results/" + name, "{");
  }
  const std::string mine = folder_.write("results/notes.json.tmp.old", "mine");
  const Store store(folder_ / "results");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "results/fake.e.json.tmp.17"));
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "results/fake.e"));
  EXPECT_EQ(read_text(mine), "mine");
}

TEST_F(StoreTest, TemporaryFollowsNoLink) {
  const std::string precious = folder_.write("precious", "text");
  std::filesystem::create_symlink(precious, folder_ / ("a.json.tmp." + std::to_string(getpid())));
  write_atomically(folder_ / "a.json", "1");
  EXPECT_EQ(read_text(folder_ / "a.json"), "1");
  EXPECT_EQ(read_text(precious), "text");
  EXPECT_TRUE(std::filesystem::is_regular_file(folder_ / "a.json"));
}

TEST_F(StoreTest, UnwritableFolderIsAnError) {
  folder_.write("file", "");
  EXPECT_THAT(
      thrown<UserError>([&] { Store store(folder_ / "file" / "results"); }),
      AllOf(HasSubstr("is not writable"), HasSubstr("nothing was run"), HasSubstr("--out DIR")));
  EXPECT_THAT(thrown<UserError>([] { Store store("/proc/results"); }),
              HasSubstr("is not writable"));
}

TEST_F(StoreTest, AtomicWriteLeavesNothingBeside) {
  write_atomically(folder_ / "a.json", "1");
  write_atomically(folder_ / "a.json", "2");
  EXPECT_EQ(read_text(folder_ / "a.json"), "2");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 1);
  EXPECT_THAT(
      thrown<std::system_error>([&] { write_atomically(folder_ / "none" / "a.json", "1"); }),
      HasSubstr("cannot create"));
}

}  // namespace
}  // namespace warpath::harness
