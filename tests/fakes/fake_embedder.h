#pragma once

#include <map>
#include <string>

#include "base/mutex.h"
#include "fakes/faults.h"
#include "ports/embedder.h"

namespace footnote::fakes {

struct Word;

struct FakeEmbedderOptions {
  int dimension = 128;
  std::size_t window_words = 120;  ///< The model's window: one token is one word.
  std::size_t overlap_words = 20;
};

/// Bags of words: each content word has a fixed direction, and a text is the normalised sum of its words. Texts with the same words have
/// cosine 1, texts without a common word about 0. Deterministic on every machine. Thread-safe.
class FakeEmbedder : public Embedder {
 public:
  explicit FakeEmbedder(FakeEmbedderOptions options = {}) : options_(options) {}

  EmbeddingSpace space() const override;
  /// Each content word is a token; its signs are those of its direction.
  std::uint32_t code_form() const override { return 1; }
  Result<std::vector<Embedding>> embed(const CallContext& call, std::span<const std::string_view> texts,
                                       const EmbedOptions& options) override;

  /// Limits it to these languages; initially it is unrestricted.
  void speak(std::vector<std::string> languages);
  std::vector<std::string> languages() const override;
  /// Makes `word` a synonym of `same_as`.
  void add_synonym(std::string_view word, std::string_view same_as);
  Faults& faults() { return faults_; }
  /// Number of texts embedded so far.
  std::size_t texts() const;

 private:
  Embedding embed_one(std::string_view text, const EmbedOptions& options) const FOOTNOTE_TSA(requires_capability(mutex_));
  void add_codes(std::span<const Word> words, EmbedKind kind, Embedding& out) const FOOTNOTE_TSA(requires_capability(mutex_));
  std::string_view meaning_of(const Word& word) const FOOTNOTE_TSA(requires_capability(mutex_));
  std::vector<float> vector_of(std::span<const Word> words, VectorLength length) const FOOTNOTE_TSA(requires_capability(mutex_));

  const FakeEmbedderOptions options_;
  Faults faults_;
  mutable Mutex mutex_;
  std::map<std::string, std::string> synonyms_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::vector<std::string> languages_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::size_t texts_ FOOTNOTE_TSA(guarded_by(mutex_)) = 0;
};

}  // namespace footnote::fakes
