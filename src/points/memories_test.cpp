#include "points/memories.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "fakes/fake_embedder.h"
#include "fakes/memory_store.h"
#include "fakes/memory_vector_store.h"

namespace footnote::points {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int kSize = 128;

class MemoriesTest : public testing::Test {
 protected:
  WorkspaceId workspace() const { return store_.find_workspace({}, kDefaultWorkspace).value().id; }
  Corpus corpus() const { return store_.find_corpus({}, workspace(), kMemoriesCollection).value(); }
  std::size_t stored() const { return store_.scroll({}, corpus().id, std::nullopt, 1'000'000, PointVectors::kLeftOut).value().size(); }

  Result<WrittenMemory> write(const std::string& agent, const std::string& text, const std::string& id = {},
                              std::optional<UtcTime> expires_at = {}) {
    return memories_.write({}, workspace(), {.agent = agent, .id = id, .text = text, .metadata = {}, .expires_at = expires_at});
  }
  std::vector<std::string> texts(const std::string& agent, const std::string& query, std::size_t limit = 10) const {
    std::vector<std::string> out;
    const auto found = memories_.search({}, workspace(), {.agent = agent, .text = query, .limit = limit, .score_min = {}});
    EXPECT_TRUE(found.has_value()) << (found ? "" : found.error().message);
    if (found) {
      for (const FoundMemory& hit : *found) out.push_back(hit.memory.text);
    }
    return out;
  }
  /// The field named by the error, or "nothing" on success.
  static std::string wrong(const Result<WrittenMemory>& written) { return written ? "nothing" : written.error().field; }

  ManualClock clock_{UtcTime{hours{24 * 365 * 50}}};
  fakes::MemoryStore store_{clock_};
  fakes::MemoryVectorStore vectors_;
  fakes::FakeEmbedder embedder_{{.dimension = kSize}};
  ingest::IndexSync sync_{store_, {&vectors_}, clock_};
  PointSearch search_{store_, vectors_};
  PointWriter writer_{{store_, store_, store_, sync_}, search_};
  Memories::Ports ports_{store_, store_, search_, writer_, embedder_, clock_};
  Memories memories_{ports_, {.vector_size = kSize}};
};

TEST_F(MemoriesTest, AnAgentFindsItsOwnNotesAlone) {
  ASSERT_TRUE(write("ada", "the harbour opens at dawn"));
  ASSERT_TRUE(write("bob", "the harbour opens at noon"));
  EXPECT_THAT(texts("ada", "harbour opens"), ElementsAre("the harbour opens at dawn"));
  EXPECT_THAT(texts("bob", "harbour opens"), ElementsAre("the harbour opens at noon"));
  EXPECT_THAT(texts("carol", "harbour opens"), IsEmpty());
}

TEST_F(MemoriesTest, TheNearestComesFirstAndTheLimitHolds) {
  ASSERT_TRUE(write("ada", "lantern oil is in the cellar"));
  ASSERT_TRUE(write("ada", "harbour opens at dawn"));
  EXPECT_THAT(texts("ada", "when harbour opens", 1), ElementsAre("harbour opens at dawn"));
  const auto found = memories_.search({}, workspace(), {.agent = "ada", .text = "harbour opens dawn", .limit = 10, .score_min = 0.9});
  ASSERT_TRUE(found);
  ASSERT_EQ(found->size(), 1u);
  EXPECT_GT(found->front().score, 0.9);
}

TEST_F(MemoriesTest, NothingWasWrittenYet) {
  EXPECT_THAT(texts("ada", "harbour"), IsEmpty());
  EXPECT_EQ(memories_.forget({}, workspace(), "ada", "x").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(memories_.sweep({}).value(), 0u);
  EXPECT_FALSE(store_.find_corpus({}, workspace(), kMemoriesCollection)) << "reading makes no collection";
}

TEST_F(MemoriesTest, TheSameIdIsOneNoteOfItsAgent) {
  const auto first = write("ada", "harbour opens at dawn", "gate").value();
  EXPECT_TRUE(first.is_new);
  clock_.advance(hours{1});
  const auto second = write("ada", "harbour opens at noon", "gate").value();
  EXPECT_FALSE(second.is_new);
  EXPECT_EQ(second.memory.created_at, first.memory.created_at);
  EXPECT_TRUE(write("bob", "harbour is closed", "gate").value().is_new);
  EXPECT_THAT(texts("ada", "harbour"), ElementsAre("harbour opens at noon"));
  EXPECT_THAT(texts("bob", "harbour"), ElementsAre("harbour is closed"));
}

TEST_F(MemoriesTest, NoTwoPairsOfAgentAndIdAreOneNote) {
  ASSERT_TRUE(write("a", "first", "b#c"));
  ASSERT_TRUE(write("a#b", "second", "c"));
  ASSERT_TRUE(write("1:a", "third", "c"));
  EXPECT_EQ(stored(), 3u);
}

TEST_F(MemoriesTest, WithoutAnIdEachIsAnotherNote) {
  const auto first = write("ada", "harbour").value();
  const auto second = write("ada", "harbour").value();
  EXPECT_NE(first.memory.id, second.memory.id);
  EXPECT_EQ(stored(), 2u);
}

TEST_F(MemoriesTest, OnlyTheAgentItselfForgets) {
  ASSERT_TRUE(write("ada", "harbour opens at dawn", "gate"));
  EXPECT_EQ(memories_.forget({}, workspace(), "bob", "gate").error().code, ErrorCode::kNotFound);
  ASSERT_TRUE(memories_.forget({}, workspace(), "ada", "gate"));
  EXPECT_THAT(texts("ada", "harbour"), IsEmpty());
  EXPECT_EQ(memories_.forget({}, workspace(), "ada", "gate").error().code, ErrorCode::kNotFound);
}

TEST_F(MemoriesTest, AnotherWorkspaceHasNotesOfItsOwn) {
  const WorkspaceId other = store_.add_workspace({}, "other").value().id;
  ASSERT_TRUE(write("ada", "harbour opens at dawn", "gate"));
  EXPECT_THAT(memories_.search({}, other, {.agent = "ada", .text = "harbour", .score_min = {}}).value(), IsEmpty());
  EXPECT_EQ(memories_.forget({}, other, "ada", "gate").error().code, ErrorCode::kNotFound);
  ASSERT_TRUE(memories_.write({}, other, {.agent = "ada", .id = "gate", .text = "there is no harbour", .metadata = {}, .expires_at = {}}));
  EXPECT_THAT(texts("ada", "harbour"), ElementsAre("harbour opens at dawn"));
}

TEST_F(MemoriesTest, AnExpiredNoteIsGoneFromThatMomentOn) {
  ASSERT_TRUE(write("ada", "harbour opens at dawn", "gate", clock_.now() + milliseconds{1000}));
  clock_.advance(milliseconds{999});
  EXPECT_THAT(texts("ada", "harbour"), ElementsAre("harbour opens at dawn"));
  clock_.advance(milliseconds{1});
  EXPECT_THAT(texts("ada", "harbour"), IsEmpty());
  EXPECT_EQ(memories_.forget({}, workspace(), "ada", "gate").error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(write("ada", "harbour opens at noon", "gate").value().is_new);
  EXPECT_THAT(texts("ada", "harbour"), ElementsAre("harbour opens at noon"));
}

TEST_F(MemoriesTest, ExpiredNotesTakeNoRoomFromOthers) {
  for (int i = 0; i < 40; ++i) ASSERT_TRUE(write("ada", "harbour dawn", {}, clock_.now() + milliseconds{1}));
  ASSERT_TRUE(write("ada", "harbour lantern oil cellar"));
  ASSERT_TRUE(write("ada", "harbour lantern oil attic"));
  clock_.advance(milliseconds{1});
  EXPECT_EQ(texts("ada", "harbour dawn", 2).size(), 2u);
}

TEST_F(MemoriesTest, ASweepRemovesWhatExpiredAndNothingElse) {
  ASSERT_TRUE(write("ada", "old", "a", clock_.now() + hours{1}));
  ASSERT_TRUE(write("ada", "young", "b", clock_.now() + hours{3}));
  ASSERT_TRUE(write("ada", "for ever", "c"));
  EXPECT_EQ(memories_.sweep({}).value(), 0u);
  clock_.advance(hours{2});
  EXPECT_EQ(memories_.sweep({}).value(), 1u);
  EXPECT_EQ(stored(), 2u);
  EXPECT_EQ(memories_.sweep({}).value(), 0u);
}

TEST_F(MemoriesTest, ASweepOfManyGoesOnWhereItStopped) {
  const Corpus corpus = store_.ensure_corpus({}, workspace(), kMemoriesCollection, embedder_.space()).value();
  const MemoryOptions small{.vector_size = kSize, .sweep_step = 10, .sweep_steps_max = 3};
  Memories memories(ports_, small);
  const std::size_t all = 35;
  Upsert upsert;
  for (std::size_t i = 0; i < all; ++i) {
    const JsonObject payload{{"agent_id", "ada"}, {"text", "x"}, {"expires_at", to_rfc3339(clock_.now() + hours{1})}};
    upsert.points.push_back({.id = {std::uint64_t{i}}, .vectors = {}, .payload = payload});
  }
  const PointOperation operations[] = {std::move(upsert)};
  ASSERT_TRUE(writer_.apply({}, corpus.id, operations));
  clock_.advance(hours{1});
  EXPECT_EQ(memories.sweep({}).value(), 30u);
  EXPECT_EQ(memories.sweep({}).value(), 5u);
  EXPECT_EQ(stored(), 0u);
}

TEST_F(MemoriesTest, PointsOfThatFormAreNotes) {
  ASSERT_TRUE(write("ada", "harbour opens at dawn"));
  const auto vector = embedder_.embed({}, std::array{std::string_view("lantern oil")}, {}).value()[0].windows[0].values;
  Upsert upsert;
  upsert.points.push_back({.id = {std::uint64_t{7}}, .vectors = {{"", vector}}, .payload = {{"agent_id", "ada"}, {"text", "lantern oil"}}});
  upsert.points.push_back({.id = {std::uint64_t{8}}, .vectors = {{"", vector}}, .payload = {{"text", "lantern of nobody"}}});
  const PointOperation operations[] = {std::move(upsert)};
  ASSERT_TRUE(writer_.apply({}, corpus().id, operations));
  EXPECT_THAT(texts("ada", "lantern oil", 1), ElementsAre("lantern oil"));
  EXPECT_EQ(memories_.forget({}, workspace(), "bob", "7").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(memories_.forget({}, workspace(), "ada", "8").error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(memories_.forget({}, workspace(), "ada", "7"));
}

TEST_F(MemoriesTest, ALongNoteIsFoundByItsEnd) {
  std::string text;
  for (int i = 0; i < 130; ++i) text += "gravel ";
  ASSERT_TRUE(write("ada", text + "lantern lantern lantern"));
  ASSERT_TRUE(write("ada", "harbour dawn"));
  EXPECT_THAT(texts("ada", "lantern", 1), ElementsAre(HasSubstr("lantern")));
}

TEST_F(MemoriesTest, BoundsNameTheirField) {
  const std::string name(kMemoryNameBytesMax, 'a');
  EXPECT_EQ(wrong(write(name, std::string(kMemoryTextBytesMax, 'x'), name)), "nothing");
  EXPECT_EQ(wrong(write(name + "a", "x")), "agent_id");
  EXPECT_EQ(wrong(write("", "x")), "agent_id");
  EXPECT_EQ(wrong(write("a\nb", "x")), "agent_id");
  EXPECT_EQ(wrong(write("ada", "x", name + "a")), "id");
  EXPECT_EQ(wrong(write("ada", std::string(kMemoryTextBytesMax + 1, 'x'))), "text");
  EXPECT_EQ(wrong(write("ada", " \n ")), "text");
  EXPECT_EQ(wrong(write("ada", "x", {}, clock_.now())), "expires_at");
  EXPECT_EQ(wrong(write("ada", "x", {}, clock_.now() + kMemoryLifetimeMax)), "nothing");
  EXPECT_EQ(wrong(write("ada", "x", {}, clock_.now() + kMemoryLifetimeMax + milliseconds{1})), "expires_at");
  const auto with_metadata = [&](std::size_t bytes) {
    const JsonObject metadata{{"k", std::string(bytes - std::string_view(R"({"k":""})").size(), 'm')}};
    return wrong(memories_.write({}, workspace(), {.agent = "ada", .id = {}, .text = "x", .metadata = metadata, .expires_at = {}}));
  };
  EXPECT_EQ(with_metadata(kMemoryMetadataBytesMax), "nothing");
  EXPECT_EQ(with_metadata(kMemoryMetadataBytesMax + 1), "metadata");
}

TEST_F(MemoriesTest, ACollectionOfAnotherSizeIsRefusedAndStays) {
  const Corpus before = store_.ensure_corpus({}, workspace(), kMemoriesCollection, {"client", 64}).value();
  const auto written = write("ada", "harbour");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, ErrorCode::kFailedPrecondition);
  EXPECT_THAT(written.error().message, HasSubstr("rebuild-index"));
  EXPECT_EQ(memories_.search({}, workspace(), {.agent = "ada", .text = "harbour", .score_min = {}}).error().code,
            ErrorCode::kFailedPrecondition);
  EXPECT_EQ(memories_.forget({}, workspace(), "ada", "x").error().code, ErrorCode::kFailedPrecondition);
  EXPECT_EQ(corpus().id, before.id);
  EXPECT_EQ(corpus().space.dimension, 64);
}

TEST_F(MemoriesTest, AConfiguredSizeThatIsNotTheEmbeddersMakesNothing) {
  Memories other(ports_, {.vector_size = 384});
  const auto written = other.write({}, workspace(), {.agent = "ada", .id = {}, .text = "x", .metadata = {}, .expires_at = {}});
  ASSERT_FALSE(written);
  EXPECT_THAT(written.error().message, HasSubstr("AGENT_QDRANT_VECTOR_SIZE"));
  EXPECT_FALSE(store_.find_corpus({}, workspace(), kMemoriesCollection));
  ASSERT_TRUE(write("ada", "harbour"));
  EXPECT_THAT(other.search({}, workspace(), {.agent = "ada", .text = "harbour", .score_min = {}}).error().message,
              HasSubstr("rebuild-index"));
}

TEST_F(MemoriesTest, ManyWriteAtOnce) {
  ASSERT_TRUE(write("ada", "start"));
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < 10; ++i) {
          EXPECT_TRUE(write("agent" + std::to_string(t), "harbour opens", "shared"));
          EXPECT_TRUE(write("ada", "harbour opens", "n" + std::to_string(i)));
          EXPECT_TRUE(memories_.sweep({}));
        }
      });
    }
  }
  EXPECT_EQ(stored(), 1u + 4u + 10u);
}

}  // namespace
}  // namespace footnote::points
