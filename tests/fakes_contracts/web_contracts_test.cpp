#include "contracts/cache_contract.h"
#include "contracts/crawler_contract.h"
#include "contracts/web_search_contract.h"
#include "fakes/fake_crawler.h"
#include "fakes/fake_web_search.h"
#include "fakes/memory_cache.h"

namespace footnote::contract {
namespace {

CacheHarness make_cache() {
  struct CacheAndClock {
    ManualClock clock{UtcTime{std::chrono::milliseconds{1'772'357'400'125}}};
    fakes::MemoryCache cache{clock};
  };
  const auto both = std::make_shared<CacheAndClock>();
  return {std::shared_ptr<Cache>(both, &both->cache), [both](std::chrono::seconds time) { both->clock.advance(time); }};
}

std::shared_ptr<Crawler> make_crawler() {
  auto crawler = std::make_shared<fakes::FakeCrawler>();
  crawler->put_page("https://example.org/", "text/html", "<p>Hello</p>");
  crawler->redirect("https://example.org/old", "https://example.org/");
  crawler->redirect("https://example.org/trap", "http://169.254.169.254/");
  return crawler;
}

std::shared_ptr<WebSearch> engine_that_finds(std::vector<WebResult> results) {
  auto engine = std::make_shared<fakes::FakeWebSearch>();
  for (WebResult& result : results) engine->put(std::move(result));
  return engine;
}
std::shared_ptr<WebSearch> engine_that_is_down() {
  auto engine = std::make_shared<fakes::FakeWebSearch>();
  engine->faults().fail_after(0, ErrorCode::kUnavailable);
  return engine;
}

INSTANTIATE_TEST_SUITE_P(Fakes, CacheContract, ::testing::Values(CacheCase{"memory", make_cache}), cache_case_name);
INSTANTIATE_TEST_SUITE_P(Fakes, CrawlerContract,
                         ::testing::Values(CrawlerCase{"fake", make_crawler, "https://example.org/", "https://example.org/old",
                                                       "https://example.org/trap", "https://nobody.example/"}),
                         crawler_case_name);
INSTANTIATE_TEST_SUITE_P(Fakes, WebSearchContract, ::testing::Values(WebSearchCase{"fake", engine_that_finds, engine_that_is_down}),
                         web_search_case_name);

}  // namespace
}  // namespace footnote::contract
