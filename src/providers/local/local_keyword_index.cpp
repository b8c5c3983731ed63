#include "providers/local/local_keyword_index.h"

#include "providers/local/filtered_rows.h"
#include "providers/local/query_terms.h"

namespace footnote {
namespace {

/// Position gap between two fields, so that no phrase spans both.
constexpr std::uint32_t kFieldGap = 16;

void add_row(bm25::Batch& batch, bm25::Analyzer& analyzer, const IndexRow& row, std::uint32_t group) {
  batch.begin_row({.label = row.chunk.value, .group = group, .born = row.born});
  std::uint32_t begin = 0;
  const auto add = [&](std::string_view text) {
    std::uint32_t last = begin;
    analyzer.analyze(text, [&](const bm25::Term& term) {
      last = std::max(last, begin + term.position);
      batch.add_term(term.text, begin + term.position);
    });
    begin = last + kFieldGap;
  };
  add(row.attributes.title);
  for (const std::string& heading : row.heading_path) add(heading);
  add(row.symbol);
  add(row.text);
}

}  // namespace

Result<void> LocalKeywordIndex::Rows::save(ByteSink& sink) const {
  FOOTNOTE_CHECK(sink.put(static_cast<std::uint32_t>(languages.size())));
  for (const auto& [language, born] : languages) {
    FOOTNOTE_CHECK(sink.put_text(language));
    FOOTNOTE_CHECK(sink.put(born));
  }
  return index.save(sink);
}

Result<void> LocalKeywordIndex::Rows::load(ByteSource& source, const rows::RowLimits& limits) {
  FOOTNOTE_TRY(const auto count, source.take<std::uint32_t>());
  for (std::uint32_t i = 0; i < count; ++i) {
    FOOTNOTE_TRY(std::string language, source.take_text());
    FOOTNOTE_TRY(languages[std::move(language)], source.take<Generation>());
  }
  FOOTNOTE_TRY(index, bm25::Bm25Index::load(source, limits, index.options()));
  return {};
}

std::vector<std::string> LocalKeywordIndex::Rows::languages_at(Generation generation) const {
  std::vector<std::string> out;
  for (const auto& [language, born] : languages) {
    if (born <= generation) out.push_back(language);
  }
  return out;
}

Result<Generation> LocalKeywordIndex::generation(const CallContext& call, CorpusId corpus) const {
  FOOTNOTE_CHECK(call.check());
  return corpora_.generation(corpus);
}

void LocalKeywordIndex::change(const IndexChanges& changes, Rows& rows, DocumentTableWriter& documents) {
  bm25::Batch batch;
  std::map<std::string, bm25::Analyzer, std::less<>> analyzers;
  for (const IndexRow& row : changes.added) {
    const std::string language(bm25::Analyzer::effective_language(row.attributes.language));
    const auto analyzer = analyzers.try_emplace(language, language).first;
    const auto [known, fresh] = rows.languages.try_emplace(language, row.born);
    if (!fresh) known->second = std::min(known->second, row.born);
    add_row(batch, analyzer->second, row, documents.slot_for(row));
  }
  rows.index.apply(batch, deaths_of(changes));
}

Result<void> LocalKeywordIndex::apply(const CallContext& call, CorpusId corpus, const IndexChanges& changes) {
  FOOTNOTE_CHECK(call.check());
  return corpora_.apply(corpus, changes, [&](Rows& rows, DocumentTableWriter& documents) -> Result<void> {
    change(changes, rows, documents);
    return {};
  });
}

Result<void> LocalKeywordIndex::forget(const CallContext& call, CorpusId corpus, Generation died_until) {
  FOOTNOTE_CHECK(call.check());
  corpora_.forget(corpus, died_until);
  return {};
}

Result<void> LocalKeywordIndex::drop(const CallContext& call, CorpusId corpus) {
  FOOTNOTE_CHECK(call.check());
  corpora_.drop(corpus);
  return {};
}

QueryTerms LocalKeywordIndex::terms_of(const KeywordQuery& query, const Rows& rows) const {
  const std::vector<std::string> languages = rows.languages_at(query.generation);
  QueryTerms terms = query_terms(query.text, languages);
  if (synonyms_.words) synonyms_.words->expand(synonyms_.corpus_name(query.corpus), languages, terms);
  return terms;
}

Result<std::vector<ScoredChunk>> LocalKeywordIndex::search(const CallContext& call, const KeywordQuery& query) const {
  FOOTNOTE_CHECK(call.check());
  FOOTNOTE_TRY(const auto state, corpora_.state_at(query.corpus, query.generation));
  QueryTerms terms = terms_of(query, state->rows);
  const bm25::Bm25Index& index = state->rows.index;
  if (query.prefix) expand_last_word(index, terms);
  if (query.typos) expand_misspelled(index, query.generation, terms);
  const FilteredRows filtered(state->documents, query.filter);
  const auto found = index.search(
      {.terms = terms.terms, .generation = query.generation, .limit = query.limit, .filter = filtered.rows(), .phrases = terms.phrases});
  std::vector<ScoredChunk> out;
  out.reserve(found.size());
  for (const auto& hit : found) out.push_back({ChunkId{hit.label}, hit.score});
  return out;
}

Result<std::vector<double>> LocalKeywordIndex::coverage(const CallContext& call, const KeywordQuery& query,
                                                        std::span<const ChunkId> chunks) const {
  FOOTNOTE_CHECK(call.check());
  FOOTNOTE_TRY(const auto state, corpora_.state_at(query.corpus, query.generation));
  const QueryTerms terms = terms_of(query, state->rows);
  std::vector<std::int64_t> labels;
  labels.reserve(chunks.size());
  for (const ChunkId chunk : chunks) labels.push_back(chunk.value);
  return state->rows.index.coverage(terms.words, query.generation, labels);
}

}  // namespace footnote
