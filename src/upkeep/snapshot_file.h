#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/call_context.h"
#include "base/file.h"

namespace footnote::upkeep {

/// Bytes of a file in one frame.
inline constexpr std::size_t kSnapshotBlockBytes = 1 << 20;
/// The longest name of a file in a snapshot.
inline constexpr std::size_t kSnapshotNameBytesMax = 1'024;

struct SnapshotTotals {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;  ///< Total size of the files' contents.
};

/// Archives several files in one: frames with their length and a CRC-32C over their bytes and frame number, then a final frame with the
/// number of files and bytes. The file appears atomically (see AtomicFile).
///   frame := length:u32 sum:u32 type:u8 bytes[length - 1]     all numbers little-endian
///   types: 'H' the format's name, once, first; 'F' a file's name; 'D' a piece of that file; 'E' files:u64 bytes:u64, once, last
class SnapshotWriter {
 public:
  static Result<SnapshotWriter> create(const std::filesystem::path& path);

  /// Adds a file under a name. REQUIRES: is_snapshot_name(name).
  Result<void> add(const CallContext& call, const std::string& name, const std::filesystem::path& file);
  /// Call once, last.
  Result<SnapshotTotals> commit();

 private:
  explicit SnapshotWriter(AtomicFile file) : file_(std::move(file)) {}
  Result<void> frame(char type, std::span<const std::byte> bytes);

  AtomicFile file_;
  std::uint64_t frames_ = 0;
  SnapshotTotals totals_;
};

/// Called at the start of each file, and with its bytes piece by piece. An error stops the reading.
struct SnapshotVisitor {
  std::function<Result<void>(std::string_view name)> start;
  std::function<Result<void>(std::span<const std::byte> bytes)> piece;
};

/// Reads a whole snapshot, verifying each frame before passing it on. kCorrupted names the byte at which it is truncated, damaged, or
/// continues past its end, and the file affected. kUnsupported: another format.
Result<SnapshotTotals> read_snapshot(const CallContext& call, const std::filesystem::path& path, const SnapshotVisitor& visitor);

/// A relative path of plain names that cannot escape a folder.
bool is_snapshot_name(std::string_view name);

}  // namespace footnote::upkeep
