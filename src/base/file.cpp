#include "base/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/fault_point.h"
#include "base/ids.h"
#include "base/text.h"

namespace footnote {

namespace {

constexpr std::size_t kBufferBytes = 256 << 10;
constexpr mode_t kPrivateFolder = 0700;
constexpr mode_t kPrivateFile = 0600;

std::unexpected<Error> errno_error(const std::filesystem::path& path, std::string_view doing) {
  const int code = errno;
  return with_public_message(fail(code_of_errno(code), "can't {} {}: {}", doing, path.string(), std::strerror(code)),
                             fmt::format("the server can't {} a file: {}", doing, std::strerror(code)));
}

Result<void> write_all(int descriptor, std::span<const std::byte> bytes, const std::filesystem::path& path) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno_error(path, "write");
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return {};
}

/// Returns the number of bytes read; 0 at the end of the file.
Result<std::size_t> read_some(int descriptor, std::span<std::byte> out, const std::filesystem::path& path) {
  for (;;) {
    const ssize_t count = ::read(descriptor, out.data(), out.size());
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno != EINTR) return errno_error(path, "read");
  }
}

struct OpenedFile {
  Descriptor file;
  std::uint64_t size;
};

Result<OpenedFile> open_regular(const std::filesystem::path& path) {
  // O_NONBLOCK: open() of a FIFO must not wait for a writer.
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) return errno_error(path, "open");
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) return errno_error(path, "look at");
  if (!S_ISREG(status.st_mode)) return fail(ErrorCode::kInvalidArgument, "{} is not a regular file", path.string());
  return OpenedFile{std::move(file), static_cast<std::uint64_t>(status.st_size)};
}

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

Result<bool> make_folder(const std::filesystem::path& folder, mode_t mode) {
  std::error_code ignored;
  if (std::filesystem::is_directory(folder, ignored)) return false;
  const std::filesystem::path parent = folder_of(folder);
  // path("a/").parent_path() is "a".
  if (folder.filename().empty() && parent != folder) return make_folder(parent, mode);
  if (parent != folder) FOOTNOTE_CHECK(make_folder(parent, 0777));
  if (::mkdir(folder.c_str(), mode) != 0) {
    if (errno == EEXIST && std::filesystem::is_directory(folder, ignored)) return false;  // Another process just created it.
    if (errno == EEXIST || errno == ENOTDIR) return fail(ErrorCode::kInvalidArgument, "{} is not a folder", folder.string());
    return errno_error(folder, "make");
  }
  // The umask may have removed permissions of the owner.
  if (mode == kPrivateFolder && ::chmod(folder.c_str(), mode) != 0) return errno_error(folder, "make");
  FOOTNOTE_CHECK(sync_folder(parent));
  return true;
}

}  // namespace

ErrorCode code_of_errno(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR: return ErrorCode::kNotFound;
    case EACCES:
    case EPERM:
    case EROFS: return ErrorCode::kPermissionDenied;
    case ENOSPC:
    case EDQUOT:
    case EFBIG: return ErrorCode::kStorageFull;
    case EMFILE:
    case ENFILE:
    case ENOMEM: return ErrorCode::kResourceExhausted;
    case EIO: return ErrorCode::kUnavailable;
    case EISDIR:
    case ELOOP:
    case ENXIO: return ErrorCode::kInvalidArgument;
    default: return ErrorCode::kInternal;
  }
}

void Descriptor::reset() {
  if (value_ >= 0) ::close(value_);
  value_ = -1;
}

FileMapping::~FileMapping() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

Result<FileMapping> FileMapping::map(const Descriptor& file, const std::filesystem::path& path) {
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) return errno_error(path, "look at");
  FileMapping mapping;
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return mapping;
  void* const address = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file.get(), 0);
  if (address == MAP_FAILED) return errno_error(path, "map");
  mapping.bytes_ = {static_cast<const std::byte*>(address), size};
  return mapping;
}

Result<std::string> read_file(const std::filesystem::path& path, std::uint64_t bytes_max) {
  FOOTNOTE_TRY(const OpenedFile opened, open_regular(path));
  if (opened.size > bytes_max) {
    return fail(ErrorCode::kTooLarge, "{} has {}; the limit is {}", path.string(), human_bytes(opened.size), human_bytes(bytes_max));
  }
  // The file may grow while it is read, so the limit applies to the bytes read, not to st_size.
  std::string out;
  out.resize(static_cast<std::size_t>(opened.size) + 1);
  std::size_t size = 0;
  for (;;) {
    FOOTNOTE_TRY(const std::size_t count, read_some(opened.file.get(), std::as_writable_bytes(std::span(out).subspan(size)), path));
    if (count == 0) break;
    size += count;
    if (size > bytes_max) return fail(ErrorCode::kTooLarge, "{} grew past the limit of {}", path.string(), human_bytes(bytes_max));
    if (size == out.size()) out.resize(out.size() * 2);
  }
  out.resize(size);
  return out;
}

Result<void> write_file_atomically(const std::filesystem::path& path, std::string_view bytes, Readers readers) {
  FOOTNOTE_TRY(AtomicFile file, AtomicFile::create(path, readers));
  FOOTNOTE_CHECK(file.write(std::as_bytes(std::span(bytes))));
  return file.commit();
}

Result<void> sync_folder(const std::filesystem::path& folder) {
  const Descriptor directory(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.get() < 0) return errno_error(folder, "open");
  // EINVAL: this file system has no fsync for folders.
  if (::fsync(directory.get()) != 0 && errno != EINVAL) return errno_error(folder, "sync");
  return {};
}

Result<bool> make_folders(const std::filesystem::path& folder) { return make_folder(folder, kPrivateFolder); }

void keep_private(const std::filesystem::path& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode) || (status.st_mode & (S_IRWXG | S_IRWXO)) == 0) return;
  // Not through a descriptor: closing one would drop this process's locks on the file. Keeps permissions that the owner lacks as they are.
  (void)::chmod(path.c_str(), status.st_mode & S_IRWXU);
}

AtomicFile::AtomicFile(std::filesystem::path path, std::filesystem::path temporary, Descriptor file)
    : path_(std::move(path)), temporary_(std::move(temporary)), file_(std::move(file)) {
  buffer_.reserve(kBufferBytes);
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})),
      file_(std::move(other.file_)),
      buffer_(std::move(other.buffer_)) {}

AtomicFile::~AtomicFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

Result<AtomicFile> AtomicFile::create(const std::filesystem::path& path, Readers readers) {
  std::filesystem::path temporary = folder_of(path) / fmt::format("{}.{}{}", path.filename().string(), random_base62(8), kTemporarySuffix);
  const bool is_private = readers == Readers::kOwner;
  Descriptor file(::open(temporary.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, is_private ? kPrivateFile : 0644));
  if (file.get() < 0) return errno_error(temporary, "create");
  if (is_private && ::fchmod(file.get(), kPrivateFile) != 0) return errno_error(temporary, "create");
  return AtomicFile(path, std::move(temporary), std::move(file));
}

Result<void> AtomicFile::write(std::span<const std::byte> bytes) {
  if (buffer_.size() + bytes.size() > kBufferBytes) FOOTNOTE_CHECK(flush());
  if (bytes.size() >= kBufferBytes) return write_all(file_.get(), bytes, temporary_);
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  return {};
}

Result<void> AtomicFile::flush() {
  FOOTNOTE_CHECK(write_all(file_.get(), buffer_, temporary_));
  buffer_.clear();
  return {};
}

Result<FileMapping> AtomicFile::map() {
  FOOTNOTE_CHECK(flush());
  return FileMapping::map(file_, temporary_);
}

Result<void> AtomicFile::commit() {
  FOOTNOTE_CHECK(flush());
  fault_point(FaultPoint::kFileBeforeSync);
  if (::fsync(file_.get()) != 0) return errno_error(temporary_, "sync");
  file_.reset();
  fault_point(FaultPoint::kFileBeforeRename);
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) return errno_error(path_, "replace");
  temporary_.clear();
  fault_point(FaultPoint::kFileAfterRename);
  return sync_folder(folder_of(path_));
}

InputFile::InputFile(std::filesystem::path path, Descriptor file, std::uint64_t size)
    : path_(std::move(path)), file_(std::move(file)), size_(size) {
  buffer_.reserve(kBufferBytes);
}

Result<InputFile> InputFile::open(const std::filesystem::path& path) {
  FOOTNOTE_TRY(OpenedFile opened, open_regular(path));
  return InputFile(path, std::move(opened.file), opened.size);
}

Result<void> InputFile::read(std::span<std::byte> out) {
  while (!out.empty()) {
    if (next_ < buffer_.size()) {
      const std::size_t count = std::min(out.size(), buffer_.size() - next_);
      std::memcpy(out.data(), buffer_.data() + next_, count);
      next_ += count;
      out = out.subspan(count);
      continue;
    }
    // Large reads bypass the buffer.
    const bool direct = out.size() >= kBufferBytes;
    if (!direct) buffer_.resize(kBufferBytes);
    auto count = read_some(file_.get(), direct ? out : std::span<std::byte>(buffer_), path_);
    next_ = 0;
    buffer_.resize(direct || !count ? 0 : *count);
    if (!count) return std::unexpected(std::move(count).error());
    if (*count == 0) return fail(ErrorCode::kCorrupted, "{} is truncated", path_.string());
    if (direct) out = out.subspan(*count);
  }
  return {};
}

}  // namespace footnote
