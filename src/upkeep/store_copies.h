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

/// Copies that may lie there; a new one takes the place of the oldest.
inline constexpr std::size_t kCopiesMax = 2;

/// Copies of the store for snapshots: whole databases, each of one state, made while the store is in use. Whoever asked for one takes
/// it away; what a process that died left behind goes when the next server starts. Thread-safe; borrows the store.
class StoreCopies {
 public:
  StoreCopies(const std::filesystem::path& data, const SqliteStore& store) : folder_(data / kCopiesFolder), store_(store) {}

  /// The file name of the new copy in the folder `copies`. kAlreadyExists: another one is being made. kStorageFull.
  Result<std::string> make(const CallContext& call);
  /// Away with all copies. REQUIRES: nobody has asked for one yet.
  void tidy() const;

 private:
  Result<void> make_copy(const CallContext& call, const std::filesystem::path& file) const;

  const std::filesystem::path folder_;
  const SqliteStore& store_;
  std::atomic<bool> busy_{false};
};

}  // namespace footnote::upkeep
