#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "answer/answer_service.h"
#include "base/json.h"
#include "domain/chat.h"
#include "http/message.h"
#include "ports/chunk_store.h"

namespace footnote::api {

inline constexpr std::size_t kSnippetBytes = 240;

/// A question sent to the knowledge-base API.
struct KbQuestion {
  std::string text;
  std::string corpus_name;
  bool names_corpus = false;  ///< False: none was named, `corpus_name` is the default.
  Profile profile = kKnowledgeBaseProfile;
  Filter filter;
  std::string conversation = {};  ///< Of the AI SDK's `id` or of "conversation_id"; empty: the turn belongs to none.
  /// Where a message of a conversation goes.
  bool regenerate = false;
  std::string message_id = {};                ///< The user's message that is replaced, or the answer that is made again.
  std::optional<std::string> parent_id = {};  ///< Empty: a new root; none: below the active leaf.
  std::string sent_id = {};                   ///< The client's id of the new message.
};

/// Parses {"question", "project_key"?, "profile"?, "filters"?, "acl_labels"?} or the AI SDK's {"messages":[...], "project_key"?}. Of the
/// messages only the last user message is used: a client's history is not trusted. Other fields are ignored in the SDK's body and errors in
/// the plain one.
Result<KbQuestion> parse_kb_question(const http::Request& request);

/// Loads the texts of cited document versions, once each, to compute code point offsets.
class CitedTexts {
 public:
  CitedTexts(const CallContext& call, const ChunkReader& chunks, WorkspaceId workspace)
      : call_(call), chunks_(chunks), workspace_(workspace) {}
  /// Null if the version no longer exists.
  const std::string* text(DocumentId document, int version);

 private:
  const CallContext& call_;
  const ChunkReader& chunks_;
  WorkspaceId workspace_;
  std::map<std::pair<std::int64_t, int>, std::optional<std::string>> texts_;
};

/// "unchecked", "supported", "unsupported"
std::string_view to_string(Support support);

/// Sentences of an answer that make a claim without a source: [{"answer_start","answer_end"}], in code points.
JsonArray render_uncited(const Answer& answer);

/// The position of a `[n]` in the answer and the passage that supports it, in code points: see docs/http-api.md.
JsonObject render_mark(const Citation& citation, std::string_view answer_text, CitedTexts& texts);

/// Adds the place in the original file: `line_field` and "page" (one or both are null), and "place" for people ("p. 12").
void render_place(const Chunk& chunk, int number, std::string_view line_field, JsonObject& out);
/// Like above, for the start of a supporting passage, with the field "line". `chunk` is the cited one.
void render_place(const Citation& citation, const Chunk& chunk, JsonObject& out);

/// About the first sentence of a hit, for lists.
std::string snippet_of(const Hit& hit);

/// The cited passages of an answer, grouped by document.
JsonArray render_citations(const Answer& answer, CitedTexts& texts);

/// About a turn: models, times, counts, the gate.
JsonObject render_meta(const answer::TurnReport& report, std::string_view corpus_name);

/// The response of POST /api/kb/chat; answers and refusals have the same shape.
Json render_kb_answer(const answer::TurnReport& report, std::string_view corpus_name, CitedTexts& texts);

/// 0..100, for display.
int percent(double share);
/// "high", "moderate" or "low".
std::string_view confidence_tier(double confidence);

}  // namespace footnote::api
