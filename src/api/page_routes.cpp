#include "api/page_routes.h"

#include <algorithm>
#include <set>

#include "api/asset.h"
#include "prompt/example_question.h"

namespace footnote::api {

namespace {

constexpr AssetHeaders kPageHeaders{
    .security_policy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"};

/// Browsers accept text/html; vector store clients query this path for the server version.
bool wants_page(const http::Request& request) {
  return request.headers.find("accept").value_or("").find("text/html") != std::string_view::npos;
}

/// Serves the page to browsers, and name and version to programs.
Handler page_or_version(Handler page, const std::string& version) {
  const std::string about =
      to_text(JsonObject{{"title", "footnote - a vector store that answers"}, {"version", kQdrantVersion}, {"commit", version}});
  return [page = std::move(page), about](const access::Caller& caller, const http::Request& request,
                                         const CallContext& call) -> Result<http::Response> {
    Result<http::Response> response =
        wants_page(request) ? page(caller, request, call) : http::Response::text(200, "application/json", about);
    if (response) response->headers.set("vary", "accept");
    return response;
  };
}

/// Questions that are made for a corpus of one's own, and the passages that are looked at for them.
constexpr std::size_t kMadeQuestions = 5;
constexpr std::size_t kHeadingsRead = 64;

/// Passages of the newest generations: as few generations as hold some, since a large corpus has millions of passages in all.
Result<std::vector<ChunkId>> newest_chunks(const ChunkReader& chunks, const CallContext& call, const Corpus& corpus) {
  for (Generation back = 8;; back *= 8) {
    const Generation after = corpus.generation > back ? corpus.generation - back : 0;
    FOOTNOTE_TRY(auto ids, chunks.chunk_ids(call, corpus.id, after, corpus.generation));
    if (!ids.empty() || after == 0) return ids;
  }
}

/// Questions about the headings of documents that everybody may see, one per document.
Result<std::vector<std::string>> made_questions(const ChunkReader& chunks, const CallContext& call, const Corpus& corpus) {
  FOOTNOTE_TRY(const auto ids, newest_chunks(chunks, call, corpus));
  std::vector<ChunkId> spread;
  const std::size_t count = std::min(kHeadingsRead, ids.size());
  for (std::size_t i = 0; i < count; ++i) spread.push_back(ids[i * ids.size() / count]);
  FOOTNOTE_TRY(const auto records, chunks.chunks(call, corpus.id, spread));
  std::vector<std::string> out;
  std::set<std::string> asked_documents;
  for (const auto& [chunk, key, document] : records) {
    if (chunk.died || chunk.heading_path.empty() || !document.acl_labels.empty() || out.size() >= kMadeQuestions) continue;
    const auto question = prompt::example_question(document.title, chunk.heading_path.back(), document.language);
    if (question && asked_documents.insert(key).second) out.push_back(*question);
  }
  return out;
}

/// The operator's questions; for another corpus, or without any, questions made from the headings of the corpus.
Result<http::Response> examples(const Services& services, const access::Caller& caller, const http::Request& request,
                                const CallContext& call) {
  std::vector<std::string> questions;
  const std::string_view name = request.query_value("project_key").value_or(kDefaultCorpus);
  if (name == kDefaultCorpus) questions = services.example_questions;
  const auto corpus = services.catalog.find_corpus(call, caller.workspace, name);
  if (!corpus && corpus.error().code != ErrorCode::kNotFound) return std::unexpected(corpus.error());
  if (questions.empty() && corpus) {
    FOOTNOTE_TRY(questions, made_questions(services.chunks, call, *corpus));
  }
  return http::Response::json(
      200, JsonObject{{"questions", JsonArray(questions.begin(), questions.end())}, {"ingest_command", services.ingest_command}});
}

}  // namespace

std::vector<Route> make_page_routes(const Services& services) {
  std::vector<Route> routes;
  for (const Asset& asset : first_page_assets()) {
    const bool page = asset.name == "index.html";
    routes.push_back(
        {.access = Access::anyone(),
         .method = http::Method::kGet,
         .pattern = page ? "/" : fmt::format("/assets/{}", asset.name),
         .handler = page ? page_or_version(serve_asset(asset, kPageHeaders), services.version) : serve_asset(asset, kPageHeaders),
         .lane = http::Lane::kInline,
         .summary = page ? "The start page" : "A file of the start page"});
  }
  routes.push_back({.access = Access::with(KeyScope::kRead),
                    .method = http::Method::kGet,
                    .pattern = "/api/examples",
                    .handler = bind(services, examples),
                    .summary = "Example questions, and how to ingest documents"});
  return routes;
}

}  // namespace footnote::api
