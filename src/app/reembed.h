#pragma once

#include <functional>

#include "ports/embedder.h"
#include "providers/sqlite/sqlite_reembedding.h"

namespace footnote::app {

/// Chunks that are embedded and written down in one step: what a killed rebuild does again.
inline constexpr std::size_t kReembedBatch = 64;

using OnReembedded = std::function<void(const SqliteReembedding::Progress&)>;

/// Gives every chunk of a corpus that has none vectors of the embedder's space, those too that come meanwhile; returns when none is
/// missing. What was done stays when it is stopped. The corpus itself does not change.
Result<void> embed_missing(const CallContext& call, SqliteReembedding& reembedding, Embedder& embedder, CorpusId corpus,
                           const OnReembedded& on_progress);

/// Gives every chunk with a text token codes of the form that the embedder makes now, where it has others or none; its vectors stay. The
/// result is their number: 0 for an embedder that makes no codes. What was done stays when it is stopped.
/// REQUIRES: the corpus is of the embedder's space.
Result<std::int64_t> renew_codes(const CallContext& call, SqliteReembedding& reembedding, Embedder& embedder, CorpusId corpus,
                                 const OnReembedded& on_progress);

}  // namespace footnote::app
