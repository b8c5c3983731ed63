#include "engine/nn/transformer.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/assert.h"

namespace footnote::nn {
namespace {

// Attention scores are computed for so many query rows at a time: a multiple of every tile's height that keeps the
// scores of the longest sequence in the second-level cache.
constexpr std::size_t kQueryRows = 48;

// Rows of matrices lie a little further apart than their width: at a power of two they would share cache sets.
std::size_t padded_stride(std::size_t width) { return width + 16; }

std::size_t round_up(std::size_t value, std::size_t multiple) { return (value + multiple - 1) / multiple * multiple; }

}  // namespace

/// Finds tensors under the names that BERT checkpoints use, with or without a "bert." in front.
class Transformer::Loader {
 public:
  Loader(const ModelFiles& files, const Kernels& kernels)
      : weights_(files.weights),
        shape_(files.shape),
        panel_(kernels.panel_columns),
        prefix_(files.weights.has("bert.embeddings.word_embeddings.weight") ? "bert." : "") {}

  Result<std::span<const float>> matrix(const std::string& name, std::size_t rows, std::size_t columns) const {
    return weights_.floats(prefix_ + name, {rows, columns});
  }

  Result<Norm> norm(const std::string& name) const {
    FOOTNOTE_TRY(const auto gain, weights_.floats(prefix_ + name + ".weight", {shape_.hidden}));
    FOOTNOTE_TRY(const auto shift, weights_.floats(prefix_ + name + ".bias", {shape_.hidden}));
    return Norm{gain, shift};
  }

  Result<PackedMatrix> packed(std::initializer_list<std::string> names, std::size_t rows, std::size_t columns) const {
    std::vector<PackedMatrix::Part> parts;
    for (const std::string& name : names) {
      FOOTNOTE_TRY(const auto weight, matrix(name + ".weight", rows, columns));
      FOOTNOTE_TRY(const auto bias, weights_.floats(prefix_ + name + ".bias", {rows}));
      parts.push_back({weight, bias});
    }
    return PackedMatrix::pack(parts, columns, panel_);
  }

  Result<Layer> layer(std::size_t index) const {
    const std::string at = "encoder.layer." + std::to_string(index) + ".";
    const std::string self = at + "attention.self.";
    const std::size_t hidden = shape_.hidden;
    Layer out;
    FOOTNOTE_TRY(out.query_key_value, packed({self + "query", self + "key", self + "value"}, hidden, hidden));
    FOOTNOTE_TRY(out.attention_output, packed({at + "attention.output.dense"}, hidden, hidden));
    FOOTNOTE_TRY(out.attention_norm, norm(at + "attention.output.LayerNorm"));
    FOOTNOTE_TRY(out.feed_forward_in, packed({at + "intermediate.dense"}, shape_.intermediate, hidden));
    FOOTNOTE_TRY(out.feed_forward_out, packed({at + "output.dense"}, hidden, shape_.intermediate));
    FOOTNOTE_TRY(out.output_norm, norm(at + "output.LayerNorm"));
    return out;
  }

 private:
  const SafeTensors& weights_;
  const EncoderShape& shape_;
  const std::size_t panel_;
  const std::string prefix_;
};

Result<Transformer> Transformer::load(const ModelFiles& files, const Kernels& kernels) {
  const EncoderShape& shape = files.shape;
  const Loader loader(files, kernels);
  Transformer out;
  out.shape_ = shape;
  out.kernels_ = &kernels;
  FOOTNOTE_TRY(out.token_table_, loader.matrix("embeddings.word_embeddings.weight", shape.vocabulary, shape.hidden));
  FOOTNOTE_TRY(out.position_table_, loader.matrix("embeddings.position_embeddings.weight", shape.positions, shape.hidden));
  FOOTNOTE_TRY(out.type_table_, loader.matrix("embeddings.token_type_embeddings.weight", shape.token_types, shape.hidden));
  FOOTNOTE_TRY(out.embedding_norm_, loader.norm("embeddings.LayerNorm"));
  for (std::size_t i = 0; i < shape.layers; ++i) {
    FOOTNOTE_TRY(Layer layer, loader.layer(i));
    out.layers_.push_back(std::move(layer));
  }
  return out;
}

Result<Transformer::Workspace> Transformer::make_workspace(std::size_t tokens_max) const {
  const std::size_t wide = std::max(padded_stride(3 * shape_.hidden), padded_stride(shape_.intermediate));
  const std::size_t keys = round_up(tokens_max, kernels_->panel_columns) + 16;
  Workspace out;
  out.tokens_max_ = tokens_max;
  FOOTNOTE_TRY(out.hidden_, FloatBuffer::allocate(tokens_max * shape_.hidden));
  FOOTNOTE_TRY(out.projected_, FloatBuffer::allocate(tokens_max * wide));
  FOOTNOTE_TRY(out.mixed_, FloatBuffer::allocate(tokens_max * shape_.hidden));
  FOOTNOTE_TRY(out.added_, FloatBuffer::allocate(tokens_max * shape_.hidden));
  FOOTNOTE_TRY(out.scores_, FloatBuffer::allocate(kQueryRows * keys));
  FOOTNOTE_TRY(out.keys_, FloatBuffer::allocate(keys * shape_.head_size()));
  FOOTNOTE_TRY(out.values_, FloatBuffer::allocate(keys * shape_.head_size()));
  return out;
}

std::span<const float> Transformer::forward(std::span<const TokenSpan> sequences, Workspace& workspace) const {
  std::size_t tokens = 0;
  for (const TokenSpan& sequence : sequences) tokens += sequence.ids.size();
  FOOTNOTE_ASSERT(tokens <= workspace.tokens_max_);
  float* hidden = workspace.hidden_.data();
  float* projected = workspace.projected_.data();
  float* mixed = workspace.mixed_.data();
  float* added = workspace.added_.data();
  embed(sequences, workspace);
  for (const Layer& layer : layers_) {
    multiply(layer.query_key_value, tokens, hidden, projected, Activation::kNone);
    std::size_t first = 0;
    for (const TokenSpan& sequence : sequences) {
      attend(first, sequence.ids.size(), workspace);
      first += sequence.ids.size();
    }
    multiply(layer.attention_output, tokens, mixed, added, Activation::kNone);
    add_norm(layer.attention_norm, tokens, added, hidden);
    multiply(layer.feed_forward_in, tokens, hidden, projected, Activation::kGelu);
    multiply(layer.feed_forward_out, tokens, projected, added, Activation::kNone);
    add_norm(layer.output_norm, tokens, added, hidden);
  }
  return {hidden, tokens * shape_.hidden};
}

void Transformer::embed(std::span<const TokenSpan> sequences, Workspace& workspace) const {
  const std::size_t width = shape_.hidden;
  float* hidden = workspace.hidden_.data();
  float* added = workspace.added_.data();
  std::size_t row = 0;
  for (const TokenSpan& sequence : sequences) {
    for (std::size_t i = 0; i < sequence.ids.size(); ++i, ++row) {
      const float* token = token_table_.data() + sequence.ids[i] * width;
      const float* type = type_table_.data() + (sequence.types.empty() ? 0 : sequence.types[i]) * width;
      for (std::size_t k = 0; k < width; ++k) added[row * width + k] = token[k] + type[k];
      std::copy_n(position_table_.data() + i * width, width, hidden + row * width);
    }
  }
  add_norm(embedding_norm_, row, added, hidden);
}

void Transformer::attend(std::size_t first_token, std::size_t length, Workspace& workspace) const {
  for (std::size_t head = 0; head < shape_.heads; ++head) attend_head(first_token, length, head, workspace);
}

// softmax(Q K' / sqrt(size)) V of one head, as two multiplications whose right sides are packed here.
void Transformer::attend_head(std::size_t first_token, std::size_t length, std::size_t head, Workspace& workspace) const {
  const std::size_t size = shape_.head_size();
  const std::size_t panel = kernels_->panel_columns;
  const std::size_t stride = padded_stride(3 * shape_.hidden);
  const std::size_t columns = round_up(length, panel);
  const std::size_t score_stride = round_up(columns, 16);
  const float* queries = workspace.projected_.data() + first_token * stride + head * size;
  const float* keys = queries + shape_.hidden;
  const float* values = keys + shape_.hidden;
  float* packed_keys = workspace.keys_.data();
  float* packed_values = workspace.values_.data();
  float* scores = workspace.scores_.data();
  // What is left of the last panel keeps old numbers: softmax reads no score past `length`.
  for (std::size_t token = 0; token < length; ++token) {
    float* key = packed_keys + token / panel * panel * size + token % panel;
    for (std::size_t k = 0; k < size; ++k) key[k * panel] = keys[token * stride + k];
    for (std::size_t k = 0; k < size; k += panel) {
      std::copy_n(values + token * stride + k, panel, packed_values + (k / panel * length + token) * panel);
    }
  }
  for (std::size_t row = 0; row < length; row += kQueryRows) {
    const std::size_t rows = std::min(kQueryRows, length - row);
    kernels_->multiply({.left = queries + row * stride,
                        .left_stride = stride,
                        .panels = packed_keys,
                        .bias = nullptr,
                        .out = scores,
                        .out_stride = score_stride,
                        .rows = rows,
                        .columns = columns,
                        .depth = size,
                        .activation = Activation::kNone});
    kernels_->softmax(
        {.scores = scores, .stride = score_stride, .rows = rows, .columns = length, .scale = 1.0F / std::sqrt(static_cast<float>(size))});
    kernels_->multiply({.left = scores,
                        .left_stride = score_stride,
                        .panels = packed_values,
                        .bias = nullptr,
                        .out = workspace.mixed_.data() + (first_token + row) * shape_.hidden + head * size,
                        .out_stride = shape_.hidden,
                        .rows = rows,
                        .columns = size,
                        .depth = length,
                        .activation = Activation::kNone});
  }
}

void Transformer::multiply(const PackedMatrix& matrix, std::size_t rows, const float* left, float* out, Activation activation) const {
  const auto stride = [&](std::size_t width) { return width == shape_.hidden ? width : padded_stride(width); };
  kernels_->multiply({.left = left,
                      .left_stride = stride(matrix.depth()),
                      .panels = matrix.panels(),
                      .bias = matrix.bias(),
                      .out = out,
                      .out_stride = stride(matrix.columns()),
                      .rows = rows,
                      .columns = matrix.columns(),
                      .depth = matrix.depth(),
                      .activation = activation});
}

void Transformer::add_norm(const Norm& norm, std::size_t rows, const float* addend, float* rows_in_place) const {
  kernels_->add_norm({.rows = rows_in_place,
                      .addend = addend,
                      .gain = norm.gain.data(),
                      .shift = norm.shift.data(),
                      .count = rows,
                      .width = shape_.hidden,
                      .epsilon = shape_.norm_epsilon});
}

}  // namespace footnote::nn
