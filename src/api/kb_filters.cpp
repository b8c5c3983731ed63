#include "api/kb_filters.h"

#include <algorithm>

#include "domain/catalog.h"

namespace footnote::api {
namespace {

constexpr std::string_view kTimeForm = "a date or time like 2027-01-31 or 2027-01-31T12:00:00Z";

/// Parses the lists of one `filters` object.
class FilterReader {
 public:
  explicit FilterReader(const JsonReader& reader) : reader_(reader) {}

  Result<void> texts(std::string_view name, std::vector<std::string>& out, std::size_t bytes_max = kFilterTextBytesMax) const {
    FOOTNOTE_TRY(const auto values, reader_.optional_strings(name, kFilterEntriesMax, bytes_max));
    if (values) out.insert(out.end(), values->begin(), values->end());
    return {};
  }

  /// Parses names of an enum.
  template <class Enum>
  Result<void> names(std::string_view name, std::optional<Enum> (*parse)(std::string_view), std::vector<Enum>& out) const {
    std::vector<std::string> values;
    FOOTNOTE_CHECK(texts(name, values));
    for (const std::string& value : values) {
      FOOTNOTE_TRY(const Enum known, known_name(name, value, parse));
      out.push_back(known);
    }
    return {};
  }

  /// Adds every tier that is at least as strong.
  Result<void> tier_min(std::string_view name, std::vector<EvidenceTier>& out) const {
    FOOTNOTE_TRY(const auto value, reader_.optional_string(name, kFilterTextBytesMax));
    if (!value) return {};
    FOOTNOTE_TRY(const EvidenceTier weakest, known_name(name, *value, parse_evidence_tier));
    if (!out.empty()) return fail_field(ErrorCode::kInvalidArgument, path_of(name), "give evidence_tiers or evidence_tier_min, not both");
    for (int tier = 0; tier <= static_cast<int>(weakest); ++tier) out.push_back(static_cast<EvidenceTier>(tier));
    return {};
  }

  Result<void> documents(std::string_view name, std::vector<DocumentId>& out) const {
    if (!reader_.has(name)) return {};
    FOOTNOTE_TRY(const JsonArray* ids, reader_.required_array(name, kFilterDocumentsMax));
    out.reserve(ids->size());
    for (std::size_t i = 0; i < ids->size(); ++i) {
      if (!(*ids)[i].is_int64() || (*ids)[i].get_int64() < 1) {
        const std::string path = fmt::format("{}[{}]", path_of(name), i);
        return fail_field(ErrorCode::kInvalidArgument, path, "'{}' must be a document's id, a whole number from 1", path);
      }
      out.push_back({(*ids)[i].get_int64()});
    }
    return {};
  }

  /// `whole_day` is added to a date without a time.
  Result<void> time(std::string_view name, std::chrono::hours whole_day, std::optional<UtcTime>& out) const {
    FOOTNOTE_TRY(const auto value, reader_.optional_string(name, kFilterTextBytesMax));
    if (!value) return {};
    const auto time = parse_rfc3339(*value);
    if (!time) return fail_field(ErrorCode::kInvalidArgument, path_of(name), "'{}' must be {}", path_of(name), kTimeForm);
    const bool is_date = value->find_first_of("Tt ") == std::string::npos;
    out = *time + (is_date ? whole_day : std::chrono::hours{0});
    return {};
  }

  static std::string path_of(std::string_view name) { return fmt::format("filters.{}", name); }

 private:
  template <class Enum>
  static Result<Enum> known_name(std::string_view name, const std::string& value, std::optional<Enum> (*parse)(std::string_view)) {
    if (const auto known = parse(value)) return *known;
    return fail_field(ErrorCode::kInvalidArgument, path_of(name), "'{}' is not one of the names of '{}'", value, path_of(name));
  }

  const JsonReader& reader_;
};

Result<void> check_globs(const std::vector<std::string>& patterns) {
  for (const std::string& pattern : patterns) {
    if (const auto compiled = PathGlobs::compile({pattern}); !compiled) {
      return fail_field(compiled.error().code, "filters.path_globs", "'{}': {}", pattern, compiled.error().message);
    }
  }
  return {};
}

Result<std::optional<std::string>> corpus_of(const FilterReader& filters, const JsonReader& reader) {
  if (!reader.has("project_keys")) return std::nullopt;
  std::vector<std::string> names;
  FOOTNOTE_CHECK(filters.texts("project_keys", names));
  if (names.size() > 1) {
    return fail_field(ErrorCode::kUnsupported, "filters.project_keys",
                      "a question searches one corpus, but 'filters.project_keys' names {}", names.size());
  }
  return names.empty() ? std::string(kDefaultCorpus) : names[0];
}

Result<void> read_conditions(const FilterReader& filters, Filter& out) {
  FOOTNOTE_CHECK(filters.documents("doc_ids", out.documents));
  FOOTNOTE_CHECK(filters.texts("source_paths", out.keys, kFilterPathBytesMax));
  FOOTNOTE_CHECK(filters.texts("tags", out.tags));
  FOOTNOTE_CHECK(filters.texts("tag_slugs", out.tags));
  FOOTNOTE_CHECK(filters.texts("media_types", out.media_types));
  FOOTNOTE_CHECK(filters.texts("languages", out.languages));
  FOOTNOTE_CHECK(filters.texts("canonical_types", out.canonical_types));
  FOOTNOTE_CHECK(filters.names("statuses", parse_document_status, out.statuses));
  FOOTNOTE_CHECK(filters.texts("source_types", out.source_types));
  FOOTNOTE_CHECK(filters.texts("path_globs", out.path_globs, kFilterPathBytesMax));
  FOOTNOTE_CHECK(filters.texts("folder_globs", out.path_globs, kFilterPathBytesMax));
  FOOTNOTE_CHECK(check_globs(out.path_globs));
  FOOTNOTE_CHECK(filters.names("evidence_tiers", parse_evidence_tier, out.evidence_tiers));
  FOOTNOTE_CHECK(filters.tier_min("evidence_tier_min", out.evidence_tiers));
  FOOTNOTE_CHECK(filters.time("date_from", std::chrono::hours{0}, out.updated_from));
  FOOTNOTE_CHECK(filters.time("date_to", std::chrono::hours{24}, out.updated_until));
  return filters.texts("acl_labels", out.acl_labels);
}

}  // namespace

Result<AskedFilter> parse_asked_filter(const JsonReader& body) {
  AskedFilter out;
  FOOTNOTE_TRY(const auto labels, body.optional_strings("acl_labels", kFilterEntriesMax, kFilterTextBytesMax));
  if (labels) out.filter.caller_labels = *labels;
  FOOTNOTE_TRY(const auto given, body.optional_object("filters"));
  if (!given) return out;
  FOOTNOTE_CHECK(given->only({"project_keys", "doc_ids", "source_paths", "tags", "tag_slugs", "media_types", "languages", "canonical_types",
                              "statuses", "source_types", "path_globs", "folder_globs", "evidence_tiers", "evidence_tier_min", "date_from",
                              "date_to", "acl_labels"}));
  const FilterReader filters(*given);
  FOOTNOTE_TRY(out.corpus_name, corpus_of(filters, *given));
  FOOTNOTE_CHECK(read_conditions(filters, out.filter));
  return out;
}

Result<void> check_labels(const access::Caller& caller, const Filter& filter) {
  if (filter.caller_labels.empty() || caller.may(KeyScope::kAdmin)) return {};
  return fail_field(ErrorCode::kPermissionDenied, "acl_labels",
                    "only a key with the scope 'admin' may set the labels of the person asking");
}

}  // namespace footnote::api
