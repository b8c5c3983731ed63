#include "providers/remote/remote_vectors.h"

#include <cmath>

namespace footnote {
namespace {

Result<void> make_unit(const JsonUpstream& upstream, std::vector<float>& values) {
  double squares = 0;
  for (const float value : values) squares += static_cast<double>(value) * value;
  if (squares == 0) return upstream.malformed("a vector of zeros");
  const double factor = 1 / std::sqrt(squares);
  for (float& value : values) value = static_cast<float>(value * factor);
  return {};
}

}  // namespace

Result<std::vector<float>> read_vector(const JsonUpstream& upstream, const Json* value) {
  const JsonArray* list = value == nullptr ? nullptr : value->if_array();
  if (list == nullptr || list->empty()) return upstream.malformed("a vector that is not a list of numbers");
  if (list->size() > kRemoteDimensionMax) {
    return upstream.malformed(fmt::format("a vector of {} numbers; at most {} are supported", list->size(), kRemoteDimensionMax));
  }
  std::vector<float> out;
  out.reserve(list->size());
  for (const Json& entry : *list) {
    const auto number = entry.is_number() ? static_cast<float>(entry.to_number<double>()) : std::nanf("");
    if (!std::isfinite(number)) return upstream.malformed("a vector with an entry that is not a number");
    out.push_back(number);
  }
  return out;
}

std::unexpected<Error> wrong_dimension(const JsonUpstream& upstream, int found, int configured) {
  return fail(ErrorCode::kFailedPrecondition, "{} returns vectors of {} numbers, but {} is {}: set it to {}, or unset it", upstream.name(),
              found, upstream.setting("DIMENSION"), configured, found);
}

Result<int> probe_dimension(const JsonUpstream& upstream, const AskVectors& ask, int configured) {
  const std::string_view texts[] = {"dimension"};
  FOOTNOTE_TRY(const RemoteVectors probe, ask(texts));
  if (probe.vectors.size() != 1) return upstream.malformed(fmt::format("{} vectors for one text", probe.vectors.size()));
  const auto found = static_cast<int>(probe.vectors.front().size());
  if (configured != 0 && found != configured) return wrong_dimension(upstream, found, configured);
  return found;
}

Result<std::vector<Embedding>> embed_in_batches(const JsonUpstream& upstream, std::span<const std::string_view> texts, int dimension,
                                                VectorLength length, BatchSize& size, const AskVectors& ask) {
  std::vector<Embedding> out;
  out.reserve(texts.size());
  const auto ask_batch = [&](std::size_t begin, std::size_t count) -> Result<void> {
    FOOTNOTE_TRY(RemoteVectors batch, ask(texts.subspan(begin, count)));
    if (batch.vectors.size() != count) return upstream.malformed(fmt::format("{} vectors for {} texts", batch.vectors.size(), count));
    for (std::size_t i = 0; i < count; ++i) {
      std::vector<float>& values = batch.vectors[i];
      if (values.size() != static_cast<std::size_t>(dimension)) {
        return upstream.malformed(fmt::format("a vector of {} numbers, not of {}", values.size(), dimension));
      }
      if (length == VectorLength::kUnit) FOOTNOTE_CHECK(make_unit(upstream, values));
      // Only the batch's token count is known: split it among the texts so that the sum is right.
      const std::size_t tokens = batch.tokens * (i + 1) / count - batch.tokens * i / count;
      out.push_back({.windows = {{{0, texts[begin + i].size()}, std::move(values)}}, .tokens = tokens, .truncated = false});
    }
    return {};
  };
  FOOTNOTE_CHECK(in_batches(texts.size(), size, ask_batch));
  return out;
}

}  // namespace footnote
