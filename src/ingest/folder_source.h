#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "ingest/source_kind.h"
#include "ingest/walk.h"

namespace footnote::ingest {

/// A file that changed within this time before the walk may change again without another stamp.
inline constexpr std::chrono::seconds kFreshTime{2};
/// The option of a folder with what its documents' keys start with.
inline constexpr std::string_view kPrefixOption = "prefix";

/// The files of a folder, or a single file, as the items of a source. An item's key is the prefix plus its path relative to the folder,
/// with "/" between names, or for a single file the prefix plus its file name.
class FolderItems final : public SourceReader {
 public:
  FolderItems(std::filesystem::path path, std::string key_prefix, const Clock& clock, const WalkOptions& options)
      : path_(std::move(path)), key_prefix_(std::move(key_prefix)), clock_(clock), options_(options) {}

  /// Errors of walk().
  Result<SourceItems> list(const CallContext& call) override;
  /// REQUIRES: an item of the last list().
  Result<ItemRead> read(const CallContext& call, const SourceItem& item) override;
  /// The canonical path, after list().
  const std::filesystem::path& walked_path() const { return walked_.path; }

 private:
  const std::filesystem::path path_;
  const std::string key_prefix_;
  const Clock& clock_;
  const WalkOptions options_;
  WalkResult walked_;
};

/// Folders on the server's disk. The operator names the roots; everything else is refused, also through links.
class FolderSourceKind final : public SourceKindReader {
 public:
  /// No roots: no folder may be added. Borrows the clock.
  FolderSourceKind(std::vector<std::filesystem::path> roots, const Clock& clock, const WalkOptions& options = {});

  Result<SourceSpec> accept(SourceSpec spec) const override;
  Result<std::unique_ptr<SourceReader>> open(const CallContext& call, const SourceRecord& source,
                                             const std::map<std::string, std::string>& stamps) const override;
  Origin origin() const override { return Origin::kFile; }

 private:
  /// The canonical path, if it is a folder below a root.
  Result<std::filesystem::path> allowed(const std::string& location) const;

  const std::vector<std::filesystem::path> roots_;
  const Clock& clock_;
  const WalkOptions options_;
};

/// A text that its owner sent: one document, whose key is the source's location.
class TextSourceKind final : public SourceKindReader {
 public:
  Result<SourceSpec> accept(SourceSpec spec) const override;
  Result<std::unique_ptr<SourceReader>> open(const CallContext& call, const SourceRecord& source,
                                             const std::map<std::string, std::string>& stamps) const override;
  Origin origin() const override { return Origin::kUpload; }
};

}  // namespace footnote::ingest
