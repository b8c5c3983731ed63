#include "upkeep/reembed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "contracts/chunk_drafts.h"
#include "domain/point.h"
#include "engine/sql/folder_for_test.h"
#include "providers/sqlite/sqlite_catalog_store.h"
#include "providers/sqlite/sqlite_chunk_store.h"

namespace footnote::upkeep {
namespace {

/// Counts what it embeds; fails after `left` texts.
class CountingEmbedder final : public Embedder {
 public:
  EmbeddingSpace space() const override { return {"next-model", 2}; }
  Result<std::vector<Embedding>> embed(const CallContext&, std::span<const std::string_view> texts, const EmbedOptions&) override {
    if (texts.size() > left) return fail(ErrorCode::kUnavailable, "no more");
    left -= texts.size();
    embedded += texts.size();
    if (on_embed) on_embed();
    std::vector<Embedding> out(texts.size());
    for (Embedding& one : out) {
      one.windows.push_back({{}, {1, 0}});
      if (form != 0) one.passage_codes = {.form = form, .dimension = 8, .signs = {std::byte{1}}, .windows = {1}};
    }
    return out;
  }
  std::uint32_t code_form() const override { return form; }

  std::uint32_t form = 0;
  std::size_t left = 1'000'000;
  std::size_t embedded = 0;
  std::function<void()> on_embed;
};

class ReembedTest : public ::testing::Test {
 protected:
  ReembedTest() {
    const WorkspaceId workspace = catalog_.find_workspace({}, kDefaultWorkspace).value().id;
    corpus_ = catalog_.ensure_corpus({}, workspace, "memory", {"a-model", contract::kDimension}).value().id;
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < kChunks; ++i) texts.push_back(fmt::format("chunk {}", i));
    commit("a", texts);
  }
  void commit(const std::string& key, const std::vector<std::string>& texts) {
    EXPECT_TRUE(chunks_.commit({}, corpus_, std::vector{contract::draft_of(key, texts)}, {}).has_value());
  }
  Result<void> run(const CallContext& call = {}) {
    return embed_missing(call, reembedding_, embedder_, corpus_, [this](const auto& progress) { last_ = progress; });
  }

  static constexpr std::size_t kChunks = 3 * kReembedBatch + 5;
  const sql::FolderForTest folder_;
  const SystemClock clock_;
  const std::unique_ptr<SqliteStore> store_ = SqliteStore::open(folder_.path(), {.readers = 2}, clock_).value();
  SqliteCatalogStore catalog_{*store_};
  SqliteChunkStore chunks_{*store_};
  SqliteReembedding reembedding_{*store_};
  CountingEmbedder embedder_;
  SqliteReembedding::Progress last_;
  CorpusId corpus_;
};

TEST_F(ReembedTest, GoesOnWhereItWas) {
  embedder_.left = 2 * kReembedBatch + 1;
  EXPECT_EQ(run().error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(embedder_.embedded, 2 * kReembedBatch);
  embedder_.left = 1'000'000;
  ASSERT_TRUE(run().has_value());
  EXPECT_EQ(embedder_.embedded, kChunks) << "nothing is embedded twice";
  EXPECT_EQ(last_.done, last_.total);
  EXPECT_EQ(reembedding_.switch_over({}, corpus_, embedder_.space()), true);
}

TEST_F(ReembedTest, CatchesUpWithWhatComesMeanwhile) {
  int more = 2;
  embedder_.on_embed = [&] {
    if (more-- > 0) commit(fmt::format("late {}", more), {fmt::format("late text {}", more)});
  };
  ASSERT_TRUE(run().has_value());
  EXPECT_EQ(embedder_.embedded, kChunks + 2);
  EXPECT_EQ(reembedding_.switch_over({}, corpus_, embedder_.space()), true);
}

TEST_F(ReembedTest, StopsWhenItIsTold) {
  std::stop_source stop;
  embedder_.on_embed = [&] { stop.request_stop(); };
  CallContext call;
  call.stop = stop.get_token();
  EXPECT_EQ(run(call).error().code, ErrorCode::kCancelled);
  EXPECT_EQ(reembedding_.switch_over({}, corpus_, embedder_.space()), false);
}

TEST_F(ReembedTest, CodesAreMadeAnewOnceAndNobodyReadsTheOldOnesMeanwhile) {
  std::size_t forgotten = 0;
  const auto renew = [&] {
    return renew_codes({}, reembedding_, embedder_, corpus_, [&] { ++forgotten; }, [this](const auto& progress) { last_ = progress; });
  };
  EXPECT_EQ(renew(), 0) << "an embedder that makes none";
  EXPECT_EQ(forgotten, 0U);
  embedder_.form = 7;
  embedder_.on_embed = [&] { EXPECT_EQ(forgotten, 1U); };
  embedder_.left = kReembedBatch;
  EXPECT_EQ(renew().error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(forgotten, 2U) << "however it ends";
  forgotten = 0;
  embedder_.left = kChunks;
  EXPECT_EQ(renew(), static_cast<std::int64_t>(kChunks - kReembedBatch)) << "what was done stays";
  EXPECT_EQ(embedder_.embedded, kChunks);
  EXPECT_EQ(forgotten, 2U);
  EXPECT_EQ(last_.done, last_.total);
  EXPECT_EQ(renew(), 0);
  EXPECT_EQ(forgotten, 2U) << "nothing has changed";
  embedder_.form = 8;
  embedder_.left = kChunks;
  embedder_.on_embed = nullptr;
  EXPECT_EQ(renew(), static_cast<std::int64_t>(kChunks));
}

TEST(MayBeEmbedded, VectorsOfClientsAreTheirs) {
  const auto corpus = [](std::string name, std::string_view model) {
    Corpus out;
    out.name = std::move(name);
    out.space.model_id = model;
    return out;
  };
  EXPECT_TRUE(may_be_embedded(corpus("docs", "a-model")));
  EXPECT_FALSE(may_be_embedded(corpus("docs", kClientModel)));
  EXPECT_FALSE(may_be_embedded(corpus("docs", kNoModel)));
  EXPECT_TRUE(may_be_embedded(corpus("agent-memories", kClientModel)));
}

}  // namespace
}  // namespace footnote::upkeep
