#include "retrieve/side_sources.h"

#include <algorithm>
#include <set>

namespace footnote::retrieve {

namespace {

template <class T>
bool has(const std::vector<T>& values, const T& wanted) {
  return std::ranges::find(values, wanted) != values.end();
}

/// Narrows a condition; false: nothing can meet both.
template <class T>
bool narrow(std::vector<T>& condition, std::vector<T> to) {
  if (!condition.empty()) std::erase_if(to, [&](const T& value) { return !has(condition, value); });
  condition = std::move(to);
  return !condition.empty();
}

/// One passage per document, in the order of fusion: the judge is kept for what was asked.
Profile side_profile(Profile profile, std::size_t count) {
  profile.top_k = count;
  profile.per_document_max = 1;
  profile.judged = 0;
  return profile;
}

class SideSearch {
 public:
  SideSearch(const Retriever& retriever, const CallContext& call, std::string_view question, const Filter& filter,
             std::span<const Hit> found, const SidePolicy& policy)
      : retriever_(retriever), call_(call), question_(question), filter_(filter), found_(found), policy_(policy) {
    for (const Hit& hit : found) known_.insert(hit.chunk.document);
  }

  Result<void> add_related(const EdgeStore& store, const SearchedCorpus& searched, SideSources& out) {
    std::vector<std::string> seeds;
    for (const Hit& hit : found_) {
      const bool is_seed = hit.corpus == searched.corpus && !hit.document.canonical_type.empty();
      if (is_seed && !has(seeds, hit.document_key)) seeds.push_back(hit.document_key);
    }
    if (seeds.empty() || out.related.size() >= policy_.related_max) return {};
    FOOTNOTE_TRY(std::vector<Edge> edges, store.edges_from(call_, searched.corpus, seeds, policy_.edges_max));
    std::erase_if(edges, [](const Edge& edge) { return !leads_on(edge.type); });
    out.edges += edges.size();
    std::vector<std::string> targets;
    for (const Edge& edge : edges) {
      if (!has(seeds, edge.to_key) && !has(targets, edge.to_key)) targets.push_back(edge.to_key);
    }
    Filter filter = filter_;
    if (targets.empty() || !narrow(filter.keys, targets) ||
        !narrow(filter.statuses, {DocumentStatus::kAccepted, DocumentStatus::kReview})) {
      return {};
    }
    const std::size_t wanted = policy_.related_max - out.related.size();
    FOOTNOTE_TRY(Retrieval near, retriever_.retrieve(call_, searched.corpus, question_,
                                                     {.profile = side_profile(searched.profile, targets.size()), .filter = filter}));
    std::size_t added = 0;
    // The strongest edge first: it says more than the order of passages that were not asked for.
    for (const Edge& edge : edges) {
      const auto hit = std::ranges::find(near.hits, edge.to_key, &Hit::document_key);
      if (added == wanted || hit == near.hits.end() || hit->document.canonical_type.empty()) continue;
      if (hit->document.canonical_type == kRejectedType || !known_.insert(hit->chunk.document).second) continue;
      out.related.push_back({*hit, edge.type, edge.from_key});
      ++added;
    }
    return {};
  }

  Result<void> add_rejected(const SearchedCorpus& searched, SideSources& out) {
    Filter filter = filter_;
    if (!narrow(filter.canonical_types, {std::string(kRejectedType)}) || !narrow(filter.statuses, {DocumentStatus::kAccepted})) return {};
    FOOTNOTE_TRY(Retrieval near, retriever_.retrieve(call_, searched.corpus, question_,
                                                     {.profile = side_profile(searched.profile, policy_.rejected_max), .filter = filter}));
    for (Hit& hit : near.hits) {
      if (out.rejected.size() == policy_.rejected_max || hit.cosine < policy_.rejected_cosine_min) continue;
      if (known_.insert(hit.chunk.document).second) out.rejected.push_back({std::move(hit)});
    }
    return {};
  }

 private:
  const Retriever& retriever_;
  const CallContext& call_;
  const std::string_view question_;
  const Filter& filter_;
  const std::span<const Hit> found_;
  const SidePolicy& policy_;
  std::set<DocumentId> known_;
};

}  // namespace

Result<SideSources> find_side_sources(const Retriever& retriever, const EdgeStore& edges, const CallContext& call,
                                      std::span<const SearchedCorpus> corpora, std::string_view question, const Filter& filter,
                                      std::span<const Hit> found, const SidePolicy& policy) {
  SideSources out;
  SideSearch search(retriever, call, question, filter, found, policy);
  for (const SearchedCorpus& searched : corpora) {
    if (policy.graph) FOOTNOTE_CHECK(search.add_related(edges, searched, out));
    if (policy.rejected) FOOTNOTE_CHECK(search.add_rejected(searched, out));
  }
  return out;
}

}  // namespace footnote::retrieve
