#pragma once

#include <array>
#include <string>
#include <string_view>

#include "config/settings.h"
#include "support/temp_folder.h"

namespace footnote::models::test {

using footnote::test::TempFolder;

inline constexpr std::string_view kTinyConfig =
    R"({"model_type":"bert","hidden_act":"gelu","hidden_size":64,"intermediate_size":128,"num_hidden_layers":1,
  "num_attention_heads":2,"max_position_embeddings":40,"type_vocab_size":2,"vocab_size":6,"layer_norm_eps":1e-12})";

/// A safetensors file: length, header and `data`.
inline std::string tensors_file(std::string_view header, std::string_view data) {
  std::string out(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) out[i] = static_cast<char>(header.size() >> (8 * i));
  return out.append(header).append(data);
}

/// A model without tensors: it opens, but can't be run.
inline void write_tiny_model(const TempFolder& folder, const std::string& name) {
  folder.write(name + "/config.json", kTinyConfig);
  folder.write(name + "/vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\nthe\nCat\n");
  folder.write(name + "/model.safetensors", tensors_file("{}", ""));
}

/// The same with a classification head of one label.
inline void write_tiny_cross_encoder(const TempFolder& folder, const std::string& name) {
  write_tiny_model(folder, name);
  constexpr std::string_view kHeader = R"({"classifier.weight":{"dtype":"F32","shape":[1,64],"data_offsets":[0,256]}})";
  folder.write(name + "/model.safetensors", tensors_file(kHeader, std::string(256, '\0')));
}

/// The defaults, except models.path and `more`.
inline Settings models_at(const std::filesystem::path& place, std::vector<std::pair<Setting, std::string>> more = {}) {
  more.emplace_back(Setting::kModelsPath, place.string());
  auto settings = Settings::load({.working_folder = "/nowhere",
                                  .config_file = {},
                                  .environment = [](std::string_view) { return std::optional<std::string>(); },
                                  .flags = std::move(more)});
  FOOTNOTE_ASSERT(settings.has_value());
  return *std::move(settings);
}

}  // namespace footnote::models::test
