#include "answer/answer_verdict.h"

#include <algorithm>
#include <string>

#include "answer/quote.h"
#include "answer/sentence_cutter.h"
#include "base/fold_words.h"
#include "base/text.h"
#include "retrieve/words.h"

namespace footnote::answer {

namespace {

/// Words of sentences that are about the answer, not about its subject.
constexpr std::string_view kFillers[] = {
    "a",        "above",     "according", "an",      "and",   "answer", "answers", "are",         "as",   "based", "below", "context",
    "document", "documents", "following", "from",    "given", "here",   "in",      "information", "is",   "it",    "of",    "on",
    "provided", "question",  "source",    "sources", "sure",  "that",   "the",     "these",       "this", "to",    "was",   "your"};

bool is_filler(std::string_view word) { return word.empty() || std::ranges::find(kFillers, word) != std::end(kFillers); }

/// Whether a sentence has no word of its own: "The answer to your question is".
bool is_filling(const std::string& folded) { return std::ranges::all_of(split(folded, ' '), is_filler); }

/// What one sentence contributes.
enum class Kind { kNothing, kEcho, kSmallTalk, kClaim };

class Judge {
 public:
  explicit Judge(const SaidText& said)
      : said_(said), question_(fold_words(said.question)), question_words_(retrieve::content_words(said.question)) {}

  AnswerVerdict verdict() {
    for (const SaidSentence& sentence : said_.sentences) add(sentence);
    AnswerVerdict out;
    const std::size_t sentences = cited_ + uncited_;
    if (sentences > 0)
      out.supported =
          (static_cast<double>(supported_) + unchecked_weight() * static_cast<double>(unchecked_)) / static_cast<double>(sentences);
    out.has_doubt = has_mark_ || uncited_ > 0;
    out.makes_claim = makes_claim_;
    out.no_answer = no_answer(out.supported);
    return out;
  }

 private:
  std::string_view text_of(const SaidSentence& sentence) const { return said_.text.substr(sentence.range.begin, sentence.range.size()); }

  Kind kind_of(const SaidSentence& sentence) const {
    if (sentence.in_code) return Kind::kClaim;
    const std::string_view raw = trim(text_of(sentence));
    const std::string plain = plain_quote(raw);
    const std::string folded = fold_words(plain);
    if (folded == question_) return Kind::kEcho;
    if (raw.starts_with('#') || plain.ends_with(':') || is_filling(folded)) return Kind::kNothing;
    std::vector<std::string> words = retrieve::content_words(plain);
    std::erase_if(words, is_filler);
    const bool is_echo = retrieve::share_of(words, question_words_) == 1;
    if (plain.ends_with('?')) return is_echo ? Kind::kEcho : Kind::kSmallTalk;
    if (sentence.is_cited) return Kind::kClaim;
    if (is_echo) return Kind::kEcho;
    return states_something(raw) ? Kind::kClaim : Kind::kSmallTalk;
  }

  void add(const SaidSentence& sentence) {
    switch (kind_of(sentence)) {
      case Kind::kNothing: return;
      case Kind::kEcho: has_echo_ = true; return;
      case Kind::kSmallTalk:
        has_words_ = true;
        makes_claim_ = makes_claim_ || std::ranges::any_of(text_of(sentence), is_ascii_digit);
        return;
      case Kind::kClaim: break;
    }
    has_words_ = true;
    if (sentence.in_code && !sentence.is_cited) return;
    makes_claim_ = true;
    if (!sentence.is_cited) {
      ++uncited_;
      return;
    }
    ++cited_;
    switch (sentence.support) {
      case Support::kSupported: ++supported_; break;
      case Support::kUnsupported:
        has_mark_ = true;
        ++(said_.is_checked ? unsupported_ : unchecked_);
        break;
      case Support::kUnchecked: ++unchecked_; break;
    }
  }

  double unchecked_weight() const { return said_.is_checked ? 0.5 : 1; }

  std::optional<NoAnswer> no_answer(double supported) const {
    if (said_.loops) return NoAnswer::kLoop;
    if (supported_ + unchecked_ == 0) {
      if (said_.recites) return NoAnswer::kEcho;
      if (cited_ > 0 || said_.is_withheld) return NoAnswer::kUnsupported;
      return has_words_ ? NoAnswer::kUncited : has_echo_ ? NoAnswer::kEcho : NoAnswer::kEmpty;
    }
    if (!said_.is_checked || supported >= kSupportedShareMin) return std::nullopt;
    return unsupported_ >= uncited_ ? NoAnswer::kUnsupported : NoAnswer::kUncited;
  }

  const SaidText& said_;
  const std::string question_;
  const std::vector<std::string> question_words_;
  std::size_t cited_ = 0, uncited_ = 0, supported_ = 0, unsupported_ = 0, unchecked_ = 0;
  bool has_words_ = false;
  bool has_mark_ = false;  // a sentence is marked as unsupported
  bool has_echo_ = false;
  bool makes_claim_ = false;
};

}  // namespace

std::string_view to_string(NoAnswer reason) {
  switch (reason) {
    case NoAnswer::kLoop: return "loop";
    case NoAnswer::kEcho: return "echo";
    case NoAnswer::kEmpty: return "empty";
    case NoAnswer::kUncited: return "uncited";
    case NoAnswer::kUnsupported: return "unsupported";
  }
  return "unsupported";
}

AnswerVerdict judge_answer(const SaidText& said) { return Judge(said).verdict(); }

double said_confidence(const AnswerVerdict& verdict, double evidence) {
  const double confidence = evidence * std::clamp(verdict.supported, 0.0, 1.0);
  return verdict.has_doubt ? std::min(confidence, kDoubtfulConfidenceMax) : confidence;
}

}  // namespace footnote::answer
