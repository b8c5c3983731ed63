#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace footnote::sql {

// SQLite's write-ahead log in its documented file format (all numbers big-endian):
//   log    := header frame*
//   header := magic:u32 version:u32 page_bytes:u32 checkpoint:u32 salt:u32[2] sum:u32[2]
//   frame  := page:u32 commit_pages:u32 salt:u32[2] sum:u32[2] data:byte[page_bytes]
// commit_pages is not 0 in the last frame of a transaction. The header's sum covers its first 24 bytes. A frame's sum continues the
// previous one over the frame's first 8 bytes and its data. Frames with other salts than the header's are left over from before the log
// restarted.

inline constexpr std::size_t kLogHeaderBytes = 32;
inline constexpr std::size_t kLogFrameHeaderBytes = 24;

struct LogSum {
  std::uint32_t first = 0;
  std::uint32_t second = 0;

  bool operator==(const LogSum&) const = default;
};

struct LogHeader {
  bool big_endian_words = false;  ///< Byte order in which the sums read their input.
  std::size_t page_bytes = 0;
  std::uint64_t salt = 0;
  LogSum sum;

  std::size_t frame_bytes() const { return kLogFrameHeaderBytes + page_bytes; }
};

struct LogFrameHeader {
  std::uint32_t commit_pages = 0;
  std::uint64_t salt = 0;
  LogSum sum;
};

/// nullopt when it is not a header, or its sum does not match.
std::optional<LogHeader> parse_log_header(std::span<const std::byte, kLogHeaderBytes> bytes);
LogFrameHeader parse_log_frame_header(std::span<const std::byte, kLogFrameHeaderBytes> bytes);
/// The expected sum of a frame that follows one with the sum `before`.
LogSum log_frame_sum(const LogHeader& log, LogSum before, std::span<const std::byte, kLogFrameHeaderBytes> frame,
                     std::span<const std::byte> data);

/// True when the frame differs from its original by a single bit, in its first 8 bytes, its data or its sum. `computed` is its expected
/// sum, `stored` its actual one.
bool is_one_bit_off(const LogHeader& log, LogSum computed, LogSum stored);

}  // namespace footnote::sql
