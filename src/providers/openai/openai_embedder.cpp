#include "providers/openai/openai_embedder.h"

#include "providers/openai/chat_wire.h"
#include "providers/remote/remote_vectors.h"

namespace footnote {
namespace {

const Json* member(const Json& value, std::string_view key) { return value.is_object() ? value.get_object().if_contains(key) : nullptr; }

std::size_t tokens_of(const Json& answer) {
  const Json* usage = member(answer, "usage");
  const Json* count = usage == nullptr ? nullptr : member(*usage, "prompt_tokens");
  const std::int64_t tokens = count != nullptr && count->is_int64() ? count->get_int64() : 0;
  return tokens > 0 && tokens <= kTokensMax ? static_cast<std::size_t>(tokens) : 0;
}

/// Entries may come in any order; without an `index` they are in the order of the texts.
Result<RemoteVectors> read_embeddings(const JsonUpstream& upstream, const Json& answer, std::size_t count) {
  const Json* data = member(answer, "data");
  const JsonArray* list = data == nullptr ? nullptr : data->if_array();
  if (list == nullptr || list->size() != count) return upstream.malformed(fmt::format("it does not have {} vectors", count));
  RemoteVectors out{.vectors = std::vector<std::vector<float>>(count), .tokens = tokens_of(answer)};
  for (std::size_t i = 0; i < count; ++i) {
    const Json& entry = (*list)[i];
    const Json* index = member(entry, "index");
    const std::size_t place = index != nullptr && index->is_int64() ? static_cast<std::size_t>(index->get_int64()) : i;
    if (place >= count || !out.vectors[place].empty()) return upstream.malformed("a vector without a text, or two for one text");
    FOOTNOTE_TRY(out.vectors[place], read_vector(upstream, member(entry, "embedding")));
  }
  return out;
}

Result<RemoteVectors> ask_openai(const JsonUpstream& upstream, const CallContext& call, std::string_view model,
                                 std::optional<int> dimensions, std::span<const std::string_view> texts) {
  JsonObject body{{"model", model}, {"input", sendable_list(texts)}, {"encoding_format", "float"}};
  if (dimensions) body["dimensions"] = *dimensions;
  FOOTNOTE_TRY(const Json answer, upstream.post(call, "/embeddings", body));
  return read_embeddings(upstream, answer, texts.size());
}

}  // namespace

Result<std::unique_ptr<OpenAiEmbedder>> OpenAiEmbedder::open(const CallContext& call, http::Client& client, OpenAiEmbedderOptions options) {
  JsonUpstream upstream(client, std::move(options.upstream));
  std::optional<int> shortened;
  const auto ask = [&](std::span<const std::string_view> texts) { return ask_openai(upstream, call, options.model, shortened, texts); };
  FOOTNOTE_TRY(const int whole, probe_dimension(upstream, ask, 0));
  const int wanted = options.dimension != 0 ? options.dimension : whole;
  if (wanted < whole) shortened = wanted;
  // A server that can't shorten vectors rejects or ignores the field; reporting the dimension mismatch is more helpful.
  if (wanted > whole || (shortened && !probe_dimension(upstream, ask, wanted))) return wrong_dimension(upstream, whole, wanted);
  return std::unique_ptr<OpenAiEmbedder>(new OpenAiEmbedder(std::move(upstream), {std::move(options.model), wanted}, shortened));
}

Result<std::vector<Embedding>> OpenAiEmbedder::embed(const CallContext& call, std::span<const std::string_view> texts,
                                                     const EmbedOptions& options) {
  FOOTNOTE_CHECK(call.check());
  if (options.length == VectorLength::kAsPooled) {
    return fail(ErrorCode::kUnsupported, "{} returns only unit vectors", upstream_.name());
  }
  const auto ask = [&](std::span<const std::string_view> batch) { return ask_openai(upstream_, call, space_.model_id, shortened_, batch); };
  return embed_in_batches(upstream_, texts, space_.dimension, options.length, batch_, ask);
}

}  // namespace footnote
