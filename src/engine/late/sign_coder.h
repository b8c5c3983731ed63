#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/late/late_model.h"

namespace footnote::late {

struct CoderOptions {
  Signs signs = Signs::kFull;
  bool drop_frequent = false;  ///< Passages keep no code of the commonest pieces.
};

/// Turns an encoder's token vectors into codes. Constant after construction, thread-safe.
class SignCoder {
 public:
  /// REQUIRES: kProjected only with a basis.
  SignCoder(LateModel model, CoderOptions options);

  /// Bits of one token.
  std::size_t dimension() const { return dimension_; }
  std::size_t bytes_per_token() const { return dimension_ / 8; }
  /// Codes of one form are comparable, others are not. Never 0.
  std::uint32_t form() const { return form_; }

  /// Appends the codes of a passage's tokens: bit i of a token is set where its number i lies above the centre. The first token is
  /// kept whatever it is, so that no passage is without. REQUIRES: tokens x hidden numbers, one id for each token.
  void append_passage(std::span<const float> token_vectors, std::span<const std::uint32_t> ids, std::vector<std::byte>& out) const;

  /// A question's tokens: centred, projected where passages are, each of unit length; tokens x dimension() numbers.
  std::vector<float> question(std::span<const float> token_vectors) const;

 private:
  /// dimension_ numbers.
  void place(const float* token, float* out) const;

  const LateModel model_;
  const CoderOptions options_;
  const std::size_t dimension_;
  const std::uint32_t form_;
};

}  // namespace footnote::late
