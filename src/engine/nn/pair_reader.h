#pragma once

#include <cmath>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/call_context.h"
#include "base/result.h"
#include "engine/nn/dense_head.h"
#include "engine/nn/encoder.h"

namespace footnote::nn {

/// What was read of a question and a text together. Logits are on the model's own scale.
struct PairReading {
  float relevance = 0;  ///< How well the text fits the question: the highest of its windows.
  float margin = 0;     ///< How much likelier the best span is than that none answers: the highest of its windows.
  ByteRange span;       ///< That span, in the text. Empty for a text without tokens.
};

struct PairReadOptions {
  std::size_t windows_max = 1;  ///< Of a text that does not fit one window: so many, from its beginning on. At most kWindowsMax.
  Urgency urgency = Urgency::kUrgent;
};

/// An encoder over `[CLS] question [SEP] text [SEP]` with two heads: relevance(tanh(pooler.dense(x))) of the first token's vector x,
/// and two logits a token, for the start and the end of the span that answers; those of the first token stand for no span.
/// config.json has, beside an encoder's: input {question_tokens_max, tokens_max}, heads.span.span_tokens_max,
/// calibration {relevance {a, b}, answer {margin, relevance, b}}. Thread-safe; the same pair gives the same reading in any company.
class PairReader {
 public:
  static constexpr std::size_t kWindowsMax = 16;

  /// A logit as a probability: 1 / (1 + exp(-(a x + b))).
  struct Calibration {
    double a = 1;
    double b = 0;
    double operator()(double logit) const { return 1 / (1 + std::exp(-(a * logit + b))); }
  };
  /// The same for whether the text answers: a span's margin tells most, relevance some of the rest.
  struct AnswerCalibration {
    double margin = 1;
    double relevance = 0;
    double b = 0;
    double operator()(const PairReading& reading) const {
      return 1 / (1 + std::exp(-(margin * reading.margin + relevance * reading.relevance + b)));
    }
  };

  /// Errors of Encoder::open; kUnsupported: the model has no such heads. kCorrupted: its config.json does not say how it reads.
  static Result<std::unique_ptr<PairReader>> open(const std::filesystem::path& model_folder, const EncoderOptions& options);

  /// One reading for each text, in order. All windows of all texts go through the encoder together.
  Result<std::vector<PairReading>> read(const CallContext& call, std::string_view question, std::span<const std::string_view> texts,
                                        const PairReadOptions& options = {}) const;

  const Encoder& encoder() const { return *encoder_; }
  const Calibration& relevance_calibration() const { return relevance_calibration_; }
  const AnswerCalibration& answer_calibration() const { return answer_calibration_; }

 private:
  struct Input {
    std::size_t question_tokens_max = 0;
    std::size_t window_tokens = 0;  ///< Of a pair, marks included. Windows of one text begin half of it apart.
    std::size_t span_tokens_max = 0;
  };
  struct Window;

  PairReader() = default;
  Result<void> read_config(const std::filesystem::path& path);
  Window make_window(std::size_t text, std::span<const std::uint32_t> question, const Tokens& tokens, std::size_t first,
                     std::size_t room) const;
  PairReading read_window(const Window& window, std::span<const float> token_vectors) const;

  // Constant after open; the encoder is thread-safe.
  std::unique_ptr<Encoder> encoder_;
  Input input_;
  Calibration relevance_calibration_;
  AnswerCalibration answer_calibration_;
  DenseHead pooler_;
  DenseHead relevance_;
  DenseHead span_;
};

}  // namespace footnote::nn
