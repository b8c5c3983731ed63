#include "answer/answer_service.h"

#include <algorithm>

#include "answer/bind_citations.h"
#include "answer/citation_filter.h"
#include "answer/quote.h"
#include "base/log.h"
#include "base/text.h"
#include "prompt/kb_prompt.h"

namespace footnote::answer {

namespace {

constexpr std::string_view kRefusalText = "I could not find an answer to this in the documents.";
/// The reader looks for sentences in the best passages only: further down the list it finds look-alikes.
constexpr std::size_t kReadPassagesMax = 5;
/// And only in passages that come near the best: a superseded page must not speak beside the current one.
constexpr double kReadScoreShareMin = 0.5;
constexpr std::chrono::seconds kFinishTimeout{10};

std::vector<SourceBlock> number_sources(const std::vector<Hit>& hits) {
  std::vector<SourceBlock> blocks;
  for (const Hit& hit : hits) blocks.push_back({static_cast<int>(blocks.size()) + 1, hit});
  return blocks;
}

std::chrono::microseconds since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - start);
}

/// Renumbers blocks so that the quoted ones come first, as 1, 2, 3: a reader of the answer sees no gaps.
std::vector<SourceBlock> quoted_first(const Reading& reading, const std::vector<SourceBlock>& blocks) {
  std::vector<SourceBlock> out;
  std::vector<bool> taken(blocks.size(), false);
  const auto take = [&](std::size_t i) {
    if (taken[i]) return;
    taken[i] = true;
    out.push_back({static_cast<int>(out.size()) + 1, blocks[i].hit});
  };
  for (const ReadSpan& span : reading.spans) take(span.passage);
  return out;
}

/// Streams a model's answer to the listener: holds back what might be the refusal sentinel, announces the sources
/// before the first text, keeps the markers honest.
class ModelStream {
 public:
  ModelStream(const std::vector<SourceBlock>& sources, TurnListener& listener)
      : sources_(sources), listener_(listener), filter_(static_cast<int>(sources.size())) {}

  Result<void> take(std::string_view piece) {
    if (started_) return show(filter_.feed(piece));
    opening_ += piece;
    const std::string_view seen = trim(opening_);
    if (prompt::kNoGroundedAnswer.starts_with(seen)) return {};
    return start();
  }

  /// True when the model's whole answer was the sentinel, or nothing.
  bool refused() const { return !started_ && (trim(opening_).empty() || trim(opening_) == prompt::kNoGroundedAnswer); }

  Result<void> finish() {
    if (!started_) FOOTNOTE_CHECK(start());
    return show(filter_.finish());
  }

  const CitationFilter& filter() const { return filter_; }

 private:
  Result<void> start() {
    started_ = true;
    FOOTNOTE_CHECK(listener_.on_sources(sources_));
    return show(filter_.feed(opening_));
  }
  Result<void> show(const std::string& text) { return text.empty() ? Result<void>{} : listener_.on_text(text); }

  const std::vector<SourceBlock>& sources_;
  TurnListener& listener_;
  CitationFilter filter_;
  std::string opening_;
  bool started_ = false;
};

/// One turn on its way: what the stages share.
class TurnRun {
 public:
  TurnRun(const AnswerService::Ports& ports, const CallContext& call, const Question& question, TurnListener& listener)
      : ports_(ports), call_(call), question_(question), listener_(listener) {}

  Result<TurnReport> run() {
    const auto start = std::chrono::steady_clock::now();
    Turn& turn = report_.turn;
    turn.id = {"turn_" + random_base62(22)};
    turn.workspace = question_.workspace;
    turn.corpus = question_.corpus;
    turn.conversation = question_.conversation;
    turn.question = question_.text;
    turn.asked_at = ports_.clock.now();
    FOOTNOTE_CHECK(listener_.on_start(turn.id));

    FOOTNOTE_TRY(report_.retrieval, ports_.retriever.retrieve(call_, question_.corpus, question_.text,
                                                              {.profile = question_.profile, .filter = question_.filter}));
    report_.retrieval_time = since(start);
    turn.generation = report_.retrieval.generation;

    auto outcome = decide();
    report_.answer_time = since(start) - report_.retrieval_time;
    turn.latency = std::chrono::duration_cast<std::chrono::milliseconds>(since(start));
    if (!outcome) {
      finish_partial();
      return std::unexpected(std::move(outcome).error());
    }
    turn.outcome = *std::move(outcome);
    finish();
    return std::move(report_);
  }

 private:
  Result<Outcome> decide() {
    std::vector<SourceBlock> blocks = number_sources(report_.retrieval.hits);
    if (!report_.retrieval.gate.grounded) return refuse(RefusalReason::kNoRelevantContext, std::move(blocks));
    return ports_.llm == nullptr ? quote(std::move(blocks)) : stream_model(std::move(blocks));
  }

  static Outcome refuse(RefusalReason reason, std::vector<SourceBlock> nearest) {
    nearest.resize(std::min<std::size_t>(nearest.size(), 3));
    return Refusal{reason, std::string(kRefusalText), std::move(nearest)};
  }

  Result<Outcome> quote(std::vector<SourceBlock> blocks) {
    std::vector<std::string_view> passages;
    for (const SourceBlock& block : blocks) {
      // A penalty may push even the best below zero: it is read all the same.
      const bool near_best = block.number == 1 || block.hit.score >= kReadScoreShareMin * blocks.front().hit.score;
      if (passages.size() < kReadPassagesMax && near_best) passages.push_back(block.hit.chunk.text);
    }
    FOOTNOTE_TRY(Reading reading, ports_.reader.read(call_, question_.text, passages));
    reading = told_once(reading, blocks);  // before sources are numbered: each that is listed is cited
    if (reading.spans.empty()) return refuse(RefusalReason::kNoRelevantContext, std::move(blocks));
    const std::vector<SourceBlock> sources = quoted_first(reading, blocks);
    for (ReadSpan& span : reading.spans) {
      const auto same = [&](const SourceBlock& block) { return block.hit.chunk.id == blocks[span.passage].hit.chunk.id; };
      span.passage = static_cast<std::size_t>(std::ranges::find_if(sources, same) - sources.begin());
    }
    QuotedAnswer quoted = compose_quotes(reading, sources);
    partial_sources_ = sources;
    FOOTNOTE_CHECK(listener_.on_sources(sources));
    for (const std::string& piece : quoted.pieces) {
      FOOTNOTE_CHECK(listener_.on_text(piece));
      partial_text_ += piece;
    }
    return Answer{partial_text_, sources, std::move(quoted.citations), report_.retrieval.gate.confidence, {}};
  }

  Result<Outcome> stream_model(std::vector<SourceBlock> blocks) {
    const ChatRequest request{.messages =
                                  prompt::build_kb_prompt(question_.text, blocks, {.now = ports_.clock.now(), .fence = random_base62(16)})};
    partial_sources_ = blocks;
    ModelStream stream(blocks, listener_);
    const auto end = ports_.llm->stream(call_, request, [&](std::string_view piece) { return stream.take(piece); });
    partial_text_ = stream.filter().text();
    if (!end) return std::unexpected(end.error());
    report_.prompt_tokens = end->prompt_tokens;
    report_.completion_tokens = end->completion_tokens;
    if (stream.refused()) return refuse(RefusalReason::kLlmSelfRefusal, std::move(blocks));
    FOOTNOTE_CHECK(stream.finish());
    const std::string& text = stream.filter().text();
    auto citations = bind_citations(text, stream.filter().markers(), blocks);
    return Answer{text, std::move(blocks), std::move(citations), report_.retrieval.gate.confidence, end->model};
  }

  void finish() {
    // Its own deadline: the caller may be gone by now, and the turn is stored all the same.
    const CallContext call = call_.detached(kFinishTimeout);
    const auto stored = ports_.conversations.finish_turn(call, report_.turn, report_.prompt_tokens, report_.completion_tokens);
    if (!stored) {
      log(LogLevel::kError, "answer", "turn not stored", call,
          {{"turn", report_.turn.id.value}, {"code", to_string(stored.error().code)}, {"error", stored.error().message}});
    }
  }

  void finish_partial() {
    if (partial_text_.empty()) return;
    report_.turn.state = TurnState::kPartial;
    report_.turn.outcome = Answer{.text = partial_text_, .sources = std::move(partial_sources_)};
    finish();
  }

  const AnswerService::Ports& ports_;
  const CallContext& call_;
  const Question& question_;
  TurnListener& listener_;
  TurnReport report_;
  // What the client was told so far: its text, and the sources by the numbers that the text uses.
  std::string partial_text_;
  std::vector<SourceBlock> partial_sources_;
};

}  // namespace

Result<TurnReport> AnswerService::answer(const CallContext& call, const Question& question, TurnListener& listener) const {
  return TurnRun(ports_, call, question, listener).run();
}

}  // namespace footnote::answer
