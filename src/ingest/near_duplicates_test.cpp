#include "ingest/near_duplicates.h"

#include <gtest/gtest.h>

#include "fakes/fake_embedder.h"
#include "fakes/memory_store.h"
#include "ingest/ingestor.h"

namespace footnote::ingest {
namespace {

std::string sentences(int from, int to) {
  std::string out;
  for (int i = from; i < to; ++i)
    out += "Step " + std::to_string(i) + " of the long procedure is done by team " + std::to_string(i * 7) + ". ";
  return out;
}

TEST(NearDuplicates, LikenessFollowsTheCommonText) {
  const TextSketch whole = sketch_of(sentences(0, 100));
  EXPECT_EQ(whole.size(), kSketchSize);
  EXPECT_EQ(likeness(whole, sketch_of(sentences(0, 100))), 1);
  EXPECT_GT(likeness(whole, sketch_of("Updated today. " + sentences(0, 100))), 0.9);
  EXPECT_NEAR(likeness(whole, sketch_of(sentences(0, 50))), 0.5, 0.15);
  EXPECT_LT(likeness(whole, sketch_of(sentences(200, 300))), 0.2);
  EXPECT_EQ(likeness(sketch_of(""), sketch_of("")), 1);
  EXPECT_EQ(likeness(sketch_of("one"), sketch_of("two")), 0);
}

TEST(NearDuplicates, PairsAreReportedMostAlikeFirst) {
  SystemClock clock;
  fakes::MemoryStore store(clock);
  fakes::FakeEmbedder embedder;
  Ingestor ingestor(store, embedder, nullptr);
  const WorkspaceId workspace = store.find_workspace({}, kDefaultWorkspace).value().id;
  const Corpus corpus = store.ensure_corpus({}, workspace, "docs", embedder.space()).value();
  const auto document = [](std::string key, std::string text, std::vector<std::string> labels = {}) {
    MemoryDocument out{.key = std::move(key), .media_type = "text/plain", .content = std::move(text)};
    out.acl_labels = std::move(labels);
    return out;
  };
  const std::vector<MemoryDocument> documents = {
      document("a.txt", sentences(0, 80)), document("b.txt", sentences(0, 80) + sentences(500, 506)), document("c.txt", sentences(0, 80)),
      document("d.txt", sentences(300, 380)), document("e.txt", sentences(0, 80), {"staff"})};
  ASSERT_TRUE(ingestor.ingest_documents({}, corpus, {}, documents).has_value());
  const auto pairs = near_duplicates({}, store, corpus, 0.8, false).value();
  ASSERT_EQ(pairs.size(), 3U);
  EXPECT_EQ(pairs[0].a.key + pairs[0].b.key, "a.txtc.txt");
  EXPECT_EQ(pairs[0].likeness, 1);
  EXPECT_EQ(near_duplicates({}, store, corpus, 0.8, true)->size(), 6U);
}

}  // namespace
}  // namespace footnote::ingest
