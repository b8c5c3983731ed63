#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "answer/answer_service.h"
#include "fakes/fake_embedder.h"
#include "fakes/fake_reader.h"
#include "ingest/index_sync.h"
#include "ingest/ingestor.h"
#include "providers/local/local_keyword_index.h"
#include "providers/local/local_vector_store.h"
#include "providers/sqlite/sqlite_catalog_store.h"
#include "providers/sqlite/sqlite_chunk_store.h"
#include "providers/sqlite/sqlite_conversation_store.h"
#include "providers/sqlite/sqlite_store.h"
#include "retrieve/retriever.h"

namespace footnote::stress {

/// The engine as a server runs it: the real store on disk, the real indexes, ingestor, retriever and answer service. Only the models are
/// fakes, which are fast and deterministic. One object represents one run of a process; a restart creates another on the same folder.
struct Engine {
  Engine(const std::filesystem::path& folder, const Clock& clock)
      : store(SqliteStore::open(folder, {.wal_bytes_max = 256 << 10}, clock).value()),
        chunks(*store),
        catalog(*store),
        conversations(*store),
        sync(chunks, {&vectors, &keywords}, clock),
        ingestor(chunks, embedder, &sync),
        retriever({embedder, vectors, keywords, chunks}),
        answers({.retriever = retriever, .reader = reader, .conversations = conversations, .clock = clock}) {}

  std::unique_ptr<SqliteStore> store;
  SqliteChunkStore chunks;
  SqliteCatalogStore catalog;
  SqliteConversationStore conversations;
  fakes::FakeEmbedder embedder;
  fakes::FakeReader reader;
  LocalVectorStore vectors;
  LocalKeywordIndex keywords;
  ingest::IndexSync sync;
  ingest::Ingestor ingestor;
  retrieve::Retriever retriever;
  answer::AnswerService answers;
};

}  // namespace footnote::stress
