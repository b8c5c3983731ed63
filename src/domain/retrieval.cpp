#include "domain/retrieval.h"

#include <algorithm>

namespace footnote {

namespace {

template <class T, class U>
bool allows(const std::vector<T>& allowed, const U& value) {
  return allowed.empty() || std::ranges::find(allowed, value) != allowed.end();
}

}  // namespace

bool Filter::narrows_documents() const {
  return !(documents.empty() && keys.empty() && tags.empty() && media_types.empty() && languages.empty() && canonical_types.empty() &&
           statuses.empty());
}

bool matches(const Filter& filter, DocumentId document, const std::string& key, const DocumentAttributes& attributes) {
  const bool tagged = filter.tags.empty() || std::ranges::any_of(attributes.tags, [&](const std::string& tag) {
                        return std::ranges::find(filter.tags, tag) != filter.tags.end();
                      });
  return tagged && allows(filter.documents, document) && allows(filter.keys, key) && allows(filter.media_types, attributes.media_type) &&
         allows(filter.languages, attributes.language) && allows(filter.canonical_types, attributes.canonical_type) &&
         allows(filter.statuses, attributes.status);
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
  }
  return "vector";
}

std::string_view stage_of(Fate fate) {
  switch (fate) {
    case Fate::kFuseLimit: return "fuse";
    case Fate::kGone: return "fetch";
    case Fate::kDocumentLimit:
    case Fate::kTopLimit: return "select";
    case Fate::kBelowGate: return "gate";
    case Fate::kReadLimit:
    case Fate::kFarFromBest:
    case Fate::kNoSentence:
    case Fate::kRepeated: return "read";
    case Fate::kNotCited:
    case Fate::kCited: return "answer";
  }
  return "answer";
}

std::string_view reason_of(Fate fate) {
  switch (fate) {
    case Fate::kFuseLimit: return "limit";
    case Fate::kGone: return "gone";
    case Fate::kDocumentLimit: return "document_limit";
    case Fate::kTopLimit: return "limit";
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
