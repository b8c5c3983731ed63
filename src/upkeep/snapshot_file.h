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
  std::uint64_t bytes = 0;  ///< Of the files' contents.
};

/// Several files as one: frames that each carry their length, the CRC-32C of their bytes and of their number, and at the end a frame
/// that says how many files and bytes there were. The file appears whole or not at all (see AtomicFile).
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

/// Told of each file when it starts, and of its bytes piece by piece. An error ends the reading.
struct SnapshotVisitor {
  std::function<Result<void>(std::string_view name)> start;
  std::function<Result<void>(std::span<const std::byte> bytes)> piece;
};

/// Reads a snapshot to its end, each frame checked before it is told. kCorrupted names the byte at which it is cut short, damaged, or
/// goes on past its end, and the file that this is in. kUnsupported: of another format.
Result<SnapshotTotals> read_snapshot(const CallContext& call, const std::filesystem::path& path, const SnapshotVisitor& visitor);

/// A relative path of plain names: nothing that could lead out of a folder.
bool is_snapshot_name(std::string_view name);

}  // namespace footnote::upkeep
