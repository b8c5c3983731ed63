#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "ports/embedder.h"

namespace footnote::api {

/// Maximum texts per request, the same as OpenAI's.
inline constexpr std::size_t kEmbedTextsMax = 2'048;

/// The texts of a field that holds one text or a list of them, from 1 to `count_max`; views into `body`. kInvalidArgument (names the
/// field): missing, empty or of another type, with a separate message for token arrays. kTooLarge: more than `count_max`.
Result<std::vector<std::string_view>> required_texts(const Json& body, std::string_view field, std::size_t count_max);

/// Keeps the first `dimension` numbers and normalizes the vector again.
void shorten(std::vector<float>& values, std::size_t dimension);

/// Appends each embedding's first-window vector, as [[...],...].
void append_vectors(std::string& out, std::span<const Embedding> embeddings);

enum class VectorEncoding { kFloat, kBase64 };

/// OpenAI's response: object, data, model, usage. kBase64: little-endian 32-bit floats.
std::string render_openai_embeddings(std::span<const Embedding> embeddings, VectorEncoding encoding, std::string_view model);

/// The plain response: vectors, normalize, dim.
std::string render_vectors(std::span<const Embedding> embeddings, VectorLength length, int dimension);

}  // namespace footnote::api
