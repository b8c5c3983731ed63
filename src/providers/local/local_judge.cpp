#include "providers/local/local_judge.h"

#include "engine/bm25/analyzer.h"
#include "providers/local/judge_excerpt.h"

namespace footnote {

Result<std::vector<Judgement>> LocalJudge::rerank(const CallContext& call, std::string_view question,
                                                  std::span<const std::string_view> passages) {
  if (reading_.excerpt_bytes == 0) return judge(call, question, passages);
  const std::vector<std::string> asked = bm25::Analyzer().content_terms(question);
  std::vector<JudgeExcerpt> excerpts;
  std::vector<std::string_view> texts;
  excerpts.reserve(passages.size());  // `texts` refers to them
  for (const std::string_view passage : passages) {
    excerpts.push_back(judge_excerpt(asked, passage, reading_.excerpt_bytes));
    texts.push_back(excerpts.back().text);
  }
  FOOTNOTE_TRY(std::vector<Judgement> out, judge(call, question, texts));
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (!out[i].answer) continue;
    if (excerpts[i].spans_head(out[i].answer->range)) {
      out[i].answer.reset();
    } else {
      out[i].answer->range = excerpts[i].in_passage(out[i].answer->range);
    }
  }
  return out;
}

Result<std::vector<Judgement>> LocalJudge::judge(const CallContext& call, std::string_view question,
                                                 std::span<const std::string_view> texts) const {
  FOOTNOTE_TRY(const auto readings, reader_->read(call, question, texts, {.windows_max = reading_.windows_max}));
  std::vector<Judgement> out;
  out.reserve(readings.size());
  for (const nn::PairReading& reading : readings) {
    Judgement& judgement = out.emplace_back();
    judgement.raw = reading.relevance;
    judgement.calibrated = reader_->relevance_calibration()(reading.relevance);
    if (reading.span.begin == reading.span.end) continue;
    judgement.answer = FoundAnswer{
        .range = {reading.span.begin, reading.span.end}, .margin = reading.margin, .probability = reader_->answer_calibration()(reading)};
  }
  return out;
}

}  // namespace footnote
