#include "answer/model_stream.h"

#include <algorithm>
#include <span>

#include "answer/bind_citations.h"
#include "answer/quote.h"
#include "base/text.h"
#include "prompt/kb_prompt.h"

namespace footnote::answer {

namespace {

/// The range without leading and trailing white space.
TextRange trimmed(std::string_view text, TextRange range) {
  const std::string_view part = text.substr(range.begin, range.size());
  const std::string_view inner = trim(part);
  const std::size_t begin = range.begin + static_cast<std::size_t>(inner.data() - part.data());
  return {begin, begin + inner.size()};
}

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

bool ModelStream::refused() const { return !started_ && (trim(opening_).empty() || trim(opening_) == prompt::kNoGroundedAnswer); }

Result<void> ModelStream::finish() {
  if (!started_) {
    started_ = true;
    FOOTNOTE_CHECK(advance(filter_.feed(opening_)));
  }
  if (!stopped_) {
    FOOTNOTE_CHECK(advance(filter_.finish()));
    for (const SentenceUnit& unit : cutter_.finish(filter_.text())) {
      FOOTNOTE_CHECK(take_unit(unit));
      if (stopped_) break;
    }
  }
  if (checker_) FOOTNOTE_CHECK(apply_all(checker_->drain(std::chrono::steady_clock::now() + kSentenceCheckTimeout)));
  if (checks()) {
    const auto open = std::ranges::count_if(sentences_, [](const Sentence& sentence) { return sentence.citation_count > 0; });
    counts_.unchecked = static_cast<std::size_t>(open);
  }
  return {};
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
  if (!task.numbers.empty()) task.claim = plain_quote(std::string_view(filter_.text()).substr(unit.range.begin, unit.range.size()));
  return task;
}

/// Binds the markers of a unit that begins at offset `shown_at` of the shown text; returns the sentence's index.
std::size_t ModelStream::bind(const SentenceUnit& unit, std::size_t shown_at) {
  const std::string_view text = std::string_view(filter_.text()).substr(unit.range.begin, unit.range.size());
  std::vector<Marker> markers;
  for (const Marker& marker : markers_in(filter_.markers(), unit.range)) {
    markers.push_back({marker.number, marker.offset - unit.range.begin});
  }
  Sentence sentence{.range = trimmed(shown_, {shown_at, shown_at + text.size()}), .first_citation = citations_.size()};
  for (Citation& citation : bind_citations(text, markers, sources_)) {
    citation.answer_range = {citation.answer_range.begin + shown_at, citation.answer_range.end + shown_at};
    citations_.push_back(citation);
  }
  sentence.citation_count = citations_.size() - sentence.first_citation;
  sentences_.push_back(sentence);
  return sentences_.size() - 1;
}

Result<void> ModelStream::take_unit(const SentenceUnit& unit) {
  CheckTask task = task_of(unit);
  if (holds()) return take_held_unit(unit, task);
  const std::size_t sentence = bind(unit, unit.range.begin);
  if (!checks() || unit.in_code) return {};
  if (task.numbers.empty()) return note_uncited(unit, sentence);
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
  FOOTNOTE_CHECK(show(std::string_view(filter_.text()).substr(unit.range.begin, unit.range.size())));
  const std::size_t sentence = bind(unit, shown_at);
  if (task.numbers.empty()) return unit.in_code ? Result<void>{} : note_uncited(unit, sentence);
  return outcome.verdict ? apply(outcome) : Result<void>{};
}

Result<void> ModelStream::note_uncited(const SentenceUnit& unit, std::size_t sentence) {
  if (!states_something(std::string_view(filter_.text()).substr(unit.range.begin, unit.range.size()))) return {};
  ++counts_.uncited;
  uncited_.push_back(sentences_[sentence].range);
  return tell(sentences_[sentence], Support::kUnsupported, {});
}

Result<void> ModelStream::apply_all(const std::vector<CheckOutcome>& outcomes) {
  for (const CheckOutcome& outcome : outcomes) FOOTNOTE_CHECK(apply(outcome));
  return {};
}

/// The verdict applies to every citation of the sentence; the supporting range only to the source that contains it.
Result<void> ModelStream::apply(const CheckOutcome& outcome) {
  if (!outcome.verdict) return {};
  const SupportVerdict& verdict = *outcome.verdict;
  Sentence& sentence = sentences_[outcome.sentence];
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
  const Sentence told = sentence;
  sentence.citation_count = 0;  // its verdict is reported
  return tell(told, verdict.support, outcome.numbers);
}

Result<void> ModelStream::tell(const Sentence& sentence, Support support, const std::vector<int>& numbers) {
  return listener_.on_check({.answer_range = sentence.range, .numbers = numbers, .support = support});
}

}  // namespace footnote::answer
