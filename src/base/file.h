#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace footnote {

/// Errors of everything here: kNotFound, kPermissionDenied, kStorageFull (disk, quota or file-size limit), kResourceExhausted (too
/// many open files), kUnavailable (the disk fails), kInvalidArgument for what is not a regular file.

ErrorCode code_of_errno(int error);

/// A file descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int value = -1) : value_(value) {}
  ~Descriptor() { reset(); }
  Descriptor(Descriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) {
      reset();
      value_ = std::exchange(other.value_, -1);
    }
    return *this;
  }
  int get() const { return value_; }
  int release() { return std::exchange(value_, -1); }
  void reset();

 private:
  int value_;
};

/// The bytes of a whole file, read from disk when they are touched. They stay when another file takes its name. A file that is cut
/// short under it, or a disk that fails, ends the process (SIGBUS): for files that only this program writes, and only whole.
class FileMapping {
 public:
  FileMapping() = default;
  ~FileMapping();
  FileMapping(FileMapping&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  FileMapping& operator=(FileMapping&&) = delete;

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  friend class AtomicFile;
  friend class InputFile;
  static Result<FileMapping> map(const Descriptor& file, const std::filesystem::path& path);

  std::span<const std::byte> bytes_;
};

/// Reads a whole regular file. kTooLarge past `bytes_max`; never blocks on a FIFO or device.
Result<std::string> read_file(const std::filesystem::path& path, std::uint64_t bytes_max);

/// Replaces `path` so that after a crash it holds either the old bytes or the new: see AtomicFile.
Result<void> write_file_atomically(const std::filesystem::path& path, std::string_view bytes);

/// Makes what was created, renamed and deleted in a folder survive a power cut.
Result<void> sync_folder(const std::filesystem::path& folder);

/// Makes the folder, for this user alone, and those above it that are missing, so that they survive a power cut. True when it was
/// not there before. kInvalidArgument: something else of that name is.
Result<bool> make_folders(const std::filesystem::path& folder);

/// A file on its way, written piece by piece: temporary file in the same folder, fsync, rename, fsync of the folder. After a crash
/// `path` holds either the old bytes or the new, whole. Given up without commit() it leaves nothing behind; a process that is
/// killed leaves a file that ends in kTemporarySuffix.
class AtomicFile {
 public:
  static constexpr std::string_view kTemporarySuffix = ".tmp";

  static Result<AtomicFile> create(const std::filesystem::path& path);
  ~AtomicFile();
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;

  Result<void> write(std::span<const std::byte> bytes);
  /// What was written up to now, to be read; it stays what it is after commit().
  Result<FileMapping> map();
  /// Call once, last.
  Result<void> commit();

 private:
  AtomicFile(std::filesystem::path path, std::filesystem::path temporary, Descriptor file);
  Result<void> flush();

  std::filesystem::path path_;
  std::filesystem::path temporary_;  // empty once there is none
  Descriptor file_;
  std::vector<std::byte> buffer_;
};

/// A regular file read from its start, piece by piece. Never blocks on a FIFO or device.
class InputFile {
 public:
  static Result<InputFile> open(const std::filesystem::path& path);

  std::uint64_t size() const { return size_; }  ///< When it was opened.
  /// Fills `out`. kCorrupted: the file ends before.
  Result<void> read(std::span<std::byte> out);
  /// All of it, wherever reading stands.
  Result<FileMapping> map() const { return FileMapping::map(file_, path_); }

 private:
  InputFile(std::filesystem::path path, Descriptor file, std::uint64_t size);

  std::filesystem::path path_;
  Descriptor file_;
  std::uint64_t size_;
  // Bytes read ahead that nobody has asked for yet: [next_, buffer_.size()).
  std::vector<std::byte> buffer_;
  std::size_t next_ = 0;
};

}  // namespace footnote
