#include "providers/sqlite/enum_names.h"

namespace footnote {

std::string_view stored_name(DocumentStatus value) {
  switch (value) {
    case DocumentStatus::kDraft: return "draft";
    case DocumentStatus::kReview: return "review";
    case DocumentStatus::kAccepted: return "accepted";
    case DocumentStatus::kSuperseded: return "superseded";
    case DocumentStatus::kDeprecated: return "deprecated";
    case DocumentStatus::kArchived: return "archived";
  }
  return "";
}

std::string_view stored_name(EvidenceTier value) {
  switch (value) {
    case EvidenceTier::kGuideline: return "guideline";
    case EvidenceTier::kPeerReviewed: return "peer_reviewed";
    case EvidenceTier::kOfficial: return "official";
    case EvidenceTier::kPreprint: return "preprint";
    case EvidenceTier::kNews: return "news";
    case EvidenceTier::kBlog: return "blog";
    case EvidenceTier::kSearchHint: return "search_hint";
    case EvidenceTier::kUnverified: return "unverified";
  }
  return "";
}

std::string_view stored_name(SourceKind value) {
  switch (value) {
    case SourceKind::kFolder: return "folder";
    case SourceKind::kUpload: return "upload";
    case SourceKind::kText: return "text";
    case SourceKind::kUrl: return "url";
    case SourceKind::kSitemap: return "sitemap";
    case SourceKind::kFeed: return "feed";
    case SourceKind::kGit: return "git";
  }
  return "";
}

std::string_view stored_name(KeyScope value) {
  switch (value) {
    case KeyScope::kRead: return "read";
    case KeyScope::kIngest: return "ingest";
    case KeyScope::kAdmin: return "admin";
    case KeyScope::kVisitor: return "visitor";
  }
  return "";
}

std::string_view stored_name(TurnState value) {
  switch (value) {
    case TurnState::kComplete: return "complete";
    case TurnState::kPartial: return "partial";
  }
  return "";
}

std::string_view stored_name(Support value) {
  switch (value) {
    case Support::kUnchecked: return "unchecked";
    case Support::kSupported: return "supported";
    case Support::kUnsupported: return "unsupported";
  }
  return "";
}

std::string_view stored_name(Stage value) {
  switch (value) {
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
  return "";
}

std::string_view stored_name(RefusalReason value) {
  switch (value) {
    case RefusalReason::kNoRelevantContext: return "no_relevant_context";
    case RefusalReason::kLlmSelfRefusal: return "llm_self_refusal";
    case RefusalReason::kBlockedByGuardrails: return "blocked_by_guardrails";
    case RefusalReason::kLanguageNotCovered: return "language_not_covered";
  }
  return "";
}

std::string_view stored_name(Distance value) {
  switch (value) {
    case Distance::kCosine: return "cosine";
    case Distance::kDot: return "dot";
    case Distance::kEuclid: return "euclid";
    case Distance::kManhattan: return "manhattan";
  }
  return "";
}

std::string_view stored_name(GapReason value) {
  switch (value) {
    case GapReason::kNoRelevantContext: return "no_relevant_context";
    case GapReason::kLlmSelfRefusal: return "llm_self_refusal";
    case GapReason::kBlockedByGuardrails: return "blocked_by_guardrails";
    case GapReason::kLowConfidence: return "low_confidence";
    case GapReason::kFailurePhrase: return "failure_phrase";
    case GapReason::kDownVote: return "down_vote";
    case GapReason::kLanguageNotCovered: return "language_not_covered";
    case GapReason::kReported: return "reported";
  }
  return "";
}

std::string_view stored_name(GapStatus value) {
  switch (value) {
    case GapStatus::kOpen: return "open";
    case GapStatus::kAnswered: return "answered";
    case GapStatus::kIgnored: return "ignored";
  }
  return "";
}

std::string_view stored_name(Rating value) {
  switch (value) {
    case Rating::kUp: return "up";
    case Rating::kDown: return "down";
  }
  return "";
}

std::string_view stored_name(WidgetPosition value) {
  switch (value) {
    case WidgetPosition::kRight: return "right";
    case WidgetPosition::kLeft: return "left";
  }
  return "";
}

namespace {

/// Enum values count from 0 without gaps; the search ends at the first number without a name.
constexpr int kEnumValuesMax = 64;

}  // namespace

template <class Enum>
Result<Enum> from_stored_name(std::string_view name) {
  for (int i = 0; i < kEnumValuesMax; ++i) {
    const std::string_view known = stored_name(static_cast<Enum>(i));
    if (known.empty()) break;
    if (known == name) return static_cast<Enum>(i);
  }
  return fail(ErrorCode::kCorrupted, "the store holds the unknown name '{}': it was damaged, or a newer footnote wrote it", name);
}

template Result<DocumentStatus> from_stored_name(std::string_view);
template Result<EvidenceTier> from_stored_name(std::string_view);
template Result<SourceKind> from_stored_name(std::string_view);
template Result<KeyScope> from_stored_name(std::string_view);
template Result<Distance> from_stored_name(std::string_view);
template Result<TurnState> from_stored_name(std::string_view);
template Result<Support> from_stored_name(std::string_view);
template Result<Stage> from_stored_name(std::string_view);
template Result<RefusalReason> from_stored_name(std::string_view);
template Result<GapReason> from_stored_name(std::string_view);
template Result<GapStatus> from_stored_name(std::string_view);
template Result<Rating> from_stored_name(std::string_view);
template Result<WidgetPosition> from_stored_name(std::string_view);

}  // namespace footnote
