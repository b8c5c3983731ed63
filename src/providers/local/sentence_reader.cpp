#include "providers/local/sentence_reader.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <tuple>
#include <unordered_set>

#include "base/text.h"
#include "engine/bm25/analyzer.h"
#include "providers/local/question_form.h"

namespace footnote {
namespace {

// Questions and table headers repeat the question's words but answer nothing.
constexpr double kAsideFactor = 0.8;
// A line of at most this many words without a full stop is a heading, not a sentence.
constexpr std::size_t kHeadingWordsMax = 9;

bool has_digit(std::string_view text) { return text.find_first_of("0123456789") != std::string_view::npos; }

bool is_heading(std::string_view sentence) {
  const std::string_view text = trim(sentence);
  if (text.empty() || text.front() == '#') return true;
  const bool list_item = text.starts_with("- ") || text.starts_with("* ") || text.starts_with("+ ");
  if (list_item || has_digit(text) || text.find('|') != std::string_view::npos) return false;
  const bool stopped =
      std::string_view(".!?:;\"'`").find(text.back()) != std::string_view::npos || static_cast<unsigned char>(text.back()) >= 0x80;
  return !stopped && static_cast<std::size_t>(std::ranges::count(text, ' ')) < kHeadingWordsMax;
}

bool is_aside(std::string_view sentence) {
  const std::string_view text = trim(sentence);
  return text.ends_with('?') || (text.find('|') != std::string_view::npos && !has_digit(text));
}

double share_of(const std::vector<std::string>& wanted, const std::unordered_set<std::string>& held) {
  if (wanted.empty()) return 0;
  const auto found = std::count_if(wanted.begin(), wanted.end(), [&](const std::string& term) { return held.contains(term); });
  return static_cast<double>(found) / static_cast<double>(wanted.size());
}

/// Vectors have unit length; a sentence longer than the window counts by its best part.
double best_cosine(std::span<const float> question, const Embedding& sentence) {
  double best = 0;
  for (const WindowVector& window : sentence.windows) {
    if (window.values.size() != question.size()) continue;
    best = std::max(best, std::inner_product(question.begin(), question.end(), window.values.begin(), 0.0));
  }
  return std::min(best, 1.0);
}

}  // namespace

std::vector<SentenceReader::Sentence> SentenceReader::find_sentences(std::string_view question,
                                                                     std::span<const ReaderPassage> passages) const {
  bm25::Analyzer analyzer;
  const auto wanted = analyzer.content_terms(question);
  std::vector<Sentence> out;
  for (std::size_t p = 0; p < passages.size(); ++p) {
    std::size_t ordinal = 0;
    const std::string_view passage = passages[p].text;
    for (const TextRange& range : split_(passage)) {
      if (range.end > passage.size() || range.begin >= range.end) continue;
      ++ordinal;  // also for headings: sentences on both sides of one are not quoted together
      const std::string_view text = passage.substr(range.begin, range.size());
      if (is_heading(text)) continue;
      const auto held = analyzer.terms(text);
      out.push_back({p, ordinal, range, share_of(wanted, {held.begin(), held.end()}), 0});
    }
  }
  if (out.size() <= kSentencesMax) return out;
  std::sort(out.begin(), out.end(),
            [](const Sentence& a, const Sentence& b) { return a.words != b.words ? a.words > b.words : a.place() < b.place(); });
  out.resize(kSentencesMax);
  std::sort(out.begin(), out.end(), [](const Sentence& a, const Sentence& b) { return a.place() < b.place(); });
  return out;
}

Result<void> SentenceReader::score(const CallContext& call, std::string_view question, std::span<const ReaderPassage> passages,
                                   std::vector<Sentence>& sentences) const {
  std::vector<std::string_view> texts;
  texts.reserve(sentences.size());
  for (const Sentence& sentence : sentences) {
    texts.push_back(passages[sentence.passage].text.substr(sentence.range.begin, sentence.range.size()));
  }
  const std::string_view asked[] = {question};
  FOOTNOTE_TRY(const auto question_embedding, embedder_.embed(call, asked, {EmbedKind::kQuery, Overflow::kTruncate}));
  FOOTNOTE_TRY(const auto embeddings, embedder_.embed(call, texts, {EmbedKind::kPassage, Overflow::kWindows}));
  if (question_embedding.size() != 1 || question_embedding[0].windows.empty() || embeddings.size() != texts.size()) {
    return fail(ErrorCode::kInternal, "the embedder gave {} vectors for {} sentences", embeddings.size(), texts.size());
  }
  const auto& vector = question_embedding[0].windows[0].values;
  std::vector<double> own(sentences.size());
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    const double mixed = (1 - options_.words_weight) * best_cosine(vector, embeddings[i]) + options_.words_weight * sentences[i].words;
    own[i] = mixed * (is_aside(texts[i]) ? kAsideFactor : 1.0);
  }
  const auto neighbour = [&](std::size_t i, std::size_t j) {
    const bool beside = j < sentences.size() && sentences[j].passage == sentences[i].passage &&
                        (sentences[j].ordinal + 1 == sentences[i].ordinal || sentences[i].ordinal + 1 == sentences[j].ordinal);
    return beside ? own[j] : 0.0;
  };
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    const double beside = (i > 0 ? neighbour(i, i - 1) : 0.0) + neighbour(i, i + 1);
    sentences[i].score = (own[i] + options_.neighbour_weight * beside) / (1 + 2 * options_.neighbour_weight);
  }
  return {};
}

void SentenceReader::add_answers(std::span<const ReaderPassage> passages, std::vector<Sentence>& sentences) const {
  for (Sentence& sentence : sentences) {
    const std::optional<FoundAnswer>& answer = passages[sentence.passage].found;
    // Assign the answer to the sentence in which it begins; cut it at that sentence's end.
    if (!answer || answer->range.begin < sentence.range.begin || answer->range.begin >= sentence.range.end) continue;
    sentence.answer = answer;
    sentence.answer->range.end = std::min(answer->range.end, sentence.range.end);
    sentence.score += options_.answer_weight * answer->probability;
  }
}

std::optional<TextRange> SentenceReader::short_answer(const Sentence& sentence) const {
  if (!sentence.answer || sentence.answer->probability < options_.answer_probability_min) return std::nullopt;
  const TextRange range = sentence.answer->range;
  // If the answer is most of its sentence, do not repeat it.
  const bool is_short = range.size() <= options_.answer_bytes_max && 2 * range.size() <= sentence.range.size();
  return is_short ? std::optional(range) : std::nullopt;
}

Reading SentenceReader::choose(std::vector<Sentence> sentences, bool wants_words) const {
  const auto beside = [](const Sentence& a, const Sentence& b) {
    return a.passage == b.passage && (a.ordinal + 1 == b.ordinal || b.ordinal + 1 == a.ordinal);
  };
  std::sort(sentences.begin(), sentences.end(),
            [](const Sentence& a, const Sentence& b) { return a.score != b.score ? a.score > b.score : a.place() < b.place(); });
  const double floor = std::max(sentences.front().score * options_.relative_min, options_.score_min);
  std::vector<Sentence> picked;
  std::size_t apart = 0;  // picked without a picked neighbour: at least the number of spans
  for (const Sentence& sentence : sentences) {
    if (sentence.score < floor || picked.size() == options_.sentences_max) break;
    const bool joins = std::any_of(picked.begin(), picked.end(), [&](const Sentence& other) { return beside(sentence, other); });
    if (!joins && apart == options_.spans_max) continue;
    apart += !joins;
    picked.push_back(sentence);
  }
  std::sort(picked.begin(), picked.end(), [](const Sentence& a, const Sentence& b) { return a.place() < b.place(); });
  // Only the best sentence gives a short answer: a second one could contradict it.
  const std::optional<TextRange> answer = wants_words ? short_answer(sentences.front()) : std::nullopt;
  const std::size_t answering = sentences.front().passage;
  Reading reading;
  for (std::size_t i = 0; i < picked.size(); ++i) {
    const double score = std::clamp(picked[i].score, 0.0, 1.0);
    if (i > 0 && beside(picked[i - 1], picked[i])) {
      ReadSpan& span = reading.spans.back();
      span.range.end = picked[i].range.end;
      span.score = std::max(span.score, score);
    } else {
      reading.spans.push_back({picked[i].passage, picked[i].range, score});
    }
  }
  for (ReadSpan& span : reading.spans) {
    if (answer && span.passage == answering && span.range.begin <= answer->begin && answer->end <= span.range.end) {
      span.answer = answer;
      span.answers_alone = true;
    }
  }
  std::sort(reading.spans.begin(), reading.spans.end(), [](const ReadSpan& a, const ReadSpan& b) {
    return std::tuple(-a.score, a.passage, a.range.begin) < std::tuple(-b.score, b.passage, b.range.begin);
  });
  return reading;
}

Result<Reading> SentenceReader::read(const CallContext& call, const ReaderQuestion& question, std::span<const ReaderPassage> passages) {
  FOOTNOTE_CHECK(call.check());
  if (options_.spans_max == 0 || options_.sentences_max == 0) return Reading{};
  auto sentences = find_sentences(question.text, passages);
  if (sentences.empty()) return Reading{};
  FOOTNOTE_CHECK(score(call, question.text, passages, sentences));
  add_answers(passages, sentences);
  return choose(std::move(sentences), asks_for_words(question.text));
}

}  // namespace footnote
