#include "api/kb_wire.h"

#include <algorithm>
#include <cmath>

#include "api/code_points.h"
#include "api/kb_filters.h"
#include "base/sha256.h"
#include "base/text.h"
#include "base/utf8.h"

namespace footnote::api {

namespace {

constexpr std::size_t kNameBytesMax = 200;
constexpr std::size_t kMessagesMax = 1'000;

/// The text parts of one UI message, joined.
Result<std::string> message_text(const Json& message, std::size_t index) {
  FOOTNOTE_TRY(const JsonReader reader, JsonReader::of(message, fmt::format("messages[{}]", index)));
  FOOTNOTE_TRY(const JsonArray* parts, reader.required_array("parts", kMessagesMax));
  std::string text;
  for (const Json& part : *parts) {
    const JsonObject* object = part.if_object();
    const Json* type = object == nullptr ? nullptr : object->if_contains("type");
    const Json* piece = object == nullptr ? nullptr : object->if_contains("text");
    if (type == nullptr || *type != "text" || piece == nullptr || !piece->is_string()) continue;
    if (!text.empty()) text += "\n";
    text += piece->get_string();
  }
  return text;
}

Result<std::string> last_user_text(const JsonArray& messages) {
  for (std::size_t i = messages.size(); i-- > 0;) {
    const JsonObject* message = messages[i].if_object();
    const Json* role = message == nullptr ? nullptr : message->if_contains("role");
    if (role == nullptr || *role != "user") continue;
    FOOTNOTE_TRY(std::string text, message_text(messages[i], i));
    if (!trim(text).empty()) return text;
  }
  return fail_field(ErrorCode::kInvalidArgument, "messages", "'messages' holds no message of role user with text");
}

JsonObject render_hit(const SourceBlock& block) {
  const Hit& hit = block.hit;
  JsonObject out{{"number", block.number},
                 {"document_id", hit.chunk.document.value},
                 {"version", hit.chunk.document_version},
                 {"title", hit.document.title},
                 {"source_path", hit.document_key},
                 {"url", hit.document.url.empty() ? Json(nullptr) : Json(hit.document.url)},
                 {"headings", JsonArray(hit.chunk.heading_path.begin(), hit.chunk.heading_path.end())},
                 {"source_type", hit.chunk.source_type},
                 {"origin", footnote::to_string(block.origin)},
                 {"evidence_tier", hit.document.evidence ? Json(footnote::to_string(*hit.document.evidence)) : Json(nullptr)},
                 {"chunk_id", hit.chunk.id.value},
                 {"score", hit.score},
                 {"snippet", snippet_of(hit)}};
  render_place(hit.chunk, hit.chunk.first_line, "first_line", out);
  return out;
}

double milliseconds(std::chrono::microseconds time) { return std::round(static_cast<double>(time.count()) / 10) / 100; }

/// The sources that the answer marks and the check did not reject, by number.
std::vector<const SourceBlock*> cited_blocks(const Answer& answer) {
  std::vector<const SourceBlock*> out;
  for (const SourceBlock& block : answer.sources) {
    const auto cites = [&](const Citation& citation) {
      return citation.number == block.number && citation.support != Support::kUnsupported;
    };
    if (std::ranges::any_of(answer.citations, cites)) out.push_back(&block);
  }
  std::ranges::sort(out, {}, [](const SourceBlock* block) { return block->number; });
  return out;
}

JsonArray render_marks(const Answer& answer, const SourceBlock& block, CitedTexts& texts) {
  JsonArray out;
  for (const Citation& citation : answer.citations) {
    if (citation.number != block.number) continue;
    JsonObject mark = render_mark(citation, answer.text, texts);
    mark["number"] = citation.number;
    render_place(citation, block.hit.chunk, mark);
    out.push_back(std::move(mark));
  }
  return out;
}

/// A cited passage: its characters in the document's text, and a hash by which a copy of it is recognised.
JsonObject render_chunk(const SourceBlock& block, JsonArray marks, CitedTexts& texts) {
  const Chunk& chunk = block.hit.chunk;
  JsonObject out{{"number", block.number},
                 {"chunk_id", chunk.id.value},
                 {"heading", join(chunk.heading_path, " > ")},
                 {"score", block.hit.score},
                 {"snippet", snippet_of(block.hit)},
                 {"evidence_hash", sha256_hex(chunk.text)},
                 {"origin", footnote::to_string(block.origin)},
                 {"start", nullptr},
                 {"end", nullptr},
                 {"marks", std::move(marks)}};
  render_place(chunk, chunk.first_line, "first_line", out);
  const std::string* text = texts.text(chunk.document, chunk.document_version);
  if (text != nullptr && chunk.range.end <= text->size()) {
    const TextRange range = CodePointOffsets(*text).range(chunk.range);
    out["start"] = range.begin;
    out["end"] = range.end;
  }
  return out;
}

/// What was found and not used, best first, and why.
JsonArray render_runner_up(const answer::TurnReport& report) {
  JsonArray out;
  const auto add = [&](const Hit& hit, Fate fate) {
    if (out.size() >= kRunnerUpMax || fate == Fate::kCited || !hit.chunk.document) return;
    out.push_back(JsonObject{{"document_id", hit.chunk.document.value},
                             {"title", hit.document.title},
                             {"source_path", hit.document_key},
                             {"heading", join(hit.chunk.heading_path, " > ")},
                             {"chunk_id", hit.chunk.id.value},
                             {"score", hit.score},
                             {"snippet", snippet_of(hit)},
                             {"reason", reason_of(fate)}});
  };
  const auto& hits = report.retrieval.hits;
  for (std::size_t i = 0; i < hits.size() && i < report.trace.fates.size(); ++i) add(hits[i], report.trace.fates[i]);
  for (const retrieve::CutCandidate& cut : report.retrieval.cut) add(cut.hit, cut.fate);
  return out;
}

JsonObject render_strategy(const answer::TurnReport& report, const AskedFor& asked) {
  const Profile& profile = report.trace.profile;
  return {{"semantic_enabled", profile.vectors},
          {"fts_enabled", true},
          {"fusion_method", profile.fusion == Fusion::kRanks ? "rrf" : "weighted_sum"},
          {"judged", profile.judged},
          {"graph_expansion_enabled", report.trace.side.has_value()},
          {"rejected_injection_enabled", report.trace.side.has_value()},
          {"filters_applied", asked.filters.is_object() && !asked.filters.get_object().empty()}};
}

JsonObject render_stats(const answer::TurnReport& report) {
  const auto& hits = report.retrieval.hits;
  JsonObject out{
      {"candidates", report.retrieval.candidates}, {"hits", hits.size()}, {"min_score_used", nullptr}, {"max_score_used", nullptr}};
  if (hits.empty()) return out;
  const auto [least, most] = std::ranges::minmax_element(hits, {}, &Hit::probability);
  out["min_score_used"] = least->probability;
  out["max_score_used"] = most->probability;
  return out;
}

/// The fields of the AI SDK's body that place a message in its conversation.
Result<void> read_place(const JsonReader& reader, const JsonArray& messages, KbQuestion& out) {
  FOOTNOTE_TRY(const auto id, reader.optional_string("id", kChatIdBytesMax));
  FOOTNOTE_TRY(const auto trigger, reader.optional_string("trigger", kNameBytesMax));
  FOOTNOTE_TRY(const auto message, reader.optional_string("messageId", kChatIdBytesMax));
  if (id && !is_chat_id(*id)) {
    return fail_field(ErrorCode::kInvalidArgument, "id", "'id' must be 1 to {} letters, digits or _ - . :", kChatIdBytesMax);
  }
  if (trigger && *trigger != "submit-message" && *trigger != "regenerate-message") {
    return fail_field(ErrorCode::kInvalidArgument, "trigger", "'trigger' must be submit-message or regenerate-message");
  }
  out.conversation = id.value_or("");
  out.regenerate = trigger == "regenerate-message";
  out.message_id = message.value_or("");
  if (reader.has("parentId")) {
    FOOTNOTE_TRY(const auto parent, reader.optional_string("parentId", kChatIdBytesMax));
    out.parent_id = parent.value_or("");
  }
  const JsonObject* last = messages.empty() ? nullptr : messages.back().if_object();
  const Json* sent = last == nullptr ? nullptr : last->if_contains("id");
  if (sent != nullptr && sent->is_string() && is_chat_id(sent->get_string())) out.sent_id = sent->get_string();
  return {};
}

}  // namespace

JsonArray render_cited_passages(const Answer& answer, CitedTexts& texts) {
  JsonArray out;
  for (const SourceBlock* block : cited_blocks(answer)) {
    JsonObject rendered = render_hit(*block);
    rendered["marks"] = render_marks(answer, *block, texts);
    out.push_back(std::move(rendered));
  }
  return out;
}

JsonArray render_citations(const Answer& answer, const CorpusNames& names, CitedTexts& texts) {
  struct Group {
    const SourceBlock* first;
    JsonArray headings, numbers, chunks, marks;
  };
  std::vector<Group> groups;
  for (const SourceBlock* block : cited_blocks(answer)) {
    const Chunk& chunk = block->hit.chunk;
    const auto same = [&](const Group& group) { return group.first->hit.chunk.document == chunk.document; };
    auto group = std::ranges::find_if(groups, same);
    if (group == groups.end()) group = groups.insert(groups.end(), Group{block, {}, {}, {}, {}});
    const Json heading(join(chunk.heading_path, " > "));
    if (std::ranges::find(group->headings, heading) == group->headings.end()) group->headings.push_back(heading);
    group->numbers.emplace_back(block->number);
    JsonArray marks = render_marks(answer, *block, texts);
    group->marks.insert(group->marks.end(), marks.begin(), marks.end());
    group->chunks.push_back(render_chunk(*block, std::move(marks), texts));
  }
  JsonArray out;
  for (Group& group : groups) {
    const DocumentAttributes& document = group.first->hit.document;
    const auto name = names.find(group.first->hit.corpus);
    JsonObject rendered = render_hit(*group.first);
    rendered["project_key"] = name == names.end() ? Json(nullptr) : Json(name->second);
    rendered["headings"] = std::move(group.headings);
    rendered["media_type"] = document.media_type;
    rendered["canonical_type"] = document.canonical_type.empty() ? Json(nullptr) : Json(document.canonical_type);
    rendered["status"] = footnote::to_string(document.status);
    rendered["numbers"] = std::move(group.numbers);
    rendered["chunks_used"] = group.chunks.size();
    rendered["chunks"] = std::move(group.chunks);
    rendered["marks"] = std::move(group.marks);
    out.push_back(std::move(rendered));
  }
  return out;
}

JsonObject render_meta(const answer::TurnReport& report, const AskedFor& asked) {
  const Answer* answer = std::get_if<Answer>(&report.turn.outcome);
  const Refusal* refusal = std::get_if<Refusal>(&report.turn.outcome);
  const bool built_in = answer == nullptr || answer->model.empty();
  const auto count = [&](SourceOrigin origin) {
    return answer == nullptr ? 0 : std::ranges::count(answer->sources, origin, &SourceBlock::origin);
  };
  JsonArray corpora;
  for (const auto& [id, name] : asked.corpora) corpora.emplace_back(name);
  JsonArray runner_up = render_runner_up(report);
  JsonObject out{{"turn_id", report.turn.id.value},
                 {"corpus", corpora.empty() ? Json(nullptr) : corpora.front()},
                 {"project_keys", std::move(corpora)},
                 {"unknown_project_keys", JsonArray(asked.unknown_corpora.begin(), asked.unknown_corpora.end())},
                 {"filters_selected", asked.filters},
                 {"generation", report.turn.generation},
                 {"provider", answer == nullptr ? Json(nullptr) : Json(built_in ? "built-in" : "openai")},
                 {"model", built_in ? Json(nullptr) : Json(answer->model)},
                 {"refusal_reason", refusal == nullptr ? Json(nullptr) : Json(footnote::to_string(refusal->reason))},
                 {"fallback", report.fallback ? Json(answer::to_string(*report.fallback)) : Json(nullptr)},
                 {"tentative", report.tentative},
                 {"refused_early", refusal != nullptr && !report.trace.model},
                 {"follow_up", report.trace.follow_up.empty() ? Json(nullptr) : Json(report.trace.follow_up)},
                 {"standalone_question", report.standalone.empty() ? Json(nullptr) : Json(report.standalone)},
                 {"chunks_used", answer == nullptr ? 0 : answer->sources.size()},
                 {"primary_count", count(SourceOrigin::kPrimary)},
                 {"expanded_count", count(SourceOrigin::kRelated)},
                 {"rejected_count", count(SourceOrigin::kRejected)},
                 {"runner_up_count", runner_up.size()},
                 {"retrieval_runner_up", std::move(runner_up)},
                 {"search_strategy", render_strategy(report, asked)},
                 {"retrieval_stats", render_stats(report)},
                 {"latency_ms", report.turn.latency.count()},
                 {"latency_ms_breakdown", JsonObject{{"retrieval", milliseconds(report.retrieval_time)},
                                                     {"answer", milliseconds(report.answer_time)},
                                                     {"total", milliseconds(report.retrieval_time + report.answer_time)}}},
                 {"usage", JsonObject{{"prompt_tokens", report.tokens ? Json(report.tokens->prompt) : Json(nullptr)},
                                      {"completion_tokens", report.tokens ? Json(report.tokens->completion) : Json(nullptr)}}},
                 {"gate", answer::gate_json(report.retrieval.gate)}};
  return out;
}

namespace {

Result<void> check_question(const KbQuestion& question, std::string_view field) {
  if (question.text.empty() && question.regenerate) return {};
  if (trim(question.text).empty()) return fail_field(ErrorCode::kInvalidArgument, field, "the question is empty");
  if (count_code_points(question.text) <= retrieve::kQuestionCharactersMax) return {};
  return fail_field(ErrorCode::kInvalidArgument, field, "the question has more than {} characters", retrieve::kQuestionCharactersMax);
}

Result<KbQuestion> parse_question(const http::Request& request) {
  FOOTNOTE_TRY(const Json body, parse_request_json(request.body));
  FOOTNOTE_TRY(const JsonReader reader, JsonReader::of(body));
  KbQuestion question;
  if (reader.has("messages")) {
    FOOTNOTE_TRY(const JsonArray* messages, reader.required_array("messages", kMessagesMax));
    FOOTNOTE_CHECK(read_place(reader, *messages, question));
    // A question that is asked again comes from the store, whatever the client still shows.
    if (!question.regenerate || question.conversation.empty()) {
      FOOTNOTE_TRY(question.text, last_user_text(*messages));
    }
    FOOTNOTE_CHECK(check_question(question, "messages"));
  } else {
    FOOTNOTE_CHECK(reader.only({"question", "project_key", "profile", "filters", "acl_labels", "conversation_id", "locale", "anonymous"}));
    FOOTNOTE_TRY(question.text, reader.required_string("question", retrieve::kQuestionBytesMax));
    FOOTNOTE_CHECK(check_question(question, "question"));
    FOOTNOTE_TRY(const auto conversation, reader.optional_string("conversation_id", kChatIdBytesMax));
    if (conversation && !is_chat_id(*conversation)) {
      return fail_field(ErrorCode::kInvalidArgument, "conversation_id",
                        "'conversation_id' must be 1 to {} letters, digits or _ - . :", kChatIdBytesMax);
    }
    question.conversation = conversation.value_or("");
  }
  FOOTNOTE_TRY(const auto corpus, reader.optional_string("project_key", kNameBytesMax));
  FOOTNOTE_TRY(AskedFilter asked, parse_asked_filter(reader));
  question.names_corpus = asked.corpus_names || corpus;
  question.corpus_names = asked.corpus_names ? *std::move(asked.corpus_names) : std::vector{corpus.value_or(std::string(kDefaultCorpus))};
  if (const Json* given = body.get_object().if_contains("filters")) question.filters = *given;
  FOOTNOTE_TRY(const auto anonymous, reader.optional_bool("anonymous"));
  question.anonymous = anonymous.value_or(false);
  if (question.anonymous) question.conversation.clear();
  FOOTNOTE_TRY(const auto locale, reader.optional_string("locale", kNameBytesMax));
  question.locale = locale.value_or("");
  question.accept_language = std::string(request.headers.find("accept-language").value_or(""));
  question.filter = std::move(asked.filter);
  FOOTNOTE_TRY(const auto profile, reader.optional_string("profile", kNameBytesMax));
  if (profile == "ask") {
    question.as_ask = true;
  } else if (profile && *profile != "kb") {
    return fail_field(ErrorCode::kInvalidArgument, "profile", "'profile' must be kb or ask");
  }
  return question;
}

}  // namespace

Result<KbQuestion> parse_kb_question(const http::Request& request) { return too_much_is_invalid(parse_question(request)); }

const std::string* CitedTexts::text(DocumentId document, int version) {
  auto [entry, fresh] = texts_.try_emplace({document.value, version});
  if (fresh) {
    if (auto read = chunks_.document_text(call_, workspace_, document, version)) entry->second = std::move(read->text);
  }
  return entry->second ? &*entry->second : nullptr;
}

std::string_view to_string(Support support) {
  switch (support) {
    case Support::kUnchecked: return "unchecked";
    case Support::kSupported: return "supported";
    case Support::kUnsupported: return "unsupported";
  }
  return "unchecked";
}

JsonArray render_uncited(const Answer& answer) {
  CodePointOffsets offsets(answer.text);
  JsonArray out;
  for (const TextRange& sentence : answer.uncited) {
    const TextRange range = offsets.range(sentence);
    out.push_back(JsonObject{{"answer_start", range.begin}, {"answer_end", range.end}});
  }
  return out;
}

JsonObject render_mark(const Citation& citation, std::string_view answer_text, CitedTexts& texts) {
  const TextRange answer_range = CodePointOffsets(answer_text).range(citation.answer_range);
  JsonObject out{{"answer_start", answer_range.begin},
                 {"answer_end", answer_range.end},
                 {"source_start", nullptr},
                 {"source_end", nullptr},
                 {"quote", nullptr},
                 {"support", to_string(citation.support)},
                 {"bound", citation.is_bound}};
  const std::string* source = texts.text(citation.document, citation.document_version);
  if (!citation.support_range || source == nullptr || citation.support_range->end > source->size()) return out;
  const TextRange source_range = CodePointOffsets(*source).range(*citation.support_range);
  out["source_start"] = source_range.begin;
  out["source_end"] = source_range.end;
  out["quote"] = std::string_view(*source).substr(citation.support_range->begin, citation.support_range->size());
  return out;
}

void render_place(const Chunk& chunk, int number, std::string_view line_field, JsonObject& out) {
  out[line_field] = chunk.places.unit == PlaceUnit::kLine ? Json(number) : Json(nullptr);
  out["page"] = chunk.places.unit == PlaceUnit::kPage ? Json(number) : Json(nullptr);
  const std::string name = place_name(chunk.places.unit, number);
  out["place"] = name.empty() ? Json(nullptr) : Json(name);
}

void render_place(const Citation& citation, const Chunk& chunk, JsonObject& out) {
  const std::size_t begin = citation.support_range ? citation.support_range->begin : chunk.range.begin;
  render_place(chunk, place_in(chunk, begin - chunk.range.begin), "line", out);
}

std::string snippet_of(const Hit& hit) { return std::string(utf8_prefix(fold_spaces(hit.chunk.text), kSnippetBytes)); }

int percent(double share) { return static_cast<int>(std::lround(100 * std::clamp(share, 0.0, 1.0))); }

std::string_view confidence_tier(double confidence) {
  if (percent(confidence) >= 80) return "high";
  return percent(confidence) >= 50 ? "moderate" : "low";
}

Json render_kb_answer(const answer::TurnReport& report, const AskedFor& asked, CitedTexts& texts) {
  JsonObject meta = render_meta(report, asked);
  if (const Answer* answer = std::get_if<Answer>(&report.turn.outcome)) {
    return JsonObject{{"answer", answer->text},
                      {"citations", render_citations(*answer, asked.corpora, texts)},
                      {"uncited", render_uncited(*answer)},
                      {"confidence", percent(answer->confidence)},
                      {"refusal_reason", nullptr},
                      {"meta", std::move(meta)}};
  }
  std::string text;
  Json reason = nullptr;
  JsonArray nearest;
  if (const Refusal* refusal = std::get_if<Refusal>(&report.turn.outcome)) {
    text = refusal->text;
    reason = footnote::to_string(refusal->reason);
    for (const SourceBlock& block : refusal->nearest) nearest.push_back(render_hit(block));
  } else if (const Clarification* clarification = std::get_if<Clarification>(&report.turn.outcome)) {
    text = clarification->text;
  }
  meta["nearest"] = std::move(nearest);
  return JsonObject{{"answer", text},        {"citations", JsonArray{}}, {"uncited", JsonArray{}},
                    {"confidence", nullptr}, {"refusal_reason", reason}, {"meta", std::move(meta)}};
}

}  // namespace footnote::api
