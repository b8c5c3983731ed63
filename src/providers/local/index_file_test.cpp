#include "providers/local/index_file.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <span>

#include "base/file.h"
#include "base/log.h"
#include "engine/sql/folder_for_test.h"
#include "providers/local/index_for_test.h"
#include "providers/local/local_keyword_index.h"
#include "providers/local/local_vector_store.h"

namespace footnote {
namespace {

constexpr CorpusId kCorpus{7};
constexpr int kSteps = 12;

// In raw, all full vectors come first (24 numbers padded to 32), then all codes (padded to 64 bytes).
constexpr std::size_t kFullBytes = 32 * sizeof(float);
constexpr std::size_t kVectorBytes = kFullBytes + 64;

class IndexFileTest : public ::testing::Test {
 protected:
  IndexFileTest() {
    std::mt19937 random(1);
    steps_ = test::random_steps(random, kSteps + 3, 10);
  }

  struct Indexes {
    LocalVectorStore vectors;
    LocalKeywordIndex keywords;

    Result<void> apply(const IndexChanges& changes) {
      FOOTNOTE_CHECK(vectors.apply({}, kCorpus, changes));
      return keywords.apply({}, kCorpus, changes);
    }
    auto answers(Generation generation) const { return test::answers(vectors, keywords, kCorpus, generation); }
  };
  void fill(Indexes& indexes, Generation from, Generation to) {
    for (Generation g = from; g < to; ++g) ASSERT_TRUE(indexes.apply(steps_[static_cast<std::size_t>(g)]).has_value());
  }

  std::filesystem::path path(const SavedIndex& index) const { return folder_.path() / std::to_string(static_cast<int>(index.kind())); }
  static IndexHead head_of(const SavedIndex& index, Generation generation = kSteps) {
    return {.kind = index.kind(),
            .rules = index.rules(),
            .corpus = kCorpus,
            .space = {"a-model", test::kDimension},
            .generation = generation,
            .stamp = 4711};
  }
  void save(const SavedIndex& index) const {
    const auto saved = index.save({}, path(index), head_of(index));
    ASSERT_TRUE(saved.has_value()) << saved.error().message;
  }
  Result<void> load(SavedIndex& index) const {
    FOOTNOTE_TRY(IndexFileReader file, IndexFileReader::open(path(index)));
    // The check of upkeep/index_files: flipped bits in these fields must be detected here.
    if (file.head() != head_of(index)) return fail(ErrorCode::kFailedPrecondition, "another head");
    return index.load(file);
  }
  /// Bytes at the end of the file that no sum covers as a whole.
  std::size_t raw_bytes(const SavedIndex& index) const {
    if (index.kind() != IndexKind::kVectors) return 0;
    std::size_t vectors = 0;
    for (const IndexChanges& changes : std::span(steps_).first(kSteps)) {
      for (const IndexRow& row : changes.added) vectors += row.vectors.size();
    }
    return vectors * kVectorBytes;
  }
  static std::string bytes_of(const std::filesystem::path& file) { return read_file(file, 1 << 30).value(); }
  /// Writes a new file: what an index has mapped is unaffected.
  static void put_bytes(const std::filesystem::path& file, std::string_view bytes) {
    std::filesystem::remove(file);
    std::ofstream(file, std::ios::binary | std::ios::trunc).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }

  const sql::FolderForTest folder_{sql::FolderForTest::in_memory()};
  std::vector<IndexChanges> steps_;
};

TEST_F(IndexFileTest, WhatIsLoadedAnswersLikeWhatWasSavedAndGoesOnLikeIt) {
  Indexes lived;
  fill(lived, 0, kSteps);
  save(lived.vectors);
  save(lived.keywords);
  Indexes loaded;
  ASSERT_TRUE(load(loaded.vectors).has_value());
  ASSERT_TRUE(load(loaded.keywords).has_value());
  EXPECT_EQ(loaded.vectors.generation({}, kCorpus), kSteps);
  EXPECT_EQ(loaded.keywords.generation({}, kCorpus), kSteps);
  EXPECT_EQ(loaded.answers(kSteps), lived.answers(kSteps));
  EXPECT_GT(lived.answers(kSteps).size(), 100U);
  EXPECT_LT(loaded.vectors.extent(kCorpus).rows, lived.vectors.extent(kCorpus).rows) << "dead rows are not written";
  EXPECT_EQ(loaded.vectors.extent(kCorpus).changed_rows, 0U);

  fill(lived, kSteps, kSteps + 3);
  fill(loaded, kSteps, kSteps + 3);
  EXPECT_EQ(loaded.answers(kSteps + 3), lived.answers(kSteps + 3));
  EXPECT_EQ(loaded.answers(kSteps), lived.answers(kSteps)) << "an older generation that a reader has pinned";
  ASSERT_TRUE(loaded.vectors.forget({}, kCorpus, kSteps + 3) && loaded.keywords.forget({}, kCorpus, kSteps + 3));
  EXPECT_EQ(loaded.answers(kSteps + 3), lived.answers(kSteps + 3));
}

TEST_F(IndexFileTest, AnEmptyIndexIsSavedToo) {
  Indexes empty;
  const IndexChanges nothing{0, kSteps, {}, {}};
  ASSERT_TRUE(empty.apply(nothing).has_value());
  save(empty.vectors);
  save(empty.keywords);
  Indexes loaded;
  ASSERT_TRUE(load(loaded.vectors) && load(loaded.keywords));
  EXPECT_EQ(loaded.answers(kSteps), empty.answers(kSteps));
}

TEST_F(IndexFileTest, AnIndexThatMovedOnIsNotSavedUnderAnOlderName) {
  Indexes lived;
  fill(lived, 0, 3);
  EXPECT_EQ(lived.vectors.save({}, path(lived.vectors), head_of(lived.vectors, 2)).error().code, ErrorCode::kFailedPrecondition);
  EXPECT_FALSE(std::filesystem::exists(path(lived.vectors)));
}

TEST_F(IndexFileTest, AnyFlippedBitIsFound) {
  Indexes lived;
  fill(lived, 0, kSteps);
  std::mt19937 random(2);
  for (SavedIndex* index : {static_cast<SavedIndex*>(&lived.vectors), static_cast<SavedIndex*>(&lived.keywords)}) {
    save(*index);
    const std::string sound = bytes_of(path(*index));
    const std::size_t sections_end = sound.size() - raw_bytes(*index);
    for (int round = 0; round < 1000; ++round) {
      std::string damaged = sound;
      // The head byte by byte, the rest at random.
      const std::size_t bit = round < 700 ? static_cast<std::size_t>(round) : random() % (sections_end * 8);
      damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
      put_bytes(path(*index), damaged);
      Indexes loaded;
      SavedIndex& into = index->kind() == IndexKind::kVectors ? static_cast<SavedIndex&>(loaded.vectors) : loaded.keywords;
      const auto outcome = load(into);
      ASSERT_FALSE(outcome.has_value()) << "bit " << bit;
      EXPECT_NE(outcome.error().code, ErrorCode::kInternal);
      EXPECT_EQ(into.extent(kCorpus).generation, 0) << "nothing of it is used";
    }
  }
}

TEST_F(IndexFileTest, AFlippedBitOfCodesIsFoundWhenTheyAreReadAndChangesNoAnswer) {
  Indexes lived;
  fill(lived, 0, kSteps);
  save(lived.vectors);
  const std::string sound = bytes_of(path(lived.vectors));
  const std::size_t code_bytes = raw_bytes(lived.vectors) / kVectorBytes * (kVectorBytes - kFullBytes);
  const std::size_t begin = sound.size() - code_bytes;
  std::mt19937 random(4);
  int noticed = 0;
  set_log_level(LogLevel::kOff);
  for (int round = 0; round < 200; ++round) {
    std::string damaged = sound;
    const std::size_t bit = begin * 8 + random() % (code_bytes * 8);
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    put_bytes(path(lived.vectors), damaged);
    LocalVectorStore loaded;
    ASSERT_TRUE(load(loaded).has_value());
    // Dead rows are dropped on load: only live rows are checked.
    if (loaded.is_damaged(kCorpus) || !loaded.check(kCorpus).has_value()) ++noticed;
    const Filter all{.caller_labels = {"hr"}};
    for (const std::size_t limit : {std::size_t{3}, std::size_t{1000}}) {
      const auto asked = test::random_vector(random);
      const auto expected = lived.vectors.search({}, {kCorpus, kSteps, asked, limit, &all}).value();
      const auto found = loaded.search({}, {kCorpus, kSteps, asked, limit, &all}).value();
      ASSERT_EQ(found.size(), expected.size());
      for (std::size_t i = 0; i < found.size(); ++i) {
        EXPECT_EQ(found[i].chunk, expected[i].chunk);
        EXPECT_EQ(found[i].score, expected[i].score);
      }
    }
  }
  set_log_level(LogLevel::kInfo);
  EXPECT_GT(noticed, 100) << "all except those of dead rows";
}

TEST_F(IndexFileTest, AFlippedBitOfAFullVectorIsFoundWhenItIsReadAndTheRowCountsByItsCodes) {
  Indexes lived;
  fill(lived, 0, kSteps);
  save(lived.vectors);
  const std::string sound = bytes_of(path(lived.vectors));
  const std::size_t begin = sound.size() - raw_bytes(lived.vectors);
  const std::size_t full_bytes = raw_bytes(lived.vectors) / kVectorBytes * kFullBytes;
  std::mt19937 random(4);
  int unread = 0;
  set_log_level(LogLevel::kOff);
  for (int round = 0; round < 200; ++round) {
    std::string damaged = sound;
    const std::size_t bit = begin * 8 + random() % (full_bytes * 8);
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    put_bytes(path(lived.vectors), damaged);
    LocalVectorStore loaded;
    ASSERT_TRUE(load(loaded).has_value());
    EXPECT_FALSE(loaded.is_damaged(kCorpus)) << "not read yet";
    const bool damaged_row_lives = !loaded.check(kCorpus).has_value();
    const auto asked = test::random_vector(random);
    const Filter all{.caller_labels = {"hr"}};  // labelled rows too: a row that nobody sees is not read
    const auto expected = lived.vectors.search({}, {kCorpus, kSteps, asked, 1000, &all}).value();
    const auto found = loaded.search({}, {kCorpus, kSteps, asked, 1000, &all}).value();
    ASSERT_EQ(found.size(), expected.size());
    std::map<ChunkId, double> scores;
    for (const ScoredChunk& hit : expected) scores[hit.chunk] = hit.score;
    for (const ScoredChunk& hit : found) EXPECT_NEAR(hit.score, scores.at(hit.chunk), 0.02);
    // The vector of a dead row is in the file, but never read.
    EXPECT_EQ(loaded.is_damaged(kCorpus), damaged_row_lives);
    if (!damaged_row_lives) {
      ++unread;
      continue;
    }
    ASSERT_TRUE(loaded.drop({}, kCorpus).has_value());
    EXPECT_FALSE(loaded.is_damaged(kCorpus));
  }
  set_log_level(LogLevel::kInfo);
  EXPECT_LT(unread, 100) << "most belong to live rows";
}

TEST_F(IndexFileTest, WhatIsSavedIsReadFromTheFileAndAnswersTheSame) {
  Indexes lived;
  fill(lived, 0, kSteps - 2);
  const auto before = lived.answers(kSteps - 2);
  const auto older = lived.answers(kSteps - 4);
  EXPECT_GT(lived.vectors.unsaved_bytes(), 0U);
  ASSERT_TRUE(lived.vectors.save({}, path(lived.vectors), head_of(lived.vectors, kSteps - 2)).has_value());
  EXPECT_EQ(lived.vectors.unsaved_bytes(), 0U);
  EXPECT_EQ(lived.answers(kSteps - 2), before);
  EXPECT_EQ(lived.answers(kSteps - 4), older) << "rows that died since are still visible in older generations";
  // Replacing the file changes nothing: the old one stays mapped.
  put_bytes(path(lived.vectors), "something else");
  EXPECT_EQ(lived.answers(kSteps - 2), before);
  fill(lived, kSteps - 2, kSteps);
  EXPECT_GT(lived.vectors.unsaved_bytes(), 0U) << "rows added since";
  Indexes unsaved;
  fill(unsaved, 0, kSteps);
  EXPECT_EQ(lived.answers(kSteps), unsaved.answers(kSteps));
  EXPECT_FALSE(lived.vectors.is_damaged(kCorpus));
  save(lived.vectors);
  LocalVectorStore loaded;
  ASSERT_TRUE(load(loaded).has_value());
  EXPECT_EQ(loaded.unsaved_bytes(), 0U);
  EXPECT_EQ(test::answers(loaded, unsaved.keywords, kCorpus, kSteps), unsaved.answers(kSteps));
}

TEST_F(IndexFileTest, SpacesAndDistancesComeBack) {
  for (const Distance distance : {Distance::kCosine, Distance::kDot, Distance::kEuclid, Distance::kManhattan}) {
    LocalVectorStore lived;
    std::mt19937 random(6);
    IndexChanges changes{0, kSteps, {}, {}};
    changes.distance = distance;
    changes.named_spaces = {{"image", test::kDimension, Distance::kEuclid}, {"none", 3, Distance::kDot}};
    for (std::int64_t chunk = 1; chunk <= 300; ++chunk) {
      IndexRow& row = changes.added.emplace_back();
      row.chunk = {chunk};
      row.document = {1};
      row.born = 1;
      row.vectors = {test::random_vector(random)};
      if (chunk % 2 == 0) row.named_vectors["image"] = {test::random_vector(random), test::random_vector(random)};
    }
    ASSERT_TRUE(lived.apply({}, kCorpus, changes).has_value());
    const auto asked = test::random_vector(random);
    const auto all = [&](const LocalVectorStore& store, std::string_view space) {
      std::vector<std::pair<std::int64_t, double>> out;
      VectorQuery query{kCorpus, kSteps, asked, 1000, nullptr};
      query.space = space;
      const auto hits = store.search({}, query).value();
      for (const ScoredChunk& hit : hits) out.emplace_back(hit.chunk.value, hit.score);
      return out;
    };
    const auto own = all(lived, ""), image = all(lived, "image");
    EXPECT_EQ(own.size(), 300U);
    EXPECT_EQ(image.size(), 150U);
    save(lived);
    LocalVectorStore loaded;
    ASSERT_TRUE(load(loaded).has_value());
    EXPECT_EQ(all(lived, ""), own);
    EXPECT_EQ(all(loaded, ""), own);
    EXPECT_EQ(all(loaded, "image"), image);
    const float three[] = {1, 0, 0};
    VectorQuery query{kCorpus, kSteps, three, 10, nullptr};
    query.space = "none";
    EXPECT_TRUE(loaded.search({}, query).value().empty());
    query.space = "other";
    EXPECT_EQ(loaded.search({}, query).error().code, ErrorCode::kNotFound);
  }
}

TEST_F(IndexFileTest, ALoadedIndexScansAtTheLevelThatItIsGiven) {
  Indexes lived;
  fill(lived, 0, kSteps);
  save(lived.vectors);
  for (const cpu::CpuLevel level : cpu::usable_cpu_levels()) {
    LocalVectorStore made(level), loaded(level);
    for (int step = 0; step < kSteps; ++step) ASSERT_TRUE(made.apply({}, kCorpus, steps_[static_cast<std::size_t>(step)]).has_value());
    ASSERT_TRUE(load(loaded).has_value());
    // Levels round differently, so equal bits show which arithmetic was used.
    EXPECT_EQ(test::answers(loaded, lived.keywords, kCorpus, kSteps), test::answers(made, lived.keywords, kCorpus, kSteps))
        << cpu::to_string(level);
  }
}

TEST_F(IndexFileTest, AStepPastTheBudgetHasTheFullestCorpusSaved) {
  const auto bytes_of_rows = [](std::size_t rows) { return rows * 32 * sizeof(float); };  // 24 numbers are padded to 32
  std::vector<CorpusId> saved;
  bool works = true;
  LocalVectorStore* store = nullptr;
  LocalVectorStore vectors(cpu::best_cpu_level(),
                           {.unsaved_bytes_max = bytes_of_rows(100), .save = [&](const CallContext&, CorpusId corpus) {
                              saved.push_back(corpus);
                              IndexHead head = head_of(*store, store->extent(corpus).generation);
                              head.corpus = corpus;
                              EXPECT_TRUE(!works || store->save({}, path(*store), head).has_value());
                            }});
  store = &vectors;
  std::int64_t chunk = 1;
  std::map<CorpusId, Generation> generations;
  const auto add = [&](CorpusId corpus, int rows) {
    Generation& generation = generations[corpus];
    IndexChanges changes{generation, generation + 1, {}, {}};
    ++generation;
    for (int i = 0; i < rows; ++i) {
      IndexRow& row = changes.added.emplace_back();
      row.chunk = {chunk++};
      row.document = {1};
      row.born = generation;
      row.vectors = {std::vector<float>(test::kDimension, 1.0F)};
    }
    ASSERT_TRUE(vectors.apply({}, corpus, changes).has_value());
  };
  add(CorpusId{1}, 60);
  add(CorpusId{2}, 40);
  EXPECT_EQ(vectors.unsaved_bytes(), bytes_of_rows(100));
  EXPECT_TRUE(saved.empty()) << "at the bound";
  add(CorpusId{2}, 1);
  EXPECT_EQ(saved, std::vector<CorpusId>{CorpusId{1}}) << "past it";
  EXPECT_EQ(vectors.unsaved_bytes(), bytes_of_rows(41));
  works = false;
  add(CorpusId{3}, 60);
  EXPECT_EQ(saved.size(), 2U);
  add(CorpusId{3}, 1);
  EXPECT_EQ(saved.size(), 2U) << "a save that did not help is not retried at every step";
  works = true;
  add(CorpusId{3}, 200);
  EXPECT_EQ(saved.size(), 3U);
  EXPECT_LE(vectors.unsaved_bytes(), bytes_of_rows(100));
}

TEST_F(IndexFileTest, AFileCutShortOrTooLongIsFound) {
  Indexes lived;
  fill(lived, 0, kSteps);
  for (SavedIndex* index : {static_cast<SavedIndex*>(&lived.vectors), static_cast<SavedIndex*>(&lived.keywords)}) {
    save(*index);
    const std::string sound = bytes_of(path(*index));
    const auto code = [&](std::string_view bytes) {
      put_bytes(path(*index), bytes);
      Indexes loaded;
      const auto outcome = load(index->kind() == IndexKind::kVectors ? static_cast<SavedIndex&>(loaded.vectors) : loaded.keywords);
      return outcome ? ErrorCode::kInternal : outcome.error().code;
    };
    std::mt19937 random(3);
    for (int round = 0; round < 200; ++round) EXPECT_EQ(code(sound.substr(0, random() % sound.size())), ErrorCode::kCorrupted);
    for (std::size_t size = 0; size < 120; ++size) EXPECT_EQ(code(sound.substr(0, size)), ErrorCode::kCorrupted) << size;
    EXPECT_EQ(code(sound + "x"), ErrorCode::kCorrupted);
    EXPECT_EQ(code(std::string(sound.size(), '\0')), ErrorCode::kCorrupted);
    // Torn at sectors, as after a power cut; full vectors are checked on use.
    const std::size_t sections_end = sound.size() - raw_bytes(*index);
    for (int round = 0; round < 100; ++round) {
      std::string torn = sound;
      for (std::size_t at = 0; at < sections_end; at += 512) {
        if (random() % 4 == 0)
          std::fill_n(torn.begin() + static_cast<std::ptrdiff_t>(at), std::min<std::size_t>(512, torn.size() - at), '\0');
      }
      EXPECT_TRUE(torn == sound || code(torn) == ErrorCode::kCorrupted) << round;
    }
  }
}

TEST_F(IndexFileTest, AnotherFormatIsNamed) {
  Indexes lived;
  fill(lived, 0, kSteps);
  save(lived.vectors);
  std::string bytes = bytes_of(path(lived.vectors));
  bytes[8] = 9;
  put_bytes(path(lived.vectors), bytes);
  const auto refused = IndexFileReader::open(path(lived.vectors));
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().message.find("format is 9"), std::string::npos) << refused.error().message;
}

}  // namespace
}  // namespace footnote
