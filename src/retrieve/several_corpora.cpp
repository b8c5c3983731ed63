#include "retrieve/several_corpora.h"

#include <algorithm>
#include <iterator>

#include "retrieve/page_policy.h"

namespace footnote::retrieve {

namespace {

bool is_better(const GateVerdict& a, const GateVerdict& b) { return a.grounded != b.grounded ? a.grounded : a.confidence >= b.confidence; }

void add_explanations(Retrieval& all, Retrieval one, std::chrono::microseconds began, bool is_first) {
  all.candidates += one.candidates;
  for (StageTiming timing : one.timings) {
    timing.start += began;
    all.timings.push_back(timing);
  }
  all.language_not_covered = all.language_not_covered || one.language_not_covered;
  if (!one.foreign_language.empty()) all.foreign_language = one.foreign_language;
  if (all.translation.empty()) all.translation = std::move(one.translation);
  std::ranges::move(one.failures, std::back_inserter(all.failures));
  std::ranges::move(one.cut, std::back_inserter(all.cut));
  for (const auto& [fate, count] : one.cut_counts) all.cut_counts[fate] += count;
  all.vector_search.scanned += one.vector_search.scanned;
  if (is_first || is_better(one.gate, all.gate)) {
    all.gate = one.gate;
    all.policy = one.policy;
  }
}

bool comes_before(const Hit& a, const Hit& b) {
  const double first = boosted_probability(a);
  const double second = boosted_probability(b);
  if (first != second) return first > second;
  return a.score != b.score ? a.score > b.score : a.chunk.id < b.chunk.id;
}

}  // namespace

Result<Retrieval> retrieve_from(const Retriever& retriever, const CallContext& call, std::span<const SearchedCorpus> corpora,
                                std::string_view question, const std::function<RetrieveOptions(const SearchedCorpus&)>& options_of) {
  if (corpora.size() == 1) return retriever.retrieve(call, corpora[0].corpus, question, options_of(corpora[0]));
  Retrieval out;
  std::vector<Hit> hits;
  std::size_t top_k = 0;
  const auto start = std::chrono::steady_clock::now();
  for (const SearchedCorpus& searched : corpora) {
    RetrieveOptions options = options_of(searched);
    // Divide the judge's budget among the corpora: somebody waits for it.
    if (options.profile.judged > 0) options.profile.judged = std::max(options.profile.top_k, options.profile.judged / corpora.size());
    const auto began = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - start);
    FOOTNOTE_TRY(Retrieval one, retriever.retrieve(call, searched.corpus, question, options));
    const bool is_first = top_k == 0;
    top_k = std::max(top_k, options.profile.top_k);
    if (is_first) out.generation = one.generation;
    std::ranges::move(one.hits, std::back_inserter(hits));
    one.hits.clear();
    add_explanations(out, std::move(one), began, is_first);
  }
  std::ranges::sort(hits, comes_before);
  if (hits.size() > top_k) {
    out.cut_counts[Fate::kTopLimit] += hits.size() - top_k;
    hits.resize(top_k);
  }
  out.language_not_covered = out.language_not_covered && hits.empty();
  out.hits = std::move(hits);
  return out;
}

}  // namespace footnote::retrieve
