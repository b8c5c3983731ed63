#include "api/kb_search.h"

#include "api/kb_filters.h"
#include "api/kb_wire.h"

namespace footnote::api {

namespace {

constexpr std::int64_t kSearchLimitMax = 100;

JsonObject render_hit(const Hit& hit) {
  JsonArray terms;
  for (const StageScore& term : hit.terms) {
    terms.push_back(JsonObject{{"stage", to_string(term.stage)},
                               {"raw", term.raw},
                               {"normalised", term.normalised},
                               {"weight", term.weight},
                               {"contribution", term.contribution()}});
  }
  const bool has_lines = hit.chunk.places.unit == PlaceUnit::kLine;
  JsonObject out{{"chunk_id", hit.chunk.id.value},
                 {"document_id", hit.chunk.document.value},
                 {"version", hit.chunk.document_version},
                 {"title", hit.document.title},
                 {"source_path", hit.document_key},
                 {"headings", JsonArray(hit.chunk.heading_path.begin(), hit.chunk.heading_path.end())},
                 {"text", hit.chunk.text},
                 {"last_line", has_lines ? Json(hit.chunk.last_line) : Json(nullptr)},
                 {"score", hit.score},
                 {"cosine", hit.cosine},
                 {"coverage", hit.coverage},
                 {"probability", hit.probability},
                 {"terms", std::move(terms)}};
  render_place(hit.chunk, hit.chunk.first_line, "first_line", out);
  return out;
}

}  // namespace

Json render_retrieval(const retrieve::Retrieval& retrieval) {
  JsonArray hits;
  for (const Hit& hit : retrieval.hits) hits.push_back(render_hit(hit));
  JsonObject timings;
  for (const retrieve::StageTiming& timing : retrieval.timings) {
    timings[fmt::format("{}_ms", to_string(timing.stage))] = static_cast<double>(timing.took.count()) / 1000;
  }
  return JsonObject{{"hits", std::move(hits)},
                    {"gate", answer::gate_json(retrieval.gate)},
                    {"generation", retrieval.generation},
                    {"candidates", retrieval.candidates},
                    {"vector_search", answer::vector_search_json(retrieval.vector_search)},
                    {"cuts", answer::cuts_json(retrieval.cut_counts)},
                    {"timings", std::move(timings)}};
}

Result<http::Response> search(const Services& services, const access::Caller& caller, const http::Request& request,
                              const CallContext& call) {
  FOOTNOTE_TRY(const Json body, parse_request_json(request.body));
  FOOTNOTE_TRY(const JsonReader reader, JsonReader::of(body));
  FOOTNOTE_CHECK(reader.only({"query", "project_key", "limit", "filters", "acl_labels", "prefix", "typos"}));
  FOOTNOTE_TRY(const std::string query, reader.required_string("query", retrieve::kQuestionBytesMax));
  FOOTNOTE_TRY(const auto name, reader.optional_string("project_key", 200));
  FOOTNOTE_TRY(const auto limit, reader.optional_integer("limit", 1, kSearchLimitMax));
  FOOTNOTE_TRY(AskedFilter asked, parse_asked_filter(reader));
  FOOTNOTE_CHECK(apply_labels(caller, asked.filter));
  if (asked.corpus_names && asked.corpus_names->size() > 1) {
    return fail_field(ErrorCode::kUnsupported, "filters.project_keys", "a search goes to one corpus; 'filters.project_keys' names {}",
                      asked.corpus_names->size());
  }
  FOOTNOTE_TRY(
      const retrieve::AskedCorpus found,
      services.corpora.find(call, caller.workspace,
                            asked.corpus_names ? asked.corpus_names->front() : name.value_or(std::string(kDefaultCorpus)), kAskProfile));
  retrieve::RetrieveOptions options{.profile = found.profile, .filter = std::move(asked.filter)};
  FOOTNOTE_TRY(const auto prefix, reader.optional_bool("prefix"));
  FOOTNOTE_TRY(const auto typos, reader.optional_bool("typos"));
  options.prefix = prefix.value_or(false);
  options.typos = typos.value_or(false);
  if (limit) options.profile.top_k = static_cast<std::size_t>(*limit);
  FOOTNOTE_TRY(const auto retrieval, services.retriever.retrieve(call, found.corpus.id, query, options));
  return http::Response::json(200, render_retrieval(retrieval));
}

}  // namespace footnote::api
