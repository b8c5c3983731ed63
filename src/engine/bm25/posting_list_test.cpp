#include "engine/bm25/posting_list.h"

#include <gtest/gtest.h>

#include <random>

namespace footnote::bm25 {
namespace {

struct Posting {
  std::uint32_t row = 0;
  std::vector<std::uint32_t> positions;

  bool operator==(const Posting&) const = default;
};

std::vector<Posting> read(const PostingList& list) {
  std::vector<Posting> out;
  Block block;
  for (std::size_t b = 0; b < list.block_count(); ++b) {
    list.decode(b, block);
    auto positions = list.positions(b);
    for (std::size_t i = 0; i < block.size; ++i) {
      Posting& posting = out.emplace_back();
      posting.row = block.rows[i];
      decode_positions(positions, block.counts[i] + 1U, posting.positions);
      positions = positions.subspan(positions_size(positions, block.counts[i] + 1U));
    }
  }
  return out;
}

std::vector<Posting> some_postings(std::mt19937& random, std::size_t count) {
  std::vector<Posting> out;
  std::uint32_t row = 0;
  const std::uint32_t step = static_cast<std::uint32_t>(kSegmentRowsMax / (count + 1));
  for (std::size_t i = 0; i < count; ++i) {
    row += i == 0 ? 0 : 1 + (step > 1 ? static_cast<std::uint32_t>(random()) % (step - 1) : 0);
    Posting& posting = out.emplace_back();
    posting.row = row;
    std::uint32_t position = 0;
    for (std::size_t n = 1 + random() % (random() % 8 == 0 ? kCountMax : 2); n > 0; --n) {
      posting.positions.push_back(position += static_cast<std::uint32_t>(random()) % (random() % 9 == 0 ? 100'000 : 50));
    }
  }
  return out;
}

std::vector<std::uint8_t> write(const std::vector<Posting>& postings, std::span<const LengthCode> lengths) {
  ListWriter writer;
  for (const Posting& posting : postings) writer.add(posting.row, posting.positions);
  std::vector<std::uint8_t> out;
  writer.finish(lengths, out);
  return out;
}

TEST(PostingList, ReadsBackWhatWasWritten) {
  std::mt19937 random{5};
  std::vector<LengthCode> lengths(kSegmentRowsMax);
  for (LengthCode& length : lengths) length = static_cast<LengthCode>(random());
  for (const std::size_t size : {1, 2, 127, 128, 129, 255, 256, 257, 5000, 65'536}) {
    const auto postings = some_postings(random, size);
    const auto bytes = write(postings, lengths);
    ASSERT_TRUE(check_list(bytes, lengths)) << size;
    const PostingList list(bytes);
    ASSERT_EQ(list.size(), size);
    EXPECT_EQ(read(list), postings) << size;
    ListCursor cursor(list);
    for (std::size_t i = 0; i < postings.size(); i += 1 + random() % 300) {
      EXPECT_EQ(cursor.count_at(postings[i].row), static_cast<int>(postings[i].positions.size()) - 1);
    }
    for (std::size_t b = 0; list.has_heads() && b < list.block_count(); ++b) {
      Block block;
      list.decode(b, block);
      EXPECT_EQ(list.last_row(b), block.rows[block.size - 1]);
    }
  }
}

TEST(PostingList, CutsCountsAtTheirGreatest) {
  const std::vector<LengthCode> lengths(10, 1);
  const auto bytes = write({{3, std::vector<std::uint32_t>(kCountMax + 1, 7)}}, lengths);
  ASSERT_TRUE(check_list(bytes, lengths));
  EXPECT_EQ(read(PostingList(bytes))[0].positions.size(), kCountMax);
}

TEST(PostingList, WhatItWasNotWrittenAsIsFoundOut) {
  std::mt19937 random{6};
  const std::vector<LengthCode> lengths(kSegmentRowsMax, 40);
  for (const std::size_t size : {1, 100, 128, 300}) {
    const auto bytes = write(some_postings(random, size), lengths);
    for (std::size_t cut = 0; cut < bytes.size(); cut += 1 + cut / 50) EXPECT_FALSE(check_list(std::span(bytes).first(cut), lengths));
    auto longer = bytes;
    longer.push_back(1);
    EXPECT_FALSE(check_list(longer, lengths));
    EXPECT_FALSE(check_list(bytes, std::span(lengths).first(size - 1))) << "more rows than there are";
    // After flipping a bit, the list is either rejected or safe to read to its end.
    for (int i = 0; i < 3000; ++i) {
      auto flipped = bytes;
      flipped[random() % flipped.size()] ^= static_cast<std::uint8_t>(1U << random() % 8);
      if (check_list(flipped, lengths)) read(PostingList(flipped));
    }
  }
}

TEST(RowLength, IsExactWhenShortAndNearWhenLong) {
  for (std::uint32_t length = 0; length < 2 * kRowLengthMax; ++length) {
    const double code = length_of(length_code(length));
    const double real = std::min(length, kRowLengthMax);
    ASSERT_NEAR(code, real, length < kExactLengths ? 0 : real / 32 + 1) << length;
    ASSERT_GE(length_code(length + 1), length_code(length));
  }
  for (int code = 0; code < 256; ++code) EXPECT_EQ(length_code(length_of(static_cast<LengthCode>(code))), code);
}

}  // namespace
}  // namespace footnote::bm25
