#include "ingest/walk.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>

#include "base/text.h"
#include "base/utf8.h"
#include "ingest/beneath.h"

namespace footnote::ingest {

namespace {

namespace fs = std::filesystem;

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

std::string below(std::string_view folder, std::string_view name) {
  return folder.empty() ? std::string(name) : std::string(folder) + "/" + std::string(name);
}

class Walker {
 public:
  Walker(const CallContext& call, WalkResult& out, const WalkOptions& options) : call_(call), out_(out), options_(options) {}

  /// Folders still to read wait in a list, not on the stack: depth is the disk's choice.
  Result<void> run() {
    std::vector<std::string> waiting = {""};
    while (!waiting.empty()) {
      FOOTNOTE_CHECK(call_.check());
      const std::string folder = std::move(waiting.back());
      waiting.pop_back();
      FOOTNOTE_CHECK(read_folder(folder, waiting));
    }
    return {};
  }

  void regular_file(std::string key, std::uint64_t bytes) {
    if (bytes == 0) return problem(key, "empty file");
    if (bytes > options_.file_bytes_max) {
      return problem(key, fmt::format("{}; the limit is {}", human_bytes(bytes), human_bytes(options_.file_bytes_max)));
    }
    out_.files.push_back({std::move(key), bytes});
  }

 private:
  Result<void> read_folder(const std::string& folder, std::vector<std::string>& waiting) {
    auto names = list(folder);
    if (!names) {
      // A root that can't be read is the caller's error, not a remark about one of its files.
      if (folder.empty()) return std::unexpected(names.error());
      out_.unknown.push_back(folder);
      problem(folder,
              names.error().code == ErrorCode::kPermissionDenied ? "folder can't be read: permission denied" : "folder can't be read");
      return {};
    }
    for (const std::string& name : *names) {
      entry(folder, name, waiting);
      if (out_.files.size() > options_.files_max) return fail(ErrorCode::kTooLarge, "more than {} files", options_.files_max);
    }
    return {};
  }

  Result<std::vector<std::string>> list(const std::string& folder) {
    FOOTNOTE_TRY(Descriptor descriptor, open_beneath(out_.root, folder, O_RDONLY | O_DIRECTORY));
    const std::unique_ptr<DIR, CloseFolder> stream(::fdopendir(descriptor.get()));
    if (stream == nullptr) return errno_error(folder, errno);
    descriptor.release();
    std::vector<std::string> names;
    while (const dirent* found = ::readdir(stream.get())) {
      const std::string_view name = found->d_name;
      if (name != "." && name != "..") names.emplace_back(name);
    }
    std::ranges::sort(names);
    return names;
  }

  void entry(const std::string& folder, const std::string& name, std::vector<std::string>& waiting) {
    const std::string key = below(folder, name);
    if (is_ignored_name(name)) return problem(key, "ignored name", ProblemKind::kIgnored);
    if (!is_valid_utf8(name)) return problem(repair_utf8(key), "its name is not UTF-8; rename it");
    struct stat status{};
    if (::lstat((out_.root / key).c_str(), &status) != 0) {
      out_.unknown.push_back(key);
      return problem(key, "can't be looked at");
    }
    if (S_ISLNK(status.st_mode)) return link(key);
    if (S_ISREG(status.st_mode)) return regular_file(key, static_cast<std::uint64_t>(status.st_size));
    if (!S_ISDIR(status.st_mode)) return problem(key, S_ISFIFO(status.st_mode) ? "a FIFO, not a file" : "a device or socket, not a file");
    if (std::ranges::count(key, '/') >= kFolderDepthMax) {
      out_.unknown.push_back(key);
      return problem(key, fmt::format("nested more than {} folders deep", kFolderDepthMax));
    }
    waiting.push_back(key);
  }

  /// No link is followed. One that points into the root adds nothing: its target is read under its own name.
  void link(const std::string& key) {
    std::error_code error;
    const fs::path target = fs::canonical(out_.root / key, error);
    if (error == std::errc::too_many_symbolic_link_levels) return problem(key, "symbolic link that loops");
    if (error) return problem(key, "symbolic link to nothing");
    const fs::path relative = target.lexically_relative(out_.root);
    if (relative.empty() || *relative.begin() == "..") return problem(key, "symbolic link that leaves the folder");
    const auto ignored = [](const fs::path& part) { return part != "." && is_ignored_name(part.string()); };
    if (std::any_of(relative.begin(), relative.end(), ignored)) return problem(key, "symbolic link to an ignored file");
    problem(key, "symbolic link; its target is read under its own name", ProblemKind::kIgnored);
  }

  void problem(std::string path, std::string reason, ProblemKind kind = ProblemKind::kProblem) {
    out_.problems.push_back({std::move(path), std::move(reason), kind});
  }

  const CallContext& call_;
  WalkResult& out_;
  const WalkOptions& options_;
};

}  // namespace

bool is_ignored_name(std::string_view name) {
  constexpr std::array<std::string_view, 5> kIgnored = {"node_modules", "__pycache__", "Thumbs.db", "desktop.ini", "lost+found"};
  return name.starts_with('.') || name.ends_with('~') || name.starts_with("~$") || std::ranges::find(kIgnored, name) != kIgnored.end();
}

Result<WalkResult> walk(const CallContext& call, const std::filesystem::path& path, const WalkOptions& options) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  if (error) return with_context(errno_error(path.string(), error.value()).error(), "can't ingest");
  struct stat status{};
  if (::stat(real.c_str(), &status) != 0) return errno_error(path.string(), errno);
  WalkResult out;
  out.path = real;
  Walker walker(call, out, options);
  if (S_ISREG(status.st_mode)) {
    out.root = real.parent_path();
    const std::string name = real.filename().string();
    if (!is_valid_utf8(name)) return fail(ErrorCode::kInvalidArgument, "{}: its name is not UTF-8; rename it", repair_utf8(path.string()));
    walker.regular_file(name, static_cast<std::uint64_t>(status.st_size));
    return out;
  }
  if (!S_ISDIR(status.st_mode)) return fail(ErrorCode::kInvalidArgument, "{} is neither a folder nor a regular file", path.string());
  out.root = real;
  FOOTNOTE_CHECK(walker.run());
  std::ranges::sort(out.files, {}, &FoundFile::key);
  std::ranges::sort(out.problems, {}, &Problem::path);
  return out;
}

Result<std::string> read_found(const WalkResult& walk, std::string_view key, std::uint64_t bytes_max) {
  return read_beneath(walk.root, key, bytes_max);
}

}  // namespace footnote::ingest
