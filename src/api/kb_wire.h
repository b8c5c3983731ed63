#pragma once

#include <map>
#include <string>
#include <utility>

#include "answer/answer_service.h"
#include "base/json.h"
#include "http/message.h"
#include "ports/chunk_store.h"

namespace footnote::api {

inline constexpr std::size_t kSnippetBytes = 240;

/// A question as the knowledge-base door takes it.
struct KbQuestion {
  std::string text;
  std::string corpus_name;
  Profile profile = kKnowledgeBaseProfile;
  Filter filter;
};

/// Reads {"question", "project_key"?, "profile"?, "filters"?, "acl_labels"?} or the AI SDK's {"messages":[...], "project_key"?}, of which
/// the last message of role user counts: the rest of a client's history is not trusted. Other fields of the SDK's body are let pass; of the
/// plain body they are errors.
Result<KbQuestion> parse_kb_question(const http::Request& request);

/// Texts of the document versions that an answer cites, for offsets in code points; read once each.
class CitedTexts {
 public:
  CitedTexts(const CallContext& call, const ChunkReader& chunks, WorkspaceId workspace)
      : call_(call), chunks_(chunks), workspace_(workspace) {}
  /// Null when the version is gone.
  const std::string* text(DocumentId document, int version);

 private:
  const CallContext& call_;
  const ChunkReader& chunks_;
  WorkspaceId workspace_;
  std::map<std::pair<std::int64_t, int>, std::optional<std::string>> texts_;
};

/// "unchecked", "supported", "unsupported"
std::string_view to_string(Support support);

/// Sentences of an answer that state something without a source: [{"answer_start","answer_end"}], in code points.
JsonArray render_uncited(const Answer& answer);

/// Where a `[n]` stands in the answer and what carries it, in code points: see docs/http-api.md.
JsonObject render_mark(const Citation& citation, std::string_view answer_text, CitedTexts& texts);

/// The first sentence or so of a hit, for lists.
std::string snippet_of(const Hit& hit);

/// The answer of POST /api/kb/chat; the same shape for an answer and a refusal.
Json render_kb_answer(const answer::TurnReport& report, std::string_view corpus_name, CitedTexts& texts);

/// 0..100 for people who read percents.
int percent(double share);
/// "high", "moderate" or "low".
std::string_view confidence_tier(double confidence);

}  // namespace footnote::api
