#include "eval/calibrate_probes.h"

#include <algorithm>

#include "base/text.h"
#include "chunk/sentences.h"
#include "retrieve/words.h"

namespace footnote::eval {
namespace {

constexpr std::size_t kPageRows = 500;
constexpr std::size_t kQuestionWordsMin = 3;
constexpr std::size_t kQuestionWordsMax = 7;
constexpr std::size_t kTitleWordsMin = 2;
constexpr std::string_view kOwn = "own";

/// Live documents, evenly sampled if there are more than the limit.
Result<std::vector<Document>> some_documents(const CallContext& call, const ChunkReader& chunks, CorpusId corpus) {
  std::vector<Document> all;
  std::string after;
  for (;;) {
    FOOTNOTE_TRY(auto page, chunks.documents(call, corpus, after, kPageRows));
    const bool last = page.size() < kPageRows;
    if (!page.empty()) after = page.back().key;
    std::ranges::move(page, std::back_inserter(all));
    if (last) break;
  }
  if (all.size() <= kProbeDocumentsMax) return all;
  std::vector<Document> out;
  for (std::size_t i = 0; i < kProbeDocumentsMax; ++i) out.push_back(std::move(all[i * all.size() / kProbeDocumentsMax]));
  return out;
}

/// Questions made from sentences spread over a text, at most `count`.
std::vector<std::string> questions_of(std::string_view text, std::size_t count) {
  std::vector<std::string> all;
  for (const TextRange& sentence : chunk::split_sentences(text)) {
    std::string question = keyword_question(text.substr(sentence.begin, sentence.size()));
    if (!question.empty()) all.push_back(std::move(question));
  }
  if (all.size() <= count) return all;
  std::vector<std::string> out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(std::move(all[(2 * i + 1) * all.size() / (2 * count)]));
  return out;
}

}  // namespace

std::string keyword_question(std::string_view sentence) {
  const std::vector<std::string> words = retrieve::content_words(sentence);  // in alphabetical order
  std::vector<std::string> kept;
  for (std::size_t i = 0; i < words.size() && kept.size() < kQuestionWordsMax; i += 2) kept.push_back(words[i]);
  return kept.size() < kQuestionWordsMin ? std::string() : join(kept, " ") + "?";
}

Result<std::vector<Probe>> corpus_probes(const CallContext& call, const ChunkReader& chunks, const Corpus& corpus, std::size_t count) {
  FOOTNOTE_TRY(const auto documents, some_documents(call, chunks, corpus.id));
  if (documents.empty()) return std::vector<Probe>{};
  const std::size_t each = std::clamp<std::size_t>((count + documents.size() - 1) / documents.size(), 1, kProbesPerDocumentMax);
  std::vector<Probe> out;
  const auto add = [&](std::string question) {
    if (out.size() < count) out.push_back({std::move(question), std::string(kOwn)});
  };
  for (const Document& document : documents) {
    FOOTNOTE_CHECK(call.check());
    const std::string& title = document.attributes.title;
    if (retrieve::content_words(title).size() >= kTitleWordsMin) add(title);
    FOOTNOTE_TRY(const DocumentText text, chunks.document_text(call, corpus.workspace, document.id, 0));
    for (std::string& question : questions_of(text.text, each)) add(std::move(question));
  }
  return out;
}

}  // namespace footnote::eval
