#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "ports/embedder.h"
#include "providers/remote/batches.h"
#include "providers/remote/json_upstream.h"

namespace footnote {

/// Numbers of one vector that a server may send.
inline constexpr std::size_t kRemoteDimensionMax = 4'096;

/// The vectors of one batch, as the server sent them, and the tokens that it counted (0: it does not say).
struct RemoteVectors {
  std::vector<std::vector<float>> vectors;
  std::size_t tokens = 0;
};

/// Asks the server for one batch.
using AskVectors = std::function<Result<RemoteVectors>(std::span<const std::string_view> texts)>;

/// A list of finite numbers, 1 to kRemoteDimensionMax of them. kUnavailable otherwise.
Result<std::vector<float>> read_vector(const JsonUpstream& upstream, const Json* value);

/// kFailedPrecondition that names the setting and both dimensions.
std::unexpected<Error> wrong_dimension(const JsonUpstream& upstream, int found, int configured);

/// The dimension of the vectors that come: one short text is asked for. wrong_dimension: it is not `configured`,
/// where that is not 0.
Result<int> probe_dimension(const JsonUpstream& upstream, const AskVectors& ask, int configured);

/// One window over the whole of each text, see ports/embedder.h. Vectors are made one long unless they are wanted as pooled.
/// kUnavailable: a batch of another count or dimension, or a vector of zeros.
Result<std::vector<Embedding>> embed_in_batches(const JsonUpstream& upstream, std::span<const std::string_view> texts, int dimension,
                                                VectorLength length, BatchSize& size, const AskVectors& ask);

}  // namespace footnote
