#include "answer/page_digest.h"

#include <gtest/gtest.h>

#include "fakes/fake_embedder.h"
#include "fakes/fake_llm.h"

namespace footnote::answer {
namespace {

class Digests : public ::testing::Test {
 protected:
  Result<Digest> write(DigestRequest request, Llm* llm = nullptr) {
    const PageDigest digest({.embedder = embedder_, .reranker = nullptr, .llm = llm, .clock = clock_});
    return digest.write({}, request);
  }

  const DigestText lamps_{"http://a.example/lamps", "Lamps",
                          "The oak lamp has a brass switch and a long cord. It is delivered within three working days.\n\n"
                          "Customers may return the oak lamp within thirty days of its arrival."};
  const DigestText chairs_{"http://b.example/chairs", "Chairs", "The garden chair is made of steel and can stay outside in winter."};
  fakes::FakeEmbedder embedder_;
  fakes::FakeLlm llm_;
  ManualClock clock_{UtcTime{}};
};

TEST_F(Digests, WithoutAModelSentencesAreQuotedWithTheirSource) {
  const auto out = write({.query = "How long can customers return the oak lamp?", .language = "", .texts = {lamps_, chairs_}});
  ASSERT_TRUE(out) << out.error().message;
  EXPECT_EQ(out->model, "extractive");
  EXPECT_NE(out->summary.find("Customers may return the oak lamp within thirty days of its arrival. [1]"), std::string::npos)
      << out->summary;
  EXPECT_EQ(out->summary.find("[3]"), std::string::npos);
}

TEST_F(Digests, WithoutAQuestionTheTextsSpeakForThemselves) {
  const auto out = write({.query = "", .language = "", .texts = {lamps_}});
  ASSERT_TRUE(out);
  EXPECT_EQ(out->cited, (std::vector<int>{1}));
  EXPECT_FALSE(out->summary.empty());
  EXPECT_EQ(write({.query = "x", .language = "", .texts = {}})->summary, "");
  EXPECT_EQ(write({.query = "x", .language = "", .texts = {{"u", "t", ""}}})->summary, "");
}

TEST_F(Digests, AModelsSentencesAreCheckedAndBadOnesLeftOut) {
  llm_.say({"The garden chair is made of steel and can stay outside in winter [2]. ",
            "Lamps cure headaches and bring luck to sailors [1]. ", "No source says this sentence at all. ", "Nor this one [9]."});
  const auto out = write({.query = "What is the chair made of?", .language = "sv", .texts = {lamps_, chairs_}}, &llm_);
  ASSERT_TRUE(out) << out.error().message;
  EXPECT_EQ(out->summary, "The garden chair is made of steel and can stay outside in winter. [2]");
  EXPECT_EQ(out->cited, (std::vector<int>{2}));
  EXPECT_EQ(out->model, "fake-model");
  EXPECT_NE(llm_.last_request().messages.back().content.find("Swedish"), std::string::npos);
}

TEST_F(Digests, AModelThatSaysNothingUsableIsReplacedByQuotes) {
  llm_.say({"__NO_GROUNDED_ANSWER__"});
  EXPECT_EQ(write({.query = "oak lamp", .language = "", .texts = {lamps_}}, &llm_)->model, "extractive");
  llm_.fail_after(0, ErrorCode::kUnavailable);
  EXPECT_EQ(write({.query = "oak lamp", .language = "", .texts = {lamps_}}, &llm_).error().code, ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace footnote::answer
