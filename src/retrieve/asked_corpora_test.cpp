#include "retrieve/asked_corpora.h"

#include <gtest/gtest.h>

#include "domain/point.h"
#include "fakes/fake_embedder.h"
#include "fakes/memory_store.h"

namespace footnote::retrieve {
namespace {

const EmbeddingSpace kOurs{.model_id = "ours", .dimension = 8};

class AskedAsTest : public ::testing::Test {
 protected:
  static Corpus corpus_of(EmbeddingSpace space) {
    Corpus out;
    out.name = "docs";
    out.space = std::move(space);
    return out;
  }
  static Corpus calibrated(std::string_view judge, std::string_view embedder = "ours") {
    Corpus out = corpus_of(kOurs);
    out.gate = GateCalibration{.evidence_min = 0.77, .embedder = std::string(embedder), .judge = std::string(judge)};
    return out;
  }
  Profile asked(const Corpus& corpus, OtherModel other_model = OtherModel::kRefuse) const {
    const auto profile = asked_as(corpus, door_, models_, other_model);
    EXPECT_TRUE(profile) << profile.error().message;
    return profile.value_or(Profile{});
  }
  static void expect_words_alone(const Profile& profile) {
    EXPECT_FALSE(profile.vectors);
    EXPECT_EQ(profile.gate.coverage_weight, 1);
    EXPECT_EQ(profile.gate.cosine_min, 0);
  }

  Profile door_ = kKnowledgeBaseProfile;
  QuestionModels models_{kOurs, "judge"};
};

TEST_F(AskedAsTest, OwnVectorsAreSearchedAsTheDoorSays) {
  const Profile profile = asked(corpus_of(kOurs));
  EXPECT_TRUE(profile.vectors);
  EXPECT_EQ(profile.weights.vector, door_.weights.vector);
  EXPECT_EQ(profile.gate.judged_min, door_.gate.judged_min) << "without a calibration";
  EXPECT_EQ(profile.gate.evidence_min, door_.gate.evidence_min);
}

TEST_F(AskedAsTest, VectorsOfClientsWithOurShapeCountAsOurs) {
  EXPECT_TRUE(asked(corpus_of({std::string(kClientModel), 8, Distance::kCosine})).vectors);
}

TEST_F(AskedAsTest, OtherVectorsOfClientsAreNotCompared) {
  expect_words_alone(asked(corpus_of({std::string(kClientModel), 9, Distance::kCosine})));
  expect_words_alone(asked(corpus_of({std::string(kClientModel), 8, Distance::kDot})));
  expect_words_alone(asked(corpus_of({std::string(kNoModel), 1})));
}

TEST_F(AskedAsTest, AChangedModelIsRefusedWithTheCommandThatHelps) {
  const auto refused = asked_as(corpus_of({"theirs", 8}), door_, models_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kFailedPrecondition);
  EXPECT_NE(refused.error().message.find("footnote rebuild-index docs"), std::string::npos) << refused.error().message;
}

TEST_F(AskedAsTest, ADoorThatHasToAnswerSearchesAChangedModelByWords) {
  expect_words_alone(asked(corpus_of({"theirs", 8}), OtherModel::kWordsAlone));
}

TEST_F(AskedAsTest, ACalibrationWithTheJudgeSetsTheJudgedThreshold) {
  const Profile profile = asked(calibrated("judge"));
  EXPECT_EQ(profile.gate.judged_min, 0.77);
  EXPECT_EQ(profile.gate.evidence_min, door_.gate.evidence_min);
}

TEST_F(AskedAsTest, ACalibrationWithoutAJudgeSetsTheOtherThreshold) {
  models_.judge.clear();
  const Profile profile = asked(calibrated(""));
  EXPECT_EQ(profile.gate.evidence_min, 0.77);
  EXPECT_EQ(profile.gate.judged_min, door_.gate.judged_min);
}

TEST_F(AskedAsTest, ACalibrationOfOtherModelsDoesNotApply) {
  EXPECT_EQ(asked(calibrated("another judge")).gate.judged_min, door_.gate.judged_min);
  EXPECT_EQ(asked(calibrated("judge", "another embedder")).gate.judged_min, door_.gate.judged_min);
  EXPECT_EQ(asked(calibrated("")).gate.evidence_min, door_.gate.evidence_min) << "the judge takes part here";
}

TEST_F(AskedAsTest, ADoorWithoutTheJudgeUsesACalibrationWithoutIt) {
  door_.judged = 0;
  EXPECT_EQ(asked(calibrated("")).gate.evidence_min, 0.77);
  const Profile profile = asked(calibrated("judge"));
  EXPECT_EQ(profile.gate.evidence_min, door_.gate.evidence_min);
  EXPECT_EQ(profile.gate.judged_min, door_.gate.judged_min);
}

TEST(AskedCorporaTest, FindsByName) {
  SystemClock clock;
  fakes::MemoryStore store(clock);
  fakes::FakeEmbedder embedder;
  const WorkspaceId workspace = store.add_workspace({}, "w").value().id;
  ASSERT_TRUE(store.ensure_corpus({}, workspace, "docs", embedder.space()));
  ASSERT_TRUE(store.ensure_corpus({}, workspace, "old", {"theirs", 3}));
  const AskedCorpora corpora(store, embedder, "judge");
  const auto found = corpora.find({}, workspace, "docs", kAskProfile);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->corpus.name, "docs");
  EXPECT_TRUE(found->profile.vectors);
  EXPECT_EQ(corpora.find({}, workspace, "gone", kAskProfile).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(corpora.find({}, workspace, "old", kAskProfile).error().code, ErrorCode::kFailedPrecondition);
}

}  // namespace
}  // namespace footnote::retrieve
