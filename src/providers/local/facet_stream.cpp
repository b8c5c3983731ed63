#include "providers/local/facet_stream.h"

#include <limits>

namespace footnote {

namespace {

/// Format marker, written where earlier formats had the document's id, which is above 0.
constexpr std::int64_t kForm = -2;
/// Written if a document has no updated_at.
constexpr std::int64_t kNoTime = std::numeric_limits<std::int64_t>::min();
/// Written if the evidence tier was not assessed.
constexpr std::uint32_t kNotAssessed = 0xFFFFFFFF;

std::int64_t to_stored(UtcTime time) { return time.time_since_epoch().count(); }

Result<void> write_texts(ByteSink& sink, const std::vector<std::string>& texts) {
  FOOTNOTE_CHECK(sink.put(static_cast<std::uint64_t>(texts.size())));
  for (const std::string& text : texts) FOOTNOTE_CHECK(sink.put_text(text));
  return {};
}

Result<std::vector<std::string>> read_texts(ByteSource& source) {
  FOOTNOTE_TRY(const auto count, source.take<std::uint64_t>());
  // Each text takes at least its length field.
  FOOTNOTE_CHECK(source.fits<std::uint64_t>(count));
  std::vector<std::string> texts;
  for (std::uint64_t i = 0; i < count; ++i) {
    FOOTNOTE_TRY(texts.emplace_back(), source.take_text());
  }
  return texts;
}

/// kCorrupted for numbers above `last`.
template <class Enum>
Result<Enum> to_enum(std::uint32_t number, Enum last) {
  if (number <= static_cast<std::uint32_t>(last)) return static_cast<Enum>(number);
  return fail(ErrorCode::kCorrupted, "an attribute of a document can't be {}", number);
}

}  // namespace

Result<void> write_facets(ByteSink& sink, const DocumentFacets& facets) {
  const DocumentAttributes& attributes = facets.attributes;
  FOOTNOTE_CHECK(sink.put(kForm));
  FOOTNOTE_CHECK(sink.put(facets.document.value));
  FOOTNOTE_CHECK(sink.put_text(facets.key));
  FOOTNOTE_CHECK(sink.put_text(facets.source_type));
  FOOTNOTE_CHECK(sink.put(to_stored(facets.indexed_at)));
  FOOTNOTE_CHECK(sink.put(attributes.updated_at ? to_stored(*attributes.updated_at) : kNoTime));
  for (const std::string* text :
       {&attributes.title, &attributes.url, &attributes.media_type, &attributes.language, &attributes.canonical_type}) {
    FOOTNOTE_CHECK(sink.put_text(*text));
  }
  FOOTNOTE_CHECK(sink.put(static_cast<std::uint32_t>(attributes.status)));
  FOOTNOTE_CHECK(sink.put(attributes.evidence ? static_cast<std::uint32_t>(*attributes.evidence) : kNotAssessed));
  FOOTNOTE_CHECK(sink.put(static_cast<std::int32_t>(attributes.priority)));
  FOOTNOTE_CHECK(write_texts(sink, attributes.tags));
  return write_texts(sink, attributes.acl_labels);
}

Result<DocumentFacets> read_facets(ByteSource& source) {
  DocumentFacets facets;
  DocumentAttributes& attributes = facets.attributes;
  FOOTNOTE_TRY(const auto form, source.take<std::int64_t>());
  if (form != kForm) return fail(ErrorCode::kCorrupted, "its documents have another format ({})", form);
  FOOTNOTE_TRY(facets.document.value, source.take<std::int64_t>());
  FOOTNOTE_TRY(facets.key, source.take_text());
  FOOTNOTE_TRY(facets.source_type, source.take_text());
  FOOTNOTE_TRY(const auto indexed_at, source.take<std::int64_t>());
  facets.indexed_at = UtcTime{std::chrono::milliseconds{indexed_at}};
  FOOTNOTE_TRY(const auto updated_at, source.take<std::int64_t>());
  if (updated_at != kNoTime) attributes.updated_at = UtcTime{std::chrono::milliseconds{updated_at}};
  for (std::string* text : {&attributes.title, &attributes.url, &attributes.media_type, &attributes.language, &attributes.canonical_type}) {
    FOOTNOTE_TRY(*text, source.take_text());
  }
  FOOTNOTE_TRY(const auto status, source.take<std::uint32_t>());
  FOOTNOTE_TRY(attributes.status, to_enum(status, DocumentStatus::kArchived));
  FOOTNOTE_TRY(const auto evidence, source.take<std::uint32_t>());
  if (evidence != kNotAssessed) {
    FOOTNOTE_TRY(attributes.evidence, to_enum(evidence, EvidenceTier::kUnverified));
  }
  FOOTNOTE_TRY(attributes.priority, source.take<std::int32_t>());
  FOOTNOTE_TRY(attributes.tags, read_texts(source));
  FOOTNOTE_TRY(attributes.acl_labels, read_texts(source));
  return facets;
}

}  // namespace footnote
