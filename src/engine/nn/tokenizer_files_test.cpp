#include "engine/nn/tokenizer_files.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <map>
#include <random>
#include <string>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "base/utf8.h"
#include "engine/nn/fixture_for_test.h"
#include "engine/nn/sentencepiece_file.h"
#include "support/source_folder.h"

namespace footnote::nn {
namespace {

const char* const kFolders[] = {"xlmr", "unigram", "bert_uncased", "bert_cased", "mpnet"};

std::filesystem::path path_of(std::string_view folder) { return test::source_folder() / "tests" / "fixtures" / "tokenizers" / folder; }

const Tokenizer& tokenizer_of(const std::string& folder) {
  static std::map<std::string, std::unique_ptr<const Tokenizer>> all;
  auto& tokenizer = all[folder];
  if (!tokenizer) tokenizer = open_tokenizer(path_of(folder)).value();
  return *tokenizer;
}

std::string text_at(const Json& object, const char* key) {
  const auto& text = object.at(key).as_string();
  return {text.data(), text.size()};
}

/// Three numbers per token: see tools/make_tokenizer_fixture.py.
Tokens tokens_of(const JsonArray& places) {
  Tokens out;
  std::uint32_t begin = 0;
  for (std::size_t i = 0; i < places.size(); i += 3) {
    begin += places[i + 1].to_number<std::uint32_t>();
    out.ids.push_back(places[i].to_number<std::uint32_t>());
    out.ranges.push_back({begin, begin + places[i + 2].to_number<std::uint32_t>()});
  }
  return out;
}

std::string print(const std::vector<ByteRange>& ranges) {
  std::string out;
  for (const ByteRange range : ranges) out += fmt::format("{}-{} ", range.begin, range.end);
  return out;
}

TEST(TokenizerFiles, GiveTheReferenceIdsAndPlaces) {
  const std::string cases = testing::must_read(path_of("cases.jsonl"));
  std::size_t count = 0;
  for (const std::string_view line : split(cases, '\n')) {
    if (line.empty()) continue;
    const Json row = *parse_json(line);
    const std::string text = text_at(row, "text");
    for (const auto& [folder, places] : row.at("expected").as_object()) {
      const Tokens expected = tokens_of(places.as_array());
      const Tokens tokens = tokenizer_of(folder).tokenize(text);
      EXPECT_EQ(tokens.ids, expected.ids) << folder << ": " << text;
      EXPECT_EQ(print(tokens.ranges), print(expected.ranges)) << folder << ": " << text;
      ++count;
    }
  }
  EXPECT_GE(count, 450U);
}

TEST(TokenizerFiles, FramePairsAsTheReferenceDoes) {
  const std::string pairs = testing::must_read(path_of("pairs.jsonl"));
  std::size_t count = 0;
  for (const std::string_view line : split(pairs, '\n')) {
    if (line.empty()) continue;
    const Json row = *parse_json(line);
    const Tokenizer& tokenizer = tokenizer_of(text_at(row, "folder"));
    const auto truncation = text_at(row, "strategy") == "only_second" ? PairTruncation::kOnlySecond : PairTruncation::kLongestFirst;
    const auto length = row.at("max").to_number<std::size_t>();
    const PairTokens tokens = tokenizer.frame_pair(text_at(row, "first"), text_at(row, "second"), length, Specials::kRecognise, truncation);
    std::vector<std::uint32_t> ids;
    std::vector<std::uint8_t> types;
    for (const Json& id : row.at("ids").as_array()) ids.push_back(id.to_number<std::uint32_t>());
    for (const Json& type : row.at("types").as_array()) types.push_back(type.to_number<std::uint8_t>());
    EXPECT_EQ(tokens.ids, ids) << line;
    EXPECT_EQ(tokens.types, types) << line;
    // In the reference, positions of the second text start again, so they are stored as distances from the previous start.
    const JsonArray& places = row.at("places").as_array();
    std::size_t at = 0;
    std::uint32_t last = 0;
    const std::size_t second_begin = tokens.first_end + tokenizer.marks().middle_count;
    for (std::size_t i = 1; i + 1 < tokens.ids.size(); ++i) {
      if (i == second_begin) last = 0;
      if (i >= tokens.first_end && i < second_begin) continue;
      ASSERT_LT(at + 2, places.size()) << line;
      EXPECT_EQ(tokens.ranges[i].begin - last, places[at + 1].to_number<std::uint32_t>()) << line;
      EXPECT_EQ(tokens.ranges[i].end - tokens.ranges[i].begin, places[at + 2].to_number<std::uint32_t>()) << line;
      last = tokens.ranges[i].begin;
      at += 3;
    }
    EXPECT_EQ(at, places.size()) << line;
    ++count;
  }
  EXPECT_GE(count, 45U);
}

TEST(TokenizerFiles, SayWhatTheyAre) {
  EXPECT_EQ(tokenizer_of("xlmr").family(), "unigram");
  EXPECT_EQ(tokenizer_of("xlmr").marks().begin, 0U);
  EXPECT_EQ(tokenizer_of("xlmr").unknown_id(), 3U);
  EXPECT_EQ(tokenizer_of("xlmr").pair_frame_tokens(), 4U);
  EXPECT_EQ(tokenizer_of("xlmr").tokens_max(), Tokenizer::kNoLimit);
  EXPECT_EQ(tokenizer_of("bert_uncased").family(), "wordpiece");
  EXPECT_EQ(tokenizer_of("bert_uncased").tokens_max(), 256U);
  EXPECT_EQ(tokenizer_of("bert_uncased").pair_frame_tokens(), 3U);
  EXPECT_EQ(tokenizer_of("mpnet").pair_frame_tokens(), 4U);
  EXPECT_EQ(tokenizer_of("unigram").vocabulary_size(), 701U);
}

TEST(TokenizerFiles, SpecialTokensAsTextAreNoSpecialTokens) {
  for (const char* folder : kFolders) {
    const Tokenizer& tokenizer = tokenizer_of(folder);
    const Frame marks = tokenizer.marks();
    for (const char* text : {"<s>", "a</s>b", "[CLS] a [SEP]", "<mask>", "\xEF\xBC\x9Cs\xEF\xBC\x9E", "<s></s><pad>"}) {
      for (const std::uint32_t id : tokenizer.tokenize(text, Tokenizer::kNoLimit, Specials::kAsText).ids) {
        EXPECT_NE(id, marks.begin) << folder << ": " << text;
        EXPECT_NE(id, marks.end) << folder << ": " << text;
      }
    }
  }
}

TEST(TokenizerFiles, FramesIdsMadeBefore) {
  const Tokenizer& tokenizer = tokenizer_of("xlmr");
  const std::vector<std::uint32_t> plain = tokenizer.tokenize("vegan soup recipe").ids;
  const std::vector<std::uint32_t> framed = tokenizer.frame_ids(plain);
  ASSERT_EQ(framed.size(), plain.size() + tokenizer.frame_tokens());
  EXPECT_EQ(framed.front(), tokenizer.marks().begin);
  EXPECT_EQ(framed.back(), tokenizer.marks().end);
  EXPECT_TRUE(std::equal(plain.begin(), plain.end(), framed.begin() + 1));
}

TEST(TokenizerFiles, OnlySecondCutsTheFirstWhenThereIsNoOtherWay) {
  const Tokenizer& tokenizer = tokenizer_of("bert_uncased");
  const PairTokens tokens = tokenizer.frame_pair("a a a a a", "b", 6, Specials::kAsText, PairTruncation::kOnlySecond);
  EXPECT_EQ(tokens.first_end, 4U) << "the frame's first token and three of the first text; none of the second";
  EXPECT_EQ(tokens.ids.size(), 6U);
  EXPECT_TRUE(tokens.truncated);
}

void expect_sound(const Tokenizer& tokenizer, std::string_view text, const Tokens& tokens) {
  ASSERT_EQ(tokens.ids.size(), tokens.ranges.size());
  const bool well_formed = is_valid_utf8(text);
  ByteRange last;
  for (std::size_t i = 0; i < tokens.ids.size(); ++i) {
    const ByteRange range = tokens.ranges[i];
    ASSERT_LT(range.begin, range.end);
    ASSERT_LE(range.end, text.size());
    ASSERT_GE(range.begin, last.begin);
    ASSERT_GE(range.end, last.end);
    ASSERT_LT(tokens.ids[i], tokenizer.vocabulary_size());
    if (well_formed) {
      ASSERT_TRUE(is_utf8_boundary(text, range.begin));
      ASSERT_TRUE(is_utf8_boundary(text, range.end));
    }
    last = range;
  }
}

std::string any_text(std::mt19937& random) {
  std::string text;
  const std::size_t length = random() % 300;
  const bool well_formed = random() % 2 == 0;
  while (text.size() < length) {
    switch (random() % 7) {
      case 0:
        if (!well_formed) text += static_cast<char>(random());
        break;
      case 1: append_utf8(text, random() % 0xD800); break;
      case 2: append_utf8(text, 0xE000 + random() % (0x110000 - 0xE000)); break;
      case 3: append_utf8(text, 0x300 + random() % 0x80); break;
      case 4: text += " <mask> footnote "; break;
      case 5: append_utf8(text, 0x1D158 + random() % 0x20); break;
      default: text += static_cast<char>(' ' + random() % 95); break;
    }
  }
  return text;
}

TEST(TokenizerFiles, AnyBytesGiveSoundTokens) {
  std::mt19937 random(11);
  for (int round = 0; round < 2000; ++round) {
    const std::string text = any_text(random);
    const std::size_t limit = random() % 20;
    for (const char* folder : kFolders) {
      const Tokenizer& tokenizer = tokenizer_of(folder);
      const Tokens whole = tokenizer.tokenize(text);
      expect_sound(tokenizer, text, whole);
      expect_sound(tokenizer, text, tokenizer.tokenize(text, Tokenizer::kNoLimit, Specials::kAsText));
      const Tokens cut = tokenizer.tokenize(text, limit);
      ASSERT_EQ(cut.truncated, whole.ids.size() > limit);
      ASSERT_EQ(cut.ids.size(), std::min(limit, whole.ids.size()));
      ASSERT_TRUE(std::equal(cut.ids.begin(), cut.ids.end(), whole.ids.begin()));
    }
  }
}

TEST(TokenizerFiles, LongTextIsTheSameInSteps) {
  const Tokenizer& tokenizer = tokenizer_of("xlmr");
  std::string text;
  Tokens expected;
  // More than one step of the normaliser, with characters that grow, shrink and vanish at every offset from its edge.
  const std::string part = "a\xC2\xAD\xE2\x84\xA2 \xEF\xAC\x83\x63\xC3\xA9 ";
  const Tokens one = tokenizer.tokenize(part);
  for (int i = 0; i < 2000; ++i) {
    for (std::size_t j = 0; j < one.ids.size(); ++j) {
      const auto shift = static_cast<std::uint32_t>(text.size());
      expected.ids.push_back(one.ids[j]);
      expected.ranges.push_back({one.ranges[j].begin + shift, one.ranges[j].end + shift});
    }
    text += part;
  }
  const Tokens tokens = tokenizer.tokenize(text);
  EXPECT_EQ(tokens.ids, expected.ids);
  EXPECT_EQ(tokens.ranges, expected.ranges);
  EXPECT_FALSE(tokenizer.tokenize(std::string(1 << 20, 'x') + "y", Tokenizer::kNoLimit).ids.empty());
}

TEST(TokenizerFiles, DamagedFilesAreErrorsOrSoundTokenizers) {
  std::mt19937 random(3);
  const std::string model = testing::must_read(path_of("xlmr") / "sentencepiece.bpe.model");
  const std::string json = testing::must_read(path_of("unigram") / "tokenizer.json");
  const std::string bert = testing::must_read(path_of("bert_cased") / "tokenizer.json");
  const int rounds = testing::kSanitized ? 15 : 60;
  for (int round = 0; round < rounds; ++round) {
    for (const std::string* file : {&model, &json, &bert}) {
      std::string damaged = file->substr(0, round % 3 == 0 ? random() % file->size() : file->size());
      for (int flip = 0; flip < 8 && !damaged.empty(); ++flip) damaged[random() % damaged.size()] ^= static_cast<char>(1 << (random() % 8));
      const auto tokenizer = file == &model ? tokenizer_from_sentencepiece(damaged) : tokenizer_from_json(damaged);
      if (tokenizer) {
        for (int i = 0; i < 10; ++i) {
          const std::string text = any_text(random);
          expect_sound(**tokenizer, text, (*tokenizer)->tokenize(text));
        }
      } else {
        EXPECT_TRUE(tokenizer.error().code == ErrorCode::kCorrupted || tokenizer.error().code == ErrorCode::kUnsupported);
      }
    }
  }
}

void expect_refused(std::string_view json, ErrorCode code, std::string_view part) {
  const auto tokenizer = tokenizer_from_json(json);
  ASSERT_FALSE(tokenizer.has_value()) << json;
  EXPECT_EQ(tokenizer.error().code, code) << tokenizer.error().message;
  EXPECT_NE(tokenizer.error().message.find(part), std::string::npos) << tokenizer.error().message;
}

TEST(TokenizerFiles, RefuseWhatTheyCannotRun) {
  expect_refused("[]", ErrorCode::kCorrupted, "JSON object");
  expect_refused("{}", ErrorCode::kCorrupted, "no model");
  expect_refused(R"({"model":{"type":"BPE","vocab":{},"merges":[]}})", ErrorCode::kUnsupported, "model is BPE; supported are WordPiece");
  expect_refused(R"({"model":{"type":"WordPiece","vocab":{}},"pre_tokenizer":{"type":"ByteLevel"}})", ErrorCode::kUnsupported, "ByteLevel");
  expect_refused(R"({"model":{"type":"Unigram","vocab":[]},"normalizer":{"type":"NFKC"}})", ErrorCode::kUnsupported, "NFKC");
  expect_refused(R"({"model":{"vocab":[]},"pre_tokenizer":{"type":"Metaspace","replacement":"\u2581"}})", ErrorCode::kUnsupported,
                 "post-processor is missing");
  EXPECT_EQ(tokenizer_from_sentencepiece("").error().code, ErrorCode::kCorrupted);
  EXPECT_EQ(tokenizer_from_vocabulary("a\nb\n").error().code, ErrorCode::kCorrupted);
  // An id far out of range would create a table of gigabytes.
  expect_refused(R"({"model":{"type":"WordPiece","vocab":{"a":16000000}},"pre_tokenizer":{"type":"BertPreTokenizer"},)"
                 R"("normalizer":{"type":"BertNormalizer"}})",
                 ErrorCode::kCorrupted, "out of range");
}

TEST(TokenizerFiles, NameTheFile) {
  const auto missing = open_tokenizer(path_of("no such folder"));
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().code, ErrorCode::kFailedPrecondition);
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("footnote_tokenizer_{}", ::getpid());
  std::filesystem::create_directories(folder);
  ASSERT_TRUE(write_file_atomically(folder / "sentencepiece.bpe.model", "\x0a\xFF").has_value());
  const auto damaged = open_tokenizer(folder);
  ASSERT_FALSE(damaged.has_value());
  EXPECT_EQ(damaged.error().code, ErrorCode::kCorrupted);
  EXPECT_NE(damaged.error().message.find("sentencepiece.bpe.model"), std::string::npos);
  std::filesystem::remove_all(folder);
}

TEST(TokenizerFiles, TheConfigurationWins) {
  const std::string json = testing::must_read(path_of("bert_cased") / "tokenizer.json");
  const auto cased = tokenizer_from_json(json).value();
  const auto uncased = tokenizer_from_json(json, R"({"do_lower_case": true, "model_max_length": 1e30})").value();
  EXPECT_NE(cased->tokenize("The").ids, cased->tokenize("the").ids);
  EXPECT_EQ(uncased->tokenize("The").ids, cased->tokenize("the").ids);
  EXPECT_EQ(uncased->tokens_max(), Tokenizer::kNoLimit);
  EXPECT_EQ(tokenizer_from_json(json, R"({"model_max_length": 512})").value()->tokens_max(), 512U);
}

}  // namespace
}  // namespace footnote::nn
