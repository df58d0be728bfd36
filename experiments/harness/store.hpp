// The results folder: one record a point, written whole or not at all, by one run at a time.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>

#include "harness/config.hpp"
#include "harness/device.hpp"
#include "harness/interrupt.hpp"
#include "harness/point.hpp"
#include "harness/value.hpp"

namespace warpath::harness {

/// An exclusive lock on a folder, held until the object or the process ends. It is on the file
/// .lock, which goes with the object.
class FolderLock {
 public:
  /// Creates the folder, and removes the temporary files that killed processes have left in it.
  /// Throws UserError if it cannot be written, or if another run holds it.
  explicit FolderLock(const std::filesystem::path& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  /// False if the lock is to be tried again.
  bool lock(const std::filesystem::path& folder);

  std::filesystem::path file_;
  int descriptor_ = -1;
  std::optional<FileOfThisProcess> for_this_process_;
};

/// All settings, by the names that they have in a configuration.
Json to_json(const Measure& measure);

/// The key under which a record is kept, and found again: the same point, measured in the same way,
/// by the same build, on the same device and driver.
Json record_key(const Point& point, const Measure& measure, const Device& device);

/// The records and archives in a folder.
class Records {
 public:
  /// `folder` is that of one device; it need not be there.
  explicit Records(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// The record of the point, if there is a whole one under this key; null else. Says on stderr,
  /// once, which file is no record and why.
  [[nodiscard]] Json find(const Point& point, const Json& key) const;
  /// `part` names the archive of a run that does not replace the one of the whole configuration, so
  /// that it stands beside: "<technique>.<experiment>@<part>.json". Empty: the whole.
  [[nodiscard]] std::filesystem::path archive_file(const std::string& technique,
                                                   const std::string& experiment,
                                                   const std::string& part) const;
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }

 protected:
  [[nodiscard]] std::filesystem::path record_file(const Point& point) const;

 private:
  std::filesystem::path folder_;
  mutable std::set<std::filesystem::path> said_;
};

/// The same, to write to: it is locked.
class Store : public Records {
 public:
  explicit Store(std::filesystem::path folder)
      : Records(std::move(folder)), lock_(this->folder()) {}

  void write(const Point& point, const Json& record) const;
  void write_archive(const std::filesystem::path& file, const Json& archive) const;

 private:
  FolderLock lock_;
};

/// Whether the record's point need not be measured again: nothing went wrong, and it is verified
/// or can never be measured here. (What did not fit may fit another time.)
bool is_finished(const Json& record);

}  // namespace warpath::harness
