#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "ports/embedder.h"
#include "providers/remote/batches.h"
#include "providers/remote/json_upstream.h"

namespace footnote {

/// Maximum dimension of a vector from a server.
inline constexpr std::size_t kRemoteDimensionMax = 4'096;

/// The vectors of one batch as sent by the server, and its token count (0: unknown).
struct RemoteVectors {
  std::vector<std::vector<float>> vectors;
  std::size_t tokens = 0;
};

/// Requests the vectors of one batch.
using AskVectors = std::function<Result<RemoteVectors>(std::span<const std::string_view> texts)>;

/// Parses a list of 1 to kRemoteDimensionMax finite numbers. kUnavailable otherwise.
Result<std::vector<float>> read_vector(const JsonUpstream& upstream, const Json* value);

/// kFailedPrecondition that names the setting and both dimensions.
std::unexpected<Error> wrong_dimension(const JsonUpstream& upstream, int found, int configured);

/// Requests a vector for one short text and returns its dimension. wrong_dimension if that is not `configured` (0: any).
Result<int> probe_dimension(const JsonUpstream& upstream, const AskVectors& ask, int configured);

/// Returns one window for the whole of each text, see ports/embedder.h. Vectors are normalized unless `length` is kAsPooled. kUnavailable:
/// a batch with another count or dimension, or a zero vector.
Result<std::vector<Embedding>> embed_in_batches(const JsonUpstream& upstream, std::span<const std::string_view> texts, int dimension,
                                                VectorLength length, BatchSize& size, const AskVectors& ask);

}  // namespace footnote
