#include "api/kb_search.h"

#include <algorithm>
#include <map>

#include "api/code_points.h"
#include "api/kb_filters.h"
#include "api/kb_wire.h"
#include "base/text.h"
#include "base/utf8.h"
#include "retrieve/words.h"

namespace footnote::api {

namespace {

constexpr std::int64_t kSearchLimitMax = 100;
constexpr std::size_t kHighlightsMax = 50;

/// Where words of the query occur in a passage, as code point ranges.
JsonArray highlights_of(std::string_view text, const std::vector<std::string>& wanted) {
  JsonArray out;
  CodePointOffsets offsets(text);
  const auto is_letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || static_cast<unsigned char>(c) >= 0x80; };
  for (std::size_t at = 0; at < text.size() && out.size() < kHighlightsMax;) {
    if (!is_letter(text[at])) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && is_letter(text[end])) ++end;
    const auto words = retrieve::content_words(text.substr(at, end - at));
    const bool hit = std::ranges::any_of(words, [&](const std::string& word) { return std::ranges::find(wanted, word) != wanted.end(); });
    if (hit) out.push_back(JsonArray{offsets.at(at), offsets.at(end)});
    at = end;
  }
  return out;
}

/// How many of the hits have each value.
JsonObject facets_of(const std::vector<Hit>& hits) {
  std::map<std::string, std::map<std::string, std::int64_t>> counts;
  for (const Hit& hit : hits) {
    const auto add = [&](const char* facet, const std::string& value) {
      if (!value.empty()) ++counts[facet][value];
    };
    add("source_types", hit.chunk.source_type);
    add("languages", hit.document.language);
    add("media_types", hit.document.media_type);
    add("canonical_types", hit.document.canonical_type);
    add("source_paths", hit.document_key);
    for (const std::string& tag : hit.document.tags) add("tags", tag);
  }
  JsonObject out;
  for (const auto& [facet, values] : counts) {
    JsonObject& entry = out[facet].emplace_object();
    for (const auto& [value, count] : values) entry[value] = count;
  }
  return out;
}

Result<Profile> parse_profile(const JsonReader& reader) {
  FOOTNOTE_TRY(const auto name, reader.optional_string("profile", 50));
  if (!name || *name == "ask") return kAskProfile;
  if (*name == "kb") return kKnowledgeBaseProfile;
  if (*name == "visitor") return kVisitorProfile;
  return fail_field(ErrorCode::kInvalidArgument, "profile", "'profile' is ask, kb or visitor");
}

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
  FOOTNOTE_CHECK(reader.only({"query", "project_key", "limit", "filters", "acl_labels", "prefix", "typos", "profile", "highlights"}));
  FOOTNOTE_TRY(const std::string query, reader.required_string("query", retrieve::kQuestionBytesMax));
  FOOTNOTE_TRY(const auto name, reader.optional_string("project_key", 200));
  FOOTNOTE_TRY(const auto limit, reader.optional_integer("limit", 1, kSearchLimitMax));
  FOOTNOTE_TRY(const Profile profile, parse_profile(reader));
  FOOTNOTE_TRY(const auto highlights, reader.optional_bool("highlights"));
  FOOTNOTE_TRY(AskedFilter asked, parse_asked_filter(reader));
  FOOTNOTE_CHECK(apply_labels(caller, asked.filter));
  if (asked.corpus_names && asked.corpus_names->size() > 1) {
    return fail_field(ErrorCode::kUnsupported, "filters.project_keys", "a search goes to one corpus; 'filters.project_keys' names {}",
                      asked.corpus_names->size());
  }
  FOOTNOTE_TRY(
      const retrieve::AskedCorpus found,
      services.corpora.find(call, caller.workspace,
                            asked.corpus_names ? asked.corpus_names->front() : name.value_or(std::string(kDefaultCorpus)), profile));
  retrieve::RetrieveOptions options{.profile = found.profile, .filter = std::move(asked.filter)};
  FOOTNOTE_TRY(const auto prefix, reader.optional_bool("prefix"));
  FOOTNOTE_TRY(const auto typos, reader.optional_bool("typos"));
  options.prefix = prefix.value_or(false);
  options.typos = typos.value_or(false);
  if (limit) options.profile.top_k = static_cast<std::size_t>(*limit);
  FOOTNOTE_TRY(const auto retrieval, services.retriever.retrieve(call, found.corpus.id, query, options));
  Json out = render_retrieval(retrieval);
  out.as_object()["facets"] = facets_of(retrieval.hits);
  if (highlights.value_or(false)) {
    const auto wanted = retrieve::content_words(query);
    JsonArray& hits = out.as_object()["hits"].as_array();
    for (std::size_t i = 0; i < hits.size(); ++i) hits[i].as_object()["highlights"] = highlights_of(retrieval.hits[i].chunk.text, wanted);
  }
  return http::Response::json(200, out);
}

}  // namespace footnote::api
