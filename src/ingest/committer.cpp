#include "ingest/committer.h"

#include <algorithm>
#include <span>
#include <string_view>

namespace footnote::ingest {

namespace {

DocumentDraft draft_of(Prepared& prepared, const std::map<std::string, ChunkEmbedding>& embeddings) {
  DocumentDraft out;
  out.key = prepared.key;
  out.source = prepared.source;
  out.content_hash = std::move(prepared.content_hash);
  out.attributes = std::move(prepared.document.attributes);
  out.text = std::move(prepared.document.text);
  out.edges = std::move(prepared.document.edges);
  out.original = std::move(prepared.original);
  out.chunks.reserve(prepared.pieces.size());
  for (chunk::Piece& piece : prepared.pieces) {
    ChunkDraft& draft = out.chunks.emplace_back();
    const ChunkEmbedding& embedding = embeddings.at(piece.content_hash);
    draft.vectors = embedding.vectors;
    draft.codes = embedding.codes;
    draft.text = std::move(piece.text);
    draft.heading_path = std::move(piece.heading_path);
    draft.symbol = std::move(piece.symbol);
    draft.source_type = std::move(piece.source_type);
    draft.content_hash = std::move(piece.content_hash);
    draft.range = piece.range;
    draft.first_line = piece.first_line;
    draft.last_line = piece.last_line;
    draft.places = std::move(piece.places);
  }
  return out;
}

bool fits(const ChunkEmbedding& embedding, std::size_t dimension) {
  return !embedding.vectors.empty() &&
         std::ranges::all_of(embedding.vectors, [&](const auto& window) { return window.size() == dimension; });
}

}  // namespace

void Committer::add_problem(Problem problem) {
  if (problem.kind != ProblemKind::kIgnored) report_.problems.push_back(std::move(problem));
}

Result<void> Committer::add(Prepared prepared) {
  for (Problem& problem : prepared.problems) add_problem(std::move(problem));
  report_.secret_passages += prepared.secret_passages;
  switch (prepared.state) {
    case Prepared::State::kReady: break;
    case Prepared::State::kUnchanged:
      ++report_.unchanged;
      tell(prepared.key, DocumentChange::kUnchanged, 0);
      return {};
    case Prepared::State::kLeftOut:
    case Prepared::State::kGone: ++done_; return {};
  }
  pending_chunks_ += prepared.pieces.size();
  pending_.push_back(std::move(prepared));
  const bool full = pending_.size() >= kCommitDocumentsMax || pending_chunks_ >= kCommitChunksMax;
  return full ? flush() : Result<void>{};
}

Result<void> Committer::flush() {
  if (pending_.empty()) return {};
  FOOTNOTE_TRY(const Embeddings embeddings, embeddings_of_pending());
  std::vector<DocumentDraft> drafts;
  drafts.reserve(pending_.size());
  for (Prepared& prepared : pending_) drafts.push_back(draft_of(prepared, embeddings));
  FOOTNOTE_TRY(const CommitReceipt receipt, store_.commit(call_, corpus_.id, drafts, {}));
  report_.generation = std::max(report_.generation, receipt.generation);
  const std::vector<Prepared> committed = std::exchange(pending_, {});
  pending_chunks_ = 0;
  index_behind_ = true;
  for (const Prepared& prepared : committed) count(prepared);
  sync_if_due();
  return {};
}

void Committer::count(const Prepared& committed) {
  ++(committed.is_update ? report_.updated : report_.added);
  report_.chunks += committed.pieces.size();
  tell(committed.key, committed.is_update ? DocumentChange::kUpdated : DocumentChange::kAdded, committed.pieces.size());
}

void Committer::tell(const std::string& key, DocumentChange change, std::size_t chunks) {
  ++done_;
  if (progress_) progress_({key, change, chunks, done_, std::max(total_, done_)});
}

/// The embeddings of all pending chunks by content hash: reused from the store if it has them, else computed.
Result<Committer::Embeddings> Committer::embeddings_of_pending() {
  Embeddings embeddings;
  FOOTNOTE_CHECK(reuse(embeddings));
  std::vector<const chunk::Piece*> missing;
  std::map<std::string_view, bool> wanted;
  for (const Prepared& prepared : pending_) {
    for (const chunk::Piece& piece : prepared.pieces) {
      const bool known = embeddings.contains(piece.content_hash) || !wanted.emplace(piece.content_hash, true).second;
      if (!known) missing.push_back(&piece);
    }
  }
  FOOTNOTE_CHECK(embed(missing, embeddings));
  report_.embedded_chunks += missing.size();
  report_.reused_chunks += pending_chunks_ - missing.size();
  return embeddings;
}

Result<void> Committer::reuse(Embeddings& embeddings) {
  std::vector<std::string> hashes;
  for (const Prepared& prepared : pending_) {
    for (const chunk::Piece& piece : prepared.pieces) hashes.push_back(piece.content_hash);
  }
  std::ranges::sort(hashes);
  hashes.erase(std::unique(hashes.begin(), hashes.end()), hashes.end());
  const auto dimension = static_cast<std::size_t>(corpus_.space.dimension);
  for (std::size_t at = 0; at < hashes.size(); at += kHashLookupMax) {
    const std::span<const std::string> part =
        std::span<const std::string>(hashes).subspan(at, std::min(kHashLookupMax, hashes.size() - at));
    FOOTNOTE_TRY(auto found, store_.embeddings_by_hash(call_, corpus_.id, part));
    for (auto& [hash, embedding] : found) {
      if (fits(embedding, dimension) && embedding.codes.form == embedder_.code_form()) embeddings.emplace(hash, std::move(embedding));
    }
  }
  return {};
}

Result<void> Committer::embed(const std::vector<const chunk::Piece*>& pieces, Embeddings& embeddings) {
  const auto dimension = static_cast<std::size_t>(corpus_.space.dimension);
  for (std::size_t at = 0; at < pieces.size(); at += kEmbedBatchMax) {
    FOOTNOTE_CHECK(call_.check());
    const std::size_t count = std::min(kEmbedBatchMax, pieces.size() - at);
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < count; ++i) texts.push_back(chunk::embedding_text(*pieces[at + i]));
    const std::vector<std::string_view> views(texts.begin(), texts.end());
    FOOTNOTE_TRY(std::vector<Embedding> made,
                 embedder_.embed(call_, views, {.kind = EmbedKind::kPassage, .overflow = Overflow::kWindows, .codes = true}));
    if (made.size() != count) return fail(ErrorCode::kInternal, "the embedder gave {} results for {} texts", made.size(), count);
    for (std::size_t i = 0; i < count; ++i) {
      ChunkEmbedding& embedding = embeddings[pieces[at + i]->content_hash];
      for (WindowVector& window : made[i].windows) embedding.vectors.push_back(std::move(window.values));
      embedding.codes = std::move(made[i].passage_codes);
      if (!fits(embedding, dimension)) return fail(ErrorCode::kInternal, "the embedder gave a vector that is not of {} numbers", dimension);
    }
  }
  return {};
}

Result<void> Committer::remove(const std::vector<std::string>& keys) {
  FOOTNOTE_CHECK(flush());
  for (std::size_t at = 0; at < keys.size(); at += kCommitChunksMax) {
    FOOTNOTE_CHECK(call_.check());
    const std::span<const std::string> part = std::span<const std::string>(keys).subspan(at, std::min(kCommitChunksMax, keys.size() - at));
    FOOTNOTE_TRY(const CommitReceipt receipt, store_.commit(call_, corpus_.id, {}, part));
    report_.generation = std::max(report_.generation, receipt.generation);
    report_.deleted += receipt.deleted;
    index_behind_ = true;
    for (const std::string& key : part) tell(key, DocumentChange::kDeleted, 0);
  }
  return {};
}

void Committer::sync_if_due() {
  if (sync_ == nullptr || std::chrono::steady_clock::now() - synced_at_ < kSyncInterval) return;
  if (sync_->sync(call_, corpus_.id)) index_behind_ = false;
  synced_at_ = std::chrono::steady_clock::now();
}

Result<IngestReport> Committer::finish() {
  FOOTNOTE_CHECK(flush());
  if (sync_ != nullptr && index_behind_) {
    const auto synced = sync_->sync(call_, corpus_.id);
    if (!synced) add_problem({"", "the index is behind and catches up at the next sync: " + synced.error().message, ProblemKind::kWarning});
  }
  return std::move(report_);
}

}  // namespace footnote::ingest
