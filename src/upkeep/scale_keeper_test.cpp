#include "upkeep/scale_keeper.h"

#include <gmock/gmock.h>

#include "base/log.h"
#include "fakes/memory_store.h"

namespace footnote::upkeep {
namespace {

constexpr std::int64_t kMany = 100;

Corpus corpus_with(std::optional<GateCalibration> gate) {
  Corpus out{.id = {1}, .name = "shop", .space = {"hosted", 8}};
  out.gate = std::move(gate);
  return out;
}

GateCalibration made_by(bool automatic, std::string judge = "tei") {
  return {.embedder = "hosted", .judge = std::move(judge), .automatic = automatic, .passages = kMany};
}

TEST(WantsFit, ACorpusWithEnoughPassagesThatWasNeverFitted) {
  EXPECT_TRUE(wants_fit(corpus_with({}), "tei", kFitPassagesMin));
  EXPECT_FALSE(wants_fit(corpus_with({}), "tei", kFitPassagesMin - 1));
}

TEST(WantsFit, AgainWhenTheCorpusHasGrownByHalf) {
  EXPECT_FALSE(wants_fit(corpus_with(made_by(true)), "tei", kMany));
  EXPECT_FALSE(wants_fit(corpus_with(made_by(true)), "tei", kMany * 3 / 2 - 1));
  EXPECT_TRUE(wants_fit(corpus_with(made_by(true)), "tei", kMany * 3 / 2));
}

TEST(WantsFit, AgainWhenTheModelsChanged) { EXPECT_TRUE(wants_fit(corpus_with(made_by(true, "cohere")), "tei", kMany)); }

TEST(WantsFit, NeverOverAnOperatorsCalibration) { EXPECT_FALSE(wants_fit(corpus_with(made_by(false)), "tei", 10 * kMany)); }

class ScaleFitting : public ::testing::Test {
 protected:
  void SetUp() override {
    set_log_level(LogLevel::kOff);
    workspace_ = store_.find_workspace({}, kDefaultWorkspace)->id;
    corpus_ = store_.ensure_corpus({}, workspace_, "shop", {"hosted", 8}).value();
  }
  void add_passages(std::int64_t count) {
    DocumentDraft draft{.key = "page " + std::to_string(++pages_), .content_hash = std::to_string(pages_), .text = "text"};
    for (std::int64_t i = 0; i < count; ++i) {
      ChunkDraft chunk{.text = "text", .content_hash = std::to_string(i), .range = {0, 4}};
      chunk.vectors.push_back(std::vector<float>(8, 1.0F));
      draft.chunks.push_back(std::move(chunk));
    }
    const auto written = store_.commit({}, corpus_.id, {{draft}}, {});
    ASSERT_TRUE(written.has_value()) << written.error().message;
  }
  ScaleFit keeper() {
    return ScaleFit({store_, store_, "tei", [this](const Corpus&) { return can_ask_; },
                     [this](const CallContext&, const Corpus&) -> Result<GateCalibration> {
                       ++fits_;
                       if (error_) return fail(*error_, "no");
                       if (meanwhile_) meanwhile_();
                       return GateCalibration{.evidence_min = 0.5, .embedder = "hosted", .judge = "tei", .cosine = SignalScale{2, -1}};
                     }});
  }
  std::optional<GateCalibration> gate() { return store_.corpus({}, corpus_.id)->gate; }

  ManualClock clock_{UtcTime{std::chrono::milliseconds{1'772'357'400'125}}};
  fakes::MemoryStore store_{clock_};
  WorkspaceId workspace_;
  Corpus corpus_;
  int pages_ = 0;
  int fits_ = 0;
  bool can_ask_ = true;
  std::optional<ErrorCode> error_;
  std::function<void()> meanwhile_;
};

TEST_F(ScaleFitting, ACorpusIsFittedOnceItStopsChanging) {
  ScaleFit fit = keeper();
  add_passages(kFitPassagesMin);
  fit.look({});
  EXPECT_EQ(fits_, 0) << "an ingest may still be under way";
  fit.look({});
  ASSERT_TRUE(gate());
  EXPECT_TRUE(gate()->automatic);
  EXPECT_EQ(gate()->passages, kFitPassagesMin);
  EXPECT_EQ(gate()->cosine, (SignalScale{2, -1}));
  fit.look({});
  EXPECT_EQ(fits_, 1);
}

TEST_F(ScaleFitting, AGrownCorpusIsFittedAgain) {
  ScaleFit fit = keeper();
  add_passages(kFitPassagesMin);
  for (int i = 0; i < 3; ++i) fit.look({});
  add_passages(kFitPassagesMin / 2 - 1);
  for (int i = 0; i < 3; ++i) fit.look({});
  EXPECT_EQ(fits_, 1);
  add_passages(1);
  for (int i = 0; i < 3; ++i) fit.look({});
  EXPECT_EQ(fits_, 2);
  EXPECT_EQ(gate()->passages, kFitPassagesMin * 3 / 2);
}

TEST_F(ScaleFitting, ACalibrationByHandMeanwhileStays) {
  ScaleFit fit = keeper();
  add_passages(kFitPassagesMin);
  meanwhile_ = [this] {
    ASSERT_TRUE(store_.set_gate({}, corpus_.id, GateCalibration{.evidence_min = 0.7, .embedder = "hosted", .judge = "tei"}));
  };
  for (int i = 0; i < 3; ++i) fit.look({});
  EXPECT_EQ(gate()->evidence_min, 0.7);
  EXPECT_FALSE(gate()->automatic);
}

TEST_F(ScaleFitting, ACorpusThatSaysTooLittleIsNotTriedAgainUntilItHasGrown) {
  ScaleFit fit = keeper();
  error_ = ErrorCode::kFailedPrecondition;
  add_passages(kFitPassagesMin);
  for (int i = 0; i < 9; ++i) fit.look({});
  EXPECT_EQ(fits_, 1);
  add_passages(kFitPassagesMin / 2);
  for (int i = 0; i < 9; ++i) fit.look({});
  EXPECT_EQ(fits_, 2);
  EXPECT_FALSE(gate());
}

TEST_F(ScaleFitting, AfterAFailureItPauses) {
  ScaleFit fit = keeper();
  error_ = ErrorCode::kUnavailable;
  add_passages(kFitPassagesMin);
  fit.look({});
  for (int i = 0; i <= ScaleFit::kPauseLooks; ++i) fit.look({});
  EXPECT_EQ(fits_, 1);
  error_.reset();
  fit.look({});
  EXPECT_TRUE(gate());
}

TEST_F(ScaleFitting, ACorpusOfAnotherModelIsLeftAlone) {
  ScaleFit fit = keeper();
  can_ask_ = false;
  add_passages(kFitPassagesMin);
  for (int i = 0; i < 3; ++i) fit.look({});
  EXPECT_EQ(fits_, 0);
}

}  // namespace
}  // namespace footnote::upkeep
