#pragma once

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

/// Scores how well two texts match: an encoder with a classification head of one label, or of two, where the second means "yes".
/// Thread-safe. A pair's score does not depend on the other pairs of the batch.
class CrossEncoder {
 public:
  /// Errors of Encoder::open(); kUnsupported: the model has no such head.
  static Result<std::unique_ptr<CrossEncoder>> open(const std::filesystem::path& model_folder, const EncoderOptions& options);

  /// One logit for each second text, in order. If a pair exceeds the model's window, the second text is truncated.
  Result<std::vector<float>> score(const CallContext& call, std::string_view first, std::span<const std::string_view> seconds,
                                   Urgency urgency = Urgency::kUrgent);

  const Encoder& encoder() const { return *encoder_; }

 private:
  CrossEncoder() = default;
  float score_of(const Pooled& pooled) const;

  // Constant after open; the encoder is thread-safe.
  std::unique_ptr<Encoder> encoder_;
  DenseHead hidden_;
  DenseHead labels_;
};

}  // namespace footnote::nn
