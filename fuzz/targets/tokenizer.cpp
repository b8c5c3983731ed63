// Vocabulary files of models: tokenizer.json, SentencePiece's format and vocab.txt. Whatever opens must split any text into valid tokens.
// The first byte selects the format: `0` JSON, `1` SentencePiece, `2` vocab.txt, `3` only a character map.
#include <string>

#include "base/utf8.h"
#include "engine/nn/chars_map.h"
#include "engine/nn/tokenizer_files.h"
#include "engine/nn/unigram.h"
#include "target.h"

namespace footnote {
namespace {

using nn::Tokenizer;

Result<std::unique_ptr<const Tokenizer>> open(char kind, std::string_view file) {
  if (kind == '0') return nn::tokenizer_from_json(file);
  if (kind == '1') return nn::tokenizer_from_sentencepiece(file);
  if (kind == '2') return nn::tokenizer_from_vocabulary(file);
  nn::Unigram::Setup setup;
  setup.pieces = {{"<unk>", 0}, {"a", -1}, {"\xE2\x96\x81", -2}};
  FOOTNOTE_TRY(setup.map, nn::CharsMap::parse(file));
  return nn::Unigram::create(std::move(setup));
}

void check_tokens(const Tokenizer& tokenizer, std::string_view text, nn::Specials specials) {
  const nn::Tokens tokens = tokenizer.tokenize(text, Tokenizer::kNoLimit, specials);
  FOOTNOTE_ASSERT(tokens.ids.size() == tokens.ranges.size());
  const bool well_formed = is_valid_utf8(text);
  nn::ByteRange last;
  for (std::size_t i = 0; i < tokens.ids.size(); ++i) {
    const nn::ByteRange range = tokens.ranges[i];
    FOOTNOTE_ASSERT(tokens.ids[i] < tokenizer.vocabulary_size());
    FOOTNOTE_ASSERT(range.begin < range.end && range.end <= text.size());
    FOOTNOTE_ASSERT(range.begin >= last.begin && range.end >= last.end);
    FOOTNOTE_ASSERT(!well_formed || (is_utf8_boundary(text, range.begin) && is_utf8_boundary(text, range.end)));
    last = range;
  }
  const nn::Tokens cut = tokenizer.tokenize(text, 3, specials);
  FOOTNOTE_ASSERT(cut.ids.size() == std::min<std::size_t>(3, tokens.ids.size()) && cut.truncated == (tokens.ids.size() > 3));
}

}  // namespace
}  // namespace footnote

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace footnote;
  if (size > fuzz::kInputBytesMax) return 0;
  fuzz::Input input(data, size);
  const char kind = static_cast<char>(input.byte());
  const auto tokenizer = open(kind, input.rest());
  if (!tokenizer) {
    FOOTNOTE_ASSERT(tokenizer.error().code == ErrorCode::kCorrupted || tokenizer.error().code == ErrorCode::kUnsupported);
    return 0;
  }
  // The file itself is also used as text, because it contains its own pieces.
  const std::string_view tail = input.rest().substr(input.rest().size() / 2);
  for (const std::string_view text :
       {std::string_view("The caf\xC3\xA9 <s>\xE2\x84\xA2\xCC\x81 [MASK] e\xCC\x81  \xF0\x9F\x98\x80<mask>"), tail}) {
    check_tokens(**tokenizer, text, nn::Specials::kRecognise);
    check_tokens(**tokenizer, text, nn::Specials::kAsText);
  }
  (void)(*tokenizer)->frame_pair("a b c", tail, (*tokenizer)->pair_frame_tokens() + 5);
  return 0;
}
