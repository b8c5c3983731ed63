#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/glob.h"

namespace footnote::ingest {

inline constexpr std::string_view kIgnoreFileName = ".footnoteignore";
/// A folder is skipped if its ignore files are larger, or if more patterns apply to it.
inline constexpr std::size_t kIgnoreFileBytesMax = 256u << 10;
inline constexpr std::size_t kIgnorePatternsMax = 4096;

/// The patterns of one .gitignore or .footnoteignore, with git's rules: `#` starts a comment, `!` re-includes a path, a trailing '/'
/// matches folders only, a '/' elsewhere anchors the pattern at the file's folder; otherwise it matches names at any depth. The last
/// matching pattern decides. Patterns that git would never match (an open `[`) are dropped.
class IgnoreFile {
 public:
  /// kTooLarge: a pattern is longer than kGlobBytesMax.
  static Result<IgnoreFile> parse(std::string_view text);

  /// `path` is relative to the file's folder. True: ignored; false: re-included; nullopt: no pattern matches.
  std::optional<bool> verdict(std::string_view path, bool is_folder) const;
  std::size_t size() const { return patterns_.size(); }

 private:
  struct Pattern {
    Glob glob;
    bool negated = false;
    bool folders_only = false;
    bool anchored = false;
  };
  std::vector<Pattern> patterns_;
};

/// The ignore files that apply in one folder: its own, then those of the folders above. Immutable; children share their parents.
class IgnoreScope {
 public:
  /// For the root of a walk: what applies to it from its repository (the ignore files between the repository's root and `root`, and
  /// .git/info/exclude), and `root`'s own files. A null scope ignores nothing. Fails if an ignore file exists but cannot be used, because
  /// the files that it names must not be read.
  static Result<std::shared_ptr<const IgnoreScope>> of_root(const std::filesystem::path& root);
  /// For `folder` (a key below the root), a child of `parent`'s folder.
  static Result<std::shared_ptr<const IgnoreScope>> of_folder(const std::filesystem::path& root, const std::string& folder,
                                                              std::shared_ptr<const IgnoreScope> parent);

  /// Whether the entry with this key is ignored. The nearest file with a matching pattern decides; within a folder .footnoteignore has
  /// precedence over .gitignore.
  bool ignores(std::string_view key, bool is_folder) const;

 private:
  std::shared_ptr<const IgnoreScope> parent_;
  std::string added_;        // For folders above the root: the path from the scope's folder to the root, "docs/".
  std::size_t removed_ = 0;  // For folders below the root: how many bytes to drop from a key to make it relative to the scope's folder.
  std::vector<IgnoreFile> files_;
  std::size_t patterns_ = 0;  // Patterns of this scope and its parents together.

  Result<void> read(const std::filesystem::path& root, const std::string& key);
  static Result<std::shared_ptr<const IgnoreScope>> finish(std::shared_ptr<IgnoreScope> scope);
};

}  // namespace footnote::ingest
