#include "providers/remote/remote_rerankers.h"

#include <algorithm>
#include <cmath>

namespace footnote {
namespace {

/// Raw scores by passage index: the server must return each index exactly once.
Result<void> read_scores(const JsonUpstream& upstream, const Json* results, std::string_view score_key, std::span<double> out) {
  const JsonArray* list = results == nullptr ? nullptr : results->if_array();
  if (list == nullptr || list->size() != out.size()) return upstream.malformed(fmt::format("it does not have {} scores", out.size()));
  std::vector<bool> seen(out.size(), false);
  for (const Json& entry : *list) {
    const JsonObject* object = entry.if_object();
    const Json* index = object == nullptr ? nullptr : object->if_contains("index");
    const Json* score = object == nullptr ? nullptr : object->if_contains(score_key);
    if (index == nullptr || !index->is_int64() || score == nullptr || !score->is_number()) {
      return upstream.malformed("a score without its place or number");
    }
    const auto place = static_cast<std::size_t>(index->get_int64());
    if (place >= out.size() || seen[place]) return upstream.malformed("a score for no passage, or two for one");
    seen[place] = true;
    out[place] = score->to_number<double>();
  }
  return {};
}

double sigmoid(double value) { return 1 / (1 + std::exp(-value)); }

}  // namespace

Result<std::vector<Judgement>> CohereReranker::rerank(const CallContext& call, std::string_view question,
                                                      std::span<const std::string_view> passages) {
  FOOTNOTE_CHECK(call.check());
  std::vector<double> raw(passages.size());
  const auto ask = [&](std::size_t begin, std::size_t count) -> Result<void> {
    JsonObject body{{"query", sendable(question)}, {"documents", sendable_list(passages.subspan(begin, count))}, {"top_n", count}};
    if (!model_.empty()) body["model"] = model_;
    FOOTNOTE_TRY(const Json answer, upstream_.post(call, "/rerank", body));
    const JsonObject* object = answer.if_object();
    return read_scores(upstream_, object == nullptr ? nullptr : object->if_contains("results"), "relevance_score",
                       std::span(raw).subspan(begin, count));
  };
  FOOTNOTE_CHECK(in_batches(passages.size(), batch_, ask));
  std::vector<Judgement> out;
  for (const double score : raw) out.push_back({.raw = score, .calibrated = std::clamp(score, 0.0, 1.0)});
  return out;
}

Result<std::vector<Judgement>> TeiReranker::rerank(const CallContext& call, std::string_view question,
                                                   std::span<const std::string_view> passages) {
  FOOTNOTE_CHECK(call.check());
  std::vector<double> raw(passages.size());
  const auto ask = [&](std::size_t begin, std::size_t count) -> Result<void> {
    FOOTNOTE_TRY(const Json answer, upstream_.post(call, "/rerank",
                                                   JsonObject{{"query", sendable(question)},
                                                              {"texts", sendable_list(passages.subspan(begin, count))},
                                                              {"raw_scores", true},
                                                              {"truncate", true}}));
    return read_scores(upstream_, &answer, "score", std::span(raw).subspan(begin, count));
  };
  FOOTNOTE_CHECK(in_batches(passages.size(), batch_, ask));
  std::vector<Judgement> out;
  for (const double score : raw) out.push_back({.raw = score, .calibrated = sigmoid(score)});
  return out;
}

}  // namespace footnote
