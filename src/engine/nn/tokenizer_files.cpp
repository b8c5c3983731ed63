#include "engine/nn/tokenizer_files.h"

#include <optional>
#include <string>

#include "base/file.h"
#include "engine/nn/sentencepiece_file.h"
#include "engine/nn/tokenizer_config.h"
#include "engine/nn/unigram.h"
#include "engine/nn/wordpiece.h"

namespace footnote::nn {
namespace {

constexpr std::uint64_t kFileBytesMax = 64 << 20;
constexpr std::string_view kConfigName = "tokenizer_config.json";

Result<std::optional<std::string>> read_optional(const std::filesystem::path& path) {
  auto text = read_file(path, kFileBytesMax);
  if (!text && text.error().code == ErrorCode::kNotFound) return std::nullopt;
  if (!text) return std::unexpected(std::move(text).error());
  return std::optional(*std::move(text));
}

std::string name_or(const std::string& name, const char* otherwise) { return name.empty() ? otherwise : name; }

/// XLM-RoBERTa puts four special tokens of its own before the pieces; SentencePiece's first three pieces have the same purpose.
constexpr std::uint32_t kBeginId = 0;
constexpr std::uint32_t kEndId = 2;
constexpr std::uint32_t kUnknownId = 3;
constexpr std::size_t kPiecesBefore = 3;

Result<void> check_marks(const SentencePieceFile& file) {
  using Type = SentencePieceFile::PieceType;
  const auto is = [&](std::size_t at, Type type) { return file.pieces[at].type == type; };
  if (file.pieces.size() > kPiecesBefore && is(0, Type::kUnknown) && is(1, Type::kControl) && is(2, Type::kControl)) return {};
  return fail(ErrorCode::kUnsupported,
              "the SentencePiece model does not begin with <unk>, <s> and </s>; only XLM-RoBERTa's layout of ids can be run");
}

Result<Unigram::Spaces> read_spaces(const SentencePieceFile& file) {
  if (file.model_type != SentencePieceFile::ModelType::kUnigram) {
    return fail(ErrorCode::kUnsupported, "the SentencePiece model is of type {}; only unigram models (1) can be run",
                static_cast<int>(file.model_type));
  }
  if (!file.escape_whitespaces) return fail(ErrorCode::kUnsupported, "SentencePiece models that keep spaces unchanged are not supported");
  Unigram::Spaces out;
  out.split_spaces = file.remove_extra_whitespaces;
  out.prefix = file.add_dummy_prefix ? Unigram::Prefix::kAlways : Unigram::Prefix::kNever;
  return out;
}

}  // namespace

Result<std::unique_ptr<const Tokenizer>> tokenizer_from_vocabulary(std::string_view vocab_txt, std::string_view config_text) {
  FOOTNOTE_TRY(TokenizerConfig config, TokenizerConfig::parse(config_text));
  FOOTNOTE_TRY(Vocabulary vocabulary, Vocabulary::parse(vocab_txt));
  WordPiece::Setup setup{std::move(vocabulary), {}, std::move(config.added), {}, 0, config.tokens_max};
  setup.options.lower_case = config.lower_case.value_or(true);
  setup.options.strip_accents = config.strip_accents.value_or(setup.options.lower_case);
  setup.options.space_ideographs = config.space_ideographs.value_or(true);
  for (const AddedToken& token : setup.added) {
    if (token.normalised) return fail(ErrorCode::kUnsupported, "'{}' is matched in normalised text, which is not supported", token.content);
  }
  const auto add = [&](const std::string& name) {
    const std::uint32_t id = setup.vocabulary.find(name);
    if (id != Vocabulary::kNone) setup.added.push_back({.content = name, .id = id, .special = true});
    return id;
  };
  add(name_or(config.padding_token, "[PAD]"));
  add(name_or(config.mask_token, "[MASK]"));
  const auto require = [&](const std::string& name, std::uint32_t& id) -> Result<void> {
    id = add(name);
    if (id == Vocabulary::kNone) return fail(ErrorCode::kCorrupted, "the vocabulary has no {}", name);
    return {};
  };
  FOOTNOTE_CHECK(require(name_or(config.unknown_token, "[UNK]"), setup.unknown_id));
  FOOTNOTE_CHECK(require(name_or(config.class_token, "[CLS]"), setup.marks.begin));
  FOOTNOTE_CHECK(require(name_or(config.separator_token, "[SEP]"), setup.marks.end));
  return std::make_unique<const WordPiece>(std::move(setup));
}

Result<std::unique_ptr<const Tokenizer>> tokenizer_from_sentencepiece(std::string_view model, std::string_view config_text) {
  FOOTNOTE_TRY(const TokenizerConfig config, TokenizerConfig::parse(config_text));
  FOOTNOTE_TRY(const SentencePieceFile file, SentencePieceFile::parse(model));
  Unigram::Setup setup;
  FOOTNOTE_TRY(setup.spaces, read_spaces(file));
  FOOTNOTE_CHECK(check_marks(file));
  if (!file.chars_map.empty()) {
    FOOTNOTE_TRY(setup.map, CharsMap::parse(file.chars_map));
  }
  const auto add_special = [&](const char* name, bool strip_left) {
    const auto id = static_cast<std::uint32_t>(setup.pieces.size());
    setup.pieces.push_back({name, 0});
    setup.added.push_back({.content = name, .id = id, .special = true, .strip_left = strip_left});
  };
  for (const char* name : {"<s>", "<pad>", "</s>", "<unk>"}) add_special(name, false);
  for (const SentencePieceFile::Piece& piece : std::span(file.pieces).subspan(kPiecesBefore)) {
    using Type = SentencePieceFile::PieceType;
    const auto id = static_cast<std::uint32_t>(setup.pieces.size());
    setup.pieces.push_back({std::string(piece.text), piece.score});
    if (piece.type == Type::kControl || piece.type == Type::kUserDefined) {
      setup.added.push_back({.content = std::string(piece.text), .id = id, .special = piece.type == Type::kControl});
    }
  }
  // The mask includes the space before it: before a word it stands for a whole word.
  add_special("<mask>", true);
  setup.unknown_id = kUnknownId;
  setup.marks = {.begin = kBeginId, .end = kEndId, .middle_count = 2, .second_type = 0};
  setup.tokens_max = config.tokens_max;
  return Unigram::create(std::move(setup));
}

Result<std::unique_ptr<const Tokenizer>> open_tokenizer(const std::filesystem::path& folder) {
  FOOTNOTE_TRY(const auto config, read_optional(folder / kConfigName));
  if (config) {
    const auto sound = TokenizerConfig::parse(*config);
    if (!sound) return with_context(sound.error(), (folder / kConfigName).string());
  }
  using Make = Result<std::unique_ptr<const Tokenizer>> (*)(std::string_view, std::string_view);
  constexpr std::pair<const char*, Make> kKinds[] = {
      {"tokenizer.json", tokenizer_from_json},
      {"vocab.txt", tokenizer_from_vocabulary},
      {"sentencepiece.bpe.model", tokenizer_from_sentencepiece},
  };
  for (const auto& [name, make] : kKinds) {
    FOOTNOTE_TRY(const auto text, read_optional(folder / name));
    if (!text) continue;
    auto tokenizer = make(*text, config.value_or(""));
    if (!tokenizer) return with_context(std::move(tokenizer).error(), (folder / name).string());
    return tokenizer;
  }
  return fail(
      ErrorCode::kFailedPrecondition,
      "{} has no tokenizer: it contains neither tokenizer.json nor vocab.txt nor sentencepiece.bpe.model; run `make setup` to fetch it",
      folder.string());
}

}  // namespace footnote::nn
