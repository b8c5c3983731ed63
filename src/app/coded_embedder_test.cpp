#include "app/coded_embedder.h"

#include <gtest/gtest.h>

#include "contracts/embedder_contract.h"
#include "fakes/fake_embedder.h"

namespace footnote {

namespace contract {
namespace {

std::shared_ptr<Embedder> make_coded() {
  return std::make_shared<app::CodedEmbedder>(std::make_unique<fakes::FakeEmbedder>(), std::make_unique<fakes::FakeEmbedder>());
}

INSTANTIATE_TEST_SUITE_P(Coded, EmbedderContract, ::testing::Values(EmbedderCase{"CodedEmbedder", make_coded}), embedder_case_name);

}  // namespace
}  // namespace contract

namespace app {
namespace {

TEST(CodedEmbedder, TakesVectorsOfOneAndCodesOfTheOther) {
  auto vectors = std::make_unique<fakes::FakeEmbedder>(fakes::FakeEmbedderOptions{.dimension = 32});
  auto codes = std::make_unique<fakes::FakeEmbedder>();
  fakes::FakeEmbedder* const coder = codes.get();
  CodedEmbedder both(std::move(vectors), std::move(codes));
  EXPECT_EQ(both.space().dimension, 32);
  EXPECT_EQ(both.code_form(), coder->code_form());
  const std::string_view texts[] = {"Shipping takes three days."};
  const Embedding question = both.embed({}, texts, {.kind = EmbedKind::kQuery, .codes = true})->at(0);
  EXPECT_EQ(question.windows.at(0).values.size(), 32U);
  EXPECT_NE(question.question_codes.form, 0U);
  EXPECT_NE(both.embed({}, texts, {.codes = true})->at(0).passage_codes.form, 0U);
}

TEST(CodedEmbedder, MakesNoCodesThatNobodyAskedFor) {
  auto codes = std::make_unique<fakes::FakeEmbedder>();
  fakes::FakeEmbedder* const coder = codes.get();
  CodedEmbedder both(std::make_unique<fakes::FakeEmbedder>(), std::move(codes));
  const std::string_view texts[] = {"Shipping takes three days."};
  ASSERT_TRUE(both.embed({}, texts, {}));
  EXPECT_EQ(coder->texts(), 0U);
}

}  // namespace
}  // namespace app

}  // namespace footnote
