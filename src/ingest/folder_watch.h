#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "base/call_context.h"
#include "ingest/beneath.h"

namespace footnote::ingest {

/// Folders that one watch covers. Below a folder with more, changes are found by looking every kWatchFallback.
inline constexpr std::size_t kWatchedFoldersMax = 8'192;
/// A watch that does not see everything asks for a look this often.
inline constexpr std::chrono::seconds kWatchFallback{30};
/// A change is acted on when nothing more has changed for this long, and at the latest after kWatchPatience.
inline constexpr std::chrono::milliseconds kWatchQuiet{200};
inline constexpr std::chrono::milliseconds kWatchPatience{1'000};

/// Tells that something below a folder may have changed (inotify); what, only a walk tells. Links are not followed, ignored names not
/// watched. When the system drops events, everything counts as changed. Not thread-safe.
class FolderWatch {
 public:
  /// `path` may be a single file. kNotFound; kUnavailable: the system has no watches left, or none at all.
  static Result<FolderWatch> open(const std::filesystem::path& path);

  /// For poll(): readable when there are events.
  int descriptor() const { return descriptor_.get(); }
  /// Takes the events so far. True once a change is due to be acted on; the next change starts anew.
  bool is_due(std::chrono::steady_clock::time_point now);
  /// When is_due() can become true without another event.
  std::chrono::steady_clock::time_point due_at() const;
  /// Waits until is_due(). Errors are the call's.
  Result<void> wait(const CallContext& call);

  /// False: there are more folders than can be watched.
  bool sees_all() const { return sees_all_; }
  std::size_t folders() const { return folders_.size(); }

 private:
  explicit FolderWatch(std::filesystem::path root) : root_(std::move(root)) {}
  void add_tree(const std::filesystem::path& folder);
  bool add(const std::filesystem::path& folder);
  void take_events(std::chrono::steady_clock::time_point now);
  void take_event(int watch, std::uint32_t mask, std::string_view name);

  std::filesystem::path root_;
  std::string only_name_;  ///< Set: a single file of that folder.
  Descriptor descriptor_;
  std::map<int, std::filesystem::path> folders_;
  bool sees_all_ = true;
  bool changed_ = false;
  std::chrono::steady_clock::time_point first_ = {};
  std::chrono::steady_clock::time_point last_ = {};
  std::chrono::steady_clock::time_point looked_ = {};
};

}  // namespace footnote::ingest
