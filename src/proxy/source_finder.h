#pragma once

#include <functional>
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
  double similarity = 0;  ///< To the question; comparable within one search.
  std::vector<float> vector;
};

/// A passage that is put into a prompt.
struct Source {
  std::string url;
  std::string title;
  std::string text;
};

struct Found {
  std::vector<Source> sources;
  bool grounded = false;  ///< They can carry an answer, as far as can be told.
};

/// The nearest points of a collection on another server, best first. Errors as that server gives them.
using SearchElsewhere = std::function<Result<std::vector<Candidate>>(const CallContext& call, std::string_view collection,
                                                                     std::span<const float> vector, std::size_t limit)>;

/// Of several passages with one address the most similar one is kept, in the order of the first; those without address or text go.
std::vector<Candidate> one_per_url(std::vector<Candidate> candidates);

/// Finds what is put into a prompt: searches three times top_k, keeps one passage of each address, and lets MMR pick. Thread-safe;
/// borrows its ports.
class SourceFinder {
 public:
  struct Ports {
    const retrieve::Retriever& retriever;
    const CatalogStore& catalog;
    const retrieve::AskedCorpora& corpora;
    const PointStore& points;
    Embedder& embedder;
    SearchElsewhere elsewhere = {};  ///< Empty: the own store is searched.
  };
  SourceFinder(Ports ports, const Policy& policy) : ports_(std::move(ports)), policy_(policy) {}

  /// The usual corpus need not be there: then nothing is found. kNotFound: one that a rule names. kFailedPrecondition: its vectors are of
  /// another model than ours. Others as retrieval gives them.
  Result<Found> find(const CallContext& call, WorkspaceId workspace, const Target& target, std::string_view question) const;

 private:
  struct Searched {
    std::vector<Candidate> candidates;
    bool grounded = false;
  };
  Result<Searched> search_here(const CallContext& call, WorkspaceId workspace, const Target& target, std::string_view question) const;
  Result<Searched> search_elsewhere(const CallContext& call, const Target& target, std::string_view question) const;
  std::size_t search_count() const { return 3 * policy_.top_k; }

  const Ports ports_;
  const Policy policy_;
};

}  // namespace footnote::proxy
