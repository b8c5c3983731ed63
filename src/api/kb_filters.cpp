#include "api/kb_filters.h"

#include <algorithm>

#include "base/text.h"
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
    if (!out.empty()) return fail_field(ErrorCode::kInvalidArgument, path_of(name), "give evidence_tiers or min_evidence_tier, not both");
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

  /// `day` is added to a date without a time, `moment` to one with a time.
  Result<void> time(std::string_view name, std::chrono::hours day, std::chrono::milliseconds moment, std::optional<UtcTime>& out) const {
    FOOTNOTE_TRY(const auto value, reader_.optional_string(name, kFilterTextBytesMax));
    if (!value) return {};
    const auto time = parse_rfc3339(*value);
    if (!time) return fail_field(ErrorCode::kInvalidArgument, path_of(name), "'{}' must be {}", path_of(name), kTimeForm);
    const bool is_date = value->find_first_of("Tt ") == std::string::npos;
    out = *time + (is_date ? std::chrono::milliseconds(day) : moment);
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

Result<std::optional<std::vector<std::string>>> corpora_of(const FilterReader& filters, const JsonReader& reader) {
  if (!reader.has("project_keys")) return std::nullopt;
  std::vector<std::string> given;
  FOOTNOTE_CHECK(filters.texts("project_keys", given));
  std::vector<std::string> names;
  for (std::string& name : given) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  }
  if (names.empty()) names.emplace_back(kDefaultCorpus);
  return names;
}

Result<void> check_languages(const std::vector<std::string>& languages) {
  for (const std::string& language : languages) {
    const bool is_code = (language.size() == 2 || language.size() == 3) && std::ranges::all_of(language, is_ascii_lower);
    if (is_code) continue;
    return fail_field(ErrorCode::kInvalidArgument, "filters.languages", "'{}' is not a language code such as 'en'", language);
  }
  return {};
}

Result<void> check_dates(const Filter& filter) {
  if (!filter.updated_from || !filter.updated_until || *filter.updated_from < *filter.updated_until) return {};
  return fail_field(ErrorCode::kInvalidArgument, "filters.date_to", "'filters.date_to' is before 'filters.date_from'");
}

Result<void> read_conditions(const FilterReader& filters, Filter& out) {
  FOOTNOTE_CHECK(filters.documents("doc_ids", out.documents));
  FOOTNOTE_CHECK(filters.texts("source_paths", out.keys, kFilterPathBytesMax));
  FOOTNOTE_CHECK(filters.texts("tags", out.tags));
  FOOTNOTE_CHECK(filters.texts("tag_slugs", out.tags));
  FOOTNOTE_CHECK(filters.texts("media_types", out.media_types));
  FOOTNOTE_CHECK(filters.texts("languages", out.languages));
  FOOTNOTE_CHECK(check_languages(out.languages));
  FOOTNOTE_CHECK(filters.texts("canonical_types", out.canonical_types));
  FOOTNOTE_CHECK(filters.names("statuses", parse_document_status, out.statuses));
  FOOTNOTE_CHECK(filters.texts("source_types", out.source_types));
  FOOTNOTE_CHECK(filters.texts("path_globs", out.path_globs, kFilterPathBytesMax));
  FOOTNOTE_CHECK(filters.texts("folder_globs", out.path_globs, kFilterPathBytesMax));
  FOOTNOTE_CHECK(check_globs(out.path_globs));
  FOOTNOTE_CHECK(filters.names("evidence_tiers", parse_evidence_tier, out.evidence_tiers));
  FOOTNOTE_CHECK(filters.tier_min("min_evidence_tier", out.evidence_tiers));
  FOOTNOTE_CHECK(filters.tier_min("evidence_tier_min", out.evidence_tiers));
  FOOTNOTE_CHECK(filters.time("date_from", {}, {}, out.updated_from));
  FOOTNOTE_CHECK(filters.time("date_to", std::chrono::hours{24}, std::chrono::milliseconds{1}, out.updated_until));
  FOOTNOTE_CHECK(check_dates(out));
  return filters.texts("acl_labels", out.acl_labels);
}

Result<AskedFilter> parse_filter(const JsonReader& body) {
  AskedFilter out;
  FOOTNOTE_TRY(const auto labels, body.optional_strings("acl_labels", kFilterEntriesMax, kFilterTextBytesMax));
  if (labels) out.filter.caller_labels = *labels;
  FOOTNOTE_TRY(const auto given, body.optional_object("filters"));
  if (!given) return out;
  FOOTNOTE_CHECK(given->only({"project_keys", "doc_ids", "source_paths", "tags", "tag_slugs", "media_types", "languages", "canonical_types",
                              "statuses", "source_types", "path_globs", "folder_globs", "evidence_tiers", "min_evidence_tier",
                              "evidence_tier_min", "date_from", "date_to", "acl_labels"}));
  const FilterReader filters(*given);
  FOOTNOTE_TRY(out.corpus_names, corpora_of(filters, *given));
  FOOTNOTE_CHECK(read_conditions(filters, out.filter));
  return out;
}

}  // namespace

Result<AskedFilter> parse_asked_filter(const JsonReader& body) { return too_much_is_invalid(parse_filter(body)); }

Result<void> apply_labels(const access::Caller& caller, Filter& filter) {
  if (!filter.caller_labels.empty() && !caller.may(KeyScope::kAdmin)) {
    return fail_field(ErrorCode::kPermissionDenied, "acl_labels",
                      "only a key with the scope 'admin' may set the labels of the person asking");
  }
  filter.caller_labels.insert(filter.caller_labels.end(), caller.labels.begin(), caller.labels.end());
  return {};
}

bool may_see(const access::Caller& caller, const std::vector<std::string>& labels) {
  const auto is_held = [&](const std::string& label) { return std::ranges::find(caller.labels, label) != caller.labels.end(); };
  return labels.empty() || caller.may(KeyScope::kAdmin) || std::ranges::any_of(labels, is_held);
}

}  // namespace footnote::api
