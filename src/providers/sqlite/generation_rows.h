#pragma once

#include "base/clock.h"
#include "domain/ids.h"
#include "engine/sql/database.h"

namespace footnote {

/// The steps of a transaction that makes a new generation of a corpus, for the classes of this directory.

/// Ends a version with its chunks and edges.
Result<void> bury_version(sql::Database& database, Generation generation, UtcTime now, std::int64_t document, int version);
/// Keeps a buried version, and lets go of the one that is then too old.
Result<void> keep_version(sql::Database& database, std::int64_t document, int version);
/// Marks a document as deleted: none of its versions is kept. REQUIRES: its newest version is buried.
Result<void> mark_document_deleted(sql::Database& database, UtcTime now, std::int64_t document);
/// Makes `generation` the corpus's newest, with a stamp of its own.
Result<void> publish_generation(sql::Database& database, CorpusId corpus, Generation generation);

}  // namespace footnote
