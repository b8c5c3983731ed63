#include "engine/nn/transformer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include "base/assert.h"

namespace footnote::nn {
namespace {

constexpr const char* kWordTable = "embeddings.word_embeddings";

}  // namespace

/// Finds tensors by the names of BERT checkpoints, with or without the family prefix, and packs them into reserved memory.
class Transformer::Packer {
 public:
  Packer(const ModelFiles& files, Transformer& out) : files_(files), shape_(files.shape), out_(out) {}

  Result<void> pack() {
    if (out_.kernels_->format == Format::kInt8) FOOTNOTE_CHECK(find_huge_channels());
    FOOTNOTE_CHECK(copy("embeddings.position_embeddings.weight", {shape_.positions_total, shape_.hidden}, out_.position_table_));
    FOOTNOTE_CHECK(copy("embeddings.token_type_embeddings.weight", {shape_.token_types, shape_.hidden}, out_.type_table_));
    if (out_.token_copy_ != nullptr) {
      FOOTNOTE_TRY(const auto values,
                   files_.word_weights().read_floats(files_.prefix + kWordTable + ".weight", {shape_.vocabulary, shape_.hidden}));
      std::ranges::copy(values, out_.token_copy_);
    }
    std::string norm = "embeddings.LayerNorm";
    const Norm* norm_out = &out_.embedding_norm_;
    for (std::size_t i = 0; i < shape_.layers; ++i) {
      const Layer& layer = out_.layers_[i];
      const std::string at = "encoder.layer." + std::to_string(i) + ".";
      FOOTNOTE_TRY(DenseMatrix projection, projection_of(at + "attention.self."));
      FOOTNOTE_CHECK(pack_pair(norm, *norm_out, std::move(projection), layer.query_key_value));
      FOOTNOTE_TRY(const DenseMatrix output, dense(at + "attention.output.dense", shape_.hidden, shape_.hidden));
      pack_matrix(*out_.kernels_, output, layer.attention_output);
      FOOTNOTE_TRY(DenseMatrix feed_in, dense(at + "intermediate.dense", shape_.intermediate, shape_.hidden));
      FOOTNOTE_CHECK(pack_pair(at + "attention.output.LayerNorm", layer.attention_norm, std::move(feed_in), layer.feed_forward_in));
      FOOTNOTE_TRY(DenseMatrix feed_out, dense(at + "output.dense", shape_.hidden, shape_.intermediate));
      if (out_.kernels_->format == Format::kInt8) {
        const auto channels = largest_channels(strength(feed_out, [](std::size_t, std::size_t k) { return k; }, shape_.intermediate));
        take_exact_channels(feed_out, channels, std::vector<float>(kExactChannels, 1.0F), layer.feed_forward_out);
      }
      pack_matrix(*out_.kernels_, feed_out, layer.feed_forward_out);
      norm = at + "output.LayerNorm";
      norm_out = &layer.output_norm;
    }
    // No multiplication follows the last norm.
    FOOTNOTE_TRY(const auto gain, files_.weights.read_floats(files_.prefix + norm + ".weight", {shape_.hidden}));
    FOOTNOTE_TRY(const auto shift, files_.weights.read_floats(files_.prefix + norm + ".bias", {shape_.hidden}));
    store_norm(*norm_out, gain, shift, gain, shift);
    return {};
  }

 private:
  Result<void> copy(const std::string& name, std::initializer_list<std::uint64_t> shape, const float* to) {
    FOOTNOTE_TRY(const auto values, files_.weights.read_floats(files_.prefix + name, shape));
    std::ranges::copy(values, const_cast<float*>(to));
    return {};
  }

  Result<DenseMatrix> dense(const std::string& name, std::size_t columns, std::size_t depth) const {
    DenseMatrix out;
    FOOTNOTE_TRY(out.weight, files_.weights.read_floats(files_.prefix + name + ".weight", {columns, depth}));
    FOOTNOTE_TRY(out.bias, files_.weights.read_floats(files_.prefix + name + ".bias", {columns}));
    return out;
  }

  /// Queries, keys and values combined. The query weights include the scale of scores and the base of the exponential.
  Result<DenseMatrix> projection_of(const std::string& at) const {
    FOOTNOTE_TRY(DenseMatrix out, dense(at + "query", shape_.hidden, shape_.hidden));
    const float factor = std::numbers::log2e_v<float> / std::sqrt(static_cast<float>(shape_.head_size()));
    for (float& value : out.weight) value *= factor;
    for (float& value : out.bias) value *= factor;
    for (const char* name : {"key", "value"}) {
      FOOTNOTE_TRY(const DenseMatrix part, dense(at + name, shape_.hidden, shape_.hidden));
      out.weight.insert(out.weight.end(), part.weight.begin(), part.weight.end());
      out.bias.insert(out.bias.end(), part.bias.begin(), part.bias.end());
    }
    return out;
  }

  /// The largest weight of each row or column of a matrix.
  template <class Key>
  static std::vector<float> strength(const DenseMatrix& matrix, Key key, std::size_t count) {
    std::vector<float> out(count, 0.0F);
    for (std::size_t column = 0; column < matrix.columns(); ++column) {
      for (std::size_t k = 0; k < matrix.depth(); ++k) {
        float& most = out[key(column, k)];
        most = std::max(most, std::fabs(matrix.weight[column * matrix.depth() + k]));
      }
    }
    return out;
  }

  /// A few neurons write huge values to the same few channels of the hidden state: find the channels with the largest weights in the second
  /// matrices.
  Result<void> find_huge_channels() {
    std::vector<float> sum(shape_.hidden, 0.0F);
    for (std::size_t i = 0; i < shape_.layers; ++i) {
      FOOTNOTE_TRY(const DenseMatrix matrix,
                   dense("encoder.layer." + std::to_string(i) + ".output.dense", shape_.hidden, shape_.intermediate));
      const auto own = strength(matrix, [](std::size_t column, std::size_t) { return column; }, shape_.hidden);
      for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += own[k];
    }
    huge_ = largest_channels(sum);
    return {};
  }

  /// Packs a norm and the matrix that follows it.
  Result<void> pack_pair(const std::string& name, const Norm& norm, DenseMatrix next, const Matrix& matrix) {
    FOOTNOTE_TRY(const auto gain, files_.weights.read_floats(files_.prefix + name + ".weight", {shape_.hidden}));
    FOOTNOTE_TRY(const auto shift, files_.weights.read_floats(files_.prefix + name + ".bias", {shape_.hidden}));
    if (out_.kernels_->format == Format::kInt8) {
      Migrated migrated = migrate_channels(gain, shift, next);
      std::array<float, kExactChannels> factors;
      for (std::size_t i = 0; i < kExactChannels; ++i) factors[i] = std::exchange(migrated.gain[huge_[i]], 0.0F);
      take_exact_channels(next, huge_, factors, matrix);
      store_norm(norm, gain, shift, migrated.gain, migrated.shift);
    } else {
      store_norm(norm, gain, shift, gain, shift);
    }
    pack_matrix(*out_.kernels_, next, matrix);
    return {};
  }

  static void store_norm(const Norm& out, std::span<const float> gain, std::span<const float> shift, std::span<const float> rows_gain,
                         std::span<const float> rows_shift) {
    std::ranges::copy(gain, const_cast<float*>(out.gain));
    std::ranges::copy(shift, const_cast<float*>(out.shift));
    std::ranges::copy(rows_gain, const_cast<float*>(out.rows_gain));
    std::ranges::copy(rows_shift, const_cast<float*>(out.rows_shift));
  }

  const ModelFiles& files_;
  const EncoderShape& shape_;
  Transformer& out_;
  std::array<std::uint32_t, kExactChannels> huge_{};
};

Norm Transformer::lay_out_norm(Layout& layout) const {
  Norm out;
  out.gain = layout.take_floats(shape_.hidden);
  out.shift = layout.take_floats(shape_.hidden);
  out.rows_gain = layout.take_floats(shape_.hidden);
  out.rows_shift = layout.take_floats(shape_.hidden);
  out.epsilon = shape_.norm_epsilon;
  return out;
}

void Transformer::lay_out(Layout& layout) {
  const Kernels& k = *kernels_;
  position_table_ = layout.take_floats(shape_.positions_total * shape_.hidden);
  type_table_ = layout.take_floats(shape_.token_types * shape_.hidden);
  if (token_table_.empty() && token_rows_.values.empty()) token_copy_ = layout.take_floats(shape_.vocabulary * shape_.hidden);
  embedding_norm_ = lay_out_norm(layout);
  layers_.resize(shape_.layers);
  for (Layer& layer : layers_) {
    layer.query_key_value = lay_out_matrix(k, shape_.hidden, 3 * shape_.hidden, true, layout);
    layer.attention_output = lay_out_matrix(k, shape_.hidden, shape_.hidden, false, layout);
    layer.attention_norm = lay_out_norm(layout);
    layer.feed_forward_in = lay_out_matrix(k, shape_.hidden, shape_.intermediate, true, layout);
    layer.feed_forward_out = lay_out_matrix(k, shape_.intermediate, shape_.hidden, true, layout);
    layer.output_norm = lay_out_norm(layout);
  }
  Norm* norm = &embedding_norm_;
  for (Layer& layer : layers_) {
    norm->exact_channels = layer.query_key_value.exact_channels;
    layer.attention_norm.exact_channels = layer.feed_forward_in.exact_channels;
    norm = &layer.output_norm;
  }
  // The output of the last norm feeds no multiplication, so its rows are not used.
  norm->exact_channels = layers_.back().feed_forward_in.exact_channels;
}

/// Uses the token vectors directly from the model's file if possible; otherwise they are copied as fp32.
Result<void> Transformer::find_token_table(const ModelFiles& files) {
  const std::string base = files.prefix + kWordTable;
  const SafeTensors& weights = files.word_weights();
  if (weights.has_byte_rows(base)) {
    FOOTNOTE_TRY(token_rows_, weights.byte_rows(base, shape_.vocabulary, shape_.hidden));
    return {};
  }
  FOOTNOTE_TRY(const Tensor tensor, weights.tensor(base + ".weight"));
  if (tensor.type != DataType::kF32) return {};
  FOOTNOTE_TRY(token_table_, weights.floats(base + ".weight", {shape_.vocabulary, shape_.hidden}));
  return {};
}

Result<Transformer> Transformer::load(const ModelFiles& files, const Kernels& kernels) {
  Transformer out;
  out.shape_ = files.shape;
  out.kernels_ = &kernels;
  FOOTNOTE_CHECK(out.find_token_table(files));
  Layout counted;
  out.lay_out(counted);

  const auto path = PackedFile::path_of(files.folder, kernels);
  FOOTNOTE_TRY(const PackedKey key, PackedFile::key_of(files.weights_path(), kernels, counted.used()));
  std::byte* memory = nullptr;
  if (auto packed = PackedFile::open(path, key)) {
    out.packed_ = *std::move(packed);
    memory = const_cast<std::byte*>(out.packed_.payload().data());  // Mapped read-only: nothing below writes to it.
  } else {
    FOOTNOTE_CHECK(files.verify_weights());
    FOOTNOTE_TRY(out.fresh_, MemoryBlock::allocate(counted.used()));
    memory = out.fresh_.data();
  }
  Layout layout(memory);
  out.lay_out(layout);
  if (memory == out.fresh_.data()) {
    FOOTNOTE_CHECK(Packer(files, out).pack());
    // Saved for the next start if the folder is writable; otherwise every start packs.
    (void)PackedFile::write(path, key, std::span(out.fresh_.data(), out.fresh_.size()));
  }
  if (out.token_copy_ != nullptr) out.token_table_ = {out.token_copy_, files.shape.vocabulary * files.shape.hidden};
  return out;
}

void Transformer::embed(const TokenSpan& sequence, std::size_t position, float* out) const {
  const std::size_t width = shape_.hidden;
  const std::size_t id = sequence.ids[position];
  const float* place = position_table_ + (position + shape_.position_offset) * width;
  const float* type = type_table_ + (sequence.types.empty() ? 0 : sequence.types[position]) * width;
  if (token_rows_.values.empty()) {
    const float* token = token_table_.data() + id * width;
    for (std::size_t k = 0; k < width; ++k) out[k] = token[k] + type[k] + place[k];
    return;
  }
  const std::int8_t* token = token_rows_.values.data() + id * width;
  const float scale = token_rows_.scale[id];
  for (std::size_t k = 0; k < width; ++k) out[k] = static_cast<float>(token[k]) * scale + type[k] + place[k];
}

}  // namespace footnote::nn
