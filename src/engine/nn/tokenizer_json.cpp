#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "engine/nn/tokenizer_config.h"
#include "engine/nn/tokenizer_files.h"
#include "engine/nn/unigram.h"
#include "engine/nn/wordpiece.h"

namespace footnote::nn {
namespace {

constexpr std::string_view kSupported = "supported are WordPiece as in BERT and Unigram as in XLM-RoBERTa";

std::unexpected<Error> unsupported(std::string_view what, std::string_view kind) {
  return fail(ErrorCode::kUnsupported, "the tokenizer's {} is {}; {}", what, kind.empty() ? "missing" : kind, kSupported);
}

std::unexpected<Error> corrupted(std::string_view what) { return fail(ErrorCode::kCorrupted, "not a tokenizer: {}", what); }

const Json& value_at(const JsonObject& object, std::string_view key) {
  static const Json nothing;
  const Json* value = object.if_contains(key);
  return value == nullptr ? nothing : *value;
}

std::optional<std::string> decode_base64(std::string_view text) {
  std::string out;
  out.reserve(text.size() / 4 * 3);
  std::uint32_t bits = 0;
  int have = 0;
  while (text.ends_with('=')) text.remove_suffix(1);
  for (const char c : text) {
    const std::size_t digit = std::string_view("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/").find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    have += 6;
    if (have < 8) continue;
    have -= 8;
    out.push_back(static_cast<char>(bits >> have & 0xFF));
  }
  return out;
}

Result<std::vector<AddedToken>> read_added(const JsonObject& root) {
  std::vector<AddedToken> out;
  const JsonArray* tokens = array_at(root, "added_tokens");
  if (tokens == nullptr) return out;
  for (const Json& token : *tokens) {
    const auto id = token.is_object() ? id_at(token.get_object(), "id") : std::nullopt;
    if (!id) return corrupted("an added token has no id");
    out.push_back(added_token_of(token.get_object(), *id));
  }
  return out;
}

/// One item of a template: a special token, or one of the texts.
struct TemplateItem {
  char text = 0;  // 'A' or 'B'; 0 for a special token.
  std::uint32_t mark = 0;
  std::uint32_t type = 0;
  bool operator==(const TemplateItem&) const = default;
};

Result<std::vector<TemplateItem>> read_template(const JsonObject& processor, std::string_view key) {
  const JsonArray* items = array_at(processor, key);
  const JsonObject* marks = object_at(processor, "special_tokens");
  if (items == nullptr || marks == nullptr) return corrupted("its template is incomplete");
  std::vector<TemplateItem> out;
  for (const Json& item : *items) {
    if (!item.is_object()) return corrupted("its template has an item that is not an object");
    const JsonObject* sequence = object_at(item.get_object(), "Sequence");
    const JsonObject* mark = object_at(item.get_object(), "SpecialToken");
    const JsonObject* either = sequence != nullptr ? sequence : mark;
    const auto name = either == nullptr ? std::nullopt : string_at(*either, "id");
    const auto type = either == nullptr ? std::nullopt : id_at(*either, "type_id");
    if (!name || !type) return corrupted("its template has an item without id and type");
    if (sequence != nullptr) {
      out.push_back({*name == "B" ? 'B' : 'A', 0, *type});
      continue;
    }
    const JsonObject* entry = object_at(*marks, *name);
    const JsonArray* ids = entry == nullptr ? nullptr : array_at(*entry, "ids");
    if (ids == nullptr || ids->size() != 1 || !ids->front().is_int64() || ids->front().get_int64() < 0 ||
        ids->front().get_int64() >= kTokenIdsMax) {
      return corrupted("its template has a mark without one id");
    }
    out.push_back({0, static_cast<std::uint32_t>(ids->front().get_int64()), *type});
  }
  return out;
}

/// "[CLS] A [SEP]" and "[CLS] A [SEP] B [SEP]", or with two tokens between.
Result<Frame> read_template_frame(const JsonObject& processor) {
  FOOTNOTE_TRY(const auto single, read_template(processor, "single"));
  FOOTNOTE_TRY(const auto pair, read_template(processor, "pair"));
  if (single.size() != 3 || pair.size() < 5 || pair.size() > 6) return unsupported("template", "of another layout");
  Frame out{.begin = single[0].mark, .end = single[2].mark, .middle_count = pair.size() - 4, .second_type = 0};
  const std::uint32_t type = pair.back().type;
  if (type > 255) return corrupted("its template has a type above 255");
  out.second_type = static_cast<std::uint8_t>(type);
  const TemplateItem begin{0, out.begin, 0};
  const TemplateItem end{0, out.end, 0};
  std::vector<TemplateItem> wanted{begin, {'A', 0, 0}, end};
  if (single != wanted) return unsupported("template", "of another layout");
  if (out.middle_count == 2) wanted.push_back(end);
  wanted.push_back({'B', 0, type});
  wanted.push_back({0, out.end, type});
  if (pair != wanted) return unsupported("template", "of another layout");
  return out;
}

Result<Frame> read_frame(const JsonObject& root) {
  const Json& processor = value_at(root, "post_processor");
  const std::string_view type = type_of(processor);
  if (type == "TemplateProcessing") return read_template_frame(processor.get_object());
  if (type != "BertProcessing") return unsupported("post-processor", type);
  const auto mark = [&](std::string_view key) -> std::optional<std::uint32_t> {
    const JsonArray* pair = array_at(processor.get_object(), key);
    if (pair == nullptr || pair->size() != 2 || !(*pair)[1].is_int64()) return std::nullopt;
    const std::int64_t id = (*pair)[1].get_int64();
    return id >= 0 && id < kTokenIdsMax ? std::optional(static_cast<std::uint32_t>(id)) : std::nullopt;
  };
  const auto begin = mark("cls");
  const auto end = mark("sep");
  if (!begin || !end) return corrupted("its marks have no ids");
  return Frame{.begin = *begin, .end = *end};
}

Result<Vocabulary> read_vocabulary(const JsonObject& model) {
  const JsonObject* pieces = object_at(model, "vocab");
  if (pieces == nullptr) return corrupted("its vocabulary is missing");
  // Files may skip a few ids; a file that skips more than it has is damaged.
  const std::size_t ids_max = pieces->size() * 2 + 1024;
  std::vector<std::string_view> by_id;
  for (const auto& [piece, id] : *pieces) {
    if (!id.is_int64() || id.get_int64() < 0 || static_cast<std::size_t>(id.get_int64()) >= ids_max) {
      return corrupted("its vocabulary has an id out of range");
    }
    const auto at = static_cast<std::size_t>(id.get_int64());
    if (at >= by_id.size()) by_id.resize(at + 1);
    by_id[at] = {piece.data(), piece.size()};
  }
  return Vocabulary::from_pieces(by_id);
}

Result<WordPieceOptions> read_options(const JsonObject& root, const TokenizerConfig& config) {
  const Json& normalizer = value_at(root, "normalizer");
  if (type_of(normalizer) != "BertNormalizer") return unsupported("normalizer", type_of(normalizer));
  const JsonObject& fields = normalizer.get_object();
  if (!bool_at(fields, "clean_text").value_or(true)) return unsupported("normalizer", "one that does not clean text");
  WordPieceOptions out;
  out.lower_case = config.lower_case.value_or(bool_at(fields, "lowercase").value_or(true));
  out.space_ideographs = config.space_ideographs.value_or(bool_at(fields, "handle_chinese_chars").value_or(true));
  const auto strip = config.names_strip_accents ? config.strip_accents : bool_at(fields, "strip_accents");
  out.strip_accents = strip.value_or(out.lower_case);
  return out;
}

Result<std::unique_ptr<const Tokenizer>> read_wordpiece(const JsonObject& root, const JsonObject& model, const TokenizerConfig& config) {
  const std::string_view splitter = type_of(value_at(root, "pre_tokenizer"));
  if (splitter != "BertPreTokenizer") return unsupported("pre-tokenizer", splitter);
  if (string_at(model, "continuing_subword_prefix").value_or("##") != "##") return unsupported("mark inside words", "not ##");
  const Json& chars_max = value_at(model, "max_input_chars_per_word");
  if (!chars_max.is_null() && chars_max != Json(WordPiece::kWordCharsMax)) return unsupported("longest word", "not 100 characters");
  FOOTNOTE_TRY(const WordPieceOptions options, read_options(root, config));
  FOOTNOTE_TRY(Vocabulary vocabulary, read_vocabulary(model));
  FOOTNOTE_TRY(const Frame marks, read_frame(root));
  FOOTNOTE_TRY(std::vector<AddedToken> added, read_added(root));
  for (const AddedToken& token : added) {
    if (token.normalised) return unsupported(token.content, "an added token that is matched in normalised text");
  }
  const std::string_view unknown = string_at(model, "unk_token").value_or("[UNK]");
  const std::uint32_t unknown_id = vocabulary.find(unknown);
  if (unknown_id == Vocabulary::kNone) return corrupted("its vocabulary has no unknown piece");
  return std::make_unique<const WordPiece>(
      WordPiece::Setup{std::move(vocabulary), options, std::move(added), marks, unknown_id, config.tokens_max});
}

/// Reads a step of the normalizer, or a sequence of steps. `spaces` collects the steps after the map.
Result<void> read_normalizer(const Json& normalizer, CharsMap& map, Unigram::Spaces& spaces) {
  if (normalizer.is_null()) return {};
  const std::string_view type = type_of(normalizer);
  if (type == "Sequence") {
    const JsonArray* steps = array_at(normalizer.get_object(), "normalizers");
    if (steps == nullptr) return corrupted("its normalizer has no steps");
    for (const Json& step : *steps) FOOTNOTE_CHECK(read_normalizer(step, map, spaces));
    return {};
  }
  const bool keeps_runs = spaces.runs == Unigram::Runs::kKept;
  const bool is_first = !spaces.strip_left && !spaces.strip_right && keeps_runs;
  if (type == "Precompiled" && is_first) {
    const auto bytes = decode_base64(string_at(normalizer.get_object(), "precompiled_charsmap").value_or(""));
    if (!bytes) return corrupted("its character map is not base64");
    FOOTNOTE_TRY(map, CharsMap::parse(*bytes));
    return {};
  }
  if (type == "Strip" && keeps_runs) {
    spaces.strip_left |= bool_at(normalizer.get_object(), "strip_left").value_or(true);
    spaces.strip_right |= bool_at(normalizer.get_object(), "strip_right").value_or(true);
    return {};
  }
  if (type == "Replace") {
    const JsonObject* pattern = object_at(normalizer.get_object(), "pattern");
    const auto content = string_at(normalizer.get_object(), "content").value_or("");
    if (pattern != nullptr && string_at(*pattern, "Regex") == " {2,}" && (content == " " || content == "\xE2\x96\x81")) {
      spaces.runs = content == " " ? Unigram::Runs::kOneSpace : Unigram::Runs::kOneMark;
      return {};
    }
  }
  return unsupported("normalizer", type);
}

Result<void> read_metaspace(const Json& step, Unigram::Spaces& spaces) {
  if (type_of(step) != "Metaspace") return unsupported("pre-tokenizer", type_of(step));
  const JsonObject& fields = step.get_object();
  if (string_at(fields, "replacement") != "\xE2\x96\x81") return unsupported("mark of words", "not U+2581");
  const auto scheme = string_at(fields, "prepend_scheme").value_or("always");
  const bool prefixed = bool_at(fields, "add_prefix_space").value_or(true);
  if (scheme == "never" || !prefixed) {
    spaces.prefix = Unigram::Prefix::kNever;
  } else if (scheme == "first") {
    spaces.prefix = Unigram::Prefix::kFirst;
  } else if (scheme != "always") {
    return unsupported("prepend scheme", scheme);
  }
  spaces.split_words = bool_at(fields, "split").value_or(true);
  return {};
}

Result<void> read_splitter(const Json& splitter, Unigram::Spaces& spaces) {
  spaces.split_spaces = false;
  if (type_of(splitter) != "Sequence") return read_metaspace(splitter, spaces);
  const JsonArray* steps = array_at(splitter.get_object(), "pretokenizers");
  if (steps == nullptr) return corrupted("its pre-tokenizer has no steps");
  if (steps->size() == 1) return read_metaspace(steps->front(), spaces);
  if (steps->size() != 2 || type_of(steps->front()) != "WhitespaceSplit") return unsupported("pre-tokenizer", "a sequence of others");
  spaces.split_spaces = true;
  return read_metaspace(steps->back(), spaces);
}

Result<std::vector<Unigram::Piece>> read_pieces(const JsonObject& model) {
  const JsonArray* rows = array_at(model, "vocab");
  if (rows == nullptr || rows->size() > Unigram::kPiecesMax) return corrupted("its vocabulary is missing or too large");
  std::vector<Unigram::Piece> out;
  out.reserve(rows->size());
  for (const Json& row : *rows) {
    const JsonArray* pair = row.if_array();
    if (pair == nullptr || pair->size() != 2 || !(*pair)[0].is_string() || !(*pair)[1].is_number()) {
      return corrupted("its vocabulary has a row that is not a piece and a score");
    }
    const auto& text = (*pair)[0].get_string();
    out.push_back({std::string(text.data(), text.size()), (*pair)[1].to_number<double>()});
  }
  return out;
}

Result<std::unique_ptr<const Tokenizer>> read_unigram(const JsonObject& root, const JsonObject& model, const TokenizerConfig& config) {
  Unigram::Setup setup;
  FOOTNOTE_CHECK(read_normalizer(value_at(root, "normalizer"), setup.map, setup.spaces));
  FOOTNOTE_CHECK(read_splitter(value_at(root, "pre_tokenizer"), setup.spaces));
  // The spaces would be gone before they could split words.
  if (setup.spaces.runs == Unigram::Runs::kOneMark && setup.spaces.split_spaces)
    return unsupported("pre-tokenizer", "one that splits at spaces already replaced");
  FOOTNOTE_TRY(setup.pieces, read_pieces(model));
  FOOTNOTE_TRY(setup.marks, read_frame(root));
  FOOTNOTE_TRY(setup.added, read_added(root));
  const auto unknown = id_at(model, "unk_id");
  if (!unknown) return unsupported("unknown piece", "");
  setup.unknown_id = *unknown;
  setup.byte_fallback = bool_at(model, "byte_fallback").value_or(false);
  setup.tokens_max = config.tokens_max;
  return Unigram::create(std::move(setup));
}

}  // namespace

Result<std::unique_ptr<const Tokenizer>> tokenizer_from_json(std::string_view tokenizer_json, std::string_view config_text) {
  const auto parsed = parse_json(tokenizer_json);
  if (!parsed || !parsed->is_object()) return corrupted("not a JSON object");
  const JsonObject& root = parsed->get_object();
  FOOTNOTE_TRY(const TokenizerConfig config, TokenizerConfig::parse(config_text));
  const JsonObject* model = object_at(root, "model");
  if (model == nullptr) return corrupted("it has no model");
  std::string_view type = string_at(*model, "type").value_or("");
  // Older files omit the type; only Unigram has its vocabulary as a list.
  if (type.empty())
    type = array_at(*model, "vocab") != nullptr ? "Unigram" : model->contains("max_input_chars_per_word") ? "WordPiece" : "";
  if (type == "WordPiece") return read_wordpiece(root, *model, config);
  if (type == "Unigram") return read_unigram(root, *model, config);
  return unsupported("model", type);
}

}  // namespace footnote::nn
