#include "providers/remote/embed_service_embedder.h"

#include "providers/remote/remote_vectors.h"

namespace footnote {
namespace {

Result<RemoteVectors> ask_service(const JsonUpstream& upstream, const CallContext& call, std::span<const std::string_view> texts,
                                  VectorLength length) {
  const bool normalize = length == VectorLength::kUnit;
  FOOTNOTE_TRY(const Json answer, upstream.post(call, "/embed", JsonObject{{"inputs", sendable_list(texts)}, {"normalize", normalize}}));
  const JsonObject* body = answer.if_object();
  const Json* vectors = body == nullptr ? nullptr : body->if_contains("vectors");
  if (vectors == nullptr || !vectors->is_array()) return upstream.malformed("it has no list of vectors");
  const Json* normalized = body->if_contains("normalize");
  if (!normalize && (normalized == nullptr || *normalized != false)) {
    return fail(ErrorCode::kUnsupported, "{} returns only unit vectors", upstream.name());
  }
  RemoteVectors out;
  for (const Json& vector : vectors->get_array()) {
    FOOTNOTE_TRY(auto values, read_vector(upstream, &vector));
    out.vectors.push_back(std::move(values));
  }
  return out;
}

Result<std::string> ask_model(const JsonUpstream& upstream, const CallContext& call) {
  FOOTNOTE_TRY(const Json health, upstream.get(call, "/health"));
  const JsonObject* body = health.if_object();
  const Json* model = body == nullptr ? nullptr : body->if_contains("model");
  if (model != nullptr && model->is_string() && !model->get_string().empty()) return std::string(model->get_string());
  return fail(ErrorCode::kFailedPrecondition, "{} does not name its model: set {}", upstream.name(), upstream.setting("MODEL"));
}

}  // namespace

Result<std::unique_ptr<EmbedServiceEmbedder>> EmbedServiceEmbedder::open(const CallContext& call, http::Client& client,
                                                                         EmbedServiceOptions options) {
  JsonUpstream upstream(client, std::move(options.upstream));
  if (options.model.empty()) {
    FOOTNOTE_TRY(options.model, ask_model(upstream, call));
  }
  const auto ask = [&](std::span<const std::string_view> texts) { return ask_service(upstream, call, texts, VectorLength::kUnit); };
  FOOTNOTE_TRY(const int dimension, probe_dimension(upstream, ask, options.dimension));
  return std::unique_ptr<EmbedServiceEmbedder>(new EmbedServiceEmbedder(std::move(upstream), {std::move(options.model), dimension}));
}

Result<std::vector<Embedding>> EmbedServiceEmbedder::embed(const CallContext& call, std::span<const std::string_view> texts,
                                                           const EmbedOptions& options) {
  FOOTNOTE_CHECK(call.check());
  const auto ask = [&](std::span<const std::string_view> batch) { return ask_service(upstream_, call, batch, options.length); };
  return embed_in_batches(upstream_, texts, space_.dimension, options.length, batch_, ask);
}

}  // namespace footnote
