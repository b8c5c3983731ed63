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

/// The start and end logits of a window's tokens, and the logit of "no answer".
struct PairReader::SpanLogits {
  float none = 0;
  std::vector<float> start = {};
  std::vector<float> end = {};
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
  FOOTNOTE_CHECK(out->read_support_head());
  return out;
}

Result<void> PairReader::read_support_head() {
  const ModelFiles& files = encoder_->files();
  if (!files.weights.has("support.bias")) return {};
  const std::size_t hidden = files.shape.hidden;
  FOOTNOTE_TRY(support_pooler_, DenseHead::read(files.weights, files.prefix + "support_pooler.dense", hidden, hidden));
  FOOTNOTE_TRY(support_, DenseHead::read(files.weights, "support", 3, hidden));
  return {};
}

Result<void> PairReader::read_config(const std::filesystem::path& path) {
  FOOTNOTE_TRY(const std::string text, read_file(path, kConfigBytesMax));
  FOOTNOTE_TRY(const Json config, parse_json(text));
  input_ = {.question_tokens_max = size_at(config, {"input", "question_tokens_max"}),
            .window_tokens = size_at(config, {"input", "tokens_max"}),
            .span_tokens_max = size_at(config, {"heads", "span", "span_tokens_max"}),
            .header_tokens_max = size_at(config, {"input", "header_tokens_max"})};
  const std::size_t marks = encoder_->tokenizer().pair_frame_tokens();
  const bool whole = input_.question_tokens_max > 0 && input_.span_tokens_max > 0 &&
                     input_.window_tokens > input_.question_tokens_max + input_.header_tokens_max + marks &&
                     input_.window_tokens <= encoder_->positions_max() && read_calibration(config);
  if (whole) return {};
  return fail(ErrorCode::kCorrupted, "{}: it lacks the fields of a reader; run `make setup` to fetch it again", path.string());
}

bool PairReader::read_calibration(const Json& config) {
  const Json* answer = at(config, {"calibration", "answer"});
  const bool alone = answer == nullptr;
  if (alone) answer = at(config, {"calibration"});
  const bool whole = answer != nullptr && read_number(*answer, {"margin"}, answer_calibration_.margin) &&
                     read_number(*answer, {"relevance"}, answer_calibration_.relevance) &&
                     read_number(*answer, {"b"}, answer_calibration_.b);
  return whole && (alone || (read_number(config, {"calibration", "relevance", "a"}, relevance_calibration_.a) &&
                             read_number(config, {"calibration", "relevance", "b"}, relevance_calibration_.b)));
}

std::vector<std::uint32_t> PairReader::header_ids(std::string_view header) const {
  if (input_.header_tokens_max == 0 || header.empty()) return {};
  const Tokenizer& tokenizer = encoder_->tokenizer();
  const Tokens stop = tokenizer.tokenize(".", 1, Specials::kAsText);
  if (stop.ids.size() >= input_.header_tokens_max) return {};
  std::vector<std::uint32_t> out = tokenizer.tokenize(header, input_.header_tokens_max - stop.ids.size(), Specials::kAsText).ids;
  if (!out.empty()) out.insert(out.end(), stop.ids.begin(), stop.ids.end());
  return out;
}

PairReader::Window PairReader::make_window(std::size_t text, std::span<const std::uint32_t> question, std::span<const std::uint32_t> header,
                                           const Tokens& tokens, std::size_t first, std::size_t room) const {
  const Frame& marks = encoder_->tokenizer().marks();
  Window out{.text = text, .ids = {marks.begin}, .types = {}, .begin = 0, .ranges = {}};
  out.ids.insert(out.ids.end(), question.begin(), question.end());
  out.ids.insert(out.ids.end(), marks.middle_count, marks.end);
  out.types.resize(out.ids.size(), 0);
  out.ids.insert(out.ids.end(), header.begin(), header.end());
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
  std::vector<PairText> bare;
  for (const std::string_view text : texts) bare.push_back({.text = text});
  return read(call, question, std::span<const PairText>(bare), options);
}

Result<std::vector<PairReading>> PairReader::read(const CallContext& call, std::string_view question, std::span<const PairText> texts,
                                                  const PairReadOptions& options) const {
  const Tokenizer& tokenizer = encoder_->tokenizer();
  const std::size_t windows_max = std::clamp<std::size_t>(options.windows_max, 1, kWindowsMax);
  const Tokens asked = tokenizer.tokenize(question, input_.question_tokens_max, Specials::kAsText);
  const std::size_t room_bare = input_.window_tokens - tokenizer.pair_frame_tokens() - asked.ids.size();
  const std::size_t stride = input_.window_tokens / 2;

  std::vector<Tokens> tokens(texts.size());  // Windows point into it.
  std::vector<Window> windows;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    FOOTNOTE_CHECK(call.check());
    const std::vector<std::uint32_t> header = header_ids(texts[i].header);
    const std::size_t room = room_bare - header.size();
    tokenizer.tokenize_into(texts[i].text, room + (windows_max - 1) * stride, Specials::kAsText, tokens[i]);
    const std::size_t count = tokens[i].ids.size();
    std::size_t first = 0;
    windows.push_back(make_window(i, asked.ids, header, tokens[i], first, room));
    while (first + room < count) {
      // The last window is full: it starts earlier instead of being shorter.
      first = std::min(first + stride, count - room);
      windows.push_back(make_window(i, asked.ids, header, tokens[i], first, room));
    }
  }

  std::vector<TokenSpan> sequences;
  for (const Window& window : windows) sequences.push_back({.ids = window.ids, .types = window.types});
  FOOTNOTE_TRY(const auto encoded, encoder_->encode(call, sequences, {.output = Output::kPooledAndTokens, .urgency = options.urgency}));
  constexpr float kLowest = std::numeric_limits<float>::lowest();
  std::vector<PairReading> out(texts.size(), PairReading{.relevance = kLowest, .margin = kLowest, .span = {}});
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const PairReading got = read_window(windows[i], texts[windows[i].text].parts, encoded[i].token_vectors);
    PairReading& best = out[windows[i].text];
    best.parts.resize(got.parts.size());
    for (std::size_t part = 0; part < got.parts.size(); ++part) {
      if (got.parts[part].margin > best.parts[part].margin) best.parts[part] = got.parts[part];
    }
    if (got.relevance > best.relevance) {
      best.relevance = got.relevance;
      best.support = got.support;
    }
    if (got.margin > best.margin) {
      best.margin = got.margin;
      best.span = got.span;
    }
  }
  return out;
}

PairSupport PairReader::support_of(std::span<const float> first_token) const {
  std::vector<float> pooled = (*support_pooler_)(first_token);
  for (float& value : pooled) value = std::tanh(value);
  return {.supports = support_->row(0, pooled), .neutral = support_->row(1, pooled), .refutes = support_->row(2, pooled)};
}

PairReading PairReader::read_window(const Window& window, std::span<const ByteRange> parts, std::span<const float> token_vectors) const {
  const std::size_t width = encoder_->hidden();
  const std::span<const float> first = token_vectors.first(width);
  std::vector<float> pooled = pooler_(first);
  for (float& value : pooled) value = std::tanh(value);
  PairReading out{.relevance = relevance_.row(0, pooled), .margin = 0, .span = {}};
  if (support_) out.support = support_of(first);
  const float none = span_.row(0, first) + span_.row(1, first);

  SpanLogits logits{.none = none};
  for (std::size_t i = 0; i < window.ranges.size(); ++i) {
    const std::span<const float> token = token_vectors.subspan((window.begin + i) * width, width);
    logits.start.push_back(span_.row(0, token));
    logits.end.push_back(span_.row(1, token));
  }
  const PairSpan best = best_span(window, logits, 0, window.ranges.size());
  out.margin = window.ranges.empty() ? -none : best.margin;
  out.span = best.span;
  std::size_t next = 0;
  for (const ByteRange& part : parts) {
    while (next < window.ranges.size() && window.ranges[next].begin < part.begin) ++next;
    std::size_t last = next;
    while (last < window.ranges.size() && window.ranges[last].end <= part.end) ++last;
    out.parts.push_back(best_span(window, logits, next, last));
    next = last;
  }
  return out;
}

PairSpan PairReader::best_span(const Window& window, const SpanLogits& logits, std::size_t first, std::size_t last) const {
  PairSpan out;
  for (std::size_t i = first; i < last; ++i) {
    for (std::size_t j = i; j < std::min(last, i + input_.span_tokens_max); ++j) {
      const float margin = logits.start[i] + logits.end[j] - logits.none;
      if (margin > out.margin) out = {margin, {window.ranges[i].begin, window.ranges[j].end}};
    }
  }
  return out;
}

}  // namespace footnote::nn
