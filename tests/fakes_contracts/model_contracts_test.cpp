#include "contracts/embedder_contract.h"
#include "contracts/llm_contract.h"
#include "contracts/reader_contract.h"
#include "contracts/reranker_contract.h"
#include "fakes/fake_embedder.h"
#include "fakes/fake_llm.h"
#include "fakes/fake_reader.h"
#include "fakes/fake_reranker.h"
#include "fakes/memory_late_scorer.h"
#include "support/late_harness.h"

namespace footnote::contract {
namespace {

std::shared_ptr<fakes::FakeLlm> llm_that_says(std::vector<std::string> pieces) {
  auto llm = std::make_shared<fakes::FakeLlm>();
  llm->say(std::move(pieces));
  return llm;
}
std::shared_ptr<Llm> llm_that_breaks_off() {
  auto llm = llm_that_says({"one ", "two "});
  llm->fail_after(1, ErrorCode::kUnavailable);
  return llm;
}
std::shared_ptr<Llm> llm_that_hangs() {
  auto llm = llm_that_says({"one ", "two "});
  llm->hang_after(1);
  return llm;
}

std::shared_ptr<Llm> llm_that_fails(ErrorCode code) {
  auto llm = llm_that_says({"one "});
  llm->fail_after(0, code);
  return llm;
}
std::shared_ptr<Llm> llm_that_is_down() { return llm_that_fails(ErrorCode::kUnavailable); }
std::shared_ptr<Llm> llm_over_limit() { return llm_that_fails(ErrorCode::kResourceExhausted); }

INSTANTIATE_TEST_SUITE_P(Fakes, EmbedderContract,
                         ::testing::Values(EmbedderCase{"fake", [] { return std::make_shared<fakes::FakeEmbedder>(); }}),
                         embedder_case_name);
INSTANTIATE_TEST_SUITE_P(Fakes, LlmContract,
                         ::testing::Values(LlmCase{"fake", llm_that_says, llm_that_breaks_off, llm_that_hangs, llm_that_is_down,
                                                   llm_over_limit}),
                         llm_case_name);
INSTANTIATE_TEST_SUITE_P(Fakes, ReaderContract, ::testing::Values(ReaderCase{"fake", [] { return std::make_shared<fakes::FakeReader>(); }}),
                         reader_case_name);
INSTANTIATE_TEST_SUITE_P(Fakes, LateScorerContract,
                         ::testing::Values(LateScorerCase{"fake",
                                                          [] { return std::make_shared<MemoryLateHarness<fakes::MemoryLateScorer>>(); }}),
                         late_scorer_case_name);
INSTANTIATE_TEST_SUITE_P(Fakes, RerankerContract,
                         ::testing::Values(RerankerCase{"fake", [] { return std::make_shared<fakes::FakeReranker>(); }}),
                         reranker_case_name);

}  // namespace
}  // namespace footnote::contract
