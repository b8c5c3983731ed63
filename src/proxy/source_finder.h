#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/call_context.h"
#include "ports/catalog_store.h"
#include "ports/embedder.h"
#include "ports/point_store.h"
#include "proxy/policy.h"
#include "retrieve/asked_corpora.h"
#include "retrieve/retriever.h"

namespace footnote::proxy {

/// A passage that may become a source.
struct Candidate {
  std::string url;
  std::string title;
  std::string text;
  double similarity = 0;  ///< Similarity to the question; comparable only within one search.
  std::vector<float> vector;
  std::size_t hit = 0;   ///< Its index among the hits of our own search.
  bool refused = false;  ///< True if its probability alone is below the gate's threshold.
};

/// A passage in a prompt.
struct Source {
  std::string url;
  std::string title;
  std::string text;
};

/// A search of one of our corpora, recorded for the turn it belongs to.
struct OwnSearch {
  CorpusId corpus;
  Profile profile;
  retrieve::Retrieval retrieval;
  std::vector<std::size_t> given;  ///< Indexes of the hits that became sources, in source order.
};

struct Found {
  std::vector<Source> sources;
  bool grounded = false;         ///< True if the sources seem sufficient to support an answer.
  std::optional<OwnSearch> own;  ///< None: another server was searched, or the corpus does not exist.
};

/// Searches a collection on another server for the closest points, best first. Errors: those of that server.
using SearchElsewhere = std::function<Result<std::vector<Candidate>>(const CallContext& call, std::string_view collection,
                                                                     std::span<const float> vector, std::size_t limit)>;

/// The start of a long question; an embedder would truncate it anyway.
std::string_view searchable(std::string_view question);

/// Keeps the most similar passage of each URL, at the position of the URL's first passage; drops passages without URL or text.
std::vector<Candidate> one_per_url(std::vector<Candidate> candidates);

/// Finds the sources for a prompt: fetches the top_k nearest passages and keeps one per URL. If more than sources_max are left, those of
/// our own that the gate would refuse are dropped, and MMR picks. Thread-safe; borrows its ports.
class SourceFinder {
 public:
  struct Ports {
    const retrieve::Retriever& retriever;
    const CatalogStore& catalog;
    const retrieve::AskedCorpora& corpora;
    const PointStore& points;
    Embedder& embedder;
    SearchElsewhere elsewhere = {};  ///< If empty, our own store is searched.
  };
  SourceFinder(Ports ports, const Policy& policy) : ports_(std::move(ports)), policy_(policy) {}

  /// The default corpus may be missing: then nothing is found. kNotFound: a corpus named by a rule is missing. kFailedPrecondition: its
  /// vectors are of another model than ours. Other errors: those of retrieval.
  Result<Found> find(const CallContext& call, WorkspaceId workspace, const Target& target, std::string_view question) const;

 private:
  struct Searched {
    std::vector<Candidate> candidates;
    bool grounded = false;
    std::optional<OwnSearch> own;
  };
  Result<Searched> search_here(const CallContext& call, WorkspaceId workspace, const Target& target, std::string_view question) const;
  Result<Searched> search_elsewhere(const CallContext& call, const Target& target, std::string_view question) const;

  const Ports ports_;
  const Policy policy_;
};

}  // namespace footnote::proxy
