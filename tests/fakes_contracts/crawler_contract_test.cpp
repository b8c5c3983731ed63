#include "contracts/crawler_contract.h"

#include "contracts/web_search_contract.h"
#include "fakes/fake_crawler.h"
#include "fakes/fake_web_search.h"

namespace footnote::contract {
namespace {

CrawlerHarness make_crawler() {
  const auto crawler = std::make_shared<fakes::FakeCrawler>();
  const std::string origin = "http://site.example";
  crawler->put(
      origin + "/page",
      {.status = 200, .media_type = "text/html", .charset = "utf-8", .body = "<p>hello</p>", .etag = "\"v1\"", .robots = "noindex"});
  crawler->put(origin + "/from", {.status = 302, .location = "/page"});
  crawler->put(origin + "/loop", {.status = 302, .location = "/loop"});
  crawler->put(origin + "/out", {.status = 302, .location = "file:///etc/passwd"});
  crawler->put(origin + "/photo", {.status = 200, .media_type = "image/png", .body = "png"});
  crawler->put(origin + "/large", {.status = 200, .media_type = "text/plain", .body = std::string(100'000, 'x')});
  crawler->forbid("http://10.0.0.1/");
  return {crawler, origin, "http://10.0.0.1/"};
}

INSTANTIATE_TEST_SUITE_P(Fakes, CrawlerContract, ::testing::Values(CrawlerCase{"memory", make_crawler}), crawler_case_name);

WebSearchHarness make_search() {
  return {std::make_shared<fakes::FakeWebSearch>(std::map<std::string, std::vector<WebResult>, std::less<>>{
      {"lamps",
       {{"One", "http://a.example/1", "first"}, {"Two", "https://b.example/2", "second"}, {"Three", "http://c.example/3", "third"}}}})};
}

INSTANTIATE_TEST_SUITE_P(Fakes, WebSearchContract, ::testing::Values(WebSearchCase{"memory", make_search}), web_search_case_name);

}  // namespace
}  // namespace footnote::contract
