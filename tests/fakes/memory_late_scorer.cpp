#include "fakes/memory_late_scorer.h"

#include <algorithm>
#include <cmath>

namespace footnote::fakes {
namespace {

double score_window(const QuestionCodes& question, std::span<const std::byte> signs) {
  const std::size_t dimension = question.dimension;
  const std::size_t bytes = dimension / 8;
  double total = 0;
  for (std::size_t q = 0; q < question.tokens.size(); q += dimension) {
    double best = -std::sqrt(static_cast<double>(dimension));
    for (std::size_t p = 0; p < signs.size(); p += bytes) {
      double product = 0;
      for (std::size_t i = 0; i < dimension; ++i) {
        const bool set = static_cast<unsigned>(signs[p + i / 8]) >> (i % 8) & 1;
        product += set ? question.tokens[q + i] : -question.tokens[q + i];
      }
      best = std::max(best, product);
    }
    total += best;
  }
  return total / static_cast<double>(question.tokens.size() / dimension) / std::sqrt(static_cast<double>(dimension));
}

}  // namespace

Result<std::vector<std::optional<double>>> MemoryLateScorer::score(const CallContext& call, CorpusId corpus, const QuestionCodes& question,
                                                                   std::span<const ChunkId> chunks) const {
  FOOTNOTE_CHECK(call.check());
  FOOTNOTE_CHECK(faults_.next());
  std::vector<std::optional<double>> out(chunks.size());
  if (question.form == 0 || question.tokens.empty()) return out;
  FOOTNOTE_TRY(const auto codes, chunks_.passage_codes(call, corpus, chunks));
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (codes[i].form != question.form) continue;
    std::size_t begin = 0;
    for (const std::uint32_t tokens : codes[i].windows) {
      const std::size_t bytes = tokens * (question.dimension / 8);
      out[i] = std::max(out[i], std::optional(score_window(question, std::span(codes[i].signs).subspan(begin, bytes))));
      begin += bytes;
    }
  }
  return out;
}

}  // namespace footnote::fakes
