#pragma once

#include <random>
#include <string>
#include <vector>

#include "ports/keyword_index.h"
#include "ports/vector_store.h"

namespace footnote::test {

inline constexpr int kDimension = 24;

inline const std::vector<std::string>& words() {
  static const std::vector<std::string> list{"sensor", "probe",   "lantern", "harbour", "ledger", "meadow", "copper", "signal", "archive",
                                             "window", "kettle",  "orchard", "compass", "gravel", "velvet", "Häuser", "Städte", "marble",
                                             "anchor", "lattice", "mirror",  "needle",  "oyster", "pillar", "quarry", "ribbon", "saddle"};
  return list;
}

inline std::vector<float> random_vector(std::mt19937& random) {
  std::normal_distribution<float> normal;
  std::vector<float> out(kDimension);
  for (float& value : out) value = normal(random);
  return out;
}

/// Random changes of a corpus: rows are added, and some removed again. `first_chunk` is the id of the first row.
inline std::vector<IndexChanges> random_steps(std::mt19937& random, int steps, int rows_each, std::int64_t first_chunk = 1) {
  std::vector<IndexChanges> out;
  std::vector<std::int64_t> living;
  std::int64_t chunk = first_chunk;
  for (Generation g = 1; g <= steps; ++g) {
    IndexChanges changes{g - 1, g, {}, {}};
    for (std::size_t gone = living.empty() ? 0 : random() % 3; gone > 0 && !living.empty(); --gone) {
      const std::size_t at = random() % living.size();
      changes.removed.push_back({ChunkId{living[at]}, g});
      living.erase(living.begin() + static_cast<std::ptrdiff_t>(at));
    }
    for (int i = 0; i < rows_each; ++i) {
      IndexRow row;
      row.chunk = {chunk++};
      row.document = {1 + row.chunk.value / 4};
      row.born = g;
      row.document_key = "d" + std::to_string(row.document.value);
      row.attributes.title = "About " + words()[static_cast<std::size_t>(row.document.value) % words().size()];
      row.attributes.language = row.document.value % 5 == 0 ? "de" : "en";
      row.attributes.tags = {row.document.value % 2 == 0 ? "even" : "odd"};
      if (row.document.value % 3 == 0) row.attributes.evidence = EvidenceTier::kNews;
      if (row.document.value % 7 == 0) row.attributes.acl_labels = {"hr"};
      if (row.document.value % 3 == 1) row.attributes.updated_at = UtcTime{std::chrono::hours{row.document.value}};
      row.source_type = row.chunk.value % 2 == 0 ? "doc" : "code";
      row.indexed_at = UtcTime{std::chrono::hours{2 * row.document.value}};
      for (int word = 0; word < 12; ++word) row.text += words()[random() % words().size()] + " ";
      for (std::size_t windows = 1 + random() % 2; windows > 0; --windows) row.vectors.push_back(random_vector(random));
      living.push_back(row.chunk.value);
      changes.added.push_back(std::move(row));
    }
    out.push_back(std::move(changes));
  }
  return out;
}

/// The indexes' results for a set of queries, for bit-exact comparison.
inline std::vector<std::pair<std::int64_t, double>> answers(const VectorSearch& vectors, const KeywordSearch& keywords, CorpusId corpus,
                                                            Generation generation) {
  std::vector<std::pair<std::int64_t, double>> out;
  const auto take = [&](const Result<std::vector<ScoredChunk>>& hits) {
    if (!hits) return out.emplace_back(-1, static_cast<double>(hits.error().code)), void();
    for (const ScoredChunk& hit : *hits) out.emplace_back(hit.chunk.value, hit.score);
    out.emplace_back(0, 0);
  };
  const Filter even{.tags = {"even"}};
  const Filter german{.languages = {"de"}};
  const Filter code{.source_types = {"code"}, .caller_labels = {"hr"}};
  const Filter recent{.updated_from = UtcTime{std::chrono::hours{20}}};
  std::mt19937 random(99);
  for (const Filter* filter : {static_cast<const Filter*>(nullptr), &even, &german, &code, &recent}) {
    for (int i = 0; i < 4; ++i) {
      const auto asked = random_vector(random);
      take(vectors.search({}, {corpus, generation, asked, 20, filter}));
      const std::string text = words()[random() % words().size()] + " " + words()[random() % words().size()];
      take(keywords.search({}, {corpus, generation, text, 20, filter}));
    }
  }
  const ChunkId some[] = {{3}, {7}, {11}, {100}};
  if (const auto coverage = keywords.coverage({}, {corpus, generation, "old houses of the harbour", 9, nullptr}, some)) {
    for (const double share : *coverage) out.emplace_back(0, share);
  }
  return out;
}

}  // namespace footnote::test
