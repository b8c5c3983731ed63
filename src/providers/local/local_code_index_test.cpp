#include "providers/local/local_code_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/file.h"
#include "contracts/chunk_drafts.h"
#include "contracts/stopped_call.h"
#include "engine/sql/folder_for_test.h"
#include "fakes/memory_store.h"
#include "providers/local/local_late_scorer.h"

namespace footnote {
namespace {

using contract::draft_of;
using ::testing::HasSubstr;

constexpr std::uint32_t kForm = 9;

/// Codes with two windows, different for every seed.
PassageCodes codes_of(unsigned seed) {
  PassageCodes out{.form = kForm, .dimension = 16, .signs = {}, .windows = {1 + seed % 3, 2}};
  for (unsigned i = 0; i < (3 + seed % 3) * 2; ++i) out.signs.push_back(static_cast<std::byte>(seed * 37 + i * 11));
  return out;
}

PassageCodes owned(const CodesView& view) {
  PassageCodes out{.form = view.form, .dimension = view.dimension, .signs = {view.signs.begin(), view.signs.end()}, .windows = {}};
  for (std::size_t i = 0; i < view.window_count(); ++i) out.windows.push_back(view.window_tokens(i));
  return out;
}

class LocalCodeIndexTest : public ::testing::Test {
 protected:
  /// Commits one document per passage; a seed of 0 means no codes.
  std::vector<ChunkId> commit(const std::vector<unsigned>& seeds) {
    std::vector<DocumentDraft> drafts;
    for (const unsigned seed : seeds) {
      drafts.push_back(draft_of(fmt::format("d{}", ++documents_), {fmt::format("text {}", documents_)}));
      if (seed != 0) drafts.back().chunks[0].codes = codes_of(seed);
    }
    const Generation before = generation_;
    generation_ = store_.commit({}, corpus_, drafts, {}).value().generation;
    return store_.chunk_ids({}, corpus_, before, generation_).value();
  }
  IndexHead head(const LocalCodeIndex& index) const {
    return {.kind = index.kind(),
            .rules = index.rules(),
            .corpus = corpus_,
            .space = {"m", contract::kDimension},
            .generation = generation_,
            .stamp = 1};
  }
  void save(const LocalCodeIndex& index) const {
    const auto saved = index.save({}, path(), head(index));
    ASSERT_TRUE(saved.has_value()) << saved.error().message;
  }
  Result<void> load(LocalCodeIndex& index) const {
    FOOTNOTE_TRY(IndexFileReader file, IndexFileReader::open(path()));
    return index.load(file);
  }
  std::filesystem::path path() const { return folder_.path() / "codes.index"; }
  /// Writes a new file: what is mapped is unaffected.
  void put_bytes(const std::string& bytes) const {
    std::filesystem::remove(path());
    std::ofstream(path(), std::ios::binary) << bytes;
  }
  std::vector<std::optional<double>> scores(const LocalCodeIndex* index, const std::vector<ChunkId>& chunks,
                                            HelperThreads* helpers = nullptr) const {
    QuestionCodes question{.form = kForm, .dimension = 16, .tokens = {}};
    for (int i = 0; i < 32; ++i) question.tokens.push_back(i % 3 == 0 ? 0.25F : -0.25F);
    return LocalLateScorer(store_, index, cpu::best_cpu_level(), helpers).score({}, corpus_, question, chunks).value();
  }

  const sql::FolderForTest folder_;
  ManualClock clock_{UtcTime{}};
  fakes::MemoryStore store_{clock_};
  CorpusId corpus_ =
      store_.ensure_corpus({}, store_.find_workspace({}, kDefaultWorkspace).value().id, "late", {"m", contract::kDimension}).value().id;
  int documents_ = 0;
  Generation generation_ = 0;
};

TEST_F(LocalCodeIndexTest, GivesTheStoresCodesFromItsFile) {
  const auto chunks = commit({1, 0, 5});
  LocalCodeIndex written(store_);
  save(written);
  LocalCodeIndex read(store_);
  ASSERT_TRUE(load(read).has_value());
  for (const LocalCodeIndex* index : {&written, &read}) {
    const auto codes = index->codes(corpus_);
    EXPECT_EQ(codes->count(), 3U);
    EXPECT_EQ(owned(codes->find(chunks[0]).value()), codes_of(1));
    EXPECT_EQ(owned(codes->find(chunks[1]).value()), PassageCodes{}) << "known to have none";
    EXPECT_EQ(owned(codes->find(chunks[2]).value()), codes_of(5));
    EXPECT_FALSE(codes->find(ChunkId{chunks[2].value + 1}));
    EXPECT_FALSE(codes->find(ChunkId{0}));
    EXPECT_FALSE(codes->is_damaged());
    EXPECT_TRUE(index->check(corpus_).has_value());
    EXPECT_EQ(index->extent(corpus_).generation, 1);
    EXPECT_EQ(index->extent(corpus_).rows, 3U);
  }
}

TEST_F(LocalCodeIndexTest, ScoresAreTheSameFromTheFileTheStoreAndBoth) {
  auto chunks = commit({1, 2, 3, 0});
  LocalCodeIndex index(store_);
  save(index);
  for (const ChunkId late : commit({4, 5})) chunks.push_back(late);  // not in the file
  chunks.push_back({987654});                                        // nowhere
  std::ranges::reverse(chunks);
  const auto from_store = scores(nullptr, chunks);
  EXPECT_EQ(scores(&index, chunks), from_store);
  save(index);
  EXPECT_EQ(scores(&index, chunks), from_store);
  EXPECT_EQ(std::ranges::count_if(from_store, [](const auto& score) { return !score; }), 2);
}

TEST_F(LocalCodeIndexTest, HalfOfThePassagesComparedOnAnotherThreadScoreTheSame) {
  std::vector<unsigned> seeds(40);
  for (unsigned i = 0; i < seeds.size(); ++i) seeds[i] = i % 7 == 0 ? 0 : i;
  auto chunks = commit(seeds);
  LocalCodeIndex index(store_);
  save(index);
  for (const ChunkId late : commit({4, 5})) chunks.insert(chunks.begin() + 10, late);  // not in the file
  HelperThreads helpers(1);
  EXPECT_EQ(scores(&index, chunks, &helpers), scores(nullptr, chunks));
}

TEST_F(LocalCodeIndexTest, ASecondFileTakesWhatTheFirstHasAndLetsGoOfWhatIsPurged) {
  const auto first = commit({1, 2});
  LocalCodeIndex index(store_);
  save(index);
  const std::shared_ptr<const CodeFile> kept = index.codes(corpus_);
  const auto second = commit({3});
  const std::string gone[] = {"d1"};
  generation_ = store_.commit({}, corpus_, {}, gone).value().generation;
  clock_.advance(std::chrono::hours{1});
  ASSERT_TRUE(store_.purge({}, corpus_, clock_.now()).has_value());
  save(index);
  EXPECT_FALSE(index.codes(corpus_)->find(first[0]));
  EXPECT_EQ(owned(index.codes(corpus_)->find(first[1]).value()), codes_of(2));
  EXPECT_EQ(owned(index.codes(corpus_)->find(second[0]).value()), codes_of(3));
  EXPECT_EQ(owned(kept->find(first[0]).value()), codes_of(1)) << "a reader keeps the file it started with";
}

TEST_F(LocalCodeIndexTest, HoldsNothingPastItsGeneration) {
  const auto first = commit({1});
  LocalCodeIndex index(store_);
  const IndexHead early = head(index);
  const auto second = commit({2});
  ASSERT_TRUE(index.save({}, path(), early).has_value());
  EXPECT_TRUE(index.codes(corpus_)->find(first[0]));
  EXPECT_FALSE(index.codes(corpus_)->find(second[0]));
}

TEST_F(LocalCodeIndexTest, WhatGoesPastTheBoundIsLeftToTheStore) {
  const auto chunks = commit({1, 1, 1});
  const std::uint64_t each = CodeFileWriter::record_bytes(view_of(codes_of(1)));
  LocalCodeIndex full(store_, 3 * each);
  save(full);
  EXPECT_EQ(full.extent(corpus_).rows, 3U);
  LocalCodeIndex bounded(store_, 3 * each - 1);
  save(bounded);
  EXPECT_EQ(bounded.extent(corpus_).rows, 2U);
  EXPECT_EQ(scores(&bounded, chunks), scores(nullptr, chunks));
}

TEST_F(LocalCodeIndexTest, WhateverByteIsWrongNoWrongCodesComeOut) {
  const auto chunks = commit({1, 0, 2, 3});
  LocalCodeIndex sound(store_);
  save(sound);
  const std::string bytes = read_file(path(), 1 << 20).value();
  const auto expected = scores(nullptr, chunks);
  std::size_t noticed = 0;
  for (std::size_t at = 0; at < bytes.size(); at = at == 200 ? kRawAlignment : at + 1) {
    std::string flipped = bytes;
    flipped[at] = static_cast<char>(flipped[at] ^ 0x10);
    put_bytes(flipped);
    LocalCodeIndex index(store_);
    if (!load(index)) {
      ++noticed;
      continue;
    }
    EXPECT_EQ(scores(&index, chunks), expected) << "byte " << at;
    if (!index.check(corpus_)) ++noticed;
  }
  EXPECT_EQ(noticed, 200 + 1 + (bytes.size() - kRawAlignment)) << "check() finds every one";
  put_bytes(bytes.substr(0, bytes.size() - 1));
  LocalCodeIndex cut(store_);
  EXPECT_EQ(load(cut).error().code, ErrorCode::kCorrupted);
}

TEST(CodeFile, CodesAreCheckedWhenTheyAreFirstMetAndByACheckOfAll) {
  BufferSink sink;
  CodeFileWriter writer(sink);
  const PassageCodes codes = codes_of(5);
  ASSERT_TRUE(writer.add(ChunkId{1}, view_of(codes)).has_value());
  ASSERT_TRUE(writer.add(ChunkId{2}, view_of(codes)).has_value());
  ASSERT_TRUE(writer.finish().has_value());
  const auto file = CodeFile::open(RawBytes(std::shared_ptr<void>(), sink.bytes.data()), sink.bytes.size()).value();
  ASSERT_TRUE(file->find(ChunkId{1}).has_value());
  // The last sign of the first passage, and of the second.
  const std::size_t record = CodeFileWriter::record_bytes(view_of(codes));
  for (const std::size_t at : {record - 1, 2 * record - 1}) sink.bytes[at] ^= std::byte{1};
  EXPECT_TRUE(file->find(ChunkId{1}).has_value()) << "its checksum was already verified";
  EXPECT_FALSE(file->find(ChunkId{2}).has_value());
  EXPECT_TRUE(file->is_damaged());
  EXPECT_THAT(file->check().error().message, HasSubstr("2 passages"));
}

TEST_F(LocalCodeIndexTest, DamageIsNoticedWhenItIsReadAndMended) {
  const auto chunks = commit({1, 2});
  LocalCodeIndex index(store_);
  save(index);
  std::string bytes = read_file(path(), 1 << 20).value();
  bytes[kRawAlignment + 14] ^= 1;  // in the first record
  put_bytes(bytes);
  ASSERT_TRUE(load(index).has_value()) << "mapped data is not read at startup";
  EXPECT_FALSE(index.is_damaged(corpus_));
  EXPECT_EQ(scores(&index, chunks), scores(nullptr, chunks));
  EXPECT_TRUE(index.is_damaged(corpus_));
  EXPECT_THAT(index.check(corpus_).error().message, HasSubstr("1 passages"));
  save(index);
  EXPECT_FALSE(index.is_damaged(corpus_));
  EXPECT_TRUE(index.check(corpus_).has_value());
}

TEST_F(LocalCodeIndexTest, ACallThatIsOverAndADropLeaveNothing) {
  const auto chunks = commit({1});
  LocalCodeIndex index(store_);
  EXPECT_EQ(index.save(contract::stopped_call(), path(), head(index)).error().code, ErrorCode::kCancelled);
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
  save(index);
  ASSERT_TRUE(index.drop({}, corpus_).has_value());
  EXPECT_FALSE(index.codes(corpus_)->find(chunks[0]));
  EXPECT_EQ(index.extent(corpus_).generation, 0);
}

}  // namespace
}  // namespace footnote
