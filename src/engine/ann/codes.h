#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/byte_stream.h"
#include "engine/ann/aligned_array.h"
#include "engine/ann/kernels.h"

namespace footnote::ann {

/// The quantisation of a vector: vector = scale * codes + rest, with error = |rest| and norm = |vector|.
struct CodeFacts {
  float scale = 0;
  float error = 0;
  float norm = 0;
};

/// Quantises a vector to signed 8-bit codes, symmetric around 0. Codes past the vector's end are zero.
CodeFacts encode(std::span<const float> vector, std::int8_t* codes);

/// In a file, every group of this many consecutive code rows has one checksum.
inline constexpr std::size_t kCodeSumRows = 8;

/// Whether bytes of a file have been compared with their checksum.
enum class Checked : std::uint8_t { kNotYet, kSound, kDamaged };

/// The quantised forms of a segment's vectors: 8-bit codes, and the sign bits of these, transposed in blocks for Kernels::sign_sums. Filled
/// once, then constant. Codes in a file are verified on first use; before that they may be damaged.
class Codes {
 public:
  Codes(std::size_t dimension, std::size_t count);

  void set(std::size_t i, std::span<const float> vector);
  void copy(std::size_t i, const Codes& from, std::size_t j);
  /// Call once, after all codes are set.
  void make_signs();

  /// codes := signs:u8[blocks of rows] scale:f32[count] error:f32[count] norm:f32[count] sum:u32[(count + 7) / 8]
  /// The codes themselves are not included: save_raw() writes them, and `sum` holds their checksums.
  Result<void> save(ByteSink& sink) const;
  /// raw := code:i8[count * stride]
  Result<void> save_raw(ByteSink& sink) const { return sink.put_all(std::span<const std::int8_t>(data_, raw_bytes())); }
  std::uint64_t raw_bytes() const { return std::uint64_t{stride_} * size(); }
  /// Reads what save() wrote; attach() must follow. kCorrupted: values that encode() never produces.
  static Result<Codes> load(ByteSource& source, std::size_t dimension, std::uint64_t count);
  bool wants_raw() const { return data_ == nullptr && size() > 0; }
  /// Sets the memory that holds save_raw()'s bytes. REQUIRES: wants_raw().
  void attach(std::shared_ptr<const std::int8_t> raw);
  /// False when the checksum of the vector's group does not match, so that its codes may be wrong. They can still be read.
  bool is_sound(std::size_t i) const {
    if (sums_.empty()) return true;
    const Checked known = checked_[i / kCodeSumRows].load(std::memory_order_relaxed);
    return known == Checked::kSound || (known == Checked::kNotYet && check(i / kCodeSumRows));
  }
  bool are_sound(std::size_t first, std::size_t count) const;

  std::size_t size() const { return scales_.size(); }
  std::size_t stride() const { return stride_; }
  const std::int8_t* codes(std::size_t i) const { return data_ + i * stride_; }
  CodeFacts facts(std::size_t i) const { return {scales_[i], errors_[i], norms_[i]}; }
  void prefetch_facts(std::size_t i) const {
    for (const std::vector<float>* of : {&scales_, &errors_, &norms_}) __builtin_prefetch(of->data() + i);
  }
  /// Padded with zeros to the end of the last block.
  const float* norms() const { return norms_.data(); }
  /// Dequantises vector i.
  void decode(std::size_t i, std::span<float> out) const;

  std::size_t sign_row_bytes() const { return sign_row_bytes_; }
  std::size_t sign_block_count() const { return (size() + kSignBlockRows - 1) / kSignBlockRows; }
  const std::uint8_t* sign_block(std::size_t block) const { return signs_.data() + block * kSignBlockRows * sign_row_bytes_; }

  static std::size_t stride_for(std::size_t dimension) { return (dimension + kCodePadding - 1) / kCodePadding * kCodePadding; }

 private:
  struct Unfilled {};
  Codes(std::size_t dimension, std::size_t count, Unfilled);
  std::uint32_t sum_of(std::size_t group) const;
  bool check(std::size_t group) const;
  std::vector<std::uint32_t> sums() const;
  std::size_t sign_bytes() const { return sign_block_count() * kSignBlockRows * sign_row_bytes_; }

  std::size_t stride_;
  std::size_t sign_row_bytes_;
  AlignedArray<std::int8_t> own_;              // Set when the codes were built here, not loaded.
  std::shared_ptr<const std::int8_t> shared_;  // Set when they were loaded: a mapped file, or memory shared by all segments of an index.
  const std::int8_t* data_ = nullptr;
  std::vector<std::uint32_t> sums_;  // Checksums of codes that come from a file.
  std::unique_ptr<std::atomic<Checked>[]> checked_;
  AlignedArray<std::uint8_t> signs_;
  std::vector<float> scales_;
  std::vector<float> errors_;
  std::vector<float> norms_;
};

/// A query prepared for comparison with signs. `tables` is the input of Kernels::sign_sums; dot(row, query) is about norm * (line.slope *
/// sum + line.offset).
struct SignQuery {
  std::vector<std::uint8_t> tables;
  SignLine line;
};
SignQuery make_sign_query(std::span<const float> query, std::size_t sign_row_bytes);

}  // namespace footnote::ann
