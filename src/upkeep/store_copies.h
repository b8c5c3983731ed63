#pragma once

#include <atomic>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/call_context.h"
#include "providers/sqlite/sqlite_store.h"

namespace footnote::upkeep {

/// Where copies of the store are made, inside the data folder.
inline constexpr std::string_view kCopiesFolder = "copies";

/// Bound on the copies kept; a new one replaces the oldest.
inline constexpr std::size_t kCopiesMax = 2;

/// Copies of the store for snapshots: whole databases, each of one state, made while the store is in use. The requester removes its copy;
/// leftovers of a crashed process are removed when the next server starts. Thread-safe; borrows the store.
class StoreCopies {
 public:
  StoreCopies(const std::filesystem::path& data, const SqliteStore& store) : folder_(data / kCopiesFolder), store_(store) {}

  /// Makes a copy and returns its file name in the folder `copies`. kAlreadyExists: another copy is in progress. kStorageFull.
  Result<std::string> make(const CallContext& call);
  /// Removes all copies. REQUIRES: none was requested yet.
  void tidy() const;

 private:
  Result<void> make_copy(const CallContext& call, const std::filesystem::path& file) const;

  const std::filesystem::path folder_;
  const SqliteStore& store_;
  std::atomic<bool> busy_{false};
};

}  // namespace footnote::upkeep
