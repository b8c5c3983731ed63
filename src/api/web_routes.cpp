#include "api/web_routes.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include "base/page_url.h"
#include "base/text.h"
#include "base/utf8.h"
#include "crawl/page_text.h"
#include "retrieve/mmr.h"

namespace footnote::api {

namespace {

using access::Caller;

constexpr std::size_t kWebQueryBytesMax = 2'000;
constexpr std::size_t kWebTextBytesMax = 1u << 20;
constexpr std::size_t kWebNameBytesMax = 200;
constexpr std::size_t kResearchHits = 5;
constexpr std::chrono::minutes kWebTimeout{2};

using Page = Result<crawl::PageText>;

/// The pages in the order of their URLs, several at once.
std::vector<Page> read_pages(const WebServices& services, const CallContext& call, const std::vector<std::string>& urls) {
  std::vector<Page> pages(urls.size(), fail(ErrorCode::kCancelled, "not fetched"));
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = 0; (i = next.fetch_add(1)) < urls.size();) pages[i] = crawl::read_page(call, services.crawler, urls[i]);
  };
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 1; i < std::min(kWebFetchesAtOnce, urls.size()); ++i) threads.emplace_back(work);
    work();
  }
  return pages;
}

std::string cut_to(std::string_view text, std::size_t characters_max) {
  std::size_t bytes = 0;
  for (std::size_t left = characters_max; left > 0 && bytes < text.size(); --left) {
    ++bytes;
    while (bytes < text.size() && (static_cast<unsigned char>(text[bytes]) & 0xC0) == 0x80) ++bytes;
  }
  return std::string(text.substr(0, bytes));
}

JsonObject render_fetched(const std::string& url, const Page& page) {
  if (!page) {
    const std::string& message = page.error().public_message.empty() ? page.error().message : page.error().public_message;
    return {{"url", url}, {"ok", false}, {"title", ""}, {"text", ""}, {"html", ""}, {"error", message}};
  }
  const bool is_html = page->document.media_type == "text/html";
  return {{"url", page->url},
          {"ok", true},
          {"title", page->title},
          {"text", cut_to(page->text, kWebTextCharactersMax)},
          {"html", is_html ? cut_to(repair_utf8(page->document.content), kWebHtmlCharactersMax) : std::string()}};
}

/// Keeps the pages in a corpus, each as the document of its own address.
Result<void> store_pages(const WebServices& services, const Caller& caller, const CallContext& call,
                         const std::optional<std::string>& corpus_name, const std::vector<Page>& pages) {
  if (!corpus_name) return {};
  if (!caller.may(KeyScope::kIngest)) return fail(ErrorCode::kPermissionDenied, "'store' needs a key with the scope ingest");
  FOOTNOTE_TRY(const Corpus corpus, services.catalog.ensure_corpus(call, caller.workspace, *corpus_name, services.embedder.space()));
  for (const Page& page : pages) {
    if (!page) continue;
    FOOTNOTE_TRY(const Source source, services.catalog.ensure_source(call, corpus.id, SourceKind::kUrl, page->document.key));
    const ingest::IngestOptions options{.foreign_key = ingest::ForeignKey::kReport, .secrets = services.secrets};
    FOOTNOTE_CHECK(services.ingestor.ingest_documents(call, corpus, source.id, {&page->document, 1}, options));
  }
  return {};
}

Result<std::vector<std::string>> parse_urls(const JsonArray& array) {
  std::vector<std::string> urls;
  for (const Json& entry : array) {
    if (!entry.is_string()) return fail_field(ErrorCode::kInvalidArgument, "urls", "'urls' is a list of web addresses");
    urls.emplace_back(entry.get_string());
  }
  if (urls.empty() || urls.size() > kWebUrlsMax) {
    return fail_field(ErrorCode::kInvalidArgument, "urls", "'urls' has 1 to {} web addresses", kWebUrlsMax);
  }
  return urls;
}

Result<http::Response> web_extract(const WebServices& services, const Caller& caller, const http::Request& request,
                                   const CallContext& call) {
  FOOTNOTE_TRY(const Json body, parse_request_json(request.body));
  std::vector<std::string> urls;
  std::optional<std::string> store;
  if (const JsonArray* bare = body.if_array()) {
    FOOTNOTE_TRY(urls, parse_urls(*bare));
  } else {
    FOOTNOTE_TRY(const JsonReader reader, JsonReader::of(body));
    FOOTNOTE_CHECK(reader.only({"urls", "store"}));
    FOOTNOTE_TRY(const JsonArray* list, reader.required_array("urls", kWebUrlsMax));
    FOOTNOTE_TRY(urls, parse_urls(*list));
    FOOTNOTE_TRY(store, reader.optional_string("store", kWebNameBytesMax));
  }
  const std::vector<Page> pages = read_pages(services, call, urls);
  FOOTNOTE_CHECK(call.check());
  FOOTNOTE_CHECK(store_pages(services, caller, call, store, pages));
  JsonArray items;
  for (std::size_t i = 0; i < urls.size(); ++i) items.push_back(render_fetched(urls[i], pages[i]));
  return http::Response::json(200, JsonObject{{"items", std::move(items)}});
}

Result<http::Response> web_fetch(const WebServices& services, const Caller& caller, const http::Request& request, const CallContext& call) {
  FOOTNOTE_TRY(const Json body, parse_request_json(request.body));
  FOOTNOTE_TRY(const JsonReader reader, JsonReader::of(body));
  FOOTNOTE_CHECK(reader.only({"url", "store"}));
  FOOTNOTE_TRY(const std::string url, reader.required_string("url", kPageUrlBytesMax));
  FOOTNOTE_TRY(const auto store, reader.optional_string("store", kWebNameBytesMax));
  const std::vector<Page> pages = read_pages(services, call, {url});
  FOOTNOTE_CHECK(call.check());
  FOOTNOTE_CHECK(store_pages(services, caller, call, store, pages));
  return http::Response::json(200, JsonObject{{"item", render_fetched(url, pages.front())}});
}

/// Without a search server, a retry fails until there is one.
http::Response no_search() {
  http::Response response = render_error(
      {ErrorCode::kUnavailable, "no search server is configured; set SEARXNG_URL (web.search_url) to a SearxNG's address", {}});
  response.headers.remove("retry-after");
  response.headers.set("x-should-retry", "false");
  return response;
}

/// By how close title and snippet are to the query, without repeating itself.
Result<std::vector<WebResult>> ranked_by_meaning(const WebServices& services, const CallContext& call, const std::string& query,
                                                 std::vector<WebResult> results, std::size_t count) {
  if (results.empty()) return results;
  std::vector<std::string> texts;
  for (const WebResult& result : results) texts.push_back(result.title + "\n" + result.snippet);
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  const std::string_view asked = query;
  FOOTNOTE_TRY(const auto question,
               services.embedder.embed(call, {&asked, 1}, {.kind = EmbedKind::kQuery, .overflow = Overflow::kTruncate}));
  FOOTNOTE_TRY(const auto vectors, services.embedder.embed(call, views, {.kind = EmbedKind::kPassage, .overflow = Overflow::kTruncate}));
  std::vector<retrieve::MmrCandidate> candidates;
  for (const Embedding& embedding : vectors) {
    const auto& vector = embedding.windows.at(0).values;
    candidates.push_back({retrieve::cosine_of(question.at(0).windows.at(0).values, vector), vector});
  }
  std::vector<WebResult> out;
  for (const std::size_t index : retrieve::pick_diverse(candidates, count, services.lambda)) out.push_back(std::move(results[index]));
  return out;
}

Result<std::int64_t> parse_count(std::optional<std::string_view> text, std::int64_t otherwise) {
  if (!text) return otherwise;
  const auto number = parse_whole_number<std::int64_t>(*text);
  if (!number || *number < 1 || *number > kWebResultsMax) {
    return fail_field(ErrorCode::kInvalidArgument, "k", "'k' is a number from 1 to {}", kWebResultsMax);
  }
  return *number;
}

Result<http::Response> web_search(const WebServices& services, const Caller&, const http::Request& request, const CallContext& call) {
  const std::string query(trim(request.query_value("q").value_or("")));
  const std::string language(request.query_value("lang").value_or(""));
  const std::string_view rank = request.query_value("rank").value_or("");
  if (query.empty() || query.size() > kWebQueryBytesMax) {
    return fail_field(ErrorCode::kInvalidArgument, "q", "'q' is the query, at most {} bytes", kWebQueryBytesMax);
  }
  if (!rank.empty() && rank != "semantic") return fail_field(ErrorCode::kInvalidArgument, "rank", "'rank' is 'semantic' or missing");
  FOOTNOTE_TRY(const std::int64_t wanted, parse_count(request.query_value("k"), static_cast<std::int64_t>(services.top_k)));
  const auto count = static_cast<std::size_t>(wanted);
  if (services.search == nullptr) return no_search();
  FOOTNOTE_TRY(auto results, services.search->search(call, query, language, rank.empty() ? count : kWebResultsMax));
  if (!rank.empty()) {
    FOOTNOTE_TRY(results, ranked_by_meaning(services, call, query, std::move(results), count));
  }
  JsonArray list;
  for (const WebResult& result : results)
    list.push_back(JsonObject{{"title", result.title}, {"url", result.url}, {"snippet", result.snippet}});
  return http::Response::json(200, JsonObject{{"query", query}, {"lang", language}, {"results", std::move(list)}});
}

JsonArray render_digest_sources(const answer::DigestRequest& request, const answer::Digest& digest) {
  JsonArray out;
  for (std::size_t i = 0; i < request.texts.size(); ++i) {
    const int number = static_cast<int>(i) + 1;
    const bool cited = std::ranges::find(digest.cited, number) != digest.cited.end();
    out.push_back(JsonObject{{"n", number}, {"title", request.texts[i].title}, {"url", request.texts[i].url}, {"cited", cited}});
  }
  return out;
}

void add_pages(const std::vector<std::string>& urls, const std::vector<Page>& pages, answer::DigestRequest& digest, JsonArray& failed) {
  for (std::size_t i = 0; i < pages.size(); ++i) {
    if (pages[i]) {
      digest.texts.push_back({pages[i]->url, pages[i]->title, pages[i]->text});
    } else {
      failed.push_back(JsonObject{{"url", urls[i]}, {"error", pages[i].error().message}});
    }
  }
}

Result<http::Response> web_summarize(const WebServices& services, const Caller& caller, const http::Request& request,
                                     const CallContext& call) {
  FOOTNOTE_TRY(const Json body, parse_request_json(request.body));
  FOOTNOTE_TRY(const JsonReader reader, JsonReader::of(body));
  FOOTNOTE_CHECK(reader.only({"urls", "text", "query", "model", "lang", "store"}));
  FOOTNOTE_TRY(const auto text, reader.optional_string("text", kWebTextBytesMax));
  FOOTNOTE_TRY(const auto query, reader.optional_string("query", kWebQueryBytesMax));
  FOOTNOTE_TRY(const auto language, reader.optional_string("lang", kWebNameBytesMax));
  FOOTNOTE_TRY(const auto store, reader.optional_string("store", kWebNameBytesMax));
  if (text.has_value() == reader.has("urls")) return fail_field(ErrorCode::kInvalidArgument, "urls", "send either 'urls' or 'text'");
  answer::DigestRequest digest{.query = query.value_or(""), .language = language.value_or(""), .texts = {}};
  JsonArray failed;
  if (text) {
    digest.texts.push_back({"", "", *text});
  } else {
    FOOTNOTE_TRY(const JsonArray* list, reader.required_array("urls", kWebUrlsMax));
    FOOTNOTE_TRY(const auto urls, parse_urls(*list));
    const std::vector<Page> pages = read_pages(services, call, urls);
    FOOTNOTE_CHECK(call.check());
    FOOTNOTE_CHECK(store_pages(services, caller, call, store, pages));
    add_pages(urls, pages, digest, failed);
    if (digest.texts.empty()) return std::unexpected(pages.front().error());
  }
  FOOTNOTE_TRY(const answer::Digest out, services.digest.write(call, digest));
  return http::Response::json(
      200,
      JsonObject{
          {"summary", out.summary}, {"sources", render_digest_sources(digest, out)}, {"model", out.model}, {"failed", std::move(failed)}});
}

struct ResearchBody {
  std::string query;
  std::string language;
  std::size_t count = 5;
  std::optional<std::string> store;
  std::string corpus{kDefaultCorpus};
};

Result<ResearchBody> parse_research(const WebServices& services, const http::Request& request) {
  ResearchBody out;
  out.count = services.top_k;
  if (request.method == http::Method::kGet) {
    out.query = trim(request.query_value("query").value_or(request.query_value("q").value_or("")));
    out.language = request.query_value("lang").value_or("");
    out.corpus = request.query_value("corpus").value_or(kDefaultCorpus);
    FOOTNOTE_TRY(const auto count, parse_count(request.query_value("k"), static_cast<std::int64_t>(out.count)));
    out.count = static_cast<std::size_t>(count);
  } else {
    FOOTNOTE_TRY(const Json body, parse_request_json(request.body));
    FOOTNOTE_TRY(const JsonReader reader, JsonReader::of(body));
    FOOTNOTE_CHECK(reader.only({"query", "k", "model", "lang", "store", "corpus"}));
    FOOTNOTE_TRY(out.query, reader.required_string("query", kWebQueryBytesMax));
    FOOTNOTE_TRY(const auto count, reader.optional_integer("k", 1, kWebResultsMax));
    FOOTNOTE_TRY(const auto language, reader.optional_string("lang", kWebNameBytesMax));
    FOOTNOTE_TRY(out.store, reader.optional_string("store", kWebNameBytesMax));
    FOOTNOTE_TRY(const auto corpus, reader.optional_string("corpus", kWebNameBytesMax));
    if (count) out.count = static_cast<std::size_t>(*count);
    out.language = language.value_or("");
    out.corpus = corpus.value_or(std::string(kDefaultCorpus));
  }
  if (out.query.empty() || out.query.size() > kWebQueryBytesMax) {
    return fail_field(ErrorCode::kInvalidArgument, "query", "'query' is the question, at most {} bytes", kWebQueryBytesMax);
  }
  return out;
}

/// Passages of the corpus, if it answers; a corpus that does not exist holds none.
Result<void> add_stored(const WebServices& services, const Caller& caller, const CallContext& call, const ResearchBody& asked,
                        answer::DigestRequest& digest) {
  const auto found = services.corpora.find(call, caller.workspace, asked.corpus, kAskProfile);
  if (!found) return found.error().code == ErrorCode::kNotFound ? Result<void>{} : std::unexpected(found.error());
  retrieve::RetrieveOptions options{.profile = found->profile};
  options.profile.top_k = kResearchHits;
  FOOTNOTE_TRY(const auto retrieval, services.retriever.retrieve(call, found->corpus.id, asked.query, options));
  if (!retrieval.gate.grounded) return {};
  for (const Hit& hit : retrieval.hits) {
    const std::string address = hit.document.url.empty() ? hit.document_key : hit.document.url;
    const auto same = std::ranges::find(digest.texts, address, &answer::DigestText::url);
    if (same == digest.texts.end()) {
      digest.texts.push_back({address, hit.document.title, hit.chunk.text});
    } else {
      same->text += "\n\n" + hit.chunk.text;
    }
  }
  return {};
}

Result<http::Response> web_research(const WebServices& services, const Caller& caller, const http::Request& request,
                                    const CallContext& call) {
  FOOTNOTE_TRY(const ResearchBody asked, parse_research(services, request));
  answer::DigestRequest digest{.query = asked.query, .language = asked.language, .texts = {}};
  FOOTNOTE_CHECK(add_stored(services, caller, call, asked, digest));
  if (services.search == nullptr && digest.texts.empty()) return no_search();
  JsonArray failed;
  if (services.search != nullptr) {
    FOOTNOTE_TRY(auto results, services.search->search(call, asked.query, asked.language, kWebResultsMax));
    FOOTNOTE_TRY(results, ranked_by_meaning(services, call, asked.query, std::move(results), asked.count));
    std::vector<std::string> urls;
    for (const WebResult& result : results) urls.push_back(result.url);
    const std::vector<Page> pages = read_pages(services, call, urls);
    FOOTNOTE_CHECK(call.check());
    FOOTNOTE_CHECK(store_pages(services, caller, call, asked.store, pages));
    add_pages(urls, pages, digest, failed);
  }
  FOOTNOTE_TRY(const answer::Digest out, services.digest.write(call, digest));
  return http::Response::json(200, JsonObject{{"query", asked.query},
                                              {"model", out.model},
                                              {"lang", asked.language},
                                              {"sources", render_digest_sources(digest, out)},
                                              {"summary", out.summary},
                                              {"failed", std::move(failed)}});
}

}  // namespace

std::vector<Route> make_web_routes(const WebServices& services) {
  const auto route = [&](http::Method method, std::string pattern, auto* function, std::string summary) {
    return Route{.access = Access::with(KeyScope::kRead),
                 .method = method,
                 .pattern = std::move(pattern),
                 .handler = bind(services, function),
                 .timeout = kWebTimeout,
                 .summary = std::move(summary)};
  };
  return {route(http::Method::kPost, "/extract", web_extract, "The text of web pages"),
          route(http::Method::kPost, "/fetch", web_fetch, "The text of a web page"),
          route(http::Method::kGet, "/search", web_search, "Search the web"),
          route(http::Method::kPost, "/summarize", web_summarize, "A summary of web pages or of a text, with citations"),
          route(http::Method::kPost, "/research", web_research, "Search the web and a corpus, and sum up with citations"),
          route(http::Method::kGet, "/research", web_research, "The same")};
}

}  // namespace footnote::api
