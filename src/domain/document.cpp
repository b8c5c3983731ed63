#include "domain/document.h"

#include <utility>

namespace footnote {
namespace {

constexpr std::pair<std::string_view, DocumentStatus> kStatuses[] = {
    {"draft", DocumentStatus::kDraft},           {"review", DocumentStatus::kReview},         {"accepted", DocumentStatus::kAccepted},
    {"superseded", DocumentStatus::kSuperseded}, {"deprecated", DocumentStatus::kDeprecated}, {"archived", DocumentStatus::kArchived},
};
constexpr std::pair<std::string_view, EvidenceTier> kTiers[] = {
    {"guideline", EvidenceTier::kGuideline},
    {"peer_reviewed", EvidenceTier::kPeerReviewed},
    {"official", EvidenceTier::kOfficial},
    {"preprint", EvidenceTier::kPreprint},
    {"news", EvidenceTier::kNews},
    {"blog", EvidenceTier::kBlog},
    {"search_hint", EvidenceTier::kSearchHint},
    {"unverified", EvidenceTier::kUnverified},
};

template <class Value, std::size_t N>
std::optional<Value> lookup(const std::pair<std::string_view, Value> (&table)[N], std::string_view name) {
  for (const auto& [known, value] : table) {
    if (known == name) return value;
  }
  return std::nullopt;
}

template <class Value, std::size_t N>
std::string_view name_in(const std::pair<std::string_view, Value> (&table)[N], Value wanted) {
  for (const auto& [name, value] : table) {
    if (value == wanted) return name;
  }
  return table[0].first;
}

}  // namespace

std::string_view to_string(EvidenceTier tier) { return name_in(kTiers, tier); }
std::string_view to_string(DocumentStatus status) { return name_in(kStatuses, status); }
bool is_weak(EvidenceTier tier) { return tier >= EvidenceTier::kBlog; }

std::optional<DocumentStatus> parse_document_status(std::string_view name) { return lookup(kStatuses, name); }
std::optional<EvidenceTier> parse_evidence_tier(std::string_view name) { return lookup(kTiers, name); }

}  // namespace footnote
