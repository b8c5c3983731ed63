#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/bm25/analyzer.h"
#include "engine/bm25/bm25_index.h"
#include "ports/keyword_index.h"
#include "providers/local/corpus_indexes.h"
#include "providers/local/saved_index.h"
#include "providers/local/synonyms.h"

namespace footnote {

/// Synonyms by corpus name.
struct KeywordSynonyms {
  std::shared_ptr<const Synonyms> words = {};  ///< Null: no synonyms.
  std::function<std::string(CorpusId)> corpus_name = {};
};

/// In-memory keyword index of each corpus: exact BM25 over title, headings, symbol and text as one field. Each row is stemmed in its
/// document's language, a query in every language that the corpus has had up to that generation.
class LocalKeywordIndex final : public KeywordIndex, public SavedIndex {
 public:
  explicit LocalKeywordIndex(bm25::Bm25Options options = {}, KeywordSynonyms synonyms = {})
      : synonyms_(std::move(synonyms)), corpora_({bm25::Bm25Index(options), {}}) {}

  Result<Generation> generation(const CallContext& call, CorpusId corpus) const override;
  Result<void> apply(const CallContext& call, CorpusId corpus, const IndexChanges& changes) override;
  Result<void> forget(const CallContext& call, CorpusId corpus, Generation died_until) override;
  Result<void> drop(const CallContext& call, CorpusId corpus) override;

  IndexKind kind() const override { return IndexKind::kKeywords; }
  std::uint32_t rules() const override { return bm25::kAnalyzerRules; }
  IndexExtent extent(CorpusId corpus) const override { return corpora_.extent(corpus); }
  Result<void> save(const CallContext&, const std::filesystem::path& path, const IndexHead& head) const override {
    return corpora_.save(path, head);
  }
  Result<void> load(IndexFileReader& file) override { return corpora_.load(file); }
  std::vector<LiveRow> live_rows(CorpusId corpus) const override { return corpora_.live_rows(corpus); }

  Result<std::vector<ScoredChunk>> search(const CallContext& call, const KeywordQuery& query) const override;
  Result<std::vector<double>> coverage(const CallContext& call, const KeywordQuery& query, std::span<const ChunkId> chunks) const override;

 private:
  struct Rows {
    bm25::Bm25Index index;
    std::map<std::string, Generation> languages;  ///< Each language, with the generation in which it first appeared.

    bool contains(std::int64_t label, Generation generation) const { return index.contains(label, generation); }
    void forget(Generation died_until) { index.forget(died_until); }
    void mark_groups(rows::GroupMask& used) const { index.mark_groups(used); }
    std::uint64_t row_count() const { return index.row_count(); }
    void list_alive(Generation generation, std::vector<LiveRow>& out) const {
      index.for_each_alive(generation, [&](const rows::Row& row) { out.push_back({ChunkId{row.label}, row.born}); });
    }
    Result<void> save(ByteSink& sink) const;
    Result<void> load(ByteSource& source, const rows::RowLimits& limits);
    std::vector<std::string> languages_at(Generation generation) const;
  };

  static void change(const IndexChanges& changes, Rows& rows, DocumentTableWriter& documents);

  /// The query's terms with their synonyms.
  QueryTerms terms_of(const KeywordQuery& query, const Rows& rows) const;

  const KeywordSynonyms synonyms_;
  CorpusIndexes<Rows> corpora_;
};

}  // namespace footnote
