#include "ingest/prepare.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/sha256.h"
#include "base/text.h"
#include "base/utf8.h"
#include "formats/read.h"
#include "ingest/secret_names.h"

namespace footnote::ingest {

namespace {

using State = Prepared::State;

void refuse(Prepared& out, std::string reason) {
  out.state = State::kLeftOut;
  out.problems.push_back({out.key, std::move(reason), ProblemKind::kProblem});
}

bool has_main_heading(const chunk::ParsedDocument& document) {
  return std::ranges::any_of(document.blocks,
                             [](const chunk::Block& block) { return block.kind == chunk::BlockKind::kHeading && block.level == 1; });
}

void apply_given(const MemoryDocument& given, chunk::ParsedDocument& document) {
  DocumentAttributes& attributes = document.attributes;
  if (!given.title.empty()) {
    attributes.title = given.title;
    if (!has_main_heading(document)) document.root_heading = chunk::heading_text(given.title);
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

/// Whether it has no attributes besides its bytes.
bool is_plain(const MemoryDocument& given) {
  return given.title.empty() && given.url.empty() && given.language.empty() && given.canonical_type.empty() && !given.status &&
         !given.evidence && !given.priority && given.tags.empty() && given.acl_labels.empty() && !given.updated_at;
}

/// False if the document is refused because of its key.
bool check_key(Prepared& out) {
  if (is_secret_path(out.key)) {
    out.problems.push_back({out.key, std::string(kSecretNameReason), ProblemKind::kSecret});
    return false;
  }
  std::set<SecretKind> kinds;
  std::string shown = out.key;
  if (is_valid_utf8(shown)) mask_secrets(shown, kinds);
  std::string wrong = kinds.empty() ? key_problem(out.key) : "its name is that of a credential file; rename it";
  if (wrong.empty()) return true;
  out.key = std::string(utf8_prefix(repair_utf8(shown), kKeyBytesMax));
  refuse(out, std::move(wrong));
  return false;
}

}  // namespace

std::string key_problem(std::string_view key) {
  if (key.empty()) return "no key";
  if (key.size() > kKeyBytesMax) return fmt::format("its key is longer than {} bytes", kKeyBytesMax);
  if (!is_valid_utf8(key)) return "its key is not UTF-8";
  const bool has_control = std::ranges::any_of(key, [](unsigned char c) { return c < 0x20 || c == 0x7F; });
  return has_control ? "its key holds control characters" : "";
}

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
void Preparer::settle(Prepared& out, const std::optional<Document>& live, SecretFilter& filter) const {
  if (is_foreign(out, live)) return refuse(out, "another source has a document with this path; remove it there, or use a prefix");
  out.pieces = chunk::chunk_document(out.document, options_.chunking);
  filter.drop_pieces(out.pieces);
  out.secret_passages = filter.passages();
  out.is_update = live.has_value();
  out.state = State::kReady;
  if (filter.found_any()) out.problems.push_back({out.key, filter.reason(), ProblemKind::kSecret});
  // A document that is all secret is stored without passages, to replace a version stored before scanning existed.
  if (out.pieces.empty() && !filter.found_any()) refuse_content(out, live, "no text in it");
}

/// The content is not a document. A file's stored text is then outdated and deleted; for an upload, the stored document is kept.
void Preparer::refuse_content(Prepared& out, const std::optional<Document>& live, std::string reason) const {
  refuse(out, std::move(reason));
  const bool is_out_of_date = options_.origin == Origin::kFile && options_.prune == Prune::kOn && live && live->source == out.source;
  if (is_out_of_date) out.state = State::kGone;
}

Result<Prepared> Preparer::prepare(SourceId source, const MemoryDocument& given) const {
  FOOTNOTE_CHECK(call_.check());
  Prepared out;
  out.key = given.key;
  out.source = source;
  if (!check_key(out)) return out;
  out.content_hash = document_hash(given.content, options_);
  FOOTNOTE_TRY(const std::optional<Document> live, reader_.find_document(call_, corpus_, out.key));
  const bool is_same_content = live && live->content_hash == out.content_hash;
  if (is_same_content && options_.origin == Origin::kFile && is_plain(given)) {
    out.state = State::kUnchanged;
    return out;
  }
  auto document = formats::read_document(out.key, given.media_type, given.content, call_.narrowed(kParseTimeMax));
  if (!document) {
    FOOTNOTE_CHECK(call_.check());
    // A timeout says nothing about the content: keep the live version.
    if (document.error().code == ErrorCode::kDeadlineExceeded)
      refuse(out, fmt::format("it takes more than {} s to parse; split it", kParseTimeMax.count()));
    else
      refuse_content(out, live, document.error().message);
    return out;
  }
  out.document = *std::move(document);
  for (const std::string& warning : out.document.warnings) out.problems.push_back({out.key, warning, ProblemKind::kWarning});
  apply_given(given, out.document);
  SecretFilter filter;
  if (options_.secrets == Secrets::kKeepOut) filter.mask_document(out.document);
  // Here attributes come from outside the content, so compare them too.
  if (is_same_content && live->attributes == out.document.attributes) {
    out.state = State::kUnchanged;
    return out;
  }
  settle(out, live, filter);
  // A file whose secrets are kept out is not stored whole.
  if (out.state == State::kReady && options_.originals == Originals::kKeep && !filter.found_any()) {
    out.original = OriginalFile{sha256_hex(given.content), given.content};
  }
  return out;
}

}  // namespace footnote::ingest
