#include "ingest/walk.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <memory>

#include "base/text.h"
#include "base/utf8.h"
#include "formats/magic.h"
#include "ingest/beneath.h"
#include "ingest/ignore_file.h"
#include "ingest/secret_names.h"

namespace footnote::ingest {

namespace {

namespace fs = std::filesystem;

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

std::string below(std::string_view folder, std::string_view name) {
  return folder.empty() ? std::string(name) : std::string(folder) + "/" + std::string(name);
}

/// Next to web pages, scripts are parts of the pages.
void count_page_scripts(WalkResult& out) {
  const auto is_page = [](const FoundFile& file) { return formats::is_page_name(file.key); };
  if (std::ranges::none_of(out.files, is_page)) return;
  const std::size_t scripts = std::erase_if(out.files, [](const FoundFile& file) { return formats::is_page_script(file.key); });
  if (scripts > 0) out.no_documents["scripts of pages"] += scripts;
}

UtcTime time_of(const timespec& time) {
  return UtcTime{std::chrono::seconds{time.tv_sec} + std::chrono::milliseconds{time.tv_nsec / 1'000'000}};
}

std::string stamp_of(const struct stat& status) {
  return fmt::format("{}.{}.{}.{:09}.{}.{:09}", status.st_ino, status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec,
                     status.st_ctim.tv_sec, status.st_ctim.tv_nsec);
}

bool has_control_character(std::string_view name) {
  return std::ranges::any_of(name, [](unsigned char c) { return c < 0x20 || c == 0x7F; });
}

class Walker {
 public:
  Walker(const CallContext& call, WalkResult& out, const WalkOptions& options) : call_(call), out_(out), options_(options) {}

  /// Pending folders are kept in a list, not on the stack: the disk decides the depth.
  Result<void> run() {
    waiting_ = {{"", nullptr}};
    while (!waiting_.empty()) {
      FOOTNOTE_CHECK(call_.check());
      const Waiting next = std::move(waiting_.back());
      waiting_.pop_back();
      FOOTNOTE_CHECK(read_folder(next));
    }
    settle_links();
    return {};
  }

  /// An enclosing repository may ignore the whole folder: report it, or nobody would know why nothing is read.
  void report_if_all_is_ignored() {
    if (!out_.files.empty() || !ignored_by_file_) return;
    problem(".", "nothing is left to read: ignore files name the rest; a line !NAME in .footnoteignore takes a name in again");
  }

  void regular_file(std::string key, const struct stat& status) {
    const auto bytes = static_cast<std::uint64_t>(status.st_size);
    if (bytes == 0) return problem(key, "empty file");
    if (bytes > options_.file_bytes_max) {
      return problem(key, fmt::format("{}; the limit is {}", human_bytes(bytes), human_bytes(options_.file_bytes_max)));
    }
    out_.files.push_back(
        {std::move(key), bytes, status.st_nlink, stamp_of(status), std::max(time_of(status.st_mtim), time_of(status.st_ctim))});
  }

 private:
  /// A pending folder, and the ignore scope of its parent.
  struct Waiting {
    std::string folder;
    std::shared_ptr<const IgnoreScope> around;
  };
  using Inode = std::pair<dev_t, ino_t>;

  Result<void> read_folder(const Waiting& waiting) {
    const std::string& folder = waiting.folder;
    auto names = list(folder);
    if (!names) {
      // An unreadable root is the caller's error, not a problem of one file.
      if (folder.empty()) return std::unexpected(names.error());
      out_.unknown.push_back(folder);
      problem(folder,
              names.error().code == ErrorCode::kPermissionDenied ? "folder can't be read: permission denied" : "folder can't be read");
      return {};
    }
    const auto scope = folder.empty() ? IgnoreScope::of_root(out_.root) : IgnoreScope::of_folder(out_.root, folder, waiting.around);
    if (!scope) {
      // The files that the unusable ignore file names must not be read, so the folder's contents are unknown.
      if (folder.empty()) return std::unexpected(with_context(scope.error(), out_.root.string()));
      out_.unknown.push_back(folder);
      problem(folder, scope.error().message);
      return {};
    }
    for (const std::string& name : *names) {
      entry(folder, name, *scope);
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

  void entry(const std::string& folder, const std::string& name, const std::shared_ptr<const IgnoreScope>& scope) {
    const std::string key = below(folder, name);
    if (!is_valid_utf8(name)) return problem(repair_utf8(key), "its name is not UTF-8; rename it");
    if (has_control_character(name)) return problem(key, "its name holds a control character; rename it");
    struct stat status{};
    if (::lstat((out_.root / key).c_str(), &status) != 0) {
      if (is_ignored_name(name)) return problem(key, "ignored name", ProblemKind::kIgnored);
      out_.unknown.push_back(key);
      return problem(key, "can't be read");
    }
    const bool is_folder = S_ISDIR(status.st_mode);
    // Counted whatever happens to the file: a name in an ignored place is still inside the folder.
    if (S_ISREG(status.st_mode) && status.st_nlink > 1) ++names_of_[{status.st_dev, status.st_ino}];
    if (S_ISREG(status.st_mode) && is_secret_file_name(name)) return problem(key, std::string(kSecretNameReason), ProblemKind::kSecret);
    if (is_folder && is_secret_folder_name(name)) return problem(key, std::string(kSecretNameReason), ProblemKind::kSecret);
    if (is_ignored_name(name) && !is_rules_folder(key)) return problem(key, "ignored name", ProblemKind::kIgnored);
    if (scope && scope->ignores(key, is_folder)) {
      ignored_by_file_ = true;
      return problem(key, "named by an ignore file", ProblemKind::kIgnored);
    }
    if (S_ISLNK(status.st_mode)) return link(key);
    if (S_ISREG(status.st_mode)) {
      if (is_counted_only(key, status)) return;
      if (status.st_nlink > 1) linked_[key] = {status.st_dev, status.st_ino};
      return regular_file(key, status);
    }
    if (!is_folder) return problem(key, S_ISFIFO(status.st_mode) ? "a FIFO, not a file" : "a device or socket, not a file");
    if (std::ranges::count(key, '/') >= kFolderDepthMax) {
      out_.unknown.push_back(key);
      return problem(key, fmt::format("nested more than {} folders deep", kFolderDepthMax));
    }
    waiting_.push_back({key, scope});
  }

  /// Rules for coding agents, in a code base.
  bool is_rules_folder(std::string_view key) const { return options_.what == WalkFor::kCode && (key == ".cursor" || key == ".claude"); }

  /// Images, style sheets and the like, and empty source files that only mark a folder.
  bool is_counted_only(const std::string& key, const struct stat& status) {
    std::string_view kind = formats::kind_of_no_document(key);
    if (kind.empty() && status.st_size == 0 && formats::is_code_name(key)) kind = "empty source files";
    if (kind.empty()) return false;
    ++out_.no_documents[std::string(kind)];
    return true;
  }

  /// A file with more names than were found inside the root has one outside.
  void settle_links() {
    if (linked_.empty()) return;
    const auto leaves = [&](const FoundFile& file) {
      const auto found = linked_.find(file.key);
      if (found == linked_.end() || file.links_max <= names_of_.at(found->second)) return false;
      problem(file.key, "hard link to a file outside the folder; --allow-hard-links reads it");
      return true;
    };
    if (options_.hard_links == HardLinks::kRefuse) std::erase_if(out_.files, leaves);
  }

  /// Links are never followed. One that points into the root adds nothing: its target is read under its own name.
  void link(const std::string& key) {
    std::error_code error;
    const fs::path target = fs::canonical(out_.root / key, error);
    if (error == std::errc::too_many_symbolic_link_levels) return problem(key, "symbolic link that loops");
    if (error) return problem(key, "symbolic link to nothing");
    const fs::path relative = target.lexically_relative(out_.root);
    if (relative.empty() || *relative.begin() == "..") return problem(key, "symbolic link that leaves the folder");
    const auto ignored = [](const fs::path& part) { return part != "." && is_ignored_name(part.string()); };
    if (is_secret_path(relative.generic_string())) return problem(key, std::string(kSecretNameReason), ProblemKind::kSecret);
    if (std::any_of(relative.begin(), relative.end(), ignored)) return problem(key, "symbolic link to an ignored file");
    problem(key, "symbolic link; its target is read under its own name", ProblemKind::kIgnored);
  }

  void problem(std::string path, std::string reason, ProblemKind kind = ProblemKind::kProblem) {
    out_.problems.push_back({std::move(path), std::move(reason), kind});
  }

  const CallContext& call_;
  WalkResult& out_;
  const WalkOptions& options_;
  std::vector<Waiting> waiting_;
  bool ignored_by_file_ = false;
  std::map<Inode, std::uint64_t> names_of_;  // For files with several names: how many were found below the root.
  std::map<std::string, Inode> linked_;      // Those files, by key.
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
    if (has_control_character(name)) {
      return fail(ErrorCode::kInvalidArgument, "{}: its name holds a control character; rename it", path.string());
    }
    if (is_secret_file_name(name)) {
      out.problems.push_back({name, std::string(kSecretNameReason), ProblemKind::kSecret});
    } else {
      walker.regular_file(name, status);
    }
    return out;
  }
  if (!S_ISDIR(status.st_mode)) return fail(ErrorCode::kInvalidArgument, "{} is neither a folder nor a regular file", path.string());
  out.root = real;
  FOOTNOTE_CHECK(walker.run());
  walker.report_if_all_is_ignored();
  if (options.what == WalkFor::kDocuments) count_page_scripts(out);
  std::ranges::sort(out.files, {}, &FoundFile::key);
  std::ranges::sort(out.problems, {}, &Problem::path);
  return out;
}

Result<std::string> read_found(const WalkResult& walk, const FoundFile& file, std::uint64_t bytes_max) {
  return read_beneath(walk.root, file.key, bytes_max, file.links_max);
}

}  // namespace footnote::ingest
