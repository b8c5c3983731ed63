#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "answer/answer_service.h"
#include "fakes/fake_embedder.h"
#include "fakes/fake_llm.h"
#include "fakes/fake_reader.h"
#include "fakes/fake_reranker.h"
#include "fakes/memory_edge_store.h"
#include "fakes/memory_keyword_index.h"
#include "fakes/memory_store.h"
#include "fakes/memory_vector_store.h"
#include "ingest/index_sync.h"
#include "ingest/ingestor.h"
#include "recorder.h"
#include "retrieve/retriever.h"

namespace footnote::behaviour {

/// How a question ended, and what the client received.
struct Asked {
  Result<answer::TurnReport> report;
  std::vector<std::string> events;
  std::string heard;  ///< The texts that reached the client, joined.
  std::size_t llm_calls = 0;
};

/// The whole engine with fakes behind its ports: the real chunker, ingestor, index sync, retriever and answer
/// service. Starts empty at 2026-03-01 09:00 with the corpus "memory" and no language model.
class World {
 public:
  World();

  ingest::IngestReport put_document(const std::string& key, const std::string& content, const std::string& url = {});
  ingest::IngestReport delete_document(const std::string& key);
  /// Selects this corpus for the following commands; creates it if missing.
  void use_corpus(const std::string& name);
  Generation purge();

  Asked ask(const std::string& question);
  Result<retrieve::Retrieval> search(const std::string& question);

  /// The exact characters of a document version, as the store has them now.
  Result<std::string> text_at(const Citation& citation) const;
  std::vector<Gap> gaps() const;
  const Corpus& corpus() const { return corpus_; }
  const retrieve::Retriever& retriever() const { return retriever_; }
  WorkspaceId workspace() const { return workspace_; }
  /// The last prompt, all messages.
  std::string last_prompt() const;

  // Scenarios use these to prepare the world.
  ManualClock clock;
  fakes::MemoryStore store;
  fakes::MemoryEdgeStore edges{store};
  fakes::FakeEmbedder embedder;
  fakes::FakeReader reader;
  fakes::FakeLlm llm;
  fakes::FakeReranker reranker;
  fakes::MemoryVectorStore vectors;
  fakes::MemoryKeywordIndex keywords;
  Profile profile = kKnowledgeBaseProfile;
  ClientPlan client;
  chunk::ChunkOptions chunking;
  bool has_llm = false;
  answer::CheckPolicy check = answer::CheckPolicy::kOff;

 private:
  ingest::IndexSync sync_;
  ingest::Ingestor ingestor_;
  retrieve::Retriever retriever_;
  WorkspaceId workspace_;
  Corpus corpus_;
  SourceId source_;
};

}  // namespace footnote::behaviour
