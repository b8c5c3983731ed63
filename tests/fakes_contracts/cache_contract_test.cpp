#include "contracts/cache_contract.h"

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

INSTANTIATE_TEST_SUITE_P(Fakes, CacheContract, ::testing::Values(CacheCase{"memory", make_cache}), cache_case_name);

}  // namespace
}  // namespace footnote::contract
