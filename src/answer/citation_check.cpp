#include "answer/citation_check.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "answer/quote.h"
#include "base/utf8.h"
#include "chunk/sentences.h"
#include "retrieve/words.h"

namespace footnote::answer {

namespace {

/// Weights of the log odds, fitted by eval/grounding/fit_support.py on synthetic claims. Those copy more words than people do, so with
/// relevance the weights favour cosine (docs/adr/0019-citation-check.md).
struct SupportWeights {
  double relevance, word_share, cosine, bias;
};
constexpr SupportWeights kWithRelevance{.relevance = 0.3, .word_share = 2, .cosine = 8, .bias = -5.0};
constexpr SupportWeights kWithoutRelevance{.relevance = 0, .word_share = 4.965, .cosine = 5.632, .bias = -5.184};

/// Lowers the score of a breach, for ranking claims. The verdict is unsupported regardless.
constexpr double kBreachPenalty = 1;

/// Two sentences that differ only by a negation share at least this part of their words, both ways.
constexpr double kSameClaimShare = 0.8;
constexpr double kSameSentenceShare = 0.6;

/// A part of a passage and its overlap with the claim.
struct Part {
  std::size_t passage = 0;
  TextRange range;
  double share = 0;
  double cosine = 0;
};

double dot(const std::vector<float>& a, const std::vector<float>& b) { return std::inner_product(a.begin(), a.end(), b.begin(), 0.0); }

/// The check of one claim against its passages.
class ClaimReading {
 public:
  ClaimReading(std::string_view claim, std::span<const CitedPassage> passages)
      : claim_(utf8_prefix(claim, CitationCheck::kClaimBytesMax)), words_(retrieve::content_words(claim_)), passages_(passages) {
    std::size_t room = CitationCheck::kPassageBytesMax;
    for (std::size_t i = 0; i < passages_.size(); ++i) {
      const std::string_view text = utf8_prefix(passages_[i].text, room);
      room -= text.size();
      read_passage(i, text);
    }
    keep_best(windows_, CitationCheck::kWindowsMax);
    keep_best(sentences_, CitationCheck::kSentencesMax);
  }

  double word_share() const { return retrieve::share_of(words_, retrieve::content_words(evidence_)); }
  bool nothing_to_read() const { return sentences_.empty(); }

  Result<void> embed(const CallContext& call, Embedder& embedder) {
    std::vector<std::string_view> texts{claim_};
    for (const Part& part : sentences_) texts.push_back(text_of(part));
    for (const Part& part : windows_) texts.push_back(text_of(part));
    FOOTNOTE_TRY(const auto vectors, embedder.embed(call, texts, {.kind = EmbedKind::kPassage, .overflow = Overflow::kTruncate}));
    const auto cosine = [&](std::size_t i) { return dot(vectors[0].windows[0].values, vectors[i].windows[0].values); };
    for (std::size_t i = 0; i < sentences_.size(); ++i) sentences_[i].cosine = cosine(1 + i);
    for (std::size_t i = 0; i < windows_.size(); ++i) windows_[i].cosine = cosine(1 + sentences_.size() + i);
    return {};
  }

  double best_cosine() const {
    double best = -1;
    for (const Part& part : sentences_) best = std::max(best, part.cosine);
    for (const Part& part : windows_) best = std::max(best, part.cosine);
    return best;
  }

  Result<double> best_relevance(const CallContext& call, Reranker& reranker) const {
    std::vector<std::string_view> texts;
    texts.reserve(windows_.size());
    for (const Part& part : windows_) texts.push_back(text_of(part));
    FOOTNOTE_TRY(const auto judged, reranker.rerank(call, claim_, texts));
    return std::ranges::max(judged, {}, &Judgement::raw).raw;
  }

  /// The sentence closest by words and meaning together.
  const Part& best_sentence() const {
    return *std::ranges::max_element(sentences_, {}, [](const Part& part) { return part.share + part.cosine; });
  }

  std::optional<Breach> breach() const {
    if (const auto found = first_breach(claim_, evidence_)) return found;
    const Part& best = best_sentence();
    const std::string_view sentence = text_of(best);
    const bool same = best.share >= kSameClaimShare && retrieve::share_of(retrieve::content_words(sentence), words_) >= kSameSentenceShare;
    return same && denies(sentence) != denies(claim_) ? std::optional(Breach::kNegation) : std::nullopt;
  }

 private:
  std::string_view text_of(const Part& part) const { return passages_[part.passage].text.substr(part.range.begin, part.range.size()); }

  void read_passage(std::size_t passage, std::string_view text) {
    evidence_.append(passages_[passage].about).append("\n").append(text).append("\n");
    const std::vector<TextRange> sentences = chunk::split_sentences(text);
    for (const TextRange& sentence : sentences) sentences_.push_back(part_of(passage, sentence));
    // Each window begins at the first sentence past the middle of the previous window.
    for (std::size_t first = 0; first < sentences.size();) {
      std::size_t last = first;
      while (last + 1 < sentences.size() && sentences[last + 1].end - sentences[first].begin <= CitationCheck::kWindowBytes) ++last;
      windows_.push_back(part_of(passage, {sentences[first].begin, sentences[last].end}));
      if (last + 1 == sentences.size()) break;
      const std::size_t middle = sentences[first].begin + CitationCheck::kWindowBytes / 2;
      std::size_t next = first + 1;
      while (next < last && sentences[next].begin < middle) ++next;
      first = next;
    }
  }

  Part part_of(std::size_t passage, TextRange range) const {
    const std::string_view text = passages_[passage].text.substr(range.begin, range.size());
    return {passage, range, retrieve::share_of(words_, retrieve::content_words(text))};
  }

  /// Keeps text order, so that ties go to the first.
  static void keep_best(std::vector<Part>& parts, std::size_t count) {
    if (parts.size() <= count) return;
    std::ranges::stable_sort(parts, std::ranges::greater{}, &Part::share);
    parts.resize(count);
  }

  const std::string_view claim_;
  const std::vector<std::string> words_;
  const std::span<const CitedPassage> passages_;
  std::string evidence_;
  std::vector<Part> sentences_;
  std::vector<Part> windows_;
};

}  // namespace

double support_score(const SupportSignals& signals) {
  const SupportWeights& weights = signals.relevance ? kWithRelevance : kWithoutRelevance;
  return weights.relevance * signals.relevance.value_or(0) + weights.word_share * signals.word_share + weights.cosine * signals.cosine +
         weights.bias;
}

Result<SupportVerdict> CitationCheck::check(const CallContext& call, std::string_view claim, std::span<const CitedPassage> passages) const {
  ClaimReading reading(claim, passages);
  SupportVerdict verdict{.support = Support::kUnsupported};
  verdict.signals.word_share = reading.word_share();
  if (reading.nothing_to_read()) return verdict;
  FOOTNOTE_CHECK(reading.embed(call, embedder_));
  verdict.signals.cosine = reading.best_cosine();
  if (reranker_ != nullptr) {
    const auto relevance = reading.best_relevance(call, *reranker_);
    if (relevance) verdict.signals.relevance = *relevance;
    if (!relevance) FOOTNOTE_CHECK(call.check());
  }
  verdict.breach = reading.breach();
  verdict.score = support_score(verdict.signals) - (verdict.breach ? kBreachPenalty : 0);
  verdict.passage = reading.best_sentence().passage;
  verdict.range = reading.best_sentence().range;
  if (verdict.score > 0 && !verdict.breach) verdict.support = Support::kSupported;
  return verdict;
}

}  // namespace footnote::answer
