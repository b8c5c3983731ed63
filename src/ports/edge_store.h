#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/call_context.h"
#include "domain/document.h"
#include "domain/edge.h"

namespace footnote {

/// Edges that clients may add to one corpus.
inline constexpr std::size_t kAddedEdgesMax = 100'000;

/// Typed relations between a corpus's documents: those that their texts state, and those that clients added. Thread-safe; writes are
/// durable when they return.
class EdgeStore {
 public:
  virtual ~EdgeStore() = default;
  /// Edges from these documents to live documents, strongest first, at most `limit`. `to_key` is the found document's key,
  /// whatever the text called it (meanings_of).
  virtual Result<std::vector<Edge>> edges_from(const CallContext& call, CorpusId corpus, std::span<const std::string> keys,
                                               std::size_t limit) const = 0;
  /// Adds an edge, or replaces the one between these documents of that type. kNotFound: no such corpus. kResourceExhausted: it has
  /// kAddedEdgesMax.
  virtual Result<void> put_edge(const CallContext& call, CorpusId corpus, const Edge& edge) = 0;
  /// False: there was none. What a text states cannot be removed.
  virtual Result<bool> remove_edge(const CallContext& call, CorpusId corpus, const Edge& edge) = 0;
};

}  // namespace footnote
