#include "harness/store.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>

#include "harness/error.hpp"
#include "harness/group_run.hpp"
#include "harness/json_file.hpp"
#include "harness/provenance.hpp"

namespace warpath::harness {
namespace {

constexpr const char* lock_name = ".lock";

[[noreturn]] void not_writable(const std::filesystem::path& folder, const std::string& reason) {
  throw UserError("the results folder " + folder.string() + " is not writable (" + reason +
                  "); nothing was run. Choose another with --out DIR");
}

/// The text as the name of a file.
std::string file_name(const std::string& text) {
  std::string file = text;
  bool plain = file.size() <= 200;
  for (char& c : file) {
    const bool expected =
        std::isalnum(static_cast<unsigned char>(c)) != 0 || std::strchr("/:=,._-+", c);
    plain = plain && expected;
    if (c == ':') c = '=';
    if (c == '/') c = ',';
    if (!expected) c = '_';
  }
  // A name that had to be changed or cut is made unique again.
  return plain ? file : file.substr(0, 180) + "-" + hash_text(text);
}

}  // namespace

FolderLock::FolderLock(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) not_writable(folder, error.message());
  const std::filesystem::path file = folder / lock_name;
  descriptor_ = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (descriptor_ < 0) not_writable(folder, std::strerror(errno));
  if (flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    std::ifstream stream(file);
    std::string holder;
    std::getline(stream, holder);
    close(descriptor_);
    throw UserError("another run is writing to " + folder.string() + " (" + holder +
                    "); wait for its end, or choose another folder with --out DIR");
  }
  const std::string holder = "process " + std::to_string(getpid()) + " since " + utc_now() + "\n";
  if (ftruncate(descriptor_, 0) != 0 ||
      ::write(descriptor_, holder.data(), holder.size()) != static_cast<ssize_t>(holder.size())) {
    const std::string reason = std::strerror(errno);
    close(descriptor_);
    not_writable(folder, reason);
  }
}

FolderLock::~FolderLock() {
  close(descriptor_);
}

Json to_json(const Measure& measure) {
  return {{"cache", enum_name(measure.cache)},  {"min_samples", measure.min_samples},
          {"max_samples", measure.max_samples}, {"max_noise", measure.max_noise},
          {"max_seconds", measure.max_seconds}, {"min_clock", measure.min_clock},
          {"launches", measure.launches}};
}

Json record_key(const Point& point, const Measure& measure, const Device& device) {
  return {{"point", point.name()},
          {"measure", to_json(measure)},
          {"build", build_id()},
          {"device", device.uuid.empty() ? device.name + " on " + cpu_name() : device.uuid},
          {"driver", device.driver}};
}

std::filesystem::path Store::record_file(const Point& point) const {
  const std::string prefix = point.technique->name + "/" + point.experiment + "/";
  const std::string file = file_name(point.name().substr(prefix.size()));
  return folder_ / (point.technique->name + "." + point.experiment) / (file + ".json");
}

Json Store::find(const Point& point, const Json& key) const {
  const std::filesystem::path file = record_file(point);
  if (!std::filesystem::exists(file)) return nullptr;
  try {
    Json record = read_json(file);
    const bool whole = record.is_object() && record.contains("run") && record.contains("row") &&
                       record.contains("ceilings") && record.contains("provenance") &&
                       record.contains("key");
    if (whole && record.at("key") == key) return record;
  } catch (const UserError&) {
    // Half-written, or no record of ours: as if it were not there.
  }
  return nullptr;
}

void Store::write(const Point& point, const Json& record) const {
  const std::filesystem::path file = record_file(point);
  std::filesystem::create_directories(file.parent_path());
  write_atomically(file, file_text(record));
}

std::filesystem::path Store::archive_file(const std::string& technique,
                                          const std::string& experiment,
                                          const std::string& part) const {
  const std::string whole = technique + "." + experiment;
  return folder_ / ((part.empty() ? whole : whole + "@" + file_name(part)) + ".json");
}

void Store::write_archive(const std::filesystem::path& file, const Json& archive) const {
  write_atomically(file, file_text(archive));
}

bool is_finished(const Json& record) {
  if (!record.is_object()) return false;
  const Json& row = record.at("row");
  if (row.contains("error")) return false;
  const std::string skipped = row.value("skipped", "");
  const bool can_never_run = !skipped.empty() && !skipped.starts_with(does_not_fit);
  return row.value("verified", "") == "passed" || can_never_run;
}

}  // namespace warpath::harness
