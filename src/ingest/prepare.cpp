#include "ingest/prepare.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/sha256.h"
#include "base/text.h"
#include "base/utf8.h"
#include "ingest/secret_names.h"

namespace footnote::ingest {

namespace {

using State = Prepared::State;

void refuse(Prepared& out, State state, std::string reason) {
  out.state = state;
  out.problems.push_back({out.key, std::move(reason), ProblemKind::kProblem});
}

/// Parses into `out.document`; false when the content is no document.
bool parse_into(Prepared& out, const Result<chunk::Format>& format, std::string_view content) {
  if (!format) {
    refuse(out, State::kGone, format.error().message);
    return false;
  }
  auto document = chunk::parse_document(out.key, *format, content);
  if (!document) {
    refuse(out, State::kGone, document.error().message);
    return false;
  }
  out.document = *std::move(document);
  for (const std::string& warning : out.document.warnings) out.problems.push_back({out.key, warning, ProblemKind::kWarning});
  return true;
}

bool has_main_heading(const chunk::ParsedDocument& document) {
  return std::ranges::any_of(document.blocks,
                             [](const chunk::Block& block) { return block.kind == chunk::BlockKind::kHeading && block.level == 1; });
}

void apply_given(const MemoryDocument& given, chunk::ParsedDocument& document) {
  DocumentAttributes& attributes = document.attributes;
  if (!given.title.empty()) {
    attributes.title = given.title;
    if (!has_main_heading(document)) document.root_heading = given.title;
  }
  if (!given.url.empty()) attributes.url = given.url;
  if (!given.language.empty()) attributes.language = given.language;
  if (!given.canonical_type.empty()) attributes.canonical_type = given.canonical_type;
  if (given.status) attributes.status = *given.status;
  if (given.evidence) attributes.evidence = given.evidence;
  if (given.priority) attributes.priority = std::clamp(*given.priority, 0, 100);
  if (!given.tags.empty()) attributes.tags = given.tags;
  attributes.acl_labels = given.acl_labels;
  if (given.updated_at) attributes.updated_at = given.updated_at;
}

std::string key_problem(std::string_view key) {
  if (key.empty()) return "no key";
  if (key.size() > kKeyBytesMax) return fmt::format("its key is longer than {} bytes", kKeyBytesMax);
  return is_valid_utf8(key) ? std::string() : std::string("its key is not UTF-8");
}

/// False when the document is refused for what its key holds.
bool check_key(Prepared& out) {
  std::set<SecretKind> kinds;
  std::string shown = out.key;
  if (is_valid_utf8(shown)) mask_secrets(shown, kinds);
  const std::string wrong = kinds.empty() ? key_problem(out.key) : "its name holds a secret; rename it";
  if (wrong.empty()) return true;
  out.key = std::string(utf8_prefix(repair_utf8(shown), kKeyBytesMax));
  refuse(out, State::kLeftOut, wrong);
  return false;
}

}  // namespace

std::string document_hash(std::string_view bytes, const IngestOptions& options) {
  std::string out = fmt::format("{}-p{}", sha256_hex(bytes), chunk::kParseVersion);
  if (options.secrets == Secrets::kKeepOut) out += fmt::format("-s{}", kSecretRulesVersion);
  if (options.chunking.cut == chunk::Cut::kWindows) out += fmt::format("-w{}/{}", chunk::kWindowChars, chunk::kWindowOverlapChars);
  return out;
}

bool Preparer::is_foreign(const Prepared& prepared, const std::optional<Document>& live) const {
  return live && options_.foreign_key == ForeignKey::kReport && live->source && prepared.source && live->source != prepared.source;
}

/// Chunks a parsed document that differs from the live one.
Result<void> Preparer::settle(Prepared& out, const std::optional<Document>& live, SecretFilter& filter) const {
  if (is_foreign(out, live)) {
    refuse(out, State::kLeftOut, "another source has a document of this key; remove that one or set a key prefix");
    return {};
  }
  out.pieces = chunk::chunk_document(out.document, options_.chunking);
  filter.drop_pieces(out.pieces);
  out.secret_passages = filter.passages();
  out.is_update = live.has_value();
  out.state = State::kReady;
  if (filter.found_any()) out.problems.push_back({out.key, filter.reason(), ProblemKind::kSecret});
  // A document that is all secret is stored without passages: it replaces a version that was stored before there was a scan.
  if (out.pieces.empty() && !filter.found_any()) refuse(out, State::kGone, "no text in it");
  return {};
}

Result<Prepared> Preparer::file(const SourceInput& input, const WalkResult& walk, const FoundFile& found) const {
  FOOTNOTE_CHECK(call_.check());
  Prepared out;
  out.key = input.key_prefix + found.key;
  out.source = input.source;
  if (!check_key(out)) return out;
  const auto content = read_found(walk, found, options_.walk.file_bytes_max);
  if (!content) {
    const ErrorCode code = content.error().code;
    // What can't be read for the moment may be read the next time; what is no such file any more is gone.
    const bool gone = code == ErrorCode::kNotFound || code == ErrorCode::kTooLarge || code == ErrorCode::kInvalidArgument;
    refuse(out, gone ? State::kGone : State::kLeftOut, "can't be read: " + content.error().message);
    return out;
  }
  out.content_hash = document_hash(*content, options_);
  FOOTNOTE_TRY(const std::optional<Document> live, reader_.find_document(call_, corpus_, out.key));
  if (live && live->content_hash == out.content_hash) {
    out.state = State::kUnchanged;
    return out;
  }
  if (!parse_into(out, chunk::detect(found.key, *content), *content)) return out;
  SecretFilter filter;
  if (options_.secrets == Secrets::kKeepOut) filter.mask_document(out.document);
  FOOTNOTE_CHECK(settle(out, live, filter));
  return out;
}

Result<Prepared> Preparer::memory(SourceId source, const MemoryDocument& given) const {
  FOOTNOTE_CHECK(call_.check());
  Prepared out;
  out.key = given.key;
  out.source = source;
  if (is_secret_path(out.key)) {
    out.problems.push_back({out.key, std::string(kSecretNameReason), ProblemKind::kSecret});
    return out;
  }
  if (!check_key(out)) return out;
  out.content_hash = document_hash(given.content, options_);
  const auto format = given.media_type.empty() ? chunk::detect(given.key, given.content) : chunk::format_of_media_type(given.media_type);
  if (!parse_into(out, format, given.content)) {
    out.state = State::kLeftOut;  // a bad upload takes nothing away
    return out;
  }
  apply_given(given, out.document);
  SecretFilter filter;
  if (options_.secrets == Secrets::kKeepOut) filter.mask_document(out.document);
  FOOTNOTE_TRY(const std::optional<Document> live, reader_.find_document(call_, corpus_, out.key));
  // Attributes come from outside the content here, so they are compared too.
  if (live && live->content_hash == out.content_hash && live->attributes == out.document.attributes) {
    out.state = State::kUnchanged;
    return out;
  }
  FOOTNOTE_CHECK(settle(out, live, filter));
  if (out.state == State::kGone) out.state = State::kLeftOut;
  return out;
}

}  // namespace footnote::ingest
