#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/late/late_model.h"

namespace footnote::late {

struct CoderOptions {
  Signs signs = Signs::kFull;
  bool drop_frequent = false;  ///< Do not encode the most frequent tokens of passages.
};

/// Encodes token vectors as sign bits. Constant after construction, thread-safe.
class SignCoder {
 public:
  /// REQUIRES: the model has a basis if options ask for kProjected.
  SignCoder(LateModel model, CoderOptions options);

  /// Bits per token.
  std::size_t dimension() const { return dimension_; }
  std::size_t bytes_per_token() const { return dimension_ / 8; }
  /// Identifies the encoding: only codes of equal form are comparable. Never 0.
  std::uint32_t form() const { return form_; }

  /// Appends the codes of a passage's tokens: bit i of a token is set when its value i is above the centre. The first token is always kept,
  /// so that no passage is empty. REQUIRES: tokens x hidden values, one id per token.
  void append_passage(std::span<const float> token_vectors, std::span<const std::uint32_t> ids, std::vector<std::byte>& out) const;

  /// A question's tokens: centred, projected like the passages, and normalised to unit length; tokens x dimension() values.
  std::vector<float> question(std::span<const float> token_vectors) const;

 private:
  /// Writes dimension_ values.
  void place(const float* token, float* out) const;

  const LateModel model_;
  const CoderOptions options_;
  const std::size_t dimension_;
  const std::uint32_t form_;
};

}  // namespace footnote::late
