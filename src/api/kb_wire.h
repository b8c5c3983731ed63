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
/// Passages that were found and not used, as listed in `meta`.
inline constexpr std::size_t kRunnerUpMax = 15;

/// A question sent to the knowledge-base API.
struct KbQuestion {
  std::string text;
  std::vector<std::string> corpus_names;  ///< At least one.
  bool names_corpus = false;              ///< False: none was named, and `corpus_names` is the default.
  bool as_ask = false;                    ///< The profile of `footnote ask` instead of the knowledge base's.
  bool anonymous = false;                 ///< Nothing of the turn is stored.
  Filter filter;
  std::string conversation = {};  ///< Of the AI SDK's `id` or of "conversation_id"; empty: the turn belongs to none.
  /// Where a message of a conversation goes.
  bool regenerate = false;
  std::string message_id = {};                ///< The user's message that is replaced, or the answer that is made again.
  std::optional<std::string> parent_id = {};  ///< Empty: a new root; none: below the active leaf.
  std::string locale = {};                    ///< "de-AT"; empty: not given.
  std::string accept_language = {};           ///< The request's header.
  Json filters = nullptr;                     ///< As sent, to be echoed.
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

/// The names of the corpora that were asked.
using CorpusNames = std::map<CorpusId, std::string>;

/// The passages that the answer marks and the check did not reject, in order of their numbers, each with its marks.
JsonArray render_cited_passages(const Answer& answer, CitedTexts& texts);
/// The same grouped by document, in order of the first number.
JsonArray render_citations(const Answer& answer, const CorpusNames& names, CitedTexts& texts);

/// What a question asked for, as far as its answer tells about it.
struct AskedFor {
  CorpusNames corpora = {};
  std::vector<std::string> unknown_corpora = {};
  Json filters = nullptr;
};

/// About a turn: models, times, counts, the gate, and what was found and not used.
JsonObject render_meta(const answer::TurnReport& report, const AskedFor& asked);

/// The response of POST /api/kb/chat; answers and refusals have the same shape.
Json render_kb_answer(const answer::TurnReport& report, const AskedFor& asked, CitedTexts& texts);

/// 0..100, for display.
int percent(double share);
/// "high", "moderate" or "low".
std::string_view confidence_tier(double confidence);

}  // namespace footnote::api
