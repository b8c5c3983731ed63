#include "engine/nn/pair_reader.h"

#include <algorithm>
#include <limits>

#include "base/assert.h"
#include "base/file.h"
#include "base/json.h"

namespace footnote::nn {
namespace {

constexpr std::uint64_t kConfigBytesMax = 1 << 20;

/// The value at a path of keys; null when there is none.
const Json* at(const Json& root, std::initializer_list<std::string_view> path) {
  const Json* value = &root;
  for (const std::string_view key : path) {
    value = value->is_object() ? value->get_object().if_contains(key) : nullptr;
    if (value == nullptr) return nullptr;
  }
  return value;
}

std::size_t size_at(const Json& root, std::initializer_list<std::string_view> path) {
  const Json* value = at(root, path);
  return value != nullptr && value->is_int64() && value->get_int64() > 0 ? static_cast<std::size_t>(value->get_int64()) : 0;
}

/// Reads a number into `out`; false when there is none.
bool read_number(const Json& root, std::initializer_list<std::string_view> path, double& out) {
  const Json* value = at(root, path);
  if (value == nullptr || !value->is_number()) return false;
  out = value->to_number<double>();
  return true;
}

}  // namespace

/// A window of a text as the encoder gets it.
struct PairReader::Window {
  std::size_t text = 0;  ///< Index of its text.
  std::vector<std::uint32_t> ids;
  std::vector<std::uint8_t> types;
  std::size_t begin = 0;              ///< Start of the text in `ids`.
  std::span<const ByteRange> ranges;  ///< Positions of the text's tokens in this window.
};

Result<std::unique_ptr<PairReader>> PairReader::open(const std::filesystem::path& model_folder, const EncoderOptions& options) {
  EncoderOptions own = options;
  own.pooling = Pooling::kFirstToken;
  std::unique_ptr<PairReader> out(new PairReader);
  FOOTNOTE_TRY(out->encoder_, Encoder::open(model_folder, own));
  const ModelFiles& files = out->encoder_->files();
  if (!files.finds_spans) {
    return fail(ErrorCode::kUnsupported, "{} can't find answers: it has no heads for relevance and spans", model_folder.string());
  }
  FOOTNOTE_CHECK(out->read_config(model_folder / "config.json"));
  const std::size_t hidden = files.shape.hidden;
  FOOTNOTE_TRY(out->pooler_, DenseHead::read(files.weights, files.prefix + "pooler.dense", hidden, hidden));
  FOOTNOTE_TRY(out->relevance_, DenseHead::read(files.weights, "relevance", 1, hidden));
  FOOTNOTE_TRY(out->span_, DenseHead::read(files.weights, "span", 2, hidden));
  return out;
}

Result<void> PairReader::read_config(const std::filesystem::path& path) {
  FOOTNOTE_TRY(const std::string text, read_file(path, kConfigBytesMax));
  FOOTNOTE_TRY(const Json config, parse_json(text));
  input_ = {.question_tokens_max = size_at(config, {"input", "question_tokens_max"}),
            .window_tokens = size_at(config, {"input", "tokens_max"}),
            .span_tokens_max = size_at(config, {"heads", "span", "span_tokens_max"})};
  const std::size_t marks = encoder_->tokenizer().pair_frame_tokens();
  const bool whole = input_.question_tokens_max > 0 && input_.span_tokens_max > 0 &&
                     input_.window_tokens > input_.question_tokens_max + marks && input_.window_tokens <= encoder_->positions_max() &&
                     read_number(config, {"calibration", "relevance", "a"}, relevance_calibration_.a) &&
                     read_number(config, {"calibration", "relevance", "b"}, relevance_calibration_.b) &&
                     read_number(config, {"calibration", "answer", "margin"}, answer_calibration_.margin) &&
                     read_number(config, {"calibration", "answer", "relevance"}, answer_calibration_.relevance) &&
                     read_number(config, {"calibration", "answer", "b"}, answer_calibration_.b);
  if (whole) return {};
  return fail(ErrorCode::kCorrupted, "{}: it does not say how the model reads; run `make setup` to fetch it again", path.string());
}

PairReader::Window PairReader::make_window(std::size_t text, std::span<const std::uint32_t> question, const Tokens& tokens,
                                           std::size_t first, std::size_t room) const {
  const Frame& marks = encoder_->tokenizer().marks();
  Window out{.text = text, .ids = {marks.begin}, .types = {}, .begin = 0, .ranges = {}};
  out.ids.insert(out.ids.end(), question.begin(), question.end());
  out.ids.insert(out.ids.end(), marks.middle_count, marks.end);
  out.types.resize(out.ids.size(), 0);
  out.begin = out.ids.size();
  const std::size_t count = std::min(room, tokens.ids.size() - first);
  const auto from = tokens.ids.begin() + static_cast<std::ptrdiff_t>(first);
  out.ids.insert(out.ids.end(), from, from + static_cast<std::ptrdiff_t>(count));
  out.ids.push_back(marks.end);
  out.types.resize(out.ids.size(), marks.second_type);
  out.ranges = std::span(tokens.ranges).subspan(first, count);
  return out;
}

Result<std::vector<PairReading>> PairReader::read(const CallContext& call, std::string_view question,
                                                  std::span<const std::string_view> texts, const PairReadOptions& options) const {
  const Tokenizer& tokenizer = encoder_->tokenizer();
  const std::size_t windows_max = std::clamp<std::size_t>(options.windows_max, 1, kWindowsMax);
  const Tokens asked = tokenizer.tokenize(question, input_.question_tokens_max, Specials::kAsText);
  const std::size_t room = input_.window_tokens - tokenizer.pair_frame_tokens() - asked.ids.size();
  const std::size_t stride = input_.window_tokens / 2;
  const std::size_t tokens_max = room + (windows_max - 1) * stride;

  std::vector<Tokens> tokens(texts.size());  // Windows point into it.
  std::vector<Window> windows;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    FOOTNOTE_CHECK(call.check());
    tokenizer.tokenize_into(texts[i], tokens_max, Specials::kAsText, tokens[i]);
    const std::size_t count = tokens[i].ids.size();
    std::size_t first = 0;
    windows.push_back(make_window(i, asked.ids, tokens[i], first, room));
    while (first + room < count) {
      // The last window is full: it starts earlier instead of being shorter.
      first = std::min(first + stride, count - room);
      windows.push_back(make_window(i, asked.ids, tokens[i], first, room));
    }
  }

  std::vector<TokenSpan> sequences;
  for (const Window& window : windows) sequences.push_back({.ids = window.ids, .types = window.types});
  FOOTNOTE_TRY(const auto encoded, encoder_->encode(call, sequences, {.output = Output::kPooledAndTokens, .urgency = options.urgency}));
  constexpr float kLowest = std::numeric_limits<float>::lowest();
  std::vector<PairReading> out(texts.size(), PairReading{.relevance = kLowest, .margin = kLowest, .span = {}});
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const PairReading got = read_window(windows[i], encoded[i].token_vectors);
    PairReading& best = out[windows[i].text];
    best.relevance = std::max(best.relevance, got.relevance);
    if (got.margin > best.margin) {
      best.margin = got.margin;
      best.span = got.span;
    }
  }
  return out;
}

PairReading PairReader::read_window(const Window& window, std::span<const float> token_vectors) const {
  const std::size_t width = encoder_->hidden();
  const std::span<const float> first = token_vectors.first(width);
  std::vector<float> pooled = pooler_(first);
  for (float& value : pooled) value = std::tanh(value);
  PairReading out{.relevance = relevance_.row(0, pooled), .margin = 0, .span = {}};
  const float none = span_.row(0, first) + span_.row(1, first);

  const std::size_t count = window.ranges.size();
  if (count == 0) {
    out.margin = -none;
    return out;
  }
  std::vector<float> start(count), end(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::span<const float> token = token_vectors.subspan((window.begin + i) * width, width);
    start[i] = span_.row(0, token);
    end[i] = span_.row(1, token);
  }
  float best = std::numeric_limits<float>::lowest();
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = i; j < std::min(count, i + input_.span_tokens_max); ++j) {
      if (start[i] + end[j] <= best) continue;
      best = start[i] + end[j];
      out.span = {window.ranges[i].begin, window.ranges[j].end};
    }
  }
  out.margin = best - none;
  return out;
}

}  // namespace footnote::nn
