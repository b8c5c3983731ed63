#include "providers/sqlite/data_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <thread>

#include "base/json.h"

namespace footnote {

namespace {

constexpr std::size_t kRecordBytesMax = 4096;
/// A holder() of another process takes the lock for an instant to see whether it is free.
constexpr std::chrono::milliseconds kProbeGrace{20};

std::unexpected<Error> no_access(const std::filesystem::path& path, std::string_view doing, int error) {
  const bool exhausted = error == ENOSPC || error == EDQUOT || error == EMFILE || error == ENFILE;
  return fail(exhausted ? ErrorCode::kResourceExhausted : ErrorCode::kPermissionDenied,
              "can't {} the data folder {} ({}): give this user write access, or choose another folder with --data", doing, path.string(),
              std::strerror(error));
}

Result<void> make_folder(const std::filesystem::path& path) {
  std::error_code error;
  std::error_code ignored;
  if (std::filesystem::create_directories(path, error)) {
    // What is asked and answered is nobody else's business.
    std::filesystem::permissions(path, std::filesystem::perms::owner_all, ignored);
  }
  if (std::filesystem::is_directory(path, ignored)) return {};
  if (error == std::errc::not_a_directory || error == std::errc::file_exists || !error) {
    return fail(ErrorCode::kInvalidArgument, "{} is not a folder: choose another one with --data", path.string());
  }
  return no_access(path, "make", error.value());
}

bool try_lock(int descriptor, int mode) {
  int outcome = 0;
  do {
    outcome = ::flock(descriptor, mode | LOCK_NB);
  } while (outcome != 0 && errno == EINTR);
  return outcome == 0;
}

FolderHolder read_record(int descriptor) {
  std::array<char, kRecordBytesMax> buffer{};
  const ssize_t count = ::pread(descriptor, buffer.data(), buffer.size(), 0);
  FolderHolder holder;
  if (count <= 0) return holder;
  const auto record = parse_json(std::string_view(buffer.data(), static_cast<std::size_t>(count)));
  if (!record) return holder;
  const auto reader = JsonReader::of(*record);
  if (!reader) return holder;
  if (const auto pid = reader->optional_integer("pid", 0, INT32_MAX)) holder.pid = static_cast<pid_t>(pid->value_or(0));
  if (const auto url = reader->optional_string("url", kRecordBytesMax)) holder.url = url->value_or("");
  if (const auto token = reader->optional_string("token", kRecordBytesMax)) holder.token = token->value_or("");
  return holder;
}

Result<void> write_record(int descriptor, const std::filesystem::path& path, std::string_view url, std::string_view token) {
  JsonObject record{{"pid", ::getpid()}};
  if (!url.empty()) record["url"] = url;
  if (!token.empty()) record["token"] = token;
  const std::string text = to_text(record);
  // A file of an older version, or one that was copied, may be open to others.
  if (::fchmod(descriptor, 0600) != 0) return no_access(path, "write in", errno);
  // In place: a rename would leave the lock on a file that nobody finds any more.
  if (::ftruncate(descriptor, 0) != 0) return no_access(path, "write in", errno);
  if (::pwrite(descriptor, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
    return no_access(path, "write in", errno);
  }
  return {};
}

std::unexpected<Error> held_by(const FolderHolder& holder, const std::filesystem::path& path) {
  const std::string who = holder.pid > 0 ? fmt::format("process {}", holder.pid) : "another process";
  if (holder.url.empty()) {
    return fail(ErrorCode::kFailedPrecondition,
                "the data folder {} is in use by {}: wait for it or end it, or choose another folder with --data", path.string(), who);
  }
  return fail(ErrorCode::kFailedPrecondition, "the data folder {} is in use by {}, which serves it at {}: ask that server, or end it",
              path.string(), who, holder.url);
}

}  // namespace

Result<DataFolder> DataFolder::open(const std::filesystem::path& path) {
  FOOTNOTE_CHECK(make_folder(path));
  const std::filesystem::path lock = path / kLockFile;
  // O_CLOEXEC: a child program must not keep the lock after us. O_NOFOLLOW: no writing through a planted link.
  const int descriptor = ::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (descriptor < 0) return no_access(path, "write in", errno);
  DataFolder folder(path, descriptor);
  if (!try_lock(descriptor, LOCK_EX)) {
    std::this_thread::sleep_for(kProbeGrace);
    if (!try_lock(descriptor, LOCK_EX)) return held_by(read_record(descriptor), path);
  }
  FOOTNOTE_CHECK(write_record(descriptor, path, {}, {}));
  return folder;
}

DataFolder::~DataFolder() {
  // The file stays: removing it would let two processes lock two files of one name.
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<void> DataFolder::set_url(std::string_view url, std::string_view token) { return write_record(descriptor_, path_, url, token); }

Result<std::optional<FolderHolder>> DataFolder::holder(const std::filesystem::path& path) {
  const int descriptor = ::open((path / kLockFile).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (descriptor < 0) {
    if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
    return no_access(path, "read", errno);
  }
  const DataFolder closer(path, descriptor);
  if (try_lock(descriptor, LOCK_SH)) return std::nullopt;
  return read_record(descriptor);
}

}  // namespace footnote
