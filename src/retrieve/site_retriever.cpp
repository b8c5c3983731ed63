#include "retrieve/site_retriever.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "retrieve/page_policy.h"
#include "retrieve/reading_profile.h"

namespace footnote::retrieve {

namespace {

/// A hit with its corpus, before merging.
struct Placed {
  Hit hit;
  CorpusId corpus;
};

/// All parameters of the gate, and how many passages are judged.
std::string calibration_of(const Profile& profile) {
  const GatePolicy& gate = profile.gate;
  return fmt::format("{},{},{},{},{},{},{},{},{},{}", gate.known.cosine, gate.known.late, gate.known.judge, gate.cosine.slope,
                     gate.cosine.offset, gate.judge.slope, gate.judge.offset, gate.probability_min, profile.vectors, profile.judged);
}

Profile profile_of(const SiteQuery& query, const SearchedCorpus& searched) {
  return query.to_read ? reading_profile(searched.profile) : searched.profile;
}

/// None: the reader decides.
std::optional<double> threshold_of(const SiteQuery& query, const Profile& profile) {
  if (query.threshold || query.to_read) return query.threshold;
  return profile.gate.probability_min;
}

void add_explanations(Retrieval& all, Retrieval one, std::chrono::microseconds began) {
  all.candidates += one.candidates;
  all.vector_search.scanned += one.vector_search.scanned;
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
  if (one.gate.confidence >= all.gate.confidence) all.gate = one.gate;
}

bool comes_before(const Placed& a, const Placed& b) {
  const double first = boosted_probability(a.hit);
  const double second = boosted_probability(b.hit);
  if (first != second) return first > second;
  return a.hit.score != b.hit.score ? a.hit.score > b.hit.score : a.hit.chunk.id < b.hit.chunk.id;
}

/// Adds freshly fetched texts to the cached hits; false if one was deleted.
bool fill_in(std::vector<Hit>& hits, const std::vector<ChunkReader::ChunkRecord>& records) {
  for (const ChunkReader::ChunkRecord& record : records) {
    for (Hit& hit : hits) {
      if (hit.chunk.id != record.chunk.id) continue;
      hit.chunk = record.chunk;
      hit.document_key = record.document_key;
      hit.document = record.document;
    }
  }
  return std::ranges::none_of(hits, [](const Hit& hit) { return hit.chunk.text.empty(); });
}

}  // namespace

Result<SiteRetrieval> SiteRetriever::retrieve(const CallContext& call, const SiteQuery& query) const {
  const auto key = ports_.cache == nullptr ? std::nullopt : key_of(call, query);
  const std::string name = key ? cache_key(*key) : "";
  if (key) {
    purge_if_changed(call, *key);
    if (auto kept = recalled(call, name)) return *std::move(kept);
  }
  SiteRetrieval out;
  std::vector<Placed> placed;
  std::size_t top_k = 0;
  const auto start = std::chrono::steady_clock::now();
  for (const SearchedCorpus& searched : query.corpora) {
    const Profile profile = profile_of(query, searched);
    RetrieveOptions options{.profile = profile, .page_url = query.page_url, .threshold = threshold_of(query, profile)};
    // Divide the judge's budget among the corpora: the visitor waits for it.
    if (profile.judged > 0) options.profile.judged = std::max(profile.top_k, profile.judged / query.corpora.size());
    const auto began = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - start);
    FOOTNOTE_TRY(Retrieval one, ports_.retriever.retrieve(call, searched.corpus, query.query, options));
    top_k = std::max(top_k, profile.top_k);
    if (placed.empty() && out.found.generation == 0) out.found.generation = one.generation;
    for (Hit& hit : one.hits) placed.push_back({std::move(hit), searched.corpus});
    one.hits.clear();
    add_explanations(out.found, std::move(one), began);
  }
  // With one corpus, keep the order of its own ranking.
  if (query.corpora.size() > 1) std::ranges::sort(placed, comes_before);
  std::vector<CorpusId> corpus_of_hit;
  for (Placed& each : placed) {
    if (out.found.hits.size() == top_k) {
      ++out.found.cut_counts[Fate::kTopLimit];
      continue;
    }
    out.confidence = std::max(out.confidence, each.hit.probability);
    corpus_of_hit.push_back(each.corpus);
    out.found.hits.push_back(std::move(each.hit));
  }
  out.found.language_not_covered = out.found.language_not_covered && out.found.hits.empty();
  if (key && out.found.failures.empty() && out.found.foreign_language.empty()) keep(call, name, query, out, corpus_of_hit);
  return out;
}

std::optional<RetrievalKey> SiteRetriever::key_of(const CallContext& call, const SiteQuery& query) const {
  RetrievalKey key{.workspace = query.workspace,
                   .agent = query.agent,
                   .model = ports_.model,
                   .judge = ports_.judge,
                   .corpora = {},
                   .threshold = query.threshold.value_or(-1),
                   .query = fold_spaces(query.query),
                   .page_url = query.page_url};
  for (const SearchedCorpus& searched : query.corpora) {
    const auto vectors = ports_.vectors.generation(call, searched.corpus);
    const auto keywords = ports_.keywords.generation(call, searched.corpus);
    if (!vectors || !keywords) return std::nullopt;
    key.corpora.push_back({searched.corpus, std::min(*vectors, *keywords), calibration_of(profile_of(query, searched))});
  }
  return key;
}

std::optional<SiteRetrieval> SiteRetriever::recalled(const CallContext& call, const std::string& key) const {
  const auto start = std::chrono::steady_clock::now();
  const auto bytes = ports_.cache->get(call, key);
  if (!bytes) return std::nullopt;
  auto kept = from_bytes(*bytes);
  if (!kept) return std::nullopt;
  SiteRetrieval out{.found = {}, .confidence = kept->confidence, .cached = true};
  out.found.generation = kept->generation;
  out.found.candidates = kept->candidates;
  out.found.vector_search.scanned = kept->searched;
  out.found.gate = kept->gate;
  std::map<CorpusId, std::vector<ChunkId>> wanted;
  for (CachedHit& hit : kept->hits) {
    wanted[hit.corpus].push_back(hit.scores.chunk.id);
    out.found.hits.push_back(std::move(hit.scores));
  }
  for (const auto& [corpus, ids] : wanted) {
    const auto records = ports_.chunks.chunks(call, corpus, ids);
    if (!records) return std::nullopt;
    (void)fill_in(out.found.hits, *records);
  }
  if (!fill_in(out.found.hits, {})) return std::nullopt;
  const auto took = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - start);
  out.found.timings.push_back({TurnStage::kRecall, {}, took});
  return out;
}

void SiteRetriever::keep(const CallContext& call, const std::string& key, const SiteQuery& query, const SiteRetrieval& retrieval,
                         const std::vector<CorpusId>& corpus_of_hit) const {
  CachedRetrieval kept{.generation = retrieval.found.generation,
                       .candidates = retrieval.found.candidates,
                       .searched = retrieval.found.vector_search.scanned,
                       .confidence = retrieval.confidence,
                       .gate = retrieval.found.gate,
                       .hits = {}};
  for (std::size_t i = 0; i < retrieval.found.hits.size(); ++i) {
    const Hit& hit = retrieval.found.hits[i];
    CachedHit& cached = kept.hits.emplace_back();
    cached.corpus = corpus_of_hit[i];
    cached.scores.chunk.id = hit.chunk.id;
    cached.scores.terms = hit.terms;
    cached.scores.score = hit.score;
    cached.scores.cosine = hit.cosine;
    cached.scores.coverage = hit.coverage;
    cached.scores.probability = hit.probability;
    cached.scores.judged = hit.judged;
  }
  ports_.cache->put(call, key, cache_tag(query.agent), to_bytes(kept), kRetrievalCacheTime);
}

void SiteRetriever::purge_if_changed(const CallContext& call, const RetrievalKey& key) const {
  Generations now;
  for (const RetrievalKey::CorpusState& state : key.corpora) now.push_back(state.generation);
  {
    MutexLock lock(mutex_);
    if (seen_.size() >= kAgentsMax && !seen_.contains(key.agent.value)) seen_.clear();
    const auto [entry, is_new] = seen_.try_emplace(key.agent.value, now);
    if (is_new || entry->second == now) return;
    entry->second = now;
  }
  ports_.cache->drop_tag(call, cache_tag(key.agent));
}

}  // namespace footnote::retrieve
