#include "answer/model_stream.h"

#include <algorithm>
#include <span>
#include <utility>

#include "answer/bind_citations.h"
#include "answer/quote.h"
#include "base/text.h"
#include "prompt/kb_prompt.h"
#include "retrieve/words.h"

namespace footnote::answer {

namespace {

/// The range without leading and trailing white space.
TextRange trimmed(std::string_view text, TextRange range) {
  const std::string_view part = text.substr(range.begin, range.size());
  const std::string_view inner = trim(part);
  const std::size_t begin = range.begin + static_cast<std::size_t>(inner.data() - part.data());
  return {begin, begin + inner.size()};
}

/// A statement without a marker is compared with a source that has at least this share of its words.
constexpr double kLikelySourceShareMin = 0.5;

/// The markers in the range. They are in the order of the text.
std::span<const Marker> markers_in(const std::vector<Marker>& markers, TextRange range) {
  const auto begin = std::ranges::lower_bound(markers, range.begin, {}, &Marker::offset);
  const auto end = std::ranges::lower_bound(begin, markers.end(), range.end, {}, &Marker::offset);
  return {begin, end};
}

}  // namespace

std::string_view to_string(CheckPolicy policy) {
  switch (policy) {
    case CheckPolicy::kOff: return "off";
    case CheckPolicy::kMark: return "mark";
    case CheckPolicy::kDrop: return "drop";
    case CheckPolicy::kStop: return "stop";
  }
  return "off";
}

ModelStream::ModelStream(const CallContext& call, const std::vector<SourceBlock>& sources, TurnListener& listener, Options options)
    : call_(call), sources_(sources), listener_(listener), options_(options), filter_(static_cast<int>(sources.size())) {
  counts_.without_reranker = checks() && !options_.check->has_reranker();
  if (checks() && !holds() && options_.lane != nullptr)
    checker_ = std::make_unique<SentenceChecker>(call_, *options_.lane, *options_.check, sources_);
}

Result<void> ModelStream::take(std::string_view piece) {
  if (started_) return advance(filter_.feed(piece));
  opening_ += piece;
  if (prompt::kNoGroundedAnswer.starts_with(trim(opening_))) return {};
  started_ = true;
  return advance(filter_.feed(opening_));
}

bool ModelStream::refused() const { return !started_ && trim(opening_) == prompt::kNoGroundedAnswer; }

Result<void> ModelStream::finish() {
  if (!started_) {
    started_ = true;
    if (!trim(opening_).empty()) FOOTNOTE_CHECK(advance(filter_.feed(opening_)));
  }
  if (!stopped_) {
    FOOTNOTE_CHECK(advance(filter_.finish()));
    for (const SentenceUnit& unit : cutter_.finish(filter_.text())) {
      FOOTNOTE_CHECK(take_unit(unit));
      if (stopped_) break;
    }
  }
  if (checker_) FOOTNOTE_CHECK(apply_all(checker_->drain(std::chrono::steady_clock::now() + kSentenceCheckTimeout)));
  for (Sentence& sentence : sentences_) {
    if (!std::exchange(sentence.is_open, false)) continue;
    if (sentence.is_unmarked) FOOTNOTE_CHECK(note_uncited(sentence));
    if (!sentence.is_unmarked && checks()) ++counts_.unchecked;
  }
  // Bound citations were added as their checks ended.
  std::ranges::stable_sort(citations_, {}, [](const Citation& citation) { return citation.answer_range.begin; });
  std::ranges::sort(uncited_, {}, &TextRange::begin);
  return {};
}

std::vector<SaidSentence> ModelStream::said() const {
  std::vector<SaidSentence> out;
  out.reserve(sentences_.size());
  for (const Sentence& sentence : sentences_) {
    out.push_back({sentence.range, sentence.in_code, sentence.citation_count > 0, sentence.support});
  }
  return out;
}

Result<void> ModelStream::advance(const std::string& fresh) {
  if (!holds() && !fresh.empty()) FOOTNOTE_CHECK(show(fresh));
  for (const SentenceUnit& unit : cutter_.feed(filter_.text())) {
    FOOTNOTE_CHECK(take_unit(unit));
    if (stopped_) return fail(ErrorCode::kCancelled, "the answer was stopped at an unsupported sentence");
  }
  return checker_ ? apply_all(checker_->take()) : Result<void>{};
}

Result<void> ModelStream::show(std::string_view text) {
  if (!announced_) {
    announced_ = true;
    FOOTNOTE_CHECK(listener_.on_sources(sources_));
  }
  shown_ += text;
  return listener_.on_text(text);
}

CheckTask ModelStream::task_of(const SentenceUnit& unit) const {
  CheckTask task{.sentence = sentences_.size(), .claim = {}, .numbers = {}};
  for (const Marker& marker : markers_in(filter_.markers(), unit.range)) {
    if (std::ranges::find(task.numbers, marker.number) == task.numbers.end()) task.numbers.push_back(marker.number);
  }
  if (!task.numbers.empty()) task.claim = plain_quote(text_of(unit));
  return task;
}

std::string_view ModelStream::text_of(const SentenceUnit& unit) const {
  return std::string_view(filter_.text()).substr(unit.range.begin, unit.range.size());
}

/// Binds the markers of a unit that begins at offset `shown_at` of the shown text; returns the sentence's index.
std::size_t ModelStream::bind(const SentenceUnit& unit, std::size_t shown_at) {
  const std::string_view text = text_of(unit);
  std::vector<Marker> markers;
  for (const Marker& marker : markers_in(filter_.markers(), unit.range)) {
    markers.push_back({marker.number, marker.offset - unit.range.begin});
  }
  Sentence sentence{
      .range = trimmed(shown_, {shown_at, shown_at + text.size()}), .first_citation = citations_.size(), .in_code = unit.in_code};
  for (Citation& citation : bind_citations(text, markers, sources_)) {
    citation.answer_range = {citation.answer_range.begin + shown_at, citation.answer_range.end + shown_at};
    citations_.push_back(citation);
  }
  sentence.citation_count = citations_.size() - sentence.first_citation;
  sentence.is_open = sentence.citation_count > 0;
  sentences_.push_back(sentence);
  return sentences_.size() - 1;
}

Result<void> ModelStream::take_unit(const SentenceUnit& unit) {
  CheckTask task = task_of(unit);
  if (holds()) return take_held_unit(unit, task);
  const std::size_t sentence = bind(unit, unit.range.begin);
  if (!checks() || unit.in_code) return {};
  if (task.numbers.empty()) return take_unmarked(unit, sentence);
  if (checker_ && !task.claim.empty()) (void)checker_->push(std::move(task));  // if the queue is full, it stays unchecked
  return {};
}

Result<void> ModelStream::take_held_unit(const SentenceUnit& unit, const CheckTask& task) {
  CheckOutcome outcome{.sentence = task.sentence, .numbers = task.numbers, .verdict = {}};
  if (!task.numbers.empty() && !task.claim.empty() && !unit.in_code)
    outcome.verdict = check_sentence(call_, *options_.check, sources_, task);
  if (outcome.verdict && outcome.verdict->support == Support::kUnsupported) {
    ++counts_.unsupported;
    ++counts_.dropped;
    stopped_ = options_.policy == CheckPolicy::kStop;
    return {};
  }
  const std::size_t shown_at = shown_.size();
  FOOTNOTE_CHECK(show(text_of(unit)));
  const std::size_t sentence = bind(unit, shown_at);
  if (task.numbers.empty()) return unit.in_code ? Result<void>{} : take_unmarked(unit, sentence);
  return outcome.verdict ? apply(outcome) : Result<void>{};
}

int ModelStream::likely_source(std::string_view claim) {
  if (source_words_.empty()) {
    for (const SourceBlock& block : sources_) source_words_.push_back(retrieve::content_words(block.hit.chunk.text));
  }
  const std::vector<std::string> wanted = retrieve::content_words(claim);
  double best_share = kLikelySourceShareMin;
  int best = 0;
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    const double share = retrieve::share_of(wanted, source_words_[i]);
    if (share < best_share || (best != 0 && share == best_share)) continue;
    best_share = share;
    best = sources_[i].number;
  }
  return best;
}

Result<void> ModelStream::take_unmarked(const SentenceUnit& unit, std::size_t index) {
  Sentence& sentence = sentences_[index];
  if (!states_something(text_of(unit))) return {};
  sentence.is_unmarked = true;
  CheckTask task{.sentence = index, .claim = plain_quote(text_of(unit)), .numbers = {}};
  if (const int number = likely_source(task.claim); number != 0) task.numbers = {number};
  sentence.is_open = !task.numbers.empty();
  if (!sentence.is_open) return note_uncited(sentence);
  if (holds()) {
    const auto verdict = check_sentence(call_, *options_.check, sources_, task);
    return apply({.sentence = index, .numbers = task.numbers, .verdict = verdict});
  }
  if (checker_ == nullptr || !checker_->push(std::move(task))) {
    sentence.is_open = false;
    return note_uncited(sentence);
  }
  return {};
}

Result<void> ModelStream::note_uncited(Sentence& sentence) {
  sentence.support = Support::kUnsupported;
  ++counts_.uncited;
  uncited_.push_back(sentence.range);
  return tell(sentence, Support::kUnsupported, {});
}

Citation ModelStream::citation_of(int number, const Sentence& sentence) const {
  const Chunk& chunk = std::ranges::find(sources_, number, &SourceBlock::number)->hit.chunk;
  return {.number = number,
          .document = chunk.document,
          .document_version = chunk.document_version,
          .chunk = chunk.id,
          .answer_range = sentence.range,
          .support_range = {},
          .is_bound = true};
}

/// A statement without a marker: one source clearly carries it, or it stays uncited.
Result<void> ModelStream::apply_bound(const CheckOutcome& outcome) {
  Sentence& sentence = sentences_[outcome.sentence];
  const bool carries = outcome.verdict && outcome.verdict->support == Support::kSupported && outcome.verdict->score >= kBoundScoreMin;
  if (!carries) {
    sentence.is_open = false;
    return note_uncited(sentence);
  }
  sentence.first_citation = citations_.size();
  sentence.citation_count = 1;
  citations_.push_back(citation_of(outcome.numbers.front(), sentence));
  ++counts_.bound;
  return {};
}

Result<void> ModelStream::apply_all(const std::vector<CheckOutcome>& outcomes) {
  for (const CheckOutcome& outcome : outcomes) FOOTNOTE_CHECK(apply(outcome));
  return {};
}

/// The verdict applies to every citation of the sentence; the supporting range only to the source that contains it.
Result<void> ModelStream::apply(const CheckOutcome& outcome) {
  Sentence& sentence = sentences_[outcome.sentence];
  if (sentence.is_unmarked) {
    FOOTNOTE_CHECK(apply_bound(outcome));
    if (!sentence.is_open) return {};
  }
  if (!outcome.verdict) return {};
  const SupportVerdict& verdict = *outcome.verdict;
  const int best = outcome.numbers.at(verdict.passage);
  for (std::size_t i = 0; i < sentence.citation_count; ++i) {
    Citation& citation = citations_[sentence.first_citation + i];
    citation.support = verdict.support;
    if (citation.number != best || verdict.range.size() == 0) continue;
    const auto block = std::ranges::find(sources_, best, &SourceBlock::number);
    const std::size_t at = block->hit.chunk.range.begin;
    if (verdict.support == Support::kSupported) citation.support_range = TextRange{at + verdict.range.begin, at + verdict.range.end};
  }
  ++(verdict.support == Support::kSupported ? counts_.supported : counts_.unsupported);
  counts_.without_reranker = counts_.without_reranker || !verdict.signals.relevance;
  sentence.support = verdict.support;
  sentence.is_open = false;
  return tell(sentence, verdict.support, outcome.numbers);
}

Result<void> ModelStream::tell(const Sentence& sentence, Support support, const std::vector<int>& numbers) {
  return listener_.on_check({.answer_range = sentence.range, .numbers = numbers, .support = support});
}

}  // namespace footnote::answer
