#include "upkeep/reembed.h"

#include "chunk/chunker.h"
#include "domain/point.h"
#include "points/memories.h"

namespace footnote::upkeep {
namespace {

using Missing = SqliteReembedding::Missing;
using NextVectors = SqliteReembedding::NextVectors;

Result<std::vector<Embedding>> embed(const CallContext& call, Embedder& embedder, const std::vector<Missing>& chunks) {
  std::vector<std::string> texts;
  for (const Missing& chunk : chunks) texts.push_back(chunk::embedding_text({.text = chunk.text, .heading_path = chunk.heading_path}));
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  FOOTNOTE_TRY(std::vector<Embedding> embeddings, embedder.embed(call, views, {.codes = true}));
  if (embeddings.size() != chunks.size()) {
    return fail(ErrorCode::kInternal, "the embedder gave {} results for {} texts", embeddings.size(), chunks.size());
  }
  return embeddings;
}

std::vector<NextVectors> next_vectors(const std::vector<Missing>& chunks, std::vector<Embedding> embeddings) {
  std::vector<NextVectors> out;
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    NextVectors& next = out.emplace_back(chunks[i].chunk);
    for (WindowVector& window : embeddings[i].windows) next.vectors.push_back(std::move(window.values));
    next.codes = std::move(embeddings[i].passage_codes);
  }
  return out;
}

Result<std::int64_t> renew_all(const CallContext& call, SqliteReembedding& reembedding, Embedder& embedder, CorpusId corpus,
                               std::int64_t total, const OnReembedded& on_progress) {
  const std::uint32_t form = embedder.code_form();
  SqliteReembedding::Progress progress{.done = 0, .total = total};
  // One pass is enough: chunks added meanwhile already have codes of this form.
  for (ChunkId after;;) {
    FOOTNOTE_CHECK(call.check());
    on_progress(progress);
    FOOTNOTE_TRY(const auto chunks, reembedding.other_codes(call, corpus, form, after, kReembedBatch));
    if (chunks.empty()) return progress.done;
    FOOTNOTE_TRY(auto embeddings, embed(call, embedder, chunks));
    std::vector<SqliteReembedding::NextCodes> codes;
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      if (embeddings[i].passage_codes.form == form) codes.push_back({chunks[i].chunk, std::move(embeddings[i].passage_codes)});
    }
    FOOTNOTE_CHECK(reembedding.put_codes(call, codes));
    progress.done += std::ssize(codes);
    progress.total = std::max(progress.total, progress.done);
    after = chunks.back().chunk;
  }
}

}  // namespace

bool may_be_embedded(const Corpus& corpus) { return has_our_vectors(corpus) || corpus.name == points::kMemoriesCollection; }

Result<void> embed_missing(const CallContext& call, SqliteReembedding& reembedding, Embedder& embedder, CorpusId corpus,
                           const OnReembedded& on_progress) {
  const EmbeddingSpace target = embedder.space();
  FOOTNOTE_TRY(SqliteReembedding::Progress progress, reembedding.progress(call, corpus, target));
  // Passes through all ids, repeatedly, until no chunks were added meanwhile.
  for (ChunkId after; progress.done < progress.total;) {
    FOOTNOTE_CHECK(call.check());
    on_progress(progress);
    FOOTNOTE_TRY(const auto chunks, reembedding.missing(call, corpus, target, after, kReembedBatch));
    if (chunks.empty()) {
      after = {};
      FOOTNOTE_TRY(progress, reembedding.progress(call, corpus, target));
      continue;
    }
    FOOTNOTE_TRY(auto embeddings, embed(call, embedder, chunks));
    FOOTNOTE_CHECK(reembedding.put(call, target, next_vectors(chunks, std::move(embeddings))));
    progress.done = std::min(progress.done + std::ssize(chunks), progress.total - 1);  // only the store may report completion
    after = chunks.back().chunk;
  }
  on_progress(progress);
  return {};
}

Result<std::int64_t> renew_codes(const CallContext& call, SqliteReembedding& reembedding, Embedder& embedder, CorpusId corpus,
                                 const std::function<void()>& forget_copies, const OnReembedded& on_progress) {
  const std::uint32_t form = embedder.code_form();
  if (form == 0) return 0;
  FOOTNOTE_TRY(const std::int64_t total, reembedding.count_other_codes(call, corpus, form));
  if (total == 0) return 0;
  forget_copies();
  auto renewed = renew_all(call, reembedding, embedder, corpus, total, on_progress);
  forget_copies();
  return renewed;
}

}  // namespace footnote::upkeep
