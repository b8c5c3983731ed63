#include "providers/local/local_late_scorer.h"

#include "engine/late/late_score.h"

namespace footnote {
namespace {

/// Of the window that fits best; nullopt where there is none.
std::optional<double> best_window(const late::LateQuestion& question, const PassageCodes& codes) {
  std::optional<double> best;
  std::span<const std::byte> rest(codes.signs);
  for (const std::uint32_t tokens : codes.windows) {
    const std::size_t bytes = tokens * (codes.dimension / 8);
    best = std::max(best, std::optional(question.score(rest.first(bytes))));
    rest = rest.subspan(bytes);
  }
  return best;
}

}  // namespace

Result<std::vector<std::optional<double>>> LocalLateScorer::score(const CallContext& call, CorpusId corpus, const QuestionCodes& question,
                                                                  std::span<const ChunkId> chunks) const {
  FOOTNOTE_CHECK(call.check());
  std::vector<std::optional<double>> out(chunks.size());
  if (question.form == 0 || question.tokens.empty()) return out;
  FOOTNOTE_TRY(const auto codes, chunks_.passage_codes(call, corpus, chunks));
  const late::LateQuestion compare(question.tokens, question.dimension, level_);
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (codes[i].form == question.form && codes[i].dimension == question.dimension) out[i] = best_window(compare, codes[i]);
  }
  return out;
}

}  // namespace footnote
