#include "domain/retrieval.h"

#include <algorithm>
#include <tuple>

namespace footnote {

namespace {

template <class T, class U>
bool allows(const std::vector<T>& allowed, const U& value) {
  return allowed.empty() || std::ranges::find(allowed, value) != allowed.end();
}

bool share_one(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  return std::ranges::any_of(a, [&](const std::string& text) { return std::ranges::find(b, text) != b.end(); });
}

bool allows_any(const std::vector<std::string>& allowed, const std::vector<std::string>& values) {
  return allowed.empty() || share_one(allowed, values);
}

template <class T, class U>
bool allows_sorted(const std::vector<T>& allowed, const U& value) {
  return allowed.empty() || std::ranges::binary_search(allowed, value);
}

bool is_in_window(const Filter& filter, const FilterSubject& subject) {
  if (!filter.updated_from && !filter.updated_until) return true;
  const UtcTime at = subject.attributes.updated_at.value_or(subject.indexed_at);
  return (!filter.updated_from || at >= *filter.updated_from) && (!filter.updated_until || at < *filter.updated_until);
}

auto conditions_of(const Filter& f) {
  return std::tie(f.documents, f.keys, f.tags, f.media_types, f.languages, f.canonical_types, f.statuses, f.source_types, f.path_globs,
                  f.evidence_tiers, f.updated_from, f.updated_until, f.acl_labels);
}

}  // namespace

bool Filter::narrows_documents() const {
  static const Filter kEmpty;
  return conditions_of(*this) != conditions_of(kEmpty);
}

bool same_documents(const Filter& a, const Filter& b) { return a.caller_labels == b.caller_labels && conditions_of(a) == conditions_of(b); }

DocumentFilter::DocumentFilter(const Filter& filter)
    : filter_(filter), documents_(filter.documents), keys_(filter.keys.begin(), filter.keys.end()) {
  std::ranges::sort(documents_);
  std::ranges::sort(keys_);
  if (auto globs = PathGlobs::compile(filter.path_globs)) globs_ = *std::move(globs);
}

bool DocumentFilter::operator()(const FilterSubject& subject) const {
  const DocumentAttributes& attributes = subject.attributes;
  if (!attributes.acl_labels.empty() && !share_one(attributes.acl_labels, filter_.caller_labels)) return false;
  return allows_sorted(documents_, subject.document) && allows(filter_.statuses, attributes.status) &&
         (filter_.evidence_tiers.empty() || (attributes.evidence && allows(filter_.evidence_tiers, *attributes.evidence))) &&
         is_in_window(filter_, subject) && allows(filter_.languages, attributes.language) &&
         allows(filter_.source_types, subject.source_type) && allows(filter_.media_types, attributes.media_type) &&
         allows(filter_.canonical_types, attributes.canonical_type) && allows_any(filter_.tags, attributes.tags) &&
         allows_any(filter_.acl_labels, attributes.acl_labels) && allows_sorted(keys_, subject.key) && globs_ &&
         (filter_.path_globs.empty() || globs_->matches(subject.key));
}

bool names_chunk(const Filter& filter, ChunkId chunk) {
  return filter.chunks == nullptr || std::ranges::binary_search(*filter.chunks, chunk);
}

std::string_view to_string(Stage stage) {
  switch (stage) {
    case Stage::kVector: return "vector";
    case Stage::kKeyword: return "keyword";
    case Stage::kHeading: return "heading";
    case Stage::kLate: return "late";
    case Stage::kJudge: return "judge";
    case Stage::kBoost: return "boost";
    case Stage::kPenalty: return "penalty";
    case Stage::kTags: return "tags";
    case Stage::kCanonical: return "canonical";
    case Stage::kMention: return "mention";
  }
  return "vector";
}

TurnStage stage_of(Fate fate) {
  switch (fate) {
    case Fate::kFuseLimit: return TurnStage::kFuse;
    case Fate::kGone: return TurnStage::kFetch;
    case Fate::kDocumentLimit:
    case Fate::kTopLimit:
    case Fate::kNotPicked: return TurnStage::kSelect;
    case Fate::kBelowGate: return TurnStage::kGate;
    case Fate::kReadLimit:
    case Fate::kFarFromBest:
    case Fate::kNoSentence:
    case Fate::kRepeated: return TurnStage::kRead;
    case Fate::kNotCited:
    case Fate::kCited: return TurnStage::kAnswer;
  }
  return TurnStage::kAnswer;
}

std::string_view reason_of(Fate fate) {
  switch (fate) {
    case Fate::kFuseLimit: return "limit";
    case Fate::kGone: return "gone";
    case Fate::kDocumentLimit: return "document_limit";
    case Fate::kTopLimit: return "limit";
    case Fate::kNotPicked: return "not_picked";
    case Fate::kBelowGate: return "below_threshold";
    case Fate::kReadLimit: return "limit";
    case Fate::kFarFromBest: return "far_from_best";
    case Fate::kNoSentence: return "no_sentence";
    case Fate::kRepeated: return "duplicate";
    case Fate::kNotCited: return "not_cited";
    case Fate::kCited: return "cited";
  }
  return "cited";
}

const StageScore* Hit::term(Stage stage) const {
  const auto found = std::ranges::find(terms, stage, &StageScore::stage);
  return found == terms.end() ? nullptr : &*found;
}

}  // namespace footnote
