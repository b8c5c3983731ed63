#include "ingest/ignore_file.h"

#include "base/text.h"
#include "ingest/beneath.h"

namespace footnote::ingest {

namespace {

namespace fs = std::filesystem;

/// How many folders above the root to search for a repository.
constexpr int kRepositoryDepthMax = 64;

/// A line without its line end, trailing spaces (unless escaped) and carriage return.
std::string_view pattern_of(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  while (line.ends_with(' ') && !line.ends_with("\\ ")) line.remove_suffix(1);
  return line.starts_with('#') ? std::string_view() : line;
}

/// The nearest folder with a `.git`: `root` itself or one above it.
std::optional<fs::path> repository_of(const fs::path& root) {
  fs::path at = root;
  for (int depth = 0; depth < kRepositoryDepthMax; ++depth) {
    std::error_code ignored;
    if (fs::exists(at / ".git", ignored)) return at;
    if (at == at.parent_path()) return std::nullopt;
    at = at.parent_path();
  }
  return std::nullopt;
}

}  // namespace

Result<IgnoreFile> IgnoreFile::parse(std::string_view text) {
  IgnoreFile out;
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  for (const std::string_view line : split(text, '\n')) {
    std::string_view pattern = pattern_of(line);
    const bool negated = pattern.starts_with('!');
    if (negated) pattern.remove_prefix(1);
    const bool folders_only = pattern.ends_with('/');
    if (folders_only) pattern.remove_suffix(1);
    const bool anchored = pattern.find('/') != std::string_view::npos;
    if (pattern.starts_with('/')) pattern.remove_prefix(1);
    if (pattern.empty()) continue;
    auto glob = Glob::compile(pattern, GlobSyntax::kIgnoreFile);
    if (!glob && glob.error().code == ErrorCode::kTooLarge) return std::unexpected(glob.error());
    if (glob) out.patterns_.push_back({*std::move(glob), negated, folders_only, anchored});
    if (out.patterns_.size() > kIgnorePatternsMax) return fail(ErrorCode::kTooLarge, "more than {} patterns", kIgnorePatternsMax);
  }
  return out;
}

std::optional<bool> IgnoreFile::verdict(std::string_view path, bool is_folder) const {
  const std::string_view name = path.substr(path.find_last_of('/') + 1);
  for (auto pattern = patterns_.rbegin(); pattern != patterns_.rend(); ++pattern) {
    if (pattern->folders_only && !is_folder) continue;
    if (pattern->glob.matches(pattern->anchored ? path : name)) return !pattern->negated;
  }
  return std::nullopt;
}

Result<void> IgnoreScope::read(const fs::path& root, const std::string& key) {
  const auto text = read_beneath(root, key, kIgnoreFileBytesMax);
  if (!text && text.error().code == ErrorCode::kNotFound) return {};
  if (!text) return fail(text.error().code, "its {} can't be used: {}", fs::path(key).filename().string(), text.error().message);
  auto file = IgnoreFile::parse(*text);
  if (!file) return with_context(file.error(), fmt::format("its {} can't be used", fs::path(key).filename().string()));
  patterns_ += file->size();
  if (patterns_ > kIgnorePatternsMax) return fail(ErrorCode::kTooLarge, "more than {} ignore patterns apply to it", kIgnorePatternsMax);
  if (file->size() > 0) files_.push_back(*std::move(file));
  return {};
}

Result<std::shared_ptr<const IgnoreScope>> IgnoreScope::finish(std::shared_ptr<IgnoreScope> scope) {
  // A folder without ignore files uses its parent's scope.
  if (scope->files_.empty()) return scope->parent_;
  return scope;
}

Result<std::shared_ptr<const IgnoreScope>> IgnoreScope::of_root(const fs::path& root) {
  std::shared_ptr<const IgnoreScope> scope;
  if (const auto repository = repository_of(root)) {
    auto exclude = std::make_shared<IgnoreScope>();
    const std::string inside = root == *repository ? "" : root.lexically_relative(*repository).generic_string() + "/";
    exclude->added_ = inside;
    std::error_code ignored;
    // A worktree's or submodule's `.git` is a file; its exclude file is elsewhere.
    if (fs::is_directory(fs::symlink_status(*repository / ".git", ignored))) {
      FOOTNOTE_CHECK(exclude->read(*repository, ".git/info/exclude"));
    }
    FOOTNOTE_TRY(scope, finish(std::move(exclude)));
    for (std::size_t at = 0; at < inside.size(); at = inside.find('/', at) + 1) {
      auto above = std::make_shared<IgnoreScope>();
      above->parent_ = scope;
      above->patterns_ = scope ? scope->patterns_ : 0;
      above->added_ = inside.substr(at);
      FOOTNOTE_CHECK(above->read(*repository, inside.substr(0, at) + std::string(kIgnoreFileName)));
      FOOTNOTE_CHECK(above->read(*repository, inside.substr(0, at) + ".gitignore"));
      FOOTNOTE_TRY(scope, finish(std::move(above)));
    }
  }
  return of_folder(root, "", std::move(scope));
}

Result<std::shared_ptr<const IgnoreScope>> IgnoreScope::of_folder(const fs::path& root, const std::string& folder,
                                                                  std::shared_ptr<const IgnoreScope> parent) {
  auto scope = std::make_shared<IgnoreScope>();
  scope->patterns_ = parent ? parent->patterns_ : 0;
  scope->parent_ = std::move(parent);
  const std::string before = folder.empty() ? "" : folder + "/";
  scope->removed_ = before.size();
  FOOTNOTE_CHECK(scope->read(root, before + std::string(kIgnoreFileName)));
  FOOTNOTE_CHECK(scope->read(root, before + ".gitignore"));
  return finish(std::move(scope));
}

bool IgnoreScope::ignores(std::string_view key, bool is_folder) const {
  for (const IgnoreScope* scope = this; scope != nullptr; scope = scope->parent_.get()) {
    const std::string above = scope->added_.empty() ? std::string() : scope->added_ + std::string(key);
    const std::string_view path = scope->added_.empty() ? key.substr(scope->removed_) : std::string_view(above);
    for (const IgnoreFile& file : scope->files_) {
      if (const auto verdict = file.verdict(path, is_folder)) return *verdict;
    }
  }
  return false;
}

}  // namespace footnote::ingest
