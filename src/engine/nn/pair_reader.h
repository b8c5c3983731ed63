#pragma once

#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/call_context.h"
#include "base/json.h"
#include "base/result.h"
#include "engine/nn/dense_head.h"
#include "engine/nn/encoder.h"

namespace footnote::nn {

/// A text to read. `header` holds its headings ("Manual > Backups > Schedule"); models that were trained without headers ignore it. `parts`
/// are disjoint ranges of the text in ascending order; the result has the best span of each.
struct PairText {
  std::string_view text;
  std::string_view header = {};
  std::span<const ByteRange> parts = {};
};

/// A span of a text and its margin: its logit minus that of "no answer".
struct PairSpan {
  float margin = std::numeric_limits<float>::lowest();
  ByteRange span = {};
};

/// Logits of whether a text supports or contradicts a claim. The claim is passed in place of the question.
struct PairSupport {
  float supports = 0;
  float neutral = 0;
  float refutes = 0;
};

/// The model's reading of a question and a text. Logits are on the model's own scale.
struct PairReading {
  float relevance = 0;                      ///< How relevant the text is to the question: the maximum over its windows.
  float margin = 0;                         ///< Logit of the best span minus that of "no answer": the maximum over its windows.
  ByteRange span;                           ///< That span, in the text. Empty for a text without tokens.
  std::vector<PairSpan> parts = {};         ///< The best span inside each part. A part without tokens gets the lowest margin.
  std::optional<PairSupport> support = {};  ///< From the window with the highest relevance. Set only if the model has that head.
};

struct PairReadOptions {
  std::size_t windows_max = 1;  ///< How many windows of a long text are read, from its start. At most kWindowsMax.
  Urgency urgency = Urgency::kUrgent;
};

/// An encoder over `[CLS] question [SEP] header . text [SEP]` with these heads: relevance(tanh(pooler.dense(x))) of the first token's
/// vector x; two logits per token of the text, for the start and the end of the answer span; those of the first token mean "no answer". A
/// model may have a third one: support(tanh(support_pooler.dense(x))).
/// In addition to an encoder's fields, config.json has: input {question_tokens_max, tokens_max, header_tokens_max?},
/// heads.span.span_tokens_max, and a calibration: {relevance {a, b}, answer {margin, relevance, b}}, or {margin, relevance, b} of the
/// answer alone. Thread-safe. A pair's reading does not depend on the other pairs of the batch.
class PairReader {
 public:
  static constexpr std::size_t kWindowsMax = 16;

  /// Converts a logit to a probability: 1 / (1 + exp(-(a x + b))).
  struct Calibration {
    double a = 1;
    double b = 0;
    double operator()(double logit) const { return 1 / (1 + std::exp(-(a * logit + b))); }
  };
  /// The probability that the text contains the answer, from the span's margin and the relevance.
  struct AnswerCalibration {
    double margin = 1;
    double relevance = 0;
    double b = 0;
    double operator()(const PairReading& reading) const {
      return 1 / (1 + std::exp(-(margin * reading.margin + relevance * reading.relevance + b)));
    }
  };

  /// Errors of Encoder::open(); kUnsupported: the model has no such heads. kCorrupted: its config.json lacks the fields above.
  static Result<std::unique_ptr<PairReader>> open(const std::filesystem::path& model_folder, const EncoderOptions& options);

  /// One reading for each text, in order. All windows of all texts are encoded together.
  Result<std::vector<PairReading>> read(const CallContext& call, std::string_view question, std::span<const PairText> texts,
                                        const PairReadOptions& options = {}) const;
  /// The same without headers.
  Result<std::vector<PairReading>> read(const CallContext& call, std::string_view question, std::span<const std::string_view> texts,
                                        const PairReadOptions& options = {}) const;

  const Encoder& encoder() const { return *encoder_; }
  /// The logistic function itself if the model's relevance is not calibrated.
  const Calibration& relevance_calibration() const { return relevance_calibration_; }
  const AnswerCalibration& answer_calibration() const { return answer_calibration_; }

 private:
  struct Input {
    std::size_t question_tokens_max = 0;
    std::size_t window_tokens = 0;  ///< Tokens of a pair, special tokens included. Consecutive windows of a text overlap by half.
    std::size_t span_tokens_max = 0;
    std::size_t header_tokens_max = 0;  ///< Tokens of a header, including the full stop after it. 0: the model reads no headers.
  };
  struct Window;
  struct SpanLogits;

  PairReader() = default;
  Result<void> read_config(const std::filesystem::path& path);
  bool read_calibration(const Json& config);
  Result<void> read_support_head();
  std::vector<std::uint32_t> header_ids(std::string_view header) const;
  Window make_window(std::size_t text, std::span<const std::uint32_t> question, std::span<const std::uint32_t> header, const Tokens& tokens,
                     std::size_t first, std::size_t room) const;
  PairSupport support_of(std::span<const float> first_token) const;
  PairReading read_window(const Window& window, std::span<const ByteRange> parts, std::span<const float> token_vectors) const;
  PairSpan best_span(const Window& window, const SpanLogits& logits, std::size_t first, std::size_t last) const;

  // Constant after open; the encoder is thread-safe.
  std::unique_ptr<Encoder> encoder_;
  Input input_;
  Calibration relevance_calibration_;
  AnswerCalibration answer_calibration_;
  DenseHead pooler_;
  DenseHead relevance_;
  DenseHead span_;
  std::optional<DenseHead> support_pooler_;
  std::optional<DenseHead> support_;  // Either both or neither are set.
};

}  // namespace footnote::nn
