#pragma once

#include <functional>

#include "ports/embedder.h"
#include "providers/sqlite/sqlite_reembedding.h"

namespace footnote::upkeep {

/// Chunks that are embedded and written down in one step: what a killed rebuild does again.
inline constexpr std::size_t kReembedBatch = 64;

/// Whether a corpus's vectors may be exchanged for an embedder's: those that clients gave are theirs. Notes of agents are ours, whoever
/// made their collection.
bool may_be_embedded(const Corpus& corpus);

using OnReembedded = std::function<void(const SqliteReembedding::Progress&)>;

/// Gives every chunk of a corpus that has none vectors of the embedder's space, those too that come meanwhile; returns when none is
/// missing. What was done stays when it is stopped. The corpus itself does not change.
Result<void> embed_missing(const CallContext& call, SqliteReembedding& reembedding, Embedder& embedder, CorpusId corpus,
                           const OnReembedded& on_progress);

/// Gives every chunk token codes of the form that the embedder makes now, where it has others, or a text and none; its vectors stay. The
/// result is their number: 0 for an embedder that makes no codes. What was done stays when it is stopped. `forget_copies` is called before
/// the first and after the last of them, however it ends: a file of the old codes is wrong from then on.
/// REQUIRES: the corpus is of the embedder's space.
Result<std::int64_t> renew_codes(const CallContext& call, SqliteReembedding& reembedding, Embedder& embedder, CorpusId corpus,
                                 const std::function<void()>& forget_copies, const OnReembedded& on_progress);

}  // namespace footnote::upkeep
