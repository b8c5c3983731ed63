#include "engine/sql/log_check.h"

#include <array>
#include <vector>

#include "base/file.h"
#include "engine/sql/log_format.h"

namespace footnote::sql {

namespace {

std::unexpected<Error> damaged(const std::filesystem::path& log, std::string_view where) {
  return fail(ErrorCode::kCorrupted,
              "the log {} is damaged {}, and commits after that place can't be read: restore the data folder from a snapshot; or "
              "move that file away to continue with the state before it, then ingest again",
              log.string(), where);
}

/// One pass over the frames.
class FrameScan {
 public:
  explicit FrameScan(const LogHeader& log) : log_(log), stored_(log.sum), computed_(log.sum) {}

  /// True when this frame proves that an earlier one was damaged after it had reached the disk.
  bool proves_damage(std::span<const std::byte, kLogFrameHeaderBytes> frame, std::span<const std::byte> data) {
    const LogFrameHeader header = parse_log_frame_header(frame);
    const LogSum after_stored = log_frame_sum(log_, stored_, frame, data);
    // The sum that the previous frame should have: its data may be intact and only its sum damaged.
    const LogSum after_computed = computed_ == stored_ ? after_stored : log_frame_sum(log_, computed_, frame, data);
    const bool follows = header.sum == after_stored || header.sum == after_computed;
    const bool salted = header.salt == log_.salt;
    // A frame that continues the checksums of intact frames belongs to this log. If its salt differs, the salt is damaged.
    const bool salt_damaged = !broken_ && header.sum == after_stored && !salted;
    // This frame was written after the previous commit had become durable.
    const bool commit_damaged = broken_ && after_commit_ && follows && salted;
    const bool sound = header.sum == after_stored && salted;
    // A torn frame may contain any commit mark: it counts only if the sum confirms it.
    after_commit_ = salted && header.commit_pages != 0 && (follows || is_one_bit_off(log_, after_stored, header.sum));
    broken_ = broken_ || !sound;
    stored_ = header.sum;
    computed_ = after_stored;
    return salt_damaged || commit_damaged;
  }

 private:
  const LogHeader log_;
  LogSum stored_;
  LogSum computed_;
  bool broken_ = false;        // SQLite would reject some frame so far.
  bool after_commit_ = false;  // The previous frame ends a transaction of this log.
};

}  // namespace

Result<void> check_log(const std::filesystem::path& database) {
  const std::filesystem::path log = database.string() + "-wal";
  auto file = InputFile::open(log);
  if (!file && file.error().code == ErrorCode::kNotFound) return {};
  if (!file) return std::unexpected(std::move(file).error());
  // The header is on disk before the first frame is written.
  if (file->size() <= kLogHeaderBytes) return {};
  std::array<std::byte, kLogHeaderBytes> head{};
  FOOTNOTE_CHECK(file->read(head));
  const auto header = parse_log_header(head);
  if (!header) return damaged(log, "at its head");

  FrameScan scan(*header);
  std::array<std::byte, kLogFrameHeaderBytes> frame{};
  std::vector<std::byte> data(header->page_bytes);
  const std::uint64_t frames = (file->size() - kLogHeaderBytes) / header->frame_bytes();
  for (std::uint64_t number = 1; number <= frames; ++number) {
    FOOTNOTE_CHECK(file->read(frame));
    FOOTNOTE_CHECK(file->read(data));
    if (scan.proves_damage(frame, data)) return damaged(log, fmt::format("before frame {} of {}", number, frames));
  }
  return {};
}

}  // namespace footnote::sql
