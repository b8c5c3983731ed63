#include "fakes/memory_keyword_index.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/text.h"
#include "fakes/words.h"

namespace footnote::fakes {

namespace {

constexpr double kTermSaturation = 1.2;
constexpr double kLengthWeight = 0.75;

struct Passage {
  ChunkId chunk;
  std::vector<std::string> stems;
};

/// All passages of one query, and the statistics that BM25 needs.
class Passages {
 public:
  explicit Passages(const std::vector<const IndexTable::Row*>& rows) {
    double total = 0;
    for (const IndexTable::Row* row : rows) {
      const IndexRow& words = row->row;
      const std::string text = words.attributes.title + " " + join(words.heading_path, " ") + " " + words.symbol + " " + words.text;
      passages_.push_back({row->row.chunk, content_stems(text)});
      total += static_cast<double>(passages_.back().stems.size());
    }
    average_length_ = passages_.empty() ? 1 : std::max(1.0, total / static_cast<double>(passages_.size()));
  }

  const std::vector<Passage>& all() const { return passages_; }

  const Passage* find(ChunkId chunk) const {
    const auto found = std::ranges::find(passages_, chunk, &Passage::chunk);
    return found == passages_.end() ? nullptr : &*found;
  }

  double rarity(const std::string& stem) const {
    const auto holds = [&](const Passage& passage) { return std::ranges::find(passage.stems, stem) != passage.stems.end(); };
    const auto with = static_cast<double>(std::ranges::count_if(passages_, holds));
    return std::log(1 + (static_cast<double>(passages_.size()) - with + 0.5) / (with + 0.5));
  }

  double bm25(const Passage& passage, const std::string& stem) const {
    const auto count = static_cast<double>(std::ranges::count(passage.stems, stem));
    const double length = static_cast<double>(passage.stems.size()) / average_length_;
    return rarity(stem) * count * (kTermSaturation + 1) / (count + kTermSaturation * (1 - kLengthWeight + kLengthWeight * length));
  }

 private:
  std::vector<Passage> passages_;
  double average_length_ = 1;
};

std::set<std::string> query_stems(std::string_view text) {
  const std::vector<std::string> stems = content_stems(text);
  return {stems.begin(), stems.end()};
}

/// The stems of each phrase in double quotes.
std::vector<std::vector<std::string>> phrases_of(std::string_view text) {
  std::vector<std::vector<std::string>> out;
  const std::vector<std::string_view> parts = split(text, '"');
  for (std::size_t i = 1; i + 1 < parts.size(); i += 2) {
    auto stems = content_stems(parts[i]);
    if (!stems.empty()) out.push_back(std::move(stems));
  }
  return out;
}

bool holds_phrase(const Passage& passage, const std::vector<std::string>& phrase) {
  return !std::ranges::search(passage.stems, phrase).empty();
}

bool may_mean(const std::string& said, const std::string& known) {
  if (said.size() < 4 || known.front() != said.front()) return false;
  const std::size_t edits = said.size() < 8 ? 1 : 2;
  return edit_distance(said, known, edits) <= edits;
}

/// The stems that a query searches for, including those added by its options.
std::set<std::string> wanted_stems(const KeywordQuery& query, const Passages& passages) {
  std::set<std::string> out = query_stems(query.text);
  const std::vector<std::string> said = content_stems(query.text);
  const auto held = [&](const std::string& stem) {
    return std::ranges::any_of(passages.all(),
                               [&](const Passage& passage) { return std::ranges::find(passage.stems, stem) != passage.stems.end(); });
  };
  for (const Passage& passage : passages.all()) {
    for (const std::string& stem : passage.stems) {
      if (query.prefix && !said.empty() && stem.starts_with(said.back())) out.insert(stem);
      for (const std::string& word : said) {
        if (query.typos && !held(word) && may_mean(word, stem)) out.insert(stem);
      }
    }
  }
  return out;
}

double coverage_of(const Passage& passage, const std::set<std::string>& stems, const Passages& passages) {
  double wanted = 0, held = 0;
  for (const std::string& stem : stems) {
    const double weight = passages.rarity(stem);
    wanted += weight;
    if (std::ranges::find(passage.stems, stem) != passage.stems.end()) held += weight;
  }
  return wanted == 0 ? 0 : held / wanted;
}

}  // namespace

Result<Generation> MemoryKeywordIndex::generation(const CallContext&, CorpusId corpus) const {
  MutexLock lock(mutex_);
  return table_.generation(corpus);
}

Result<std::vector<ScoredChunk>> MemoryKeywordIndex::search(const CallContext& call, const KeywordQuery& query) const {
  FOOTNOTE_CHECK(call.check());
  FOOTNOTE_CHECK(faults_.next());
  MutexLock lock(mutex_);
  FOOTNOTE_TRY(const auto rows, table_.visible(query.corpus, query.generation, query.filter));
  const Passages passages(rows);
  const std::set<std::string> stems = wanted_stems(query, passages);
  auto phrases = phrases_of(query.text);
  std::erase_if(phrases, [&](const auto& phrase) {
    return std::ranges::none_of(passages.all(), [&](const Passage& passage) { return holds_phrase(passage, phrase); });
  });
  std::vector<ScoredChunk> found;
  for (const Passage& passage : passages.all()) {
    if (!std::ranges::all_of(phrases, [&](const auto& phrase) { return holds_phrase(passage, phrase); })) continue;
    double score = 0;
    for (const std::string& stem : stems) score += passages.bm25(passage, stem);
    if (score > 0) found.push_back({passage.chunk, score});
  }
  keep_best(found, query.limit);
  return found;
}

Result<std::vector<double>> MemoryKeywordIndex::coverage(const CallContext& call, const KeywordQuery& query,
                                                         std::span<const ChunkId> chunks) const {
  FOOTNOTE_CHECK(call.check());
  MutexLock lock(mutex_);
  FOOTNOTE_TRY(const auto rows, table_.visible(query.corpus, query.generation, query.filter));
  const Passages passages(rows);
  const std::set<std::string> stems = query_stems(query.text);
  std::vector<double> out;
  for (ChunkId chunk : chunks) {
    const Passage* passage = passages.find(chunk);
    out.push_back(passage == nullptr ? 0 : coverage_of(*passage, stems, passages));
  }
  return out;
}

Result<void> MemoryKeywordIndex::apply(const CallContext& call, CorpusId corpus, const IndexChanges& changes) {
  FOOTNOTE_CHECK(call.check());
  FOOTNOTE_CHECK(apply_faults_.next());
  MutexLock lock(mutex_);
  return table_.apply(corpus, changes);
}

Result<void> MemoryKeywordIndex::forget(const CallContext&, CorpusId corpus, Generation died_until) {
  MutexLock lock(mutex_);
  table_.forget(corpus, died_until);
  return {};
}

Result<void> MemoryKeywordIndex::drop(const CallContext&, CorpusId corpus) {
  MutexLock lock(mutex_);
  table_.drop(corpus);
  ++drops_;
  return {};
}

std::size_t MemoryKeywordIndex::drops() const {
  MutexLock lock(mutex_);
  return drops_;
}

std::vector<std::string> MemoryKeywordIndex::texts(CorpusId corpus) const {
  MutexLock lock(mutex_);
  std::vector<std::string> out;
  const auto rows = table_.visible(corpus, table_.generation(corpus), nullptr).value();
  for (const IndexTable::Row* row : rows) out.push_back(row->row.text);
  std::ranges::sort(out);
  return out;
}

}  // namespace footnote::fakes
