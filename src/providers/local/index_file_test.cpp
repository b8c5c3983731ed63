#include "providers/local/index_file.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/file.h"
#include "engine/sql/folder_for_test.h"
#include "providers/local/index_for_test.h"
#include "providers/local/local_keyword_index.h"
#include "providers/local/local_vector_store.h"

namespace footnote {
namespace {

constexpr CorpusId kCorpus{7};
constexpr int kSteps = 12;

/// Both indexes of one corpus, and their files.
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
    const auto saved = index.save(path(index), head_of(index));
    ASSERT_TRUE(saved.has_value()) << saved.error().message;
  }
  Result<void> load(SavedIndex& index) const {
    FOOTNOTE_TRY(IndexFileReader file, IndexFileReader::open(path(index)));
    // What app/index_files looks at; flips in these fields must show, and here they do.
    if (file.head() != head_of(index)) return fail(ErrorCode::kFailedPrecondition, "another head");
    return index.load(file);
  }
  static std::string bytes_of(const std::filesystem::path& file) { return read_file(file, 1 << 30).value(); }
  static void put_bytes(const std::filesystem::path& file, std::string_view bytes) {
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
  EXPECT_LT(loaded.vectors.extent(kCorpus).rows, lived.vectors.extent(kCorpus).rows) << "what died is not written";
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
  EXPECT_EQ(lived.vectors.save(path(lived.vectors), head_of(lived.vectors, 2)).error().code, ErrorCode::kFailedPrecondition);
  EXPECT_FALSE(std::filesystem::exists(path(lived.vectors)));
}

TEST_F(IndexFileTest, AnyFlippedBitIsFound) {
  Indexes lived;
  fill(lived, 0, kSteps);
  std::mt19937 random(2);
  for (SavedIndex* index : {static_cast<SavedIndex*>(&lived.vectors), static_cast<SavedIndex*>(&lived.keywords)}) {
    save(*index);
    const std::string sound = bytes_of(path(*index));
    for (int round = 0; round < 1000; ++round) {
      std::string damaged = sound;
      // The head byte by byte, the rest at random.
      const std::size_t bit = round < 700 ? static_cast<std::size_t>(round) : random() % (sound.size() * 8);
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
    // Torn at sectors, as a disk without power leaves it.
    for (int round = 0; round < 100; ++round) {
      std::string torn = sound;
      for (std::size_t at = 0; at < torn.size(); at += 512) {
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
