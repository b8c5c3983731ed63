#include "api/embed_routes.h"

#include "api/embed_wire.h"

namespace footnote::api {
namespace {

using access::Caller;

constexpr std::size_t kEmbedBodyBytesMax = 32 << 20;
// 2,048 full-window texts take minutes on a small machine.
constexpr std::chrono::minutes kEmbedTimeout{10};
constexpr std::size_t kNameBytesMax = 200;
constexpr std::string_view kJsonType = "application/json";

Result<std::vector<Embedding>> embed(const EmbedServices& services, const CallContext& call, std::span<const std::string_view> texts,
                                     VectorLength length) {
  const EmbedOptions options{.kind = EmbedKind::kPassage, .overflow = Overflow::kTruncate, .length = length};
  auto out = services.embedder.embed(call, texts, options);
  if (!out && out.error().code == ErrorCode::kUnsupported) {
    return fail_field(ErrorCode::kUnsupported, "normalize", "'normalize' can't be false here: {}", out.error().message);
  }
  return out;
}

Result<VectorLength> length_of(const JsonReader& reader) {
  FOOTNOTE_TRY(const auto normalize, reader.optional_bool("normalize"));
  return normalize.value_or(true) ? VectorLength::kUnit : VectorLength::kAsPooled;
}

Result<http::Response> embed_plain(const EmbedServices& services, const Caller&, const http::Request& request, const CallContext& call) {
  FOOTNOTE_TRY(const Json body, parse_request_json(request.body));
  FOOTNOTE_TRY(const JsonReader reader, JsonReader::of(body));
  FOOTNOTE_CHECK(reader.only({"inputs", "normalize"}));
  FOOTNOTE_TRY(const auto texts, required_texts(body, "inputs", kEmbedTextsMax));
  FOOTNOTE_TRY(const VectorLength length, length_of(reader));
  FOOTNOTE_TRY(const auto embeddings, embed(services, call, texts, length));
  return http::Response::text(200, kJsonType, render_vectors(embeddings, length, services.embedder.space().dimension));
}

Result<VectorEncoding> encoding_of(const JsonReader& reader) {
  FOOTNOTE_TRY(const auto name, reader.optional_string("encoding_format", kNameBytesMax));
  if (!name || *name == "float") return VectorEncoding::kFloat;
  if (*name == "base64") return VectorEncoding::kBase64;
  return fail_field(ErrorCode::kInvalidArgument, "encoding_format", "'encoding_format' must be float or base64");
}

/// Vectors of different models never mix, so a request for another model is refused. The name may have its publisher's prefix.
Result<void> check_model(const JsonReader& reader, std::string_view model) {
  FOOTNOTE_TRY(const auto wanted, reader.optional_string("model", kNameBytesMax));
  if (!wanted || *wanted == model || wanted->ends_with("/" + std::string(model))) return {};
  return fail_field(ErrorCode::kNotFound, "model", "the model '{}' is not available; this server embeds with '{}'", *wanted, model);
}

Result<http::Response> embed_openai(const EmbedServices& services, const Caller&, const http::Request& request, const CallContext& call) {
  const EmbeddingSpace space = services.embedder.space();
  FOOTNOTE_TRY(const Json body, parse_request_json(request.body));
  FOOTNOTE_TRY(const JsonReader reader, JsonReader::of(body));
  FOOTNOTE_CHECK(check_model(reader, space.model_id));
  FOOTNOTE_TRY(const auto texts, required_texts(body, "input", kEmbedTextsMax));
  FOOTNOTE_TRY(const VectorEncoding encoding, encoding_of(reader));
  FOOTNOTE_TRY(const auto dimension, reader.optional_integer("dimensions", 1, space.dimension));
  FOOTNOTE_TRY(auto embeddings, embed(services, call, texts, VectorLength::kUnit));
  if (dimension) {
    for (Embedding& embedding : embeddings) shorten(embedding.windows.front().values, static_cast<std::size_t>(*dimension));
  }
  return http::Response::text(200, kJsonType, render_openai_embeddings(embeddings, encoding, space.model_id));
}

/// TEI refuses texts longer than the window unless truncation is requested.
Result<void> check_whole(std::span<const Embedding> embeddings) {
  for (std::size_t i = 0; i < embeddings.size(); ++i) {
    if (!embeddings[i].truncated) continue;
    return fail_field(ErrorCode::kTooLarge, "inputs", "text {} is longer than the model's window; send \"truncate\": true to truncate it",
                      i);
  }
  return {};
}

Result<void> check_tei_options(const JsonReader& reader) {
  FOOTNOTE_TRY(const auto prompt, reader.optional_string("prompt_name", kNameBytesMax));
  if (prompt) return fail_field(ErrorCode::kInvalidArgument, "prompt_name", "'prompt_name': this model has no prompts");
  FOOTNOTE_TRY(const auto direction, reader.optional_string("truncation_direction", kNameBytesMax));
  if (!direction || *direction == "Right" || *direction == "right") return {};
  return fail_field(ErrorCode::kInvalidArgument, "truncation_direction",
                    "'truncation_direction' must be Right: texts are cut at their end");
}

Result<http::Response> embed_tei(const EmbedServices& services, const Caller&, const http::Request& request, const CallContext& call) {
  FOOTNOTE_TRY(const Json body, parse_request_json(request.body));
  FOOTNOTE_TRY(const JsonReader reader, JsonReader::of(body));
  FOOTNOTE_TRY(const auto texts, required_texts(body, "inputs", kEmbedTextsMax));
  FOOTNOTE_TRY(const VectorLength length, length_of(reader));
  FOOTNOTE_TRY(const auto truncate, reader.optional_bool("truncate"));
  FOOTNOTE_CHECK(check_tei_options(reader));
  FOOTNOTE_TRY(const auto embeddings, embed(services, call, texts, length));
  if (!truncate.value_or(false)) FOOTNOTE_CHECK(check_whole(embeddings));
  std::string out;
  append_vectors(out, embeddings);
  return http::Response::text(200, kJsonType, std::move(out));
}

Result<http::Response> health(const EmbedServices& services, const Caller&, const http::Request&, const CallContext&) {
  return http::Response::json(200, JsonObject{{"ok", true}, {"model", services.embedder.space().model_id}});
}

Result<http::Response> model(const EmbedServices& services, const Caller&, const http::Request&, const CallContext&) {
  const EmbeddingSpace space = services.embedder.space();
  return http::Response::json(
      200, JsonObject{{"model", space.model_id}, {"normalize", true}, {"dim", space.dimension}, {"inputs_max", kEmbedTextsMax}});
}

Result<http::Response> tei_health(const EmbedServices&, const Caller&, const http::Request&, const CallContext&) {
  return http::Response::text(200, "text/plain", "");
}

Result<http::Response> tei_info(const EmbedServices& services, const Caller&, const http::Request&, const CallContext&) {
  return http::Response::json(200, JsonObject{{"model_id", services.embedder.space().model_id},
                                              {"model_sha", nullptr},
                                              {"model_dtype", "float32"},
                                              {"model_type", JsonObject{{"embedding", JsonObject{}}}},
                                              {"max_client_batch_size", kEmbedTextsMax},
                                              {"version", services.version}});
}

}  // namespace

std::vector<Route> make_embed_routes(const EmbedServices& services) {
  const auto post = [&](std::string pattern, auto* function, std::string summary, ErrorForm form = render_error) {
    return Route{.access = Access::with(KeyScope::kRead),
                 .method = http::Method::kPost,
                 .pattern = std::move(pattern),
                 .handler = bind(services, function),
                 .body_bytes_max = kEmbedBodyBytesMax,
                 .timeout = kEmbedTimeout,
                 .summary = std::move(summary),
                 .error_form = form};
  };
  const auto get = [&](Access access, std::string pattern, auto* function, std::string summary, ErrorForm form = render_error) {
    return Route{.access = access,
                 .method = http::Method::kGet,
                 .pattern = std::move(pattern),
                 .handler = bind(services, function),
                 .summary = std::move(summary),
                 .error_form = form};
  };
  const Access read = Access::with(KeyScope::kRead);
  return {post("/embed", embed_plain, "Vectors of texts"),
          get(Access::anyone(), "/health", health, "Whether the embedder works, and its model"),
          get(read, "/model", model, "The embedding model and its dimension"),
          post("/v1/embeddings", embed_openai, "Vectors of texts, in OpenAI's form", render_openai_error),
          post("/tei/embed", embed_tei, "Vectors of texts, in the form of Text Embeddings Inference", render_tei_error),
          get(Access::anyone(), "/tei/health", tei_health, "Whether the embedder works", render_tei_error),
          get(read, "/tei/info", tei_info, "The embedding model, in TEI's format", render_tei_error)};
}

}  // namespace footnote::api
