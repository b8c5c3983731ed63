#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "ports/embedder.h"

namespace footnote::api {

/// Texts of one request; as many as OpenAI takes.
inline constexpr std::size_t kEmbedTextsMax = 2'048;

/// The texts of a field that holds one text or a list of them, at least one and at most `count_max`; views into `body`.
/// kInvalidArgument (which names the field): missing, empty, of another type; arrays of token numbers are told apart.
/// kTooLarge: more than `count_max`.
Result<std::vector<std::string_view>> required_texts(const Json& body, std::string_view field, std::size_t count_max);

/// Keeps the first `dimension` numbers and makes the vector one long again.
void shorten(std::vector<float>& values, std::size_t dimension);

/// The first window's vector of each embedding, as [[...],...].
void append_vectors(std::string& out, std::span<const Embedding> embeddings);

enum class VectorEncoding { kFloat, kBase64 };

/// OpenAI's answer: object, data, model, usage. kBase64: little-endian 32-bit floats.
std::string render_openai_embeddings(std::span<const Embedding> embeddings, VectorEncoding encoding, std::string_view model);

/// The plain form: vectors, normalize, dim.
std::string render_vectors(std::span<const Embedding> embeddings, VectorLength length, int dimension);

}  // namespace footnote::api
