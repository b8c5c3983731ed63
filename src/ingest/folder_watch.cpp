#include "ingest/folder_watch.h"

#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/log.h"
#include "ingest/walk.h"

namespace footnote::ingest {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kMask = IN_CREATE | IN_DELETE | IN_MODIFY | IN_CLOSE_WRITE | IN_MOVED_FROM | IN_MOVED_TO | IN_ATTRIB |
                                IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR | IN_DONT_FOLLOW;
constexpr std::size_t kEventBytes = 64u << 10;
constexpr std::chrono::milliseconds kCallCheck{100};

}  // namespace

Result<FolderWatch> FolderWatch::open(const fs::path& path) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  if (error) return errno_error(path.string(), error.value());
  const bool is_folder = fs::is_directory(real, error);
  FolderWatch out(is_folder ? real : real.parent_path());
  if (!is_folder) out.only_name_ = real.filename().string();
  out.descriptor_ = Descriptor(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  if (out.descriptor_.get() < 0) {
    return fail(ErrorCode::kUnavailable, "can't watch {}: {}; raise fs.inotify.max_user_instances", path.string(), std::strerror(errno));
  }
  if (is_folder) {
    out.add_tree(real);
  } else {
    out.add(out.root_);
  }
  if (out.folders_.empty()) {
    return fail(ErrorCode::kUnavailable, "can't watch {}: {}; raise fs.inotify.max_user_watches", path.string(), std::strerror(errno));
  }
  out.looked_ = std::chrono::steady_clock::now();
  return out;
}

bool FolderWatch::add(const fs::path& folder) {
  if (folders_.size() >= kWatchedFoldersMax) {
    sees_all_ = false;
    return false;
  }
  const int watch = ::inotify_add_watch(descriptor_.get(), folder.c_str(), kMask);
  // A folder that is gone again, or that may not be read, has nothing to watch.
  if (watch < 0 && errno == ENOSPC) sees_all_ = false;
  if (watch < 0) return false;
  folders_[watch] = folder;
  return true;
}

void FolderWatch::add_tree(const fs::path& folder) {
  if (!add(folder)) return;
  std::error_code error;
  fs::recursive_directory_iterator entries(folder, fs::directory_options::skip_permission_denied, error);
  while (!error && entries != fs::recursive_directory_iterator()) {
    std::error_code unknown;
    const bool is_folder = entries->is_directory(unknown) && !entries->is_symlink(unknown);
    const bool wanted = is_folder && !is_ignored_name(entries->path().filename().string());
    const bool is_watched = wanted && entries.depth() < kFolderDepthMax && add(entries->path());
    if (is_folder && !is_watched) entries.disable_recursion_pending();
    if (!sees_all_) return;
    entries.increment(error);
  }
}

void FolderWatch::take_event(int watch, std::uint32_t mask, std::string_view name) {
  if ((mask & IN_Q_OVERFLOW) != 0) {
    // What was missed may include new folders.
    for (const auto& [known, folder] : folders_) ::inotify_rm_watch(descriptor_.get(), known);
    folders_.clear();
    sees_all_ = true;
    only_name_.empty() ? add_tree(root_) : void(add(root_));
    changed_ = true;
    return;
  }
  const auto folder = folders_.find(watch);
  if (folder == folders_.end()) return;  // of a watch that was removed
  if ((mask & IN_IGNORED) != 0) {
    folders_.erase(folder);
    return;
  }
  if (!only_name_.empty() && name != only_name_) return;
  if (is_ignored_name(name) && name != ".gitignore" && name != ".footnoteignore") return;
  changed_ = true;
  if ((mask & IN_ISDIR) != 0 && (mask & (IN_CREATE | IN_MOVED_TO)) != 0 && only_name_.empty()) add_tree(fs::path(folder->second) / name);
}

void FolderWatch::take_events(std::chrono::steady_clock::time_point now) {
  alignas(inotify_event) char buffer[kEventBytes];
  const bool had_changed = changed_;
  bool any = false;
  for (;;) {
    const ssize_t bytes = ::read(descriptor_.get(), buffer, sizeof buffer);
    if (bytes <= 0) break;
    const bool before = std::exchange(changed_, false);
    for (ssize_t at = 0; at < bytes;) {
      inotify_event event{};
      std::memcpy(&event, buffer + at, sizeof event);
      const char* name = buffer + at + sizeof event;
      take_event(event.wd, event.mask, event.len == 0 ? std::string_view() : std::string_view(name, ::strnlen(name, event.len)));
      at += static_cast<ssize_t>(sizeof event + event.len);
    }
    any = any || changed_;
    changed_ = changed_ || before;
  }
  if (any) last_ = now;
  if (any && !had_changed) first_ = now;
}

std::chrono::steady_clock::time_point FolderWatch::due_at() const {
  if (changed_) return std::min(last_ + kWatchQuiet, first_ + kWatchPatience);
  return sees_all_ ? std::chrono::steady_clock::time_point::max() : looked_ + kWatchFallback;
}

bool FolderWatch::is_due(std::chrono::steady_clock::time_point now) {
  take_events(now);
  if (now < due_at()) return false;
  changed_ = false;
  looked_ = now;
  return true;
}

Result<void> FolderWatch::wait(const CallContext& call) {
  for (;;) {
    FOOTNOTE_CHECK(call.check());
    const auto now = std::chrono::steady_clock::now();
    if (is_due(now)) return {};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(std::min(due_at() - now, std::chrono::nanoseconds(kCallCheck)));
    pollfd wanted{.fd = descriptor_.get(), .events = POLLIN, .revents = 0};
    (void)::poll(&wanted, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 1)));
  }
}

}  // namespace footnote::ingest
