#include "engine/ann/codes.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>

#include "base/assert.h"
#include "base/crc32c.h"

namespace footnote::ann {
namespace {

constexpr float kCodeMax = 127;
constexpr std::size_t kFactBytes = 3 * sizeof(float);

std::size_t sign_row_bytes_for(std::size_t dimension) {
  const std::size_t bytes = (dimension + 7) / 8;
  return (bytes + kSignBytePadding - 1) / kSignBytePadding * kSignBytePadding;
}

/// Bit i is set when code i is not negative.
std::uint8_t signs_of(const std::int8_t* codes) {
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, codes, sizeof bytes);
  // Reduce each byte to one bit, then gather the bits in the highest byte by a multiplication.
  return static_cast<std::uint8_t>((((~bytes >> 7) & 0x0101010101010101U) * 0x0102040810204080U) >> 56);
}

/// The smallest float that is >= value.
float rounded_up(double value) {
  const auto nearest = static_cast<float>(value);
  return static_cast<double>(nearest) >= value ? nearest : std::nextafter(nearest, std::numeric_limits<float>::infinity());
}

}  // namespace

CodeFacts encode(std::span<const float> vector, std::int8_t* codes) {
  float largest = 0;
  for (const float value : vector) largest = std::max(largest, std::fabs(value));
  const float scale = largest / kCodeMax;
  // A vector whose scale is zero, denormal or infinite gets codes of 0: its error is its norm.
  const bool fits = std::isnormal(scale);
  const double inverse = fits ? 1.0 / static_cast<double>(scale) : 0;
  double error = 0;
  double square = 0;
  for (std::size_t i = 0; i < vector.size(); ++i) {
    const double value = vector[i];
    const double code = std::clamp(std::nearbyint(value * inverse), -static_cast<double>(kCodeMax), static_cast<double>(kCodeMax));
    codes[i] = static_cast<std::int8_t>(code);
    const double rest = value - code * static_cast<double>(fits ? scale : 0);
    error += rest * rest;
    square += value * value;
  }
  return {.scale = fits ? scale : 0, .error = rounded_up(std::sqrt(error)), .norm = rounded_up(std::sqrt(square))};
}

Result<void> Codes::save(ByteSink& sink) const {
  FOOTNOTE_CHECK(sink.put_all(std::span<const std::uint8_t>(signs_.data(), signs_.size())));
  FOOTNOTE_CHECK(sink.put_all<float>(scales_));
  FOOTNOTE_CHECK(sink.put_all<float>(errors_));
  FOOTNOTE_CHECK(sink.put_all(std::span<const float>(norms_).first(size())));
  return sink.put_all<std::uint32_t>(sums());
}

Result<Codes> Codes::load(ByteSource& source, std::size_t dimension, std::uint64_t count) {
  const std::uint64_t room = source.remaining() / (sign_row_bytes_for(dimension) + kFactBytes);
  if (count > room) return fail(ErrorCode::kCorrupted, "the file names {} vectors, but has room for {}", count, room);
  Codes out(dimension, static_cast<std::size_t>(count), Unfilled{});
  out.signs_ = AlignedArray<std::uint8_t>(out.sign_bytes());
  FOOTNOTE_CHECK(source.fits<std::uint8_t>(out.sign_bytes()));
  FOOTNOTE_CHECK(source.read(std::as_writable_bytes(std::span(out.signs_.data(), out.signs_.size()))));
  FOOTNOTE_CHECK(source.fits<float>(3 * count));
  FOOTNOTE_CHECK(source.read(std::as_writable_bytes(std::span(out.scales_))));
  FOOTNOTE_CHECK(source.read(std::as_writable_bytes(std::span(out.errors_))));
  FOOTNOTE_CHECK(source.read(std::as_writable_bytes(std::span(out.norms_).first(out.size()))));
  FOOTNOTE_TRY(out.sums_, source.take_all<std::uint32_t>((count + kCodeSumRows - 1) / kCodeSumRows));
  out.checked_ = std::make_unique<std::atomic<Checked>[]>(out.sums_.size());
  const auto all_sound = [](std::span<const float> values) { return std::ranges::all_of(values, [](float value) { return value >= 0; }); };
  if (!all_sound(out.scales_) || !all_sound(out.errors_) || !all_sound(out.norms_)) {
    return fail(ErrorCode::kCorrupted, "a vector has invalid codes");
  }
  return out;
}

void Codes::attach(std::shared_ptr<const std::int8_t> raw) {
  FOOTNOTE_ASSERT(wants_raw());
  shared_ = std::move(raw);
  data_ = shared_.get();
}

std::uint32_t Codes::sum_of(std::size_t group) const {
  const std::size_t first = group * kCodeSumRows;
  const std::size_t count = std::min(kCodeSumRows, size() - first);
  return crc32c(std::as_bytes(std::span(codes(first), count * stride_)));
}

bool Codes::check(std::size_t group) const {
  const bool sound = sum_of(group) == sums_[group];
  checked_[group].store(sound ? Checked::kSound : Checked::kDamaged, std::memory_order_relaxed);
  return sound;
}

bool Codes::are_sound(std::size_t first, std::size_t count) const {
  if (sums_.empty()) return true;
  bool sound = true;
  for (std::size_t i = first / kCodeSumRows * kCodeSumRows; i < first + count; i += kCodeSumRows) sound = is_sound(i) && sound;
  return sound;
}

/// Checksums of codes in a file are the stored ones, so that damage stays detectable.
std::vector<std::uint32_t> Codes::sums() const {
  if (!sums_.empty()) return sums_;
  std::vector<std::uint32_t> out((size() + kCodeSumRows - 1) / kCodeSumRows);
  for (std::size_t group = 0; group < out.size(); ++group) out[group] = sum_of(group);
  return out;
}

Codes::Codes(std::size_t dimension, std::size_t count) : Codes(dimension, count, Unfilled{}) {
  own_ = AlignedArray<std::int8_t>(stride_ * count);
  data_ = own_.data();
}

Codes::Codes(std::size_t dimension, std::size_t count, Unfilled)
    : stride_(stride_for(dimension)),
      sign_row_bytes_(sign_row_bytes_for(dimension)),
      scales_(count),
      errors_(count),
      norms_((count + kSignBlockRows - 1) / kSignBlockRows * kSignBlockRows) {}

void Codes::set(std::size_t i, std::span<const float> vector) {
  const CodeFacts facts = encode(vector, own_.data() + i * stride_);
  scales_[i] = facts.scale;
  errors_[i] = facts.error;
  norms_[i] = facts.norm;
}

void Codes::copy(std::size_t i, const Codes& from, std::size_t j) {
  std::memcpy(own_.data() + i * stride_, from.codes(j), stride_);
  scales_[i] = from.scales_[j];
  errors_[i] = from.errors_[j];
  norms_[i] = from.norms_[j];
}

void Codes::make_signs() {
  signs_ = AlignedArray<std::uint8_t>(sign_bytes());
  for (std::size_t i = 0; i < size(); ++i) {
    std::uint8_t* out = signs_.data() + (i / kSignBlockRows * sign_row_bytes_) * kSignBlockRows + i % kSignBlockRows;
    // The padding of codes is at least as long as that of signs.
    for (std::size_t p = 0; p < sign_row_bytes_; ++p) out[p * kSignBlockRows] = signs_of(codes(i) + p * 8);
  }
}

void Codes::decode(std::size_t i, std::span<float> out) const {
  const std::int8_t* from = codes(i);
  for (std::size_t k = 0; k < out.size(); ++k) out[k] = scales_[i] * static_cast<float>(from[k]);
}

SignQuery make_sign_query(std::span<const float> query, std::size_t sign_row_bytes) {
  const std::size_t groups = sign_row_bytes * 2;
  const auto value_at = [&](std::size_t i) { return i < query.size() ? query[i] : 0.0F; };
  float range = 0;
  for (std::size_t g = 0; g < groups; ++g) {
    float sum = 0;
    for (std::size_t k = 0; k < 4; ++k) sum += std::fabs(value_at(4 * g + k));
    range = std::max(range, sum);
  }
  SignQuery out{.tables = std::vector<std::uint8_t>(groups * 16)};
  if (!std::isnormal(range) || !std::isnormal(1 / range)) return out;
  const auto entry_max = static_cast<float>(std::min<std::size_t>(kSignEntryMax, std::numeric_limits<std::uint16_t>::max() / groups));
  const float scale = entry_max / (2 * range);
  for (std::size_t g = 0; g < groups; ++g) {
    for (unsigned signs = 0; signs < 16; ++signs) {
      float sum = range;
      for (std::size_t k = 0; k < 4; ++k) sum += (signs >> k & 1) != 0 ? value_at(4 * g + k) : -value_at(4 * g + k);
      out.tables[g * 16 + signs] = static_cast<std::uint8_t>(std::clamp(std::nearbyint(sum * scale), 0.0F, entry_max));
    }
  }
  // norm * sqrt(2 / (pi * dimension)) is the mean magnitude of normally distributed values; the factor pi / 2 corrects for the angle
  // between a vector and its signs.
  const float factor = std::sqrt(std::numbers::pi_v<float> / 2 / static_cast<float>(query.size()));
  out.line.slope = factor / scale;
  out.line.offset = -factor * range * static_cast<float>(groups);
  return out;
}

}  // namespace footnote::ann
