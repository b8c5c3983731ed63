#pragma once

#include <functional>

#include "ports/embedder.h"
#include "providers/sqlite/sqlite_reembedding.h"

namespace footnote::upkeep {

/// Chunks embedded and stored per step; a killed rebuild repeats at most one step.
inline constexpr std::size_t kReembedBatch = 64;

/// Whether a corpus's vectors may be replaced by an embedder's: vectors supplied by clients may not. Agents' notes may, whoever created
/// their collection.
bool may_be_embedded(const Corpus& corpus);

using OnReembedded = std::function<void(const SqliteReembedding::Progress&)>;

/// Adds vectors of the embedder's space to every chunk that has none, including chunks added meanwhile; returns when none is missing.
/// Finished work is kept if it is cancelled. The corpus itself does not change.
Result<void> embed_missing(const CallContext& call, SqliteReembedding& reembedding, Embedder& embedder, CorpusId corpus,
                           const OnReembedded& on_progress);

/// Renews the token codes of every chunk whose codes are not of the embedder's current form, or that has text but no codes; vectors stay.
/// Returns their number: 0 for an embedder that makes no codes. Finished work is kept if it is cancelled. `forget_copies` is called before
/// the first and after the last change, even on failure: a file of the old codes is stale from then on. REQUIRES: the corpus is of the
/// embedder's space.
Result<std::int64_t> renew_codes(const CallContext& call, SqliteReembedding& reembedding, Embedder& embedder, CorpusId corpus,
                                 const std::function<void()>& forget_copies, const OnReembedded& on_progress);

}  // namespace footnote::upkeep
