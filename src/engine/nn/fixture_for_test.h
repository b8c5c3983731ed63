#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "engine/nn/wordpiece.h"
#include "support/source_folder.h"

namespace footnote::nn::testing {

inline std::filesystem::path fixture_path(const std::string& name) {
  return test::source_folder() / "tests" / "fixtures" / "embeddings" / name;
}

/// $FOOTNOTE_MODELS/all-MiniLM-L6-v2, or the folder that set-up fills.
inline std::filesystem::path model_path() {
  const char* models = std::getenv("FOOTNOTE_MODELS");
  const std::filesystem::path root = models != nullptr ? std::filesystem::path(models) : test::source_folder() / ".deps" / "models";
  return root / "all-MiniLM-L6-v2";
}

// Sanitized code is about fifty times slower, so tests that run the model use only part of their inputs.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif
#else
inline constexpr bool kSanitized = false;
#endif

/// The reference's results for one text.
struct Sample {
  std::string text;
  std::vector<std::uint32_t> ids;
  std::vector<ByteRange> ranges;
  std::vector<float> vector;
};

inline std::string must_read(const std::filesystem::path& path) {
  auto text = read_file(path, 1 << 30);
  EXPECT_TRUE(text.has_value()) << path << ": " << (text ? "" : text.error().message);
  return text.value_or("");
}

/// The 200 samples written by tools/make_embedding_fixture.py.
inline const std::vector<Sample>& samples() {
  static const std::vector<Sample> all = [] {
    std::vector<Sample> out;
    const std::string texts = must_read(fixture_path("texts.jsonl"));
    const std::string ids = must_read(fixture_path("token_ids.jsonl"));
    const std::string vectors = must_read(fixture_path("vectors.f32"));
    for (const std::string_view line : split(texts, '\n')) {
      if (line.empty()) continue;
      const Json value = *parse_json(line);
      const auto& text = value.at("text").as_string();
      out.push_back({std::string(text.data(), text.size()), {}, {}, {}});
    }
    std::size_t row = 0;
    for (const std::string_view line : split(ids, '\n')) {
      if (line.empty()) continue;
      const Json value = *parse_json(line);
      for (const Json& id : value.at("ids").as_array()) out[row].ids.push_back(id.to_number<std::uint32_t>());
      for (const Json& pair : value.at("offsets").as_array()) {
        out[row].ranges.push_back({pair.at(0).to_number<std::uint32_t>(), pair.at(1).to_number<std::uint32_t>()});
      }
      ++row;
    }
    const std::size_t width = vectors.size() / sizeof(float) / out.size();
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i].vector.resize(width);
      std::memcpy(out[i].vector.data(), vectors.data() + i * width * sizeof(float), width * sizeof(float));
    }
    return out;
  }();
  return all;
}

}  // namespace footnote::nn::testing
