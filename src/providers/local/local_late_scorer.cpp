#include "providers/local/local_late_scorer.h"

#include "engine/late/late_score.h"

namespace footnote {
namespace {

/// The score of the best window; nullopt if there is none.
std::optional<double> best_window(const late::LateQuestion& question, const CodesView& codes) {
  std::optional<double> best;
  std::span<const std::byte> rest = codes.signs;
  for (std::size_t window = 0; window < codes.window_count(); ++window) {
    const std::size_t bytes = codes.window_tokens(window) * (codes.dimension / 8);
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
  const late::LateQuestion compare(question.tokens, question.dimension, level_);
  const auto compare_with = [&](std::size_t i, const CodesView& codes) {
    if (codes.form == question.form && codes.dimension == question.dimension) out[i] = best_window(compare, codes);
  };
  const std::shared_ptr<const CodeFile> file = codes_ == nullptr ? nullptr : codes_->codes(corpus);
  std::vector<std::optional<std::uint64_t>> at(chunks.size());
  std::vector<std::uint8_t> read_in_file(chunks.size(), 0);
  const auto fetch = [&](std::size_t i) {
    if (i < chunks.size() && at[i]) file->prefetch(*at[i]);
  };
  const auto compare_in_file = [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) at[i] = file->place_of(chunks[i]);
    if (begin < end) fetch(begin);
    for (std::size_t i = begin; i < end; ++i) {
      if (i + 1 < end) fetch(i + 1);
      const auto codes = at[i] ? file->read(*at[i]) : std::nullopt;
      if (!codes) continue;
      compare_with(i, *codes);
      read_in_file[i] = 1;
    }
  };
  if (file) {
    constexpr std::size_t kWorthSharing = 16;
    const std::size_t half = chunks.size() / 2;
    run_both(
        chunks.size() < kWorthSharing ? nullptr : helpers_, [&] { compare_in_file(0, half); },
        [&] { compare_in_file(half, chunks.size()); });
  }
  std::vector<ChunkId> missing;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    if (read_in_file[i] != 0) continue;
    missing.push_back(chunks[i]);
    places.push_back(i);
  }
  if (missing.empty()) return out;
  FOOTNOTE_TRY(const auto read, chunks_.passage_codes(call, corpus, missing));
  for (std::size_t i = 0; i < missing.size(); ++i) compare_with(places[i], view_of(read[i]));
  return out;
}

}  // namespace footnote
