#include "providers/local/local_judge.h"

namespace footnote {

Result<std::vector<Judgement>> LocalJudge::rerank(const CallContext& call, std::string_view question,
                                                  std::span<const std::string_view> passages) {
  FOOTNOTE_TRY(const auto readings, reader_->read(call, question, passages, {.windows_max = windows_max_}));
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
