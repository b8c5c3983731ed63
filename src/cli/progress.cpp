#include "cli/progress.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/utf8.h"

namespace footnote::cli {
namespace {

constexpr std::chrono::milliseconds kDrawEvery{100};
constexpr std::chrono::seconds kRateWindow{10};
constexpr int kBarCells = 24;
constexpr std::string_view kClearLine = "\r\x1b[K";

std::string render_bar(std::uint64_t done, std::uint64_t total) {
  const double share = total == 0 ? 0 : static_cast<double>(std::min(done, total)) / static_cast<double>(total);
  const auto filled = static_cast<std::size_t>(share * kBarCells);
  return fmt::format("[{}{}]", std::string(filled, '#'), std::string(kBarCells - filled, '-'));
}

std::string render_rate(double per_second) {
  return per_second < 10 ? fmt::format("{:.1f}", per_second) : fmt::format("{:.0f}", per_second);
}

}  // namespace

std::string human_duration(std::chrono::seconds duration) {
  const auto seconds = duration.count();
  if (seconds < 60) return fmt::format("{} s", seconds);
  if (seconds < 3600) return fmt::format("{} min {} s", seconds / 60, seconds % 60);
  return fmt::format("{} h {} min", seconds / 3600, seconds % 3600 / 60);
}

std::string render_progress(const ProgressView& view) {
  std::string out;
  if (view.total == 0 && view.done == 0) {
    out = fmt::format("looking for {} ...", view.unit);
  } else if (view.total == 0) {
    out = fmt::format("{} {}", view.done, view.unit);
  } else {
    out = fmt::format("{} {}/{} {}", render_bar(view.done, view.total), view.done, view.total, view.unit);
  }
  if (view.per_second > 0) {
    out += fmt::format("  {} {}/s", render_rate(view.per_second), view.unit);
    const double left = static_cast<double>(std::max(view.total, view.done) - view.done) / view.per_second;
    const auto time = view.left.value_or(std::chrono::seconds{std::llround(std::ceil(left))});
    if (view.total > view.done) out += fmt::format("  {} left", human_duration(time));
  }
  // A full last column would wrap on some terminals.
  const auto width = static_cast<std::size_t>(std::max(view.width - 1, 10));
  return std::string(utf8_prefix(out, width));
}

ProgressBar::ProgressBar(std::string unit, int width, Write write, Clock clock)
    : unit_(std::move(unit)), width_(width), write_(std::move(write)), clock_(std::move(clock)) {}

ProgressBar::~ProgressBar() { clear(); }

void ProgressBar::update(std::uint64_t done, std::uint64_t total, std::optional<std::chrono::seconds> left) {
  if (!write_) return;
  const auto now = clock_();
  MutexLock lock(mutex_);
  const bool first = !drawn_at_;
  const bool last = total > 0 && done >= total;
  if (!first && !last && now - *drawn_at_ < kDrawEvery) return;
  samples_.push_back({now, done});
  while (samples_.size() > 2 && now - samples_.front().at > kRateWindow) samples_.pop_front();
  const std::chrono::duration<double> span = now - samples_.front().at;
  const double gained = static_cast<double>(done) - static_cast<double>(samples_.front().done);
  const double rate = span.count() > 0 && gained > 0 ? gained / span.count() : 0;
  const std::string line =
      render_progress({.done = done, .total = total, .per_second = rate, .unit = unit_, .width = width_, .left = left});
  write_(fmt::format("{}{}", kClearLine, line));
  drawn_at_ = now;
  on_screen_ = true;
}

void ProgressBar::clear() {
  if (!write_) return;
  MutexLock lock(mutex_);
  if (on_screen_) write_(kClearLine);
  on_screen_ = false;
}

ProgressBar progress_bar(std::string unit, const Terminal& terminal) {
  const auto write = [](std::string_view text) { write_err(text); };
  return ProgressBar(std::move(unit), terminal.width, terminal.progress ? ProgressBar::Write(write) : nullptr);
}

}  // namespace footnote::cli
