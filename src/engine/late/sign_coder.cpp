#include "engine/late/sign_coder.h"

#include <algorithm>
#include <cmath>

#include "base/assert.h"
#include "base/crc32c.h"

namespace footnote::late {
namespace {

template <class T>
std::uint32_t add_sum(const std::vector<T>& values, std::uint32_t sum) {
  return crc32c(std::as_bytes(std::span(values)), sum);
}

std::uint32_t form_of(const LateModel& model, const CoderOptions& options) {
  std::uint32_t sum = add_sum(model.centre, 0);
  if (options.signs == Signs::kProjected) sum = add_sum(model.basis, sum);
  if (options.drop_frequent) sum = add_sum(model.frequent, sum);
  return std::max(sum, 1U);
}

}  // namespace

SignCoder::SignCoder(LateModel model, CoderOptions options)
    : model_(std::move(model)),
      options_(options),
      dimension_(options.signs == Signs::kProjected ? model_.projected() : model_.hidden()),
      form_(form_of(model_, options)) {
  FOOTNOTE_ASSERT(dimension_ > 0 && dimension_ % 8 == 0);
}

void SignCoder::place(const float* token, float* out) const {
  const std::size_t hidden = model_.hidden();
  if (options_.signs == Signs::kFull) {
    for (std::size_t i = 0; i < hidden; ++i) out[i] = token[i] - model_.centre[i];
    return;
  }
  std::fill_n(out, dimension_, 0.0F);
  for (std::size_t i = 0; i < hidden; ++i) {
    const float value = token[i] - model_.centre[i];
    const float* row = model_.basis.data() + i * dimension_;
    for (std::size_t j = 0; j < dimension_; ++j) out[j] += value * row[j];
  }
}

void SignCoder::append_passage(std::span<const float> token_vectors, std::span<const std::uint32_t> ids,
                               std::vector<std::byte>& out) const {
  const std::size_t hidden = model_.hidden();
  FOOTNOTE_ASSERT(token_vectors.size() == ids.size() * hidden);
  std::vector<float> placed(dimension_);
  for (std::size_t t = 0; t < ids.size(); ++t) {
    if (t > 0 && options_.drop_frequent && std::ranges::binary_search(model_.frequent, ids[t])) continue;
    place(token_vectors.data() + t * hidden, placed.data());
    for (std::size_t i = 0; i < dimension_; i += 8) {
      unsigned bits = 0;
      for (unsigned b = 0; b < 8; ++b) bits |= static_cast<unsigned>(placed[i + b] >= 0) << b;
      out.push_back(static_cast<std::byte>(bits));
    }
  }
}

std::vector<float> SignCoder::question(std::span<const float> token_vectors) const {
  const std::size_t hidden = model_.hidden();
  FOOTNOTE_ASSERT(token_vectors.size() % hidden == 0);
  std::vector<float> out(token_vectors.size() / hidden * dimension_);
  for (std::size_t t = 0; t * hidden < token_vectors.size(); ++t) {
    float* placed = out.data() + t * dimension_;
    place(token_vectors.data() + t * hidden, placed);
    double square = 0;
    for (std::size_t i = 0; i < dimension_; ++i) square += static_cast<double>(placed[i]) * placed[i];
    if (!(square > 0)) continue;
    const auto scale = static_cast<float>(1 / std::sqrt(square));
    for (std::size_t i = 0; i < dimension_; ++i) placed[i] *= scale;
  }
  return out;
}

}  // namespace footnote::late
