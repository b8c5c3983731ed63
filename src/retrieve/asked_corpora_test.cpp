#include "retrieve/asked_corpora.h"

#include <gtest/gtest.h>

#include "domain/point.h"
#include "fakes/fake_embedder.h"
#include "fakes/memory_store.h"
#include "retrieve/score_model.h"

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
    EXPECT_FALSE(profile.gate.known.cosine);
    EXPECT_FALSE(profile.gate.known.late);
  }

  Profile door_ = kKnowledgeBaseProfile;
  QuestionModels models_{kOurs, "judge"};
};

TEST_F(AskedAsTest, OwnVectorsAreSearchedAsTheDoorSays) {
  const Profile profile = asked(corpus_of(kOurs));
  EXPECT_TRUE(profile.vectors);
  EXPECT_EQ(profile.weights.vector, door_.weights.vector);
  EXPECT_EQ(profile.gate.probability_min, GatePolicy{}.probability_min) << "without a calibration";
  EXPECT_FALSE(profile.model_changed);
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
  const Profile profile = asked(corpus_of({"theirs", 8}), OtherModel::kWordsAlone);
  expect_words_alone(profile);
  EXPECT_TRUE(profile.model_changed);
}

TEST_F(AskedAsTest, OnlyTheScalesOfBuiltInModelsAreKnown) {
  const Profile other = asked(corpus_of(kOurs));
  EXPECT_FALSE(other.gate.known.cosine);
  EXPECT_FALSE(other.gate.known.judge);
  EXPECT_FALSE(other.gate.calibrated);
  models_ = {{std::string(kBuiltInEmbedder), 8}, std::string(kBuiltInJudge), std::string(kBuiltInEmbedder)};
  const Profile built_in = asked(corpus_of(models_.space));
  EXPECT_TRUE(built_in.gate.known.cosine);
  EXPECT_TRUE(built_in.gate.known.late);
  EXPECT_TRUE(built_in.gate.known.judge);
  EXPECT_TRUE(built_in.gate.calibrated);
}

TEST_F(AskedAsTest, ACalibrationWithTheseModelsSetsTheThreshold) {
  EXPECT_EQ(asked(calibrated("judge")).gate.probability_min, 0.77);
  models_.judge.clear();
  EXPECT_EQ(asked(calibrated("")).gate.probability_min, 0.77);
}

TEST_F(AskedAsTest, ACalibrationOfOtherModelsDoesNotApply) {
  const double general = GatePolicy{}.probability_min;
  EXPECT_EQ(asked(calibrated("another judge")).gate.probability_min, general);
  EXPECT_EQ(asked(calibrated("judge", "another embedder")).gate.probability_min, general);
  EXPECT_EQ(asked(calibrated("")).gate.probability_min, general) << "the judge takes part here";
}

TEST_F(AskedAsTest, ADoorWithoutTheJudgeUsesACalibrationWithoutIt) {
  door_.judged = 0;
  EXPECT_EQ(asked(calibrated("")).gate.probability_min, 0.77);
  EXPECT_EQ(asked(calibrated("judge")).gate.probability_min, GatePolicy{}.probability_min);
}

TEST_F(AskedAsTest, TheScaleOfTheEmbedderHoldsWithEveryJudge) {
  Corpus corpus = calibrated("judge");
  corpus.gate->cosine = SignalScale{2, -1};
  door_.judged = 0;
  const Profile profile = asked(corpus);
  EXPECT_EQ(profile.gate.cosine, (SignalScale{2, -1}));
  EXPECT_TRUE(profile.gate.known.cosine);
  EXPECT_TRUE(profile.gate.calibrated);
  EXPECT_EQ(profile.gate.probability_min, GatePolicy{}.probability_min);
  door_.judged = 18;
  models_.judge = "another judge";
  EXPECT_TRUE(asked(corpus).gate.known.cosine);
  EXPECT_FALSE(asked(corpus).gate.calibrated) << "that judge's scale is not known";
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
