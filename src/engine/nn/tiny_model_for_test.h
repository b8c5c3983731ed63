#pragma once

#include <cmath>
#include <cstring>
#include <filesystem>
#include <map>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "base/file.h"
#include "engine/nn/kernels.h"
#include "engine/nn/model_files.h"
#include "engine/nn/pack.h"
#include "engine/nn/transformer.h"
#include "support/source_folder.h"
#include "support/temp_folder.h"

namespace footnote::nn::testing {

/// An encoder of either family with two layers and random weights, as a model folder and as weights for a reference implementation.
class TinyModel {
 public:
  static constexpr std::size_t kHidden = 64;
  static constexpr std::size_t kHeads = 2;
  static constexpr std::size_t kLayers = 2;
  static constexpr std::size_t kIntermediate = 128;
  static constexpr std::size_t kPositions = 66;

  /// kByteRows: matrices of three or more rows as NAME.int8 and NAME.scale, the rest as fp32. The reference uses weights rounded to the
  /// stored precision.
  enum class Storage { kF32, kF16, kBf16, kByteRows };

  explicit TinyModel(Family family, std::size_t labels = 0, Storage storage = Storage::kF32)
      : family_(family),
        prefix_(labels == 0               ? ""
                : family == Family::kBert ? "bert."
                                          : "roberta."),
        labels_(labels) {
    const std::filesystem::path fixtures = test::source_folder() / "tests" / "fixtures" / "tokenizers";
    if (family == Family::kBert) {
      std::string vocabulary = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";
      for (const char* word : {"a", "b", "c", "the", "cat", "sat", "on", "mat", "##s", "##t", "dog", "ran", "."}) {
        vocabulary += std::string(word) + "\n";
      }
      folder_.write("vocab.txt", vocabulary);
      vocabulary_ = 32;
    } else {
      folder_.write("sentencepiece.bpe.model", *read_file(fixtures / "xlmr" / "sentencepiece.bpe.model", 64 << 20));
      vocabulary_ = 8192;
    }
    const std::size_t types = family == Family::kBert ? 2 : 1;
    folder_.write("config.json",
                  fmt::format(R"({{"model_type":"{}","hidden_act":"gelu","vocab_size":{},"hidden_size":{},"intermediate_size":{},)"
                              R"("num_hidden_layers":{},"num_attention_heads":{},"max_position_embeddings":{},"type_vocab_size":{},)"
                              R"("pad_token_id":{},"layer_norm_eps":1e-5}})",
                              to_string(family), vocabulary_, kHidden, kIntermediate, kLayers, kHeads, kPositions, types,
                              family == Family::kBert ? 0 : 1));
    make_tensors(types);
    if (storage == Storage::kByteRows) round_to_byte_rows();
    write_weights(storage);
  }

  std::filesystem::path path() const { return folder_.path(); }
  const test::TempFolder& folder() const { return folder_; }

  /// The last hidden state by the reference implementation, in double precision: tokens x kHidden.
  std::vector<double> forward(const TokenSpan& sequence) const {
    const std::size_t n = sequence.ids.size();
    const std::size_t offset = family_ == Family::kBert ? 0 : 2;
    std::vector<double> x(n * kHidden);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t k = 0; k < kHidden; ++k) {
        x[i * kHidden + k] = at("embeddings.word_embeddings.weight")[sequence.ids[i] * kHidden + k] +
                             at("embeddings.position_embeddings.weight")[(i + offset) * kHidden + k] +
                             at("embeddings.token_type_embeddings.weight")[(sequence.types.empty() ? 0 : sequence.types[i]) * kHidden + k];
      }
    }
    norm(x, "embeddings.LayerNorm");
    for (std::size_t layer = 0; layer < kLayers; ++layer) {
      const std::string l = "encoder.layer." + std::to_string(layer) + ".";
      const auto query = dense(x, l + "attention.self.query", kHidden);
      const auto key = dense(x, l + "attention.self.key", kHidden);
      const auto value = dense(x, l + "attention.self.value", kHidden);
      std::vector<double> mixed(n * kHidden, 0.0);
      constexpr std::size_t kSize = kHidden / kHeads;
      for (std::size_t head = 0; head < kHeads; ++head) {
        for (std::size_t i = 0; i < n; ++i) {
          std::vector<double> share(n);
          double sum = 0;
          for (std::size_t j = 0; j < n; ++j) {
            double score = 0;
            for (std::size_t k = head * kSize; k < (head + 1) * kSize; ++k) score += query[i * kHidden + k] * key[j * kHidden + k];
            sum += share[j] = std::exp(score / std::sqrt(static_cast<double>(kSize)));
          }
          for (std::size_t j = 0; j < n; ++j) {
            for (std::size_t k = head * kSize; k < (head + 1) * kSize; ++k)
              mixed[i * kHidden + k] += share[j] / sum * value[j * kHidden + k];
          }
        }
      }
      add(x, dense(mixed, l + "attention.output.dense", kHidden));
      norm(x, l + "attention.output.LayerNorm");
      auto wide = dense(x, l + "intermediate.dense", kIntermediate);
      for (double& v : wide) v = 0.5 * v * (1 + std::erf(v / std::sqrt(2.0)));
      add(x, dense(wide, l + "output.dense", kHidden));
      norm(x, l + "output.LayerNorm");
    }
    return x;
  }

  /// The output of its classification head for a sequence.
  double score(const TokenSpan& sequence) const {
    auto first = forward(sequence);
    first.resize(kHidden);
    const bool bert = family_ == Family::kBert;
    auto hidden = dense(first, bert ? prefix_ + "pooler.dense" : "classifier.dense", kHidden, true);
    for (double& v : hidden) v = std::tanh(v);
    const auto logits = dense(hidden, bert ? "classifier" : "classifier.out_proj", labels_, true);
    return labels_ == 1 ? logits[0] : logits[1] - logits[0];
  }

 private:
  using Tensor = std::vector<float>;

  void make(const std::string& name, std::vector<std::size_t> shape, float scale, float mean = 0) {
    std::size_t count = 1;
    for (const std::size_t size : shape) count *= size;
    std::normal_distribution<float> normal(mean, scale);
    Tensor& out = tensors_[name];
    out.resize(count);
    // Values that fp16 and bf16 represent exactly, so that every storage type gives the same model.
    for (float& value : out) value = std::round(normal(random_) * 64) / 64;
    shapes_[name] = std::move(shape);
  }

  void make_dense(const std::string& name, std::size_t rows, std::size_t columns) {
    make(name + ".weight", {rows, columns}, 1.5F / std::sqrt(static_cast<float>(columns)));
    make(name + ".bias", {rows}, 0.1F);
  }

  void make_norm(const std::string& name) {
    make(name + ".weight", {kHidden}, 0.2F, 1);
    make(name + ".bias", {kHidden}, 0.2F);
  }

  void make_tensors(std::size_t types) {
    make(prefix_ + "embeddings.word_embeddings.weight", {vocabulary_, kHidden}, 1);
    make(prefix_ + "embeddings.position_embeddings.weight", {kPositions, kHidden}, 0.3F);
    make(prefix_ + "embeddings.token_type_embeddings.weight", {types, kHidden}, 0.3F);
    make_norm(prefix_ + "embeddings.LayerNorm");
    for (std::size_t layer = 0; layer < kLayers; ++layer) {
      const std::string l = prefix_ + "encoder.layer." + std::to_string(layer) + ".";
      for (const char* name : {"query", "key", "value"}) make_dense(l + "attention.self." + name, kHidden, kHidden);
      make_dense(l + "attention.output.dense", kHidden, kHidden);
      make_norm(l + "attention.output.LayerNorm");
      make_dense(l + "intermediate.dense", kIntermediate, kHidden);
      make_dense(l + "output.dense", kHidden, kIntermediate);
      make_norm(l + "output.LayerNorm");
    }
    if (labels_ == 0) return;
    const bool bert = family_ == Family::kBert;
    make_dense(bert ? prefix_ + "pooler.dense" : "classifier.dense", kHidden, kHidden);
    make_dense(bert ? "classifier" : "classifier.out_proj", labels_, kHidden);
  }

  bool has_byte_rows(const std::string& name) const { return shapes_.at(name).size() == 2 && shapes_.at(name)[0] >= 3; }

  static float scale_of(std::span<const float> row) {
    float most = 1e-12F;
    for (const float value : row) most = std::max(most, std::fabs(value));
    return most / 127;
  }

  void round_to_byte_rows() {
    for (auto& [name, values] : tensors_) {
      if (!has_byte_rows(name)) continue;
      const std::size_t columns = shapes_.at(name)[1];
      for (std::size_t row = 0; row < values.size(); row += columns) {
        const float scale = scale_of(std::span(values).subspan(row, columns));
        for (std::size_t k = row; k < row + columns; ++k) values[k] = std::round(values[k] / scale) * scale;
      }
    }
  }

  void write_weights(Storage storage) {
    const bool whole = storage == Storage::kF32 || storage == Storage::kByteRows;
    const char* type = whole ? "F32" : storage == Storage::kF16 ? "F16" : "BF16";
    std::string data;
    std::string header = "{";
    const auto describe = [&](const std::string& name, const char* kind, const std::vector<std::size_t>& shape, std::size_t begin) {
      header += fmt::format(R"({}"{}":{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})", header.size() > 1 ? "," : "", name, kind,
                            fmt::join(shape, ","), begin, data.size());
    };
    for (const auto& [name, values] : tensors_) {
      const std::size_t begin = data.size();
      if (storage == Storage::kByteRows && has_byte_rows(name)) {
        const std::string base = name.substr(0, name.rfind('.'));
        const std::size_t columns = shapes_[name][1];
        std::string scales;
        for (std::size_t row = 0; row < values.size(); row += columns) {
          const float scale = scale_of(std::span(values).subspan(row, columns));
          scales.append(reinterpret_cast<const char*>(&scale), 4);
          for (std::size_t k = row; k < row + columns; ++k) data.push_back(static_cast<char>(std::lround(values[k] / scale)));
        }
        describe(base + ".int8", "I8", shapes_[name], begin);
        const std::size_t scales_begin = data.size();
        data += scales;
        describe(base + ".scale", "F32", {shapes_[name][0], 1}, scales_begin);
        continue;
      }
      for (const float value : values) {
        if (whole) {
          data.append(reinterpret_cast<const char*>(&value), 4);
        } else {
          const std::uint16_t half = storage == Storage::kBf16 ? to_bf16(value) : to_half(value);
          data.append(reinterpret_cast<const char*>(&half), 2);
        }
      }
      describe(name, type, shapes_[name], begin);
    }
    header += "}";
    header.append((8 - header.size() % 8) % 8, ' ');
    const std::uint64_t size = header.size();
    folder_.write("model.safetensors", std::string(reinterpret_cast<const char*>(&size), 8) + header + data);
  }

  /// Exact for the values that make() creates.
  static std::uint16_t to_half(float value) {
    if (value == 0) return 0;
    int exponent;
    const float fraction = std::frexp(std::fabs(value), &exponent);  // In [0.5, 1).
    const auto mantissa = static_cast<std::uint16_t>(std::lround((fraction * 2 - 1) * 1024));
    return static_cast<std::uint16_t>((value < 0 ? 0x8000 : 0) + ((exponent + 14) << 10) + mantissa);
  }

  const Tensor& at(const std::string& name, bool bare = false) const { return tensors_.at(bare ? name : prefix_ + name); }

  std::vector<double> dense(const std::vector<double>& in, const std::string& name, std::size_t columns, bool bare = false) const {
    const Tensor& weight = at(name + ".weight", bare);
    const Tensor& bias = at(name + ".bias", bare);
    const std::size_t depth = weight.size() / columns;
    std::vector<double> out(in.size() / depth * columns);
    for (std::size_t i = 0; i < out.size(); ++i) {
      double sum = bias[i % columns];
      for (std::size_t k = 0; k < depth; ++k) sum += in[i / columns * depth + k] * weight[i % columns * depth + k];
      out[i] = sum;
    }
    return out;
  }

  static void add(std::vector<double>& to, const std::vector<double>& from) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
  }

  void norm(std::vector<double>& x, const std::string& name) const {
    for (std::size_t row = 0; row < x.size(); row += kHidden) {
      double mean = 0;
      double variance = 0;
      for (std::size_t k = 0; k < kHidden; ++k) mean += x[row + k] / kHidden;
      for (std::size_t k = 0; k < kHidden; ++k) variance += (x[row + k] - mean) * (x[row + k] - mean) / kHidden;
      for (std::size_t k = 0; k < kHidden; ++k) {
        x[row + k] = (x[row + k] - mean) / std::sqrt(variance + 1e-5) * at(name + ".weight")[k] + at(name + ".bias")[k];
      }
    }
  }

  const Family family_;
  const std::string prefix_;
  const std::size_t labels_;
  std::size_t vocabulary_ = 0;
  std::mt19937 random_{17};
  std::map<std::string, Tensor> tensors_;
  std::map<std::string, std::vector<std::size_t>> shapes_;
  test::TempFolder folder_;
};

}  // namespace footnote::nn::testing
