#include "ingest/folder_source.h"

#include <algorithm>

#include "base/page_url.h"
#include "base/sha256.h"
#include "base/text.h"
#include "formats/magic.h"

namespace footnote::ingest {
namespace {

namespace fs = std::filesystem;

bool is_below(const fs::path& path, const fs::path& root) {
  const fs::path relative = path.lexically_relative(root);
  return !relative.empty() && *relative.begin() != "..";
}

/// One text, given when it was made.
class TextItem final : public SourceReader {
 public:
  explicit TextItem(const SourceSpec& spec) : spec_(spec) {}

  Result<SourceItems> list(const CallContext&) override {
    SourceItems out;
    out.items.push_back({.key = spec_.location, .locator = {}, .bytes = spec_.content.size(), .stamp = sha256_hex(spec_.content)});
    return out;
  }
  Result<ItemRead> read(const CallContext&, const SourceItem& item) override {
    ItemRead out;
    out.document = {.key = item.key, .media_type = "text/markdown", .content = spec_.content};
    out.document.title = spec_.title;
    if (canonical_url(spec_.location)) out.document.url = spec_.location;
    return out;
  }

 private:
  const SourceSpec spec_;
};

}  // namespace

Result<SourceItems> FolderItems::list(const CallContext& call) {
  SourceItems out;
  out.listed_at = clock_.now();
  FOOTNOTE_TRY(walked_, walk(call, path_, options_));
  for (std::size_t i = 0; i < walked_.files.size(); ++i) {
    const FoundFile& file = walked_.files[i];
    out.items.push_back({.key = key_prefix_ + file.key,
                         .locator = std::to_string(i),
                         .bytes = file.bytes,
                         .stamp = file.stamp,
                         .fresh = file.changed_at + kFreshTime > *out.listed_at});
  }
  for (const Problem& problem : walked_.problems) {
    if (problem.kind != ProblemKind::kIgnored) out.problems.push_back(problem);
  }
  for (const std::string& folder : walked_.unknown) out.unknown.push_back(key_prefix_ + folder);
  out.no_documents = walked_.no_documents;
  return out;
}

Result<ItemRead> FolderItems::read(const CallContext& call, const SourceItem& item) {
  FOOTNOTE_CHECK(call.check());
  const auto index = parse_whole_number<std::size_t>(item.locator);
  if (!index || *index >= walked_.files.size()) return fail(ErrorCode::kInternal, "'{}' is no item of this folder", item.key);
  const FoundFile& file = walked_.files[*index];
  if (std::string wrong = key_problem(item.key); !wrong.empty()) return ItemRead{.state = ItemRead::State::kFailed, .reason = wrong};
  auto content = read_found(walked_, file, options_.file_bytes_max);
  if (content) {
    // A file that was named itself is reported, whatever it is.
    const bool is_named = walked_.path != walked_.root;
    if (const auto kind = formats::kind_of_no_document(file.key, *content); !kind.empty() && !is_named) {
      return ItemRead{.state = ItemRead::State::kNoDocument, .reason = std::string(kind)};
    }
    return ItemRead{.document = {.key = item.key, .media_type = {}, .content = *std::move(content)}};
  }
  // A temporarily unreadable file may be readable next time; one that is no longer a regular file is gone.
  const ErrorCode code = content.error().code;
  const bool gone = code == ErrorCode::kNotFound || code == ErrorCode::kTooLarge || code == ErrorCode::kInvalidArgument;
  return ItemRead{.state = gone ? ItemRead::State::kGone : ItemRead::State::kFailed, .reason = "can't be read: " + content.error().message};
}

FolderSourceKind::FolderSourceKind(std::vector<fs::path> roots, const Clock& clock, const WalkOptions& options)
    : roots_(std::move(roots)), clock_(clock), options_(options) {}

Result<fs::path> FolderSourceKind::allowed(const std::string& location) const {
  if (roots_.empty()) {
    return fail_field(ErrorCode::kPermissionDenied, "location",
                      "no folder of the server may be read; its operator names allowed ones with sources.folders");
  }
  std::error_code error;
  const fs::path real = fs::path(location).is_absolute() ? fs::canonical(location, error) : fs::path();
  // The same words for a folder that is not there: nobody learns what lies outside the roots.
  const auto holds = [&](const fs::path& root) {
    std::error_code missing;
    const fs::path real_root = fs::canonical(root, missing);
    return !missing && !real.empty() && is_below(real, real_root);
  };
  if (error || std::ranges::none_of(roots_, holds)) {
    return fail_field(ErrorCode::kPermissionDenied, "location",
                      "'location' is no folder inside the ones that the operator allows (sources.folders)");
  }
  return real;
}

Result<SourceSpec> FolderSourceKind::accept(SourceSpec spec) const {
  for (const auto& [name, value] : spec.options) {
    if (name != kPrefixOption) return fail_field(ErrorCode::kInvalidArgument, "options", "a folder has no option '{}'", name);
    if (!value.empty() && !key_problem(value).empty()) {
      return fail_field(ErrorCode::kInvalidArgument, "options", "'prefix': {}", key_problem(value));
    }
  }
  if (!spec.content.empty()) return fail_field(ErrorCode::kInvalidArgument, "content", "a folder has no 'content'");
  FOOTNOTE_TRY(const fs::path real, allowed(spec.location));
  spec.location = real.string();
  return spec;
}

Result<std::unique_ptr<SourceReader>> FolderSourceKind::open(const CallContext&, const SourceRecord& source,
                                                             const std::map<std::string, std::string>&) const {
  FOOTNOTE_TRY(const fs::path real, allowed(source.spec.location));
  const auto prefix = source.spec.options.find(std::string(kPrefixOption));
  return std::make_unique<FolderItems>(real, prefix == source.spec.options.end() ? "" : prefix->second, clock_, options_);
}

Result<SourceSpec> TextSourceKind::accept(SourceSpec spec) const {
  if (trim(spec.content).empty()) return fail_field(ErrorCode::kInvalidArgument, "content", "a text needs 'content'");
  if (!spec.options.empty()) return fail_field(ErrorCode::kInvalidArgument, "options", "a text has no options");
  if (spec.interval.count() != 0 || spec.watch) {
    return fail_field(ErrorCode::kInvalidArgument, "interval_seconds", "a text changes only when it is sent again: it has no schedule");
  }
  if (!spec.location.empty() && !canonical_url(spec.location)) {
    return fail_field(ErrorCode::kInvalidArgument, "source_url", "'source_url' must be a web address: https://...");
  }
  // The same text sent twice is one source.
  if (spec.location.empty()) spec.location = "sha256:" + sha256_hex(spec.title + "\n" + spec.content);
  return spec;
}

Result<std::unique_ptr<SourceReader>> TextSourceKind::open(const CallContext&, const SourceRecord& source,
                                                           const std::map<std::string, std::string>&) const {
  return std::make_unique<TextItem>(source.spec);
}

}  // namespace footnote::ingest
