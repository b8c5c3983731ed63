#include "world.h"

#include <gtest/gtest.h>

namespace footnote::behaviour {

World::World()
    : clock(*parse_rfc3339("2026-03-01T09:00:00Z")),
      store(clock),
      sync_(store, {&vectors, &keywords}, clock),
      ingestor_(store, embedder, &sync_),
      retriever_({embedder, vectors, keywords, store}),
      workspace_(store.find_workspace({}, kDefaultWorkspace)->id) {
  use_corpus(std::string(kDefaultCorpus));
}

void World::use_corpus(const std::string& name) {
  corpus_ = store.ensure_corpus({}, workspace_, name, embedder.space()).value();
  source_ = store.ensure_source({}, corpus_.id, SourceKind::kText, "")->id;
}

ingest::IngestReport World::put_document(const std::string& key, const std::string& content, const std::string& url) {
  const std::vector<ingest::MemoryDocument> documents = {{.key = key, .content = content, .url = url}};
  const auto report = ingestor_.ingest_documents({}, corpus_, source_, documents, {.chunking = chunking});
  EXPECT_TRUE(report.has_value()) << report.error().message;
  return report.value_or(ingest::IngestReport{});
}

ingest::IngestReport World::delete_document(const std::string& key) {
  const std::vector<std::string> keys = {key};
  const auto report = ingestor_.delete_documents({}, corpus_, keys);
  EXPECT_TRUE(report.has_value()) << report.error().message;
  return report.value_or(ingest::IngestReport{});
}

Generation World::purge() { return sync_.purge({}, corpus_.id).value(); }

Asked World::ask(const std::string& question) {
  const std::size_t calls_before = llm.calls();
  Recorder recorder(client, store);
  const answer::CitationCheck citation_check(embedder, &reranker);
  answer::CheckLane check_lane;
  const answer::AnswerService service({.retriever = retriever_,
                                       .reader = reader,
                                       .llm = has_llm ? &llm : nullptr,
                                       .conversations = store,
                                       .clock = clock,
                                       .checking = {&citation_check, check, &check_lane},
                                       .edges = &edges});
  auto report =
      service.answer(recorder.call(), {.workspace = workspace_, .corpus = corpus_.id, .text = question, .profile = profile}, recorder);
  clock.advance(std::chrono::seconds{1});  // no two turns have the same time
  EXPECT_EQ(llm.running(), 0u) << "no call to the model outlives its turn";
  return {std::move(report), recorder.events(), recorder.text(), llm.calls() - calls_before};
}

Result<retrieve::Retrieval> World::search(const std::string& question) {
  return retriever_.retrieve({}, corpus_.id, question, {.profile = profile});
}

Result<std::string> World::text_at(const Citation& citation) const {
  FOOTNOTE_TRY(const DocumentText document, store.document_text({}, workspace_, citation.document, citation.document_version));
  return document.text.substr(citation.support_range->begin, citation.support_range->size());
}

std::vector<Gap> World::gaps() const { return store.gaps({}, corpus_.id, 100).value(); }

std::string World::last_prompt() const {
  std::string out;
  if (llm.calls() == 0) return out;
  const ChatRequest request = llm.last_request();
  for (const ChatMessage& message : request.messages) out += message.content + "\n";
  return out;
}

}  // namespace footnote::behaviour
