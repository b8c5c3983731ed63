// Contract suites for the local embedder, reader and judge with real models, the late scorer, and cross-encoders with tiny random models.
// Those of the indexes are in local_index_test.cpp.
#include "contracts/embedder_contract.h"
#include "contracts/reader_contract.h"
#include "contracts/reranker_contract.h"
#include "engine/nn/fixture_for_test.h"
#include "engine/nn/tiny_model_for_test.h"
#include "providers/local/block_reader.h"
#include "providers/local/local_judge.h"
#include "providers/local/local_late_scorer.h"
#include "providers/local/local_reranker.h"
#include "providers/local/model_for_test.h"
#include "providers/local/sentence_reader.h"
#include "support/late_harness.h"

namespace footnote::contract {
namespace {

/// Sentences end with a full stop, question or exclamation mark; good enough for the suite's texts.
std::vector<TextRange> split_at_stops(std::string_view text) {
  constexpr std::string_view kSpaces = " \n";
  std::vector<TextRange> out;
  std::size_t begin = text.find_first_not_of(kSpaces);
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find_first_of(".?!", begin), text.size() - 1) + 1;
    out.push_back({begin, end});
    begin = text.find_first_not_of(kSpaces, end);
  }
  return out;
}

std::shared_ptr<Embedder> make_embedder() {
  return {&model_for_test(), [](Embedder*) {}};
}
std::shared_ptr<Reranker> make_judge(const LocalJudge::Reading& reading) {
  auto reader = nn::PairReader::open(nn::testing::model_path().parent_path() / "judge", {.threads = 2});
  EXPECT_TRUE(reader.has_value()) << (reader ? "" : reader.error().message);
  return std::make_shared<LocalJudge>(*std::move(reader), reading);
}
std::shared_ptr<Reader> make_block_reader() {
  auto model = nn::PairReader::open(nn::testing::model_path().parent_path() / "reader", {.threads = 2});
  return std::make_shared<BlockReader>(*std::move(model), BlockReaderOptions{.quote_bytes_max = 1});
}

std::shared_ptr<Reader> make_reader() { return std::make_shared<SentenceReader>(model_for_test(), split_at_stops); }

std::shared_ptr<Reranker> make_reranker(nn::Family family) {
  // The folder may be deleted once the reranker is open: everything is mapped.
  const nn::testing::TinyModel model(family, 1);
  auto reranker = LocalReranker::open(model.path());
  EXPECT_TRUE(reranker.has_value()) << (reranker ? "" : reranker.error().message);
  return *std::move(reranker);
}

INSTANTIATE_TEST_SUITE_P(Local, RerankerContract,
                         ::testing::Values(RerankerCase{"LocalJudge", [] { return make_judge({.windows_max = 1}); }},
                                           RerankerCase{"LocalJudgeAllWindows", [] { return make_judge({}); }},
                                           RerankerCase{"LocalJudgeExcerpts", [] { return make_judge({.excerpt_bytes = 80}); }},
                                           RerankerCase{"LocalReranker", [] { return make_reranker(nn::Family::kBert); }, false},
                                           RerankerCase{"LocalRerankerXlmR", [] { return make_reranker(nn::Family::kXlmRoberta); }, false}),
                         reranker_case_name);
INSTANTIATE_TEST_SUITE_P(Local, LateScorerContract,
                         ::testing::Values(LateScorerCase{"LocalLateScorer",
                                                          [] { return std::make_shared<MemoryLateHarness<LocalLateScorer>>(); }}),
                         late_scorer_case_name);
INSTANTIATE_TEST_SUITE_P(Local, EmbedderContract, ::testing::Values(EmbedderCase{"LocalEmbedder", make_embedder}), embedder_case_name);
INSTANTIATE_TEST_SUITE_P(Local, ReaderContract,
                         ::testing::Values(ReaderCase{"SentenceReader", make_reader}, ReaderCase{"BlockReader", make_block_reader}),
                         reader_case_name);

}  // namespace
}  // namespace footnote::contract
