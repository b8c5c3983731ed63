#include "providers/remote/remote_rerankers.h"

#include <algorithm>
#include <cmath>

namespace footnote {
namespace {

/// The names of a score's fields.
struct ScoreKeys {
  std::string_view index = "index";
  std::string_view score = "score";
};

/// Raw scores by passage index: the server must return each index exactly once.
Result<void> read_scores(const JsonUpstream& upstream, const Json* results, const ScoreKeys& keys, std::span<double> out) {
  const JsonArray* list = results == nullptr ? nullptr : results->if_array();
  if (list == nullptr || list->size() != out.size()) return upstream.malformed(fmt::format("it does not have {} scores", out.size()));
  std::vector<bool> seen(out.size(), false);
  for (const Json& entry : *list) {
    const JsonObject* object = entry.if_object();
    const Json* index = object == nullptr ? nullptr : object->if_contains(keys.index);
    const Json* score = object == nullptr ? nullptr : object->if_contains(keys.score);
    if (index == nullptr || !index->is_int64() || score == nullptr || !score->is_number()) {
      return upstream.malformed("a score without an index or a value");
    }
    const auto place = static_cast<std::size_t>(index->get_int64());
    if (place >= out.size() || seen[place]) return upstream.malformed("a score for no passage, or two for one");
    seen[place] = true;
    out[place] = score->to_number<double>();
  }
  return {};
}

double sigmoid(double value) { return 1 / (1 + std::exp(-value)); }

const Json* member_of(const Json* value, std::string_view name) {
  const JsonObject* object = value == nullptr ? nullptr : value->if_object();
  return object == nullptr ? nullptr : object->if_contains(name);
}

/// Probabilities are used unchanged. If a score is outside 0..1, all are raw model scores: use their sigmoid.
std::vector<Judgement> judgements_of(std::span<const double> raw) {
  const bool are_probabilities = std::ranges::all_of(raw, [](double score) { return score >= 0 && score <= 1; });
  std::vector<Judgement> out;
  out.reserve(raw.size());
  for (const double score : raw) out.push_back({.raw = score, .calibrated = are_probabilities ? score : sigmoid(score)});
  return out;
}

}  // namespace

Result<std::vector<Judgement>> CohereReranker::rerank(const CallContext& call, std::string_view question,
                                                      std::span<const std::string_view> passages) {
  FOOTNOTE_CHECK(call.check());
  std::vector<double> raw(passages.size());
  const auto ask = [&](std::size_t begin, std::size_t count) -> Result<void> {
    JsonObject body{{"query", sendable(question)}, {"documents", sendable_list(passages.subspan(begin, count))}, {"top_n", count}};
    if (!model_.empty()) body["model"] = model_;
    FOOTNOTE_TRY(const Json answer, upstream_.post(call, "/rerank", body));
    return read_scores(upstream_, member_of(&answer, "results"), {.score = "relevance_score"}, std::span(raw).subspan(begin, count));
  };
  FOOTNOTE_CHECK(in_batches(passages.size(), batch_, ask));
  return judgements_of(raw);
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
    return read_scores(upstream_, &answer, {}, std::span(raw).subspan(begin, count));
  };
  FOOTNOTE_CHECK(in_batches(passages.size(), batch_, ask));
  std::vector<Judgement> out;
  out.reserve(raw.size());
  for (const double score : raw) out.push_back({.raw = score, .calibrated = sigmoid(score)});
  return out;
}

Result<std::vector<Judgement>> CloudflareReranker::rerank(const CallContext& call, std::string_view question,
                                                          std::span<const std::string_view> passages) {
  FOOTNOTE_CHECK(call.check());
  std::vector<double> raw(passages.size());
  const auto ask = [&](std::size_t begin, std::size_t count) -> Result<void> {
    JsonArray contexts;
    for (const std::string_view passage : passages.subspan(begin, count)) contexts.push_back(JsonObject{{"text", sendable(passage)}});
    FOOTNOTE_TRY(const Json answer,
                 upstream_.post(call, path_, JsonObject{{"query", sendable(question)}, {"contexts", std::move(contexts)}}));
    return read_scores(upstream_, member_of(member_of(&answer, "result"), "response"), {.index = "id"},
                       std::span(raw).subspan(begin, count));
  };
  FOOTNOTE_CHECK(in_batches(passages.size(), batch_, ask));
  return judgements_of(raw);
}

}  // namespace footnote
