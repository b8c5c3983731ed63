#include "providers/sqlite/data_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <thread>

#include "base/file.h"
#include "base/json.h"

namespace footnote {

namespace {

constexpr std::size_t kRecordBytesMax = 4096;
/// holder() in another process takes the lock briefly to test it.
constexpr std::chrono::milliseconds kProbeGrace{20};

struct Meaning {
  ErrorCode code;
  std::string_view advice;
};

Meaning meaning_of(ErrorCode code) {
  if (code == ErrorCode::kStorageFull) return {code, "free some space, or choose another folder with --data"};
  if (code == ErrorCode::kResourceExhausted) return {code, "raise the limit of open files (ulimit -n)"};
  if (code == ErrorCode::kUnavailable) return {code, "the disk failed: check the system log, or choose another folder with --data"};
  if (code == ErrorCode::kInvalidArgument) return {code, "choose another one with --data"};
  return {ErrorCode::kPermissionDenied, "give this user write access, or choose another folder with --data"};
}

std::unexpected<Error> with_advice(const Error& error) {
  const Meaning meaning = meaning_of(error.code);
  return fail(meaning.code, "the data folder: {}: {}", error.message, meaning.advice);
}

std::unexpected<Error> no_access(const std::filesystem::path& path, std::string_view doing, int error) {
  return with_advice(Error{code_of_errno(error), fmt::format("can't {} {}: {}", doing, path.string(), std::strerror(error)), {}});
}

/// Whatever is in place of the lock file may be an attack or an accident; it is neither followed nor removed.
std::unexpected<Error> not_a_lock(const std::filesystem::path& lock) {
  return fail(ErrorCode::kInvalidArgument, "{} is not a regular file, so it can't lock the data folder: remove it and try again",
              lock.string());
}

Result<int> open_lock(const std::filesystem::path& lock, int flags) {
  // O_CLOEXEC: a child process must not keep the lock after us. O_NOFOLLOW: never write through a planted link. O_NONBLOCK: a FIFO with
  // that name must not block us.
  Descriptor file(::open(lock.c_str(), flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
  if (file.get() < 0) {
    if ((flags & O_CREAT) == 0 && (errno == ENOENT || errno == ENOTDIR)) return fail(ErrorCode::kNotFound, "no {}", lock.string());
    if (errno == ELOOP || errno == EISDIR || errno == ENXIO) return not_a_lock(lock);
    return no_access(lock, "open", errno);
  }
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) return no_access(lock, "read", errno);
  if (!S_ISREG(status.st_mode)) return not_a_lock(lock);
  return file.release();
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
  // A file of an older version, or a copied one, may be readable by others.
  if (::fchmod(descriptor, 0600) != 0) return no_access(path, "write to", errno);
  // In place: a rename would leave the lock on an unlinked file.
  if (::ftruncate(descriptor, 0) != 0) return no_access(path / kLockFile, "write", errno);
  if (::pwrite(descriptor, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
    return no_access(path / kLockFile, "write", errno);
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
  if (auto made = make_folders(path); !made) return with_advice(made.error());
  FOOTNOTE_TRY(const int descriptor, open_lock(path / kLockFile, O_RDWR | O_CREAT));
  DataFolder folder(path, descriptor);
  if (!try_lock(descriptor, LOCK_EX)) {
    std::this_thread::sleep_for(kProbeGrace);
    if (!try_lock(descriptor, LOCK_EX)) return held_by(read_record(descriptor), path);
  }
  FOOTNOTE_CHECK(write_record(descriptor, path, {}, {}));
  return folder;
}

DataFolder::~DataFolder() {
  // The file is kept: removing it would let two processes lock two files of the same name.
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<void> DataFolder::set_url(std::string_view url, std::string_view token) { return write_record(descriptor_, path_, url, token); }

Result<std::optional<FolderHolder>> DataFolder::holder(const std::filesystem::path& path) {
  const auto descriptor = open_lock(path / kLockFile, O_RDONLY);
  if (!descriptor && descriptor.error().code == ErrorCode::kNotFound) return std::nullopt;
  if (!descriptor) return std::unexpected(descriptor.error());
  const DataFolder closer(path, *descriptor);
  if (try_lock(*descriptor, LOCK_SH)) return std::nullopt;
  return read_record(*descriptor);
}

}  // namespace footnote
