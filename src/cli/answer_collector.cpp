#include "cli/answer_collector.h"

#include "base/json_view.h"

namespace footnote::cli {

Result<void> AnswerCollector::take(const Json& event) {
  const std::string_view type = text_at(event, "type");
  const Json& data = value_at(event, "data");
  if (type == "error") return fail(ErrorCode::kUnavailable, "{}", text_at(event, "errorText"));
  if (type == "source-url") take_source(event);
  if (type == "data-citations") take_marks(array_at(event, "data"));
  if (type == "data-confidence") confidence_ = value_at(data, "confidence");
  if (type == "data-replace") {
    // What was shown stays on the screen; it ends with a sentence that withdraws it.
    text_.clear();
    citations_.clear();
    on_text_("\n\n");
  }
  if (type == "finish") {
    metadata_ = value_at(event, "messageMetadata");
    if (!is_refused_) show_held();
  }
  if (type == "data-refusal") {
    is_refused_ = true;
    text_ = text_at(data, "body");
    for (const Json& hit : array_at(data, "nearest")) {
      nearest_.push_back(JsonObject{{"title", text_at(hit, "title")}, {"source_path", text_at(hit, "sourcePath")}});
    }
  }
  if (type == "text-delta" && !is_refused_) {
    text_ += text_at(event, "delta");
    held_ += text_at(event, "delta");
    if (!citations_.empty()) show_held();
  }
  return {};
}

void AnswerCollector::show_held() {
  if (!held_.empty()) on_text_(held_);
  held_.clear();
}

void AnswerCollector::take_source(const Json& event) {
  const Json& details = value_at(value_at(event, "providerMetadata"), "footnote");
  citations_.push_back(JsonObject{{"number", integer_at(details, "number")},
                                  {"title", text_at(event, "title")},
                                  {"source_path", text_at(details, "sourcePath")},
                                  {"marks", JsonArray{}}});
}

void AnswerCollector::take_marks(const JsonArray& marks) {
  for (const Json& mark : marks) {
    for (Json& citation : citations_) {
      if (integer_at(citation, "number") != integer_at(mark, "number")) continue;
      citation.get_object()["marks"].get_array().push_back(
          JsonObject{{"line", integer_at(mark, "line")}, {"quote", text_at(mark, "quote")}, {"support", text_at(mark, "support")}});
    }
  }
}

Json AnswerCollector::answer() const {
  return JsonObject{{"answer", text_},
                    {"citations", citations_},
                    {"confidence", confidence_},
                    {"refusal_reason", value_at(metadata_, "refusalReason")},
                    {"meta", JsonObject{{"turn_id", text_at(metadata_, "turnId")},
                                        {"latency_ms", integer_at(metadata_, "latencyMs")},
                                        {"model", value_at(metadata_, "model")},
                                        {"fallback", value_at(metadata_, "fallback")},
                                        {"nearest", nearest_}}}};
}

}  // namespace footnote::cli
