#include "harness/store.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <system_error>

#include "harness/error.hpp"
#include "harness/group_run.hpp"
#include "harness/json_file.hpp"
#include "harness/provenance.hpp"
#include "harness/record.hpp"

namespace warpath::harness {
namespace {

constexpr const char* lock_name = ".lock";

[[noreturn]] void not_writable(const std::filesystem::path& folder, const std::string& reason) {
  throw UserError("the results folder " + abridged(folder.string(), 400) + " is not writable (" +
                  reason + "); nothing was run. Choose another with --out DIR");
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

/// Removes the temporary files of killed runs from the folder and its folders of records.
void remove_temporaries(const std::filesystem::path& folder) {
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator entry(folder, error), end;
       !error && entry != end; entry.increment(error)) {
    if (entry.depth() > 0) entry.disable_recursion_pending();
    if (is_temporary(entry->path())) unlink(entry->path().c_str());
  }
}

}  // namespace

FolderLock::FolderLock(const std::filesystem::path& folder) : file_(folder / lock_name) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) not_writable(folder, error.message());
  while (!lock(folder)) {
  }
  const std::string holder = "process " + std::to_string(getpid()) + " since " + utc_now() + "\n";
  if (ftruncate(descriptor_, 0) != 0 ||
      ::write(descriptor_, holder.data(), holder.size()) != static_cast<ssize_t>(holder.size())) {
    const std::string reason = std::strerror(errno);
    close(descriptor_);
    not_writable(folder, reason);
  }
  for_this_process_.emplace(file_);
  remove_temporaries(folder);
}

bool FolderLock::lock(const std::filesystem::path& folder) {
  constexpr int flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  descriptor_ = open(file_.c_str(), flags, 0644);
  if (descriptor_ < 0) {
    not_writable(folder, errno == ELOOP ? std::string(lock_name) + " is a link"
                                        : std::string(std::strerror(errno)));
  }
  const auto refuse = [&](const std::string& reason) {
    close(descriptor_);
    not_writable(folder, reason);
  };
  struct stat locked {};
  if (fstat(descriptor_, &locked) != 0) refuse(std::strerror(errno));
  if (!S_ISREG(locked.st_mode)) refuse(std::string(lock_name) + " is no regular file");
  if (flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) refuse(std::strerror(errno));
    std::array<char, 100> holder{};
    const ssize_t length = pread(descriptor_, holder.data(), holder.size() - 1, 0);
    close(descriptor_);
    std::string who(holder.data(), static_cast<std::size_t>(std::max<ssize_t>(length, 0)));
    who = who.substr(0, who.find('\n'));
    throw UserError("another run is writing to " + folder.string() + " (" + who +
                    "); wait for its end, or choose another folder with --out DIR");
  }
  // The previous holder may have removed the file after it was opened here: the lock is void then.
  struct stat named {};
  if (stat(file_.c_str(), &named) == 0 && named.st_ino == locked.st_ino) return true;
  close(descriptor_);
  return false;
}

FolderLock::~FolderLock() {
  for_this_process_.reset();
  unlink(file_.c_str());
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

std::filesystem::path Records::record_file(const Point& point) const {
  const std::string prefix = point.technique->name + "/" + point.experiment + "/";
  const std::string file = file_name(point.name().substr(prefix.size()));
  return folder_ / (point.technique->name + "." + point.experiment) / (file + ".json");
}

Json Records::find(const Point& point, const Json& key) const {
  const std::filesystem::path file = record_file(point);
  std::error_code error;
  if (!std::filesystem::exists(std::filesystem::symlink_status(file, error))) return nullptr;
  std::string fault;
  try {
    Json record = read_json(file);
    const bool is_another = record.is_object() && record.contains("key") && record["key"] != key;
    if (is_another) return nullptr;
    fault = fault_of_record(record, point);
    if (fault.empty()) return record;
    fault = file.string() + ": " + fault;
  } catch (const UserError& unreadable) {
    fault = unreadable.what();
  }
  if (said_.insert(file).second) {
    std::fprintf(stderr, "%s; it counts as no record\n", fault.c_str());
  }
  return nullptr;
}

void Store::write(const Point& point, const Json& record) const {
  const std::filesystem::path file = record_file(point);
  std::filesystem::create_directories(file.parent_path());
  write_atomically(file, file_text(record));
}

std::filesystem::path Records::archive_file(const std::string& technique,
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
  for (const std::string_view passing : {does_not_fit, no_room, throttled}) {
    if (skipped.starts_with(passing)) return false;
  }
  return row.value("verified", "") == "passed" || !skipped.empty();
}

}  // namespace warpath::harness
