#include "base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/ids.h"
#include "base/text.h"

namespace footnote {

namespace {

/// A file descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return value_; }

 private:
  int value_;
};

std::unexpected<Error> errno_error(const std::filesystem::path& path, std::string_view doing) {
  const int code = errno;
  ErrorCode kind = ErrorCode::kInternal;
  if (code == ENOENT || code == ENOTDIR) kind = ErrorCode::kNotFound;
  if (code == EACCES || code == EPERM || code == EROFS) kind = ErrorCode::kPermissionDenied;
  if (code == ENOSPC || code == EDQUOT || code == EMFILE || code == ENFILE) kind = ErrorCode::kResourceExhausted;
  if (code == ELOOP || code == ENXIO) kind = ErrorCode::kInvalidArgument;
  return fail(kind, "can't {} {}: {}", doing, path.string(), std::strerror(code));
}

Result<void> write_all(int descriptor, std::string_view bytes, const std::filesystem::path& path) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno_error(path, "write");
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

}  // namespace

Result<std::string> read_file(const std::filesystem::path& path, std::uint64_t bytes_max) {
  // O_NONBLOCK: opening a FIFO must not wait for a writer that never comes.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) return errno_error(path, "open");
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) return errno_error(path, "look at");
  if (!S_ISREG(status.st_mode)) return fail(ErrorCode::kInvalidArgument, "{} is not a regular file", path.string());
  if (static_cast<std::uint64_t>(status.st_size) > bytes_max) {
    return fail(ErrorCode::kTooLarge, "{} has {}; the limit is {}", path.string(), human_bytes(static_cast<std::uint64_t>(status.st_size)),
                human_bytes(bytes_max));
  }
  // The file may grow while it is read: the limit holds for what was read, not for what stat said.
  std::string out;
  out.resize(static_cast<std::size_t>(status.st_size) + 1);
  std::size_t size = 0;
  for (;;) {
    const ssize_t count = ::read(file.get(), out.data() + size, out.size() - size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno_error(path, "read");
    if (count == 0) break;
    size += static_cast<std::size_t>(count);
    if (size > bytes_max) return fail(ErrorCode::kTooLarge, "{} grew past the limit of {}", path.string(), human_bytes(bytes_max));
    if (size == out.size()) out.resize(out.size() * 2);
  }
  out.resize(size);
  return out;
}

Result<void> write_file_atomically(const std::filesystem::path& path, std::string_view bytes) {
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  const std::filesystem::path temporary = folder / (path.filename().string() + "." + random_base62(8) + ".tmp");
  {
    const Descriptor file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
    if (file.get() < 0) return errno_error(temporary, "create");
    auto written = write_all(file.get(), bytes, temporary);
    if (written && ::fsync(file.get()) != 0) written = errno_error(temporary, "sync");
    if (!written) {
      ::unlink(temporary.c_str());
      return written;
    }
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    auto error = errno_error(path, "replace");
    ::unlink(temporary.c_str());
    return error;
  }
  const Descriptor directory(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.get() < 0 || ::fsync(directory.get()) != 0) return errno_error(folder, "sync");
  return {};
}

}  // namespace footnote
