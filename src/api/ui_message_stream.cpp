#include "api/ui_message_stream.h"

#include <algorithm>

#include "api/code_points.h"
#include "api/error_mapping.h"
#include "prompt/refusal_text.h"

namespace footnote::api {

namespace {

std::string source_address(const Hit& hit) {
  if (!hit.document.url.empty()) return hit.document.url;
  return fmt::format("/api/kb/documents/{}/preview?version={}", hit.chunk.document.value, hit.chunk.document_version);
}

/// `text`: the number of the text part that cites it; ids of sources are unique in a message.
JsonObject render_source(const SourceBlock& block, int text) {
  const Hit& hit = block.hit;
  const JsonObject details{{"number", block.number},
                           {"documentId", hit.chunk.document.value},
                           {"version", hit.chunk.document_version},
                           {"sourcePath", hit.document_key},
                           {"headings", JsonArray(hit.chunk.heading_path.begin(), hit.chunk.heading_path.end())},
                           {"snippet", snippet_of(hit)}};
  return {{"type", "source-url"},
          {"sourceId", text == 1 ? std::to_string(block.number) : fmt::format("{}.{}", text, block.number)},
          {"url", source_address(hit)},
          {"title", hit.document.title},
          {"providerMetadata", JsonObject{{"footnote", details}}}};
}

JsonObject render_citation(const Citation& citation, const Answer& answer, CitedTexts& texts) {
  JsonObject mark = render_mark(citation, answer.text, texts);
  const auto block = std::ranges::find(answer.sources, citation.number, &SourceBlock::number);
  JsonObject place{{"line", nullptr}, {"page", nullptr}, {"place", nullptr}};
  if (block != answer.sources.end()) render_place(citation, block->hit.chunk, place);
  return {{"number", citation.number},
          {"documentId", citation.document.value},
          {"version", citation.document_version},
          {"answerStart", mark["answer_start"]},
          {"answerEnd", mark["answer_end"]},
          {"sourceStart", mark["source_start"]},
          {"sourceEnd", mark["source_end"]},
          {"line", place["line"]},
          {"page", place["page"]},
          {"place", place["place"]},
          {"quote", mark["quote"]},
          {"support", mark["support"]},
          {"bound", mark["bound"]}};
}

JsonObject render_nearest(const SourceBlock& block) {
  return {{"title", block.hit.document.title},
          {"sourcePath", block.hit.document_key},
          {"documentId", block.hit.chunk.document.value},
          {"version", block.hit.chunk.document_version},
          {"snippet", snippet_of(block.hit)}};
}

}  // namespace

std::string UiMessageStream::text_id() const { return fmt::format("t{}", text_number_); }

http::Headers ui_stream_headers() { return {{"x-vercel-ai-ui-message-stream", "v1"}}; }

Result<void> DirectUiChunks::open(const TurnId&) {
  writer_ = &response_.start_sse(ui_stream_headers());
  return {};
}

Result<void> UiMessageStream::send(const JsonObject& chunk) { return out_.send(to_text(chunk)); }

Result<void> UiMessageStream::on_start(const TurnId& turn) {
  FOOTNOTE_CHECK(out_.open(turn));
  is_open_ = true;
  turn_ = turn;
  JsonObject about = about_;
  about["turnId"] = turn.value;
  return send({{"type", "start"}, {"messageId", turn.value}, {"messageMetadata", std::move(about)}});
}

Result<void> UiMessageStream::on_sources(std::span<const SourceBlock> sources) {
  for (const SourceBlock& block : sources) FOOTNOTE_CHECK(send(render_source(block, text_number_)));
  return {};
}

Result<void> UiMessageStream::on_text(std::string_view text) {
  if (!text_open_) {
    FOOTNOTE_CHECK(send({{"type", "text-start"}, {"id", text_id()}}));
    text_open_ = true;
  }
  text_ += text;
  return send({{"type", "text-delta"}, {"id", text_id()}, {"delta", text}});
}

Result<void> UiMessageStream::on_check(const answer::SentenceCheck& check) {
  const TextRange range = CodePointOffsets(text_).range(check.answer_range);
  return send({{"type", "data-check"},
               {"data", JsonObject{{"answerStart", range.begin},
                                   {"answerEnd", range.end},
                                   {"numbers", JsonArray(check.numbers.begin(), check.numbers.end())},
                                   {"support", check.numbers.empty() ? "uncited" : to_string(check.support)}}}});
}

Result<void> UiMessageStream::on_withdraw(const answer::Withdrawal& withdrawal) {
  FOOTNOTE_CHECK(on_text(fmt::format("\n\n{}", withdrawal.notice)));
  FOOTNOTE_CHECK(close_text());
  const std::string withdrawn = text_id();
  ++text_number_;
  text_.clear();
  return send({{"type", "data-replace"},
               {"data", JsonObject{{"withdrawn", withdrawn}, {"by", text_id()}, {"reason", answer::to_string(withdrawal.reason)}}}});
}

Result<void> UiMessageStream::close_text() {
  if (!text_open_) return {};
  text_open_ = false;
  return send({{"type", "text-end"}, {"id", text_id()}});
}

Result<void> UiMessageStream::finish_answer(const Answer& answer, CitedTexts& texts, bool calibrated) {
  FOOTNOTE_CHECK(close_text());
  JsonArray citations;
  for (const Citation& citation : answer.citations) citations.push_back(render_citation(citation, answer, texts));
  FOOTNOTE_CHECK(send({{"type", "data-citations"}, {"data", std::move(citations)}}));
  return send(
      {{"type", "data-confidence"},
       {"data",
        JsonObject{{"confidence", percent(answer.confidence)}, {"tier", confidence_tier(answer.confidence)}, {"calibrated", calibrated}}}});
}

Result<void> UiMessageStream::finish_refusal(const Refusal& refusal) {
  JsonArray nearest;
  for (const SourceBlock& block : refusal.nearest) nearest.push_back(render_nearest(block));
  FOOTNOTE_CHECK(on_text(refusal.text));
  FOOTNOTE_CHECK(close_text());
  FOOTNOTE_CHECK(send({{"type", "data-refusal"},
                       {"data", JsonObject{{"reason", to_string(refusal.reason)},
                                           {"body", refusal.text},
                                           {"hint", prompt::kb_refusal_hint(language_)},
                                           {"nearest", std::move(nearest)}}}}));
  return send({{"type", "data-confidence"}, {"data", JsonObject{{"confidence", nullptr}, {"tier", "refused"}}}});
}

Result<void> UiMessageStream::finish(const answer::TurnReport& report, CitedTexts& texts) {
  Json reason = nullptr;
  Json model = nullptr;
  if (const Answer* answer = std::get_if<Answer>(&report.turn.outcome)) {
    if (!answer->model.empty()) model = answer->model;
    FOOTNOTE_CHECK(finish_answer(*answer, texts, report.retrieval.gate.calibrated));
  } else if (const Refusal* refusal = std::get_if<Refusal>(&report.turn.outcome)) {
    reason = to_string(refusal->reason);
    FOOTNOTE_CHECK(finish_refusal(*refusal));
  } else if (const Clarification* clarification = std::get_if<Clarification>(&report.turn.outcome)) {
    FOOTNOTE_CHECK(on_text(clarification->text));
    FOOTNOTE_CHECK(close_text());
  }
  const JsonObject metadata{{"turnId", report.turn.id.value},
                            {"refusalReason", reason},
                            {"latencyMs", report.turn.latency.count()},
                            {"model", model},
                            {"fallback", report.fallback ? Json(answer::to_string(*report.fallback)) : Json(nullptr)},
                            {"tentative", report.tentative},
                            {"standaloneQuestion", report.standalone.empty() ? Json(nullptr) : Json(report.standalone)},
                            {"usage", JsonObject{{"promptTokens", report.tokens ? Json(report.tokens->prompt) : Json(nullptr)},
                                                 {"completionTokens", report.tokens ? Json(report.tokens->completion) : Json(nullptr)}}}};
  FOOTNOTE_CHECK(send({{"type", "finish"}, {"finishReason", "stop"}, {"messageMetadata", metadata}}));
  return out_.send("[DONE]");
}

Result<void> UiMessageStream::abort() {
  FOOTNOTE_CHECK(close_text());
  FOOTNOTE_CHECK(send({{"type", "abort"}, {"reason", "stopped"}}));
  return out_.send("[DONE]");
}

void UiMessageStream::fail_with(const Error& error) {
  if (text_open_ && !close_text()) return;
  if (send({{"type", "error"}, {"errorText", shown_message(error)}})) (void)out_.send("[DONE]");
}

}  // namespace footnote::api
