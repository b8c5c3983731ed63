#include "api/embed_wire.h"

#include <bit>
#include <cmath>

#include "base/base64.h"

namespace footnote::api {
namespace {

static_assert(std::endian::native == std::endian::little, "base64 vectors are sent in native byte order");

constexpr std::size_t kFloatBytesUsual = 13;   // "-0.012345678,"
constexpr std::size_t kVectorFrameBytes = 64;  // {"object":"embedding","index":2047,"embedding":...},

const std::vector<float>& vector_of(const Embedding& embedding) { return embedding.windows.front().values; }

std::string reserved(std::span<const Embedding> embeddings, std::size_t bytes_per_number) {
  std::string out;
  std::size_t numbers = 0;
  for (const Embedding& embedding : embeddings) numbers += vector_of(embedding).size();
  out.reserve(numbers * bytes_per_number + (embeddings.size() + 8) * kVectorFrameBytes);
  return out;
}

void append_vector_base64(std::string& out, const std::vector<float>& values) {
  out.push_back('"');
  append_base64(out, {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)});
  out.push_back('"');
}

}  // namespace

Result<std::vector<std::string_view>> required_texts(const Json& body, std::string_view field, std::size_t count_max) {
  const auto wrong = [&](std::string_view what) { return fail_field(ErrorCode::kInvalidArgument, field, "'{}' {}", field, what); };
  if (!body.is_object()) return fail(ErrorCode::kInvalidArgument, "the body must be a JSON object");
  const Json* value = body.get_object().if_contains(field);
  if (value == nullptr || value->is_null()) return wrong("is required: a text or a list of texts");
  if (const auto* text = value->if_string()) return std::vector<std::string_view>{*text};
  const JsonArray* list = value->if_array();
  if (list == nullptr) return wrong("must be a text or a list of texts");
  if (list->empty()) return wrong("is empty: send at least one text");
  if (list->size() > count_max) {
    return fail_field(ErrorCode::kTooLarge, field, "'{}' has {} texts; at most {} are allowed per request", field, list->size(), count_max);
  }
  if (list->front().is_number() || list->front().is_array()) return wrong("holds token numbers; send texts instead");
  std::vector<std::string_view> out;
  out.reserve(list->size());
  for (const Json& entry : *list) {
    const auto* text = entry.if_string();
    if (text == nullptr) {
      const std::string path = fmt::format("{}[{}]", field, out.size());
      return fail_field(ErrorCode::kInvalidArgument, path, "'{}' must be a text", path);
    }
    out.emplace_back(*text);
  }
  return out;
}

void shorten(std::vector<float>& values, std::size_t dimension) {
  if (dimension >= values.size()) return;
  values.resize(dimension);
  double squares = 0;
  for (const float value : values) squares += static_cast<double>(value) * value;
  if (squares == 0) return;
  const double factor = 1 / std::sqrt(squares);
  for (float& value : values) value = static_cast<float>(value * factor);
}

void append_vectors(std::string& out, std::span<const Embedding> embeddings) {
  char separator = '[';
  for (const Embedding& embedding : embeddings) {
    out.push_back(separator);
    append_floats(out, vector_of(embedding));
    separator = ',';
  }
  out += embeddings.empty() ? "[]" : "]";
}

std::string render_openai_embeddings(std::span<const Embedding> embeddings, VectorEncoding encoding, std::string_view model) {
  std::string out = reserved(embeddings, encoding == VectorEncoding::kFloat ? kFloatBytesUsual : 2 * sizeof(float));
  out += R"({"object":"list","data":[)";
  std::size_t tokens = 0;
  for (std::size_t i = 0; i < embeddings.size(); ++i) {
    fmt::format_to(std::back_inserter(out), R"({}{{"object":"embedding","index":{},"embedding":)", i == 0 ? "" : ",", i);
    if (encoding == VectorEncoding::kFloat) {
      append_floats(out, vector_of(embeddings[i]));
    } else {
      append_vector_base64(out, vector_of(embeddings[i]));
    }
    out.push_back('}');
    tokens += embeddings[i].tokens;
  }
  out += fmt::format(R"(],"model":{},"usage":{{"prompt_tokens":{},"total_tokens":{}}}}})", to_text(Json(model)), tokens, tokens);
  return out;
}

std::string render_vectors(std::span<const Embedding> embeddings, VectorLength length, int dimension) {
  std::string out = reserved(embeddings, kFloatBytesUsual);
  out += R"({"vectors":)";
  append_vectors(out, embeddings);
  out += fmt::format(R"(,"normalize":{},"dim":{}}})", length == VectorLength::kUnit, dimension);
  return out;
}

}  // namespace footnote::api
