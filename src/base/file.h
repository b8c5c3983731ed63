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

/// Errors of every function here: kNotFound, kPermissionDenied, kStorageFull (disk, quota or file-size limit), kResourceExhausted (too many
/// open files), kUnavailable (I/O error), kInvalidArgument (not a regular file).

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

/// A read-only mmap of a whole file. It stays valid when the file is replaced by rename. If the file is truncated or an I/O error occurs,
/// the process dies of SIGBUS: map only files that only this program writes, and that it replaces as a whole.
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

/// Who may read a new file. kOwner: this user alone, whatever the umask (mode 0600). kByUmask: 0644 less the umask.
enum class Readers { kOwner, kByUmask };

/// Replaces `path` atomically: after a crash it holds either the old bytes or the new. See AtomicFile.
Result<void> write_file_atomically(const std::filesystem::path& path, std::string_view bytes, Readers readers = Readers::kOwner);

/// Removes all permissions of group and others from a file. Ignores missing files and files of other users.
void keep_private(const std::filesystem::path& path);

/// Syncs a folder, so that files created, renamed or deleted in it stay so after a power failure.
Result<void> sync_folder(const std::filesystem::path& folder);

/// Creates the folder and its missing parents. The new folder has mode 0700 whatever the umask, and survives a power failure. An existing
/// folder is not changed. Returns true when the folder is new. kInvalidArgument: the path is not a folder.
Result<bool> make_folders(const std::filesystem::path& folder);

/// Writes a new file piece by piece: temporary file in the same folder, fsync, rename, fsync of the folder. After a crash `path` holds
/// either the old bytes or the new. Destroyed without commit(), it removes the temporary file; a killed process leaves a file that ends in
/// kTemporarySuffix.
class AtomicFile {
 public:
  static constexpr std::string_view kTemporarySuffix = ".tmp";

  static Result<AtomicFile> create(const std::filesystem::path& path, Readers readers = Readers::kOwner);
  ~AtomicFile();
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;

  Result<void> write(std::span<const std::byte> bytes);
  /// Maps the bytes written so far. The mapping stays valid after commit().
  Result<FileMapping> map();
  /// Call it once, as the last call.
  Result<void> commit();

 private:
  AtomicFile(std::filesystem::path path, std::filesystem::path temporary, Descriptor file);
  Result<void> flush();

  std::filesystem::path path_;
  std::filesystem::path temporary_;  // Empty once the temporary file is gone.
  Descriptor file_;
  std::vector<std::byte> buffer_;
};

/// Reads a regular file sequentially. Never blocks on a FIFO or device.
class InputFile {
 public:
  static Result<InputFile> open(const std::filesystem::path& path);

  std::uint64_t size() const { return size_; }  ///< At the time of opening.
  /// Fills `out`. kCorrupted: the file ends too early.
  Result<void> read(std::span<std::byte> out);
  /// Maps the whole file, independent of the read position.
  Result<FileMapping> map() const { return FileMapping::map(file_, path_); }

 private:
  InputFile(std::filesystem::path path, Descriptor file, std::uint64_t size);

  std::filesystem::path path_;
  Descriptor file_;
  std::uint64_t size_;
  // Bytes read ahead and not yet consumed: [next_, buffer_.size()).
  std::vector<std::byte> buffer_;
  std::size_t next_ = 0;
};

}  // namespace footnote
