#include "fakes/fake_embedder.h"

#include <algorithm>
#include <cmath>

#include "fakes/words.h"

namespace footnote::fakes {

namespace {

std::uint64_t fnv1a(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (unsigned char byte : text) hash = (hash ^ byte) * 0x100000001b3;
  return hash;
}

std::uint64_t split_mix(std::uint64_t& state) {
  std::uint64_t z = (state += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

/// Adds the word's direction: +1 or -1 in each dimension, by the word's hash.
void add_direction(std::string_view stem, std::vector<float>& sum) {
  std::uint64_t state = fnv1a(stem);
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < sum.size(); ++i) {
    if (i % 64 == 0) bits = split_mix(state);
    sum[i] += (bits >> (i % 64)) & 1 ? 1.0f : -1.0f;
  }
}

void normalise(std::vector<float>& values) {
  double squares = 0;
  for (float value : values) squares += static_cast<double>(value) * value;
  for (float& value : values) value = static_cast<float>(value / std::sqrt(squares));
}

}  // namespace

EmbeddingSpace FakeEmbedder::space() const { return {"fake-bag-of-words", options_.dimension}; }

std::string_view FakeEmbedder::meaning_of(const Word& word) const {
  const auto synonym = synonyms_.find(word.stem);
  return synonym == synonyms_.end() ? word.stem : synonym->second;
}

void FakeEmbedder::add_codes(std::span<const Word> words, EmbedKind kind, Embedding& out) const {
  const auto dimension = static_cast<std::size_t>(options_.dimension);
  out.passage_codes = {.form = code_form(), .dimension = static_cast<std::uint32_t>(dimension), .signs = {}, .windows = {0}};
  out.question_codes = {code_form(), static_cast<std::uint32_t>(dimension), {}};
  for (const Word& word : words) {
    if (word.function) continue;
    std::vector<float> direction(dimension, 0.0f);
    add_direction(meaning_of(word), direction);
    std::vector<std::byte> signs(dimension / 8);
    for (std::size_t i = 0; i < dimension; ++i) signs[i / 8] |= static_cast<std::byte>((direction[i] > 0) << (i % 8));
    out.passage_codes.signs.insert(out.passage_codes.signs.end(), signs.begin(), signs.end());
    ++out.passage_codes.windows[0];
    normalise(direction);
    out.question_codes.tokens.insert(out.question_codes.tokens.end(), direction.begin(), direction.end());
  }
  if (kind == EmbedKind::kQuery) {
    out.passage_codes = {};
  } else {
    out.question_codes = {};
  }
}

std::vector<float> FakeEmbedder::vector_of(std::span<const Word> words, VectorLength length) const {
  std::vector<float> sum(static_cast<std::size_t>(options_.dimension), 0.0f);
  for (const Word& word : words) {
    if (!word.function) add_direction(meaning_of(word), sum);
  }
  if (std::ranges::all_of(sum, [](float value) { return value == 0; })) sum[0] = 1;  // A text without content words also gets a vector.
  if (length == VectorLength::kUnit) normalise(sum);
  return sum;
}

Embedding FakeEmbedder::embed_one(std::string_view text, const EmbedOptions& options) const {
  const std::vector<Word> words = words_of(text);
  const std::span<const Word> all(words);
  Embedding out{.windows = {}, .tokens = words.size(), .truncated = false};
  if (options.codes) add_codes(all, options.kind, out);
  for (std::size_t first = 0;;) {
    const std::size_t count = std::min(options_.window_words, words.size() - first);
    const bool last = first + count == words.size();
    const std::size_t begin = first == 0 ? 0 : words[first].range.begin;
    const std::size_t end = last ? text.size() : words[first + count - 1].range.end;
    out.windows.push_back({{begin, end}, vector_of(all.subspan(first, count), options.length)});
    if (last) return out;
    if (options.overflow == Overflow::kTruncate) {
      out.truncated = true;
      return out;
    }
    first += options_.window_words - options_.overlap_words;
  }
}

Result<std::vector<Embedding>> FakeEmbedder::embed(const CallContext& call, std::span<const std::string_view> texts,
                                                   const EmbedOptions& options) {
  FOOTNOTE_CHECK(call.check());
  FOOTNOTE_CHECK(faults_.next());
  MutexLock lock(mutex_);
  texts_ += texts.size();
  std::vector<Embedding> out;
  for (std::string_view text : texts) out.push_back(embed_one(text, options));
  return out;
}

void FakeEmbedder::speak(std::vector<std::string> languages) {
  MutexLock lock(mutex_);
  languages_ = std::move(languages);
}

std::vector<std::string> FakeEmbedder::languages() const {
  MutexLock lock(mutex_);
  return languages_;
}

void FakeEmbedder::add_synonym(std::string_view word, std::string_view same_as) {
  const std::vector<Word> from = words_of(word), to = words_of(same_as);
  MutexLock lock(mutex_);
  synonyms_[from.at(0).stem] = to.at(0).stem;
}

std::size_t FakeEmbedder::texts() const {
  MutexLock lock(mutex_);
  return texts_;
}

}  // namespace footnote::fakes
