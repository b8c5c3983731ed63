#include "engine/nn/wordpiece.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "base/sha256.h"
#include "base/utf8.h"
#include "engine/nn/fixture_for_test.h"

namespace footnote::nn {
namespace {

using testing::Sample;

const WordPiece& uncased() {
  static const WordPiece tokenizer = [] {
    const auto vocabulary = read_file(testing::model_path() / "vocab.txt", 1 << 26);
    if (!vocabulary) {
      ADD_FAILURE() << "no model at " << testing::model_path() << ": run `make setup`";
      return *WordPiece::create("[UNK]\n[CLS]\n[SEP]\n", {});
    }
    return *WordPiece::create(*vocabulary, {});
  }();
  return tokenizer;
}

// A few pieces, so that expectations are readable.
constexpr std::string_view kSmall =
    "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\ncat\n##s\nsat\n.\n[\n]\ncafe\nCafe\nCafé\n##teria\n\xE4\xBD\xA0\nk\n##k\n!\nmask\n";

std::string pieces_of(const WordPiece& tokenizer, std::string_view text, Specials specials = Specials::kRecognise) {
  const Tokens tokens = tokenizer.tokenize(text, WordPiece::kNoLimit, specials);
  std::string out;
  for (std::size_t i = 0; i < tokens.ids.size(); ++i) {
    if (i > 0) out += ' ';
    const ByteRange range = tokens.ranges[i];
    out += std::string(tokenizer.vocabulary().piece(tokens.ids[i])) + "<" + std::string(text.substr(range.begin, range.end - range.begin)) +
           ">";
  }
  return out;
}

void check_small(std::string_view text, std::string_view expected, WordPieceOptions options = {}) {
  const auto tokenizer = WordPiece::create(kSmall, options);
  ASSERT_TRUE(tokenizer.has_value());
  EXPECT_EQ(pieces_of(*tokenizer, text), expected) << text;
}

TEST(WordPiece, CutsWordsAndKeepsTheirPlaces) {
  check_small("The CATS sat.", "the<The> cat<CAT> ##s<S> sat<sat> .<.>");
  check_small("cat\n\tsat", "cat<cat> sat<sat>");
  check_small("Cafe\xCC\x81teria", "cafe<Cafe> ##teria<teria>");
  check_small("CAF\xC3\x89TERIA", "cafe<CAF\xC3\x89> ##teria<TERIA>");
  check_small("ca\xE2\x80\x8Bt", "cat<ca\xE2\x80\x8Bt>");
  check_small("cat\xE4\xBD\xA0sat", "cat<cat> \xE4\xBD\xA0<\xE4\xBD\xA0> sat<sat>");
  check_small("the dog sat", "the<the> [UNK]<dog> sat<sat>");
  check_small("", "");
}

TEST(WordPiece, SpecialTokensInTheTextAreRecognisedOrNot) {
  check_small("the [MASK]sat", "the<the> [MASK]<[MASK]> sat<sat>");
  check_small("[mask]", "[<[> mask<mask> ]<]>");
  const auto tokenizer = WordPiece::create(kSmall, {});
  EXPECT_EQ(pieces_of(*tokenizer, "[MASK]", Specials::kAsText), "[<[> mask<MASK> ]<]>");
}

TEST(WordPiece, CasedModelsKeepCaseAndAccents) {
  const WordPieceOptions cased{.lower_case = false, .strip_accents = false};
  check_small("Caf\xC3\xA9", "Caf\xC3\xA9<Caf\xC3\xA9>", cased);
  check_small("cafe Cafe CAFE", "cafe<cafe> Cafe<Cafe> [UNK]<CAFE>", cased);
}

TEST(WordPiece, AWordOfMoreThanAHundredCharactersIsUnknown) {
  const auto tokenizer = WordPiece::create(kSmall, {});
  EXPECT_EQ(tokenizer->tokenize(std::string(100, 'k')).ids.size(), 100U);
  const Tokens longer = tokenizer->tokenize(std::string(101, 'k') + "!");
  ASSERT_EQ(longer.ids.size(), 2U);
  EXPECT_EQ(longer.ids[0], tokenizer->unknown_id());
  EXPECT_EQ(longer.ranges[0], (ByteRange{0, 101}));
}

TEST(WordPiece, FramesAndTruncates) {
  const auto tokenizer = WordPiece::create(kSmall, {});
  const Tokens all = tokenizer->frame("the cats", 5);
  EXPECT_EQ(all.ids, (std::vector<std::uint32_t>{2, 5, 6, 7, 3}));
  EXPECT_FALSE(all.truncated);
  EXPECT_EQ(all.ranges.back(), (ByteRange{8, 8}));
  const Tokens some = tokenizer->frame("the cats", 4);
  EXPECT_EQ(some.ids, (std::vector<std::uint32_t>{2, 5, 6, 3}));
  EXPECT_TRUE(some.truncated);
  EXPECT_EQ(tokenizer->frame("the cats", 2).ids, (std::vector<std::uint32_t>{2, 3}));
  // A word that turns out to be unknown beyond the limit is unknown as a whole.
  EXPECT_EQ(tokenizer->frame("catsdog", 3).ids, (std::vector<std::uint32_t>{2, 1, 3}));
}

TEST(WordPiece, RefusesWhatIsNoVocabulary) {
  EXPECT_EQ(WordPiece::create("", {}).error().code, ErrorCode::kCorrupted);
  EXPECT_EQ(WordPiece::create("\xFF\n", {}).error().code, ErrorCode::kCorrupted);
  EXPECT_EQ(WordPiece::create("[UNK]\n[CLS]\nthe\n", {}).error().code, ErrorCode::kCorrupted);
}

TEST(WordPiece, GivesTheReferenceIdsAndPlaces) {
  ASSERT_EQ(testing::samples().size(), 200U);
  for (const Sample& sample : testing::samples()) {
    const Tokens tokens = uncased().frame(sample.text, 256);
    EXPECT_EQ(tokens.ids, sample.ids) << sample.text;
    // The reference gives special tokens empty ranges at 0; ours are where the text begins and ends.
    for (std::size_t i = 1; i + 1 < tokens.ids.size() && i + 1 < sample.ids.size(); ++i) {
      EXPECT_EQ(tokens.ranges[i].begin, sample.ranges[i].begin) << sample.text << " token " << i;
      EXPECT_EQ(tokens.ranges[i].end, sample.ranges[i].end) << sample.text << " token " << i;
    }
  }
}

TEST(WordPiece, TreatsEveryCodePointAsTheReferenceDoes) {
  const Json expected = *parse_json(testing::must_read(testing::fixture_path("code_points.json")));
  Sha256 digest;
  Tokens tokens;
  std::string text;
  for (char32_t c = 0; c < 0x110000; ++c) {
    if (c >= 0xD800 && c < 0xE000) continue;
    text = "a";
    append_utf8(text, c);
    text += 'b';
    uncased().tokenize_into(text, WordPiece::kNoLimit, Specials::kRecognise, tokens);
    tokens.ids.push_back(0xFFFFFFFF);
    digest.update({reinterpret_cast<const char*>(tokens.ids.data()), tokens.ids.size() * sizeof(std::uint32_t)});
  }
  EXPECT_EQ(digest.hex(), expected.at("sha256").as_string().c_str());
}

void expect_sound(const Tokens& tokens, std::string_view text) {
  ASSERT_EQ(tokens.ids.size(), tokens.ranges.size());
  ByteRange last;
  for (std::size_t i = 0; i < tokens.ids.size(); ++i) {
    const ByteRange range = tokens.ranges[i];
    ASSERT_LT(range.begin, range.end);
    ASSERT_LE(range.end, text.size());
    ASSERT_GE(range.begin, last.begin);
    ASSERT_GE(range.end, last.end);
    ASSERT_LT(tokens.ids[i], uncased().vocabulary().size());
    last = range;
  }
}

TEST(WordPiece, AnyBytesGiveSoundTokens) {
  std::mt19937 random(7);
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    const std::size_t length = random() % 400;
    while (text.size() < length) {
      switch (random() % 5) {
        case 0: text += static_cast<char>(random()); break;
        case 1: append_utf8(text, random() % 0xD800); break;
        case 2: append_utf8(text, 0xE000 + random() % (0x110000 - 0xE000)); break;
        case 3: append_utf8(text, 0x300 + random() % 0x80); break;
        default: text += static_cast<char>(' ' + random() % 95); break;
      }
    }
    expect_sound(uncased().tokenize(text), text);
    const std::size_t limit = random() % 20;
    const Tokens whole = uncased().tokenize(text);
    const Tokens cut = uncased().tokenize(text, limit);
    ASSERT_EQ(cut.truncated, whole.ids.size() > limit);
    ASSERT_TRUE(std::equal(cut.ids.begin(), cut.ids.end(), whole.ids.begin()));
  }
}

}  // namespace
}  // namespace footnote::nn
