#include "render.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.h"
#include "scenario_file.h"

namespace footnote::behaviour {

namespace {

void check_citation(const Citation& citation, const Answer& answer) {
  const auto block = std::ranges::find(answer.sources, citation.number, &SourceBlock::number);
  ASSERT_NE(block, answer.sources.end()) << "a citation names a source that was given";
  const Chunk& chunk = block->hit.chunk;
  EXPECT_EQ(citation.chunk, chunk.id);
  EXPECT_EQ(citation.document, chunk.document);
  EXPECT_LE(citation.answer_range.end, answer.text.size());
  if (!citation.support_range) return;
  EXPECT_GE(citation.support_range->begin, chunk.range.begin);
  EXPECT_LE(citation.support_range->end, chunk.range.end);
}

/// Printed where citations are checked.
std::string_view verdict_of(const Citation& citation, const World& world) {
  if (world.check == answer::CheckPolicy::kOff) return "";
  switch (citation.support) {
    case Support::kUnchecked: return " unchecked";
    case Support::kSupported: return " supported";
    case Support::kUnsupported: return " unsupported";
  }
  return "";
}

std::string render_citation(const Citation& citation, const Answer& answer, const World& world) {
  const auto block = std::ranges::find(answer.sources, citation.number, &SourceBlock::number);
  const std::string key = block == answer.sources.end() ? "?" : block->hit.document_key;
  if (!citation.support_range) {
    return fmt::format("citation [{}] -> {} no single sentence{}\n", citation.number, key, verdict_of(citation, world));
  }
  const auto text = world.text_at(citation);
  return fmt::format("citation [{}] -> {} {}{}\n", citation.number, key, text ? in_quotes(*text) : text.error().message,
                     verdict_of(citation, world));
}

std::string render_answer(const Answer& answer, const World& world) {
  std::string out = "answer " + in_quotes(answer.text) + "\n";
  for (const Citation& citation : answer.citations) {
    check_citation(citation, answer);
    out += render_citation(citation, answer, world);
  }
  for (const TextRange& range : answer.uncited) {
    EXPECT_LE(range.end, answer.text.size());
    out += "uncited " + in_quotes(std::string_view(answer.text).substr(range.begin, range.size())) + "\n";
  }
  for (const SourceBlock& block : answer.sources) out += fmt::format("source [{}] {}\n", block.number, place_of(block.hit));
  return out;
}

std::string outcome_name(const Outcome& outcome) {
  if (std::holds_alternative<Answer>(outcome)) return "answer " + in_quotes(std::get<Answer>(outcome).text);
  if (std::holds_alternative<Refusal>(outcome)) return "refusal " + std::string(to_string(std::get<Refusal>(outcome).reason));
  return "clarification";
}

}  // namespace

std::string render_gap(const Turn& turn, const World& world) {
  for (const Gap& gap : world.gaps()) {
    if (gap.last_seen_at != turn.asked_at) continue;
    return fmt::format("gap_recorded {}{}\n", in_quotes(gap.question), gap.occurrences > 1 ? fmt::format(" x{}", gap.occurrences) : "");
  }
  return "";
}

std::string place_of(const Hit& hit) {
  std::string out = hit.document_key;
  for (const std::string& heading : hit.chunk.heading_path) out += " > " + heading;
  return out;
}

std::string render(const Asked& asked, const World& world) {
  std::string calls = fmt::format("llm_calls {}\n", asked.llm_calls);
  if (asked.report && asked.report->fallback) calls = fmt::format("fallback {}\n", answer::to_string(*asked.report->fallback)) + calls;
  if (!asked.report) {
    const Error& error = asked.report.error();
    return fmt::format("error {}{}\n", to_string(error.code), error.field.empty() ? "" : " in " + error.field) + calls;
  }
  const Turn& turn = asked.report->turn;
  if (const auto* answer = std::get_if<Answer>(&turn.outcome)) {
    EXPECT_EQ(asked.heard, answer->text) << "the client heard the answer";
    return render_answer(*answer, world) + calls;
  }
  EXPECT_EQ(asked.heard, "") << "a refusal has no text on the stream";
  return outcome_name(turn.outcome) + "\n" + calls + render_gap(turn, world);
}

std::string render(const retrieve::Retrieval& retrieval) {
  constexpr std::size_t kShownBytes = 60;
  std::string out;
  for (const Hit& hit : retrieval.hits) {
    std::string text = fold_spaces(hit.chunk.text);
    if (text.size() > kShownBytes) text = text.substr(0, kShownBytes) + "...";
    out += fmt::format("hit {} {}\n", place_of(hit), in_quotes(text));
  }
  if (retrieval.hits.empty()) out += "no hits\n";
  return out + fmt::format("grounded {}\n", retrieval.gate.grounded ? "yes" : "no");
}

std::string render(const ingest::IngestReport& report) {
  std::string out = fmt::format("ingest added {} updated {} unchanged {} deleted {} embedded {} reused {}\n", report.added, report.updated,
                                report.unchanged, report.deleted, report.embedded_chunks, report.reused_chunks);
  for (const ingest::Problem& problem : report.problems) out += fmt::format("problem {} {}\n", problem.path, problem.reason);
  return out;
}

std::string render(const Turn& turn) {
  std::string out = fmt::format("turn {} {}", turn.state == TurnState::kComplete ? "complete" : "partial", outcome_name(turn.outcome));
  if (const auto* answer = std::get_if<Answer>(&turn.outcome)) {
    for (const SourceBlock& block : answer->sources) out += fmt::format(" [{}] {}", block.number, block.hit.document_key);
  }
  return out + "\n";
}

}  // namespace footnote::behaviour
