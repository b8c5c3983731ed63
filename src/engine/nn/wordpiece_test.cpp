#include "engine/nn/wordpiece.h"

#include <gtest/gtest.h>

#include <string>

#include "base/sha256.h"
#include "base/utf8.h"
#include "engine/nn/fixture_for_test.h"
#include "engine/nn/tokenizer_files.h"

namespace footnote::nn {
namespace {

using testing::Sample;

const Tokenizer& uncased() {
  static const std::unique_ptr<const Tokenizer> tokenizer = [] {
    const auto vocabulary = read_file(testing::model_path() / "vocab.txt", 1 << 26);
    if (!vocabulary) {
      ADD_FAILURE() << "no model at " << testing::model_path() << ": run `make setup`";
      return tokenizer_from_vocabulary("[UNK]\n[CLS]\n[SEP]\n").value();
    }
    return tokenizer_from_vocabulary(*vocabulary).value();
  }();
  return *tokenizer;
}

// A few pieces, so that expectations are readable.
constexpr std::string_view kSmall =
    "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\ncat\n##s\nsat\n.\n[\n]\ncafe\nCafe\nCafé\n##teria\n\xE4\xBD\xA0\nk\n##k\n!\nmask\n";

std::string pieces_of(const Tokenizer& tokenizer, std::string_view text, Specials specials = Specials::kRecognise) {
  static const Vocabulary vocabulary = Vocabulary::parse(kSmall).value();
  const Tokens tokens = tokenizer.tokenize(text, Tokenizer::kNoLimit, specials);
  std::string out;
  for (std::size_t i = 0; i < tokens.ids.size(); ++i) {
    if (i > 0) out += ' ';
    const ByteRange range = tokens.ranges[i];
    out += fmt::format("{}<{}>", vocabulary.piece(tokens.ids[i]), text.substr(range.begin, range.end - range.begin));
  }
  return out;
}

std::unique_ptr<const Tokenizer> small(std::string_view config = {}) { return tokenizer_from_vocabulary(kSmall, config).value(); }

void check_small(std::string_view text, std::string_view expected, std::string_view config = {}) {
  EXPECT_EQ(pieces_of(*small(config), text), expected) << text;
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
  EXPECT_EQ(pieces_of(*small(), "[MASK]", Specials::kAsText), "[<[> mask<MASK> ]<]>");
}

TEST(WordPiece, CasedModelsKeepCaseAndAccents) {
  constexpr std::string_view cased = R"({"do_lower_case": false, "strip_accents": false})";
  check_small("Caf\xC3\xA9", "Caf\xC3\xA9<Caf\xC3\xA9>", cased);
  check_small("cafe Cafe CAFE", "cafe<cafe> Cafe<Cafe> [UNK]<CAFE>", cased);
}

TEST(WordPiece, AWordOfMoreThanAHundredCharactersIsUnknown) {
  const auto tokenizer = small();
  EXPECT_EQ(tokenizer->tokenize(std::string(100, 'k')).ids.size(), 100U);
  const Tokens longer = tokenizer->tokenize(std::string(101, 'k') + "!");
  ASSERT_EQ(longer.ids.size(), 2U);
  EXPECT_EQ(longer.ids[0], tokenizer->unknown_id());
  EXPECT_EQ(longer.ranges[0], (ByteRange{0, 101}));
}

TEST(WordPiece, FramesAndTruncates) {
  const auto tokenizer = small();
  const Tokens all = tokenizer->tokenize("the cats", 3);
  EXPECT_EQ(tokenizer->frame_ids(all.ids), (std::vector<std::uint32_t>{2, 5, 6, 7, 3}));
  EXPECT_FALSE(all.truncated);
  const Tokens some = tokenizer->tokenize("the cats", 2);
  EXPECT_EQ(tokenizer->frame_ids(some.ids), (std::vector<std::uint32_t>{2, 5, 6, 3}));
  EXPECT_TRUE(some.truncated);
  EXPECT_EQ(tokenizer->frame_ids(tokenizer->tokenize("the cats", 0).ids), (std::vector<std::uint32_t>{2, 3}));
  // A word that turns out to be unknown beyond the limit is unknown as a whole.
  EXPECT_EQ(tokenizer->tokenize("catsdog", 1).ids, (std::vector<std::uint32_t>{1}));
}

TEST(WordPiece, RefusesWhatIsNoVocabulary) {
  EXPECT_EQ(tokenizer_from_vocabulary("").error().code, ErrorCode::kCorrupted);
  EXPECT_EQ(tokenizer_from_vocabulary("\xFF\n").error().code, ErrorCode::kCorrupted);
  EXPECT_EQ(tokenizer_from_vocabulary("[UNK]\n[CLS]\nthe\n").error().code, ErrorCode::kCorrupted);
}

TEST(WordPiece, GivesTheReferenceIdsAndPlaces) {
  ASSERT_EQ(testing::samples().size(), 200U);
  for (const Sample& sample : testing::samples()) {
    const Tokens tokens = uncased().tokenize(sample.text, 256 - uncased().frame_tokens());
    EXPECT_EQ(uncased().frame_ids(tokens.ids), sample.ids) << sample.text;
    // The reference has a range for [CLS] too.
    for (std::size_t i = 0; i < tokens.ids.size() && i + 1 < sample.ids.size(); ++i) {
      EXPECT_EQ(tokens.ranges[i].begin, sample.ranges[i + 1].begin) << sample.text << " token " << i;
      EXPECT_EQ(tokens.ranges[i].end, sample.ranges[i + 1].end) << sample.text << " token " << i;
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
    uncased().tokenize_into(text, Tokenizer::kNoLimit, Specials::kRecognise, tokens);
    tokens.ids.push_back(0xFFFFFFFF);
    digest.update({reinterpret_cast<const char*>(tokens.ids.data()), tokens.ids.size() * sizeof(std::uint32_t)});
  }
  EXPECT_EQ(digest.hex(), expected.at("sha256").as_string().c_str());
}

}  // namespace
}  // namespace footnote::nn
