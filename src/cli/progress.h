#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "cli/terminal.h"

namespace footnote::cli {

/// The state of a bar to draw. `total` 0: not known yet.
struct ProgressView {
  std::uint64_t done = 0;
  std::uint64_t total = 0;
  double per_second = 0;  ///< 0: not known yet.
  std::string_view unit;  ///< "files"
  int width = 80;
  std::optional<std::chrono::seconds> left = {};  ///< Nullopt: from the speed.
};

/// "[#####-----] 312/1000 files  41 files/s  16 s left", truncated to `width` columns.
std::string render_progress(const ProgressView& view);

/// "16 s", "3 min 5 s", "2 h 10 min".
std::string human_duration(std::chrono::seconds duration);

/// A bar on one line, redrawn at most ten times a second; silent without a `write`. The rate covers the last ten seconds, so that the time
/// left reflects current speed. Thread-safe.
class ProgressBar {
 public:
  using Clock = std::function<std::chrono::steady_clock::time_point()>;
  using Write = std::function<void(std::string_view)>;

  ProgressBar(std::string unit, int width, Write write, Clock clock = std::chrono::steady_clock::now);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// `left` is the time to go where the caller knows better: units that cost very different amounts.
  void update(std::uint64_t done, std::uint64_t total, std::optional<std::chrono::seconds> left = {});
  /// Erases the bar from the screen.
  void clear();

 private:
  struct Sample {
    std::chrono::steady_clock::time_point at;
    std::uint64_t done = 0;
  };

  // Constant after construction.
  const std::string unit_;
  const int width_;
  const Write write_;
  const Clock clock_;

  Mutex mutex_;
  std::deque<Sample> samples_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::optional<std::chrono::steady_clock::time_point> drawn_at_ FOOTNOTE_TSA(guarded_by(mutex_));
  bool on_screen_ FOOTNOTE_TSA(guarded_by(mutex_)) = false;
};

/// A bar on standard error, if the terminal shows progress.
ProgressBar progress_bar(std::string unit, const Terminal& terminal);

}  // namespace footnote::cli
