#include "ingest/beneath.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/text.h"

namespace footnote::ingest {

namespace {

ErrorCode code_of(int code) {
  if (code == ENOENT) return ErrorCode::kNotFound;
  if (code == EACCES || code == EPERM) return ErrorCode::kPermissionDenied;
  if (code == ELOOP || code == ENOTDIR || code == ENXIO) return ErrorCode::kInvalidArgument;
  if (code == EMFILE || code == ENFILE || code == ENOMEM) return ErrorCode::kResourceExhausted;
  return ErrorCode::kInternal;
}

Result<std::string> read_all(int descriptor, std::string_view name, std::uint64_t bytes_max) {
  std::string out;
  struct stat status{};
  if (::fstat(descriptor, &status) == 0 && status.st_size > 0)
    out.reserve(std::min<std::uint64_t>(static_cast<std::uint64_t>(status.st_size), bytes_max) + 1);
  // The file may grow while it is read: the limit applies to the bytes read, not to the reported size.
  for (;;) {
    constexpr std::size_t kStep = 256u << 10;
    const std::size_t size = out.size();
    out.resize(size + kStep);
    const ssize_t count = ::read(descriptor, out.data() + size, kStep);
    out.resize(size + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno_error(name, errno);
    if (count == 0) return out;
    if (out.size() > bytes_max) return fail(ErrorCode::kTooLarge, "larger than {}", human_bytes(bytes_max));
  }
}

}  // namespace

std::unexpected<Error> errno_error(std::string_view path, int code) { return fail(code_of(code), "{}: {}", path, std::strerror(code)); }

Result<Descriptor> open_beneath(const std::filesystem::path& root, std::string_view relative, int flags) {
  constexpr int kFolder = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW;
  Descriptor at(::open(root.c_str(), kFolder));
  if (at.get() < 0) return errno_error(root.string(), errno);
  if (relative.empty()) return at;
  const std::vector<std::string_view> names = split(relative, '/');
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i].empty() || names[i] == "." || names[i] == "..")
      return fail(ErrorCode::kInvalidArgument, "{} is not a path below the folder", relative);
    const bool last = i + 1 == names.size();
    Descriptor next(::openat(at.get(), std::string(names[i]).c_str(), last ? flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK : kFolder));
    if (next.get() < 0) return errno_error(relative, errno);
    at = std::move(next);
  }
  return at;
}

Result<std::string> read_beneath(const std::filesystem::path& root, std::string_view relative, std::uint64_t bytes_max,
                                 std::uint64_t links_max) {
  FOOTNOTE_TRY(const Descriptor file, open_beneath(root, relative, O_RDONLY));
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) return errno_error(relative, errno);
  if (!S_ISREG(status.st_mode)) return fail(ErrorCode::kInvalidArgument, "not a regular file");
  if (status.st_nlink > links_max) return fail(ErrorCode::kInvalidArgument, "a hard link that was created during the walk");
  if (static_cast<std::uint64_t>(status.st_size) > bytes_max) {
    return fail(ErrorCode::kTooLarge, "{}; the limit is {}", human_bytes(static_cast<std::uint64_t>(status.st_size)),
                human_bytes(bytes_max));
  }
  return read_all(file.get(), relative, bytes_max);
}

}  // namespace footnote::ingest
