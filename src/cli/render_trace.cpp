#include "cli/render_trace.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/json_view.h"
#include "base/text.h"
#include "cli/render_scores.h"
#include "cli/text_table.h"

namespace footnote::cli {
namespace {

constexpr double kBarCells = 40;

std::string shown(const Json& trace, std::string_view key) {
  const std::string_view text = text_at(trace, key);
  return text.empty() ? "-" : printable(text);
}

std::string render_outcome(const Json& trace, Paint paint) {
  const Json& outcome = value_at(trace, "outcome");
  const std::string_view reason = text_at(outcome, "refusal_reason");
  std::string out;
  if (!reason.empty()) {
    out = styled(paint, Style::kYellow, fmt::format("refused: {}", printable(reason)));
  } else {
    out = styled(paint, Style::kGreen,
                 fmt::format("{}, confidence {:.2f}, citations: {}, sources: {}", printable(text_at(outcome, "kind")),
                             number_at(outcome, "confidence"), integer_at(outcome, "citations"), integer_at(outcome, "sources")));
  }
  if (text_at(trace, "state") == "partial") out += styled(paint, Style::kRed, "  (incomplete)");
  return out;
}

std::string render_head(const Json& trace, Paint paint) {
  std::string out = fmt::format("{}  {}\n", styled(paint, Style::kBold, shown(trace, "turn_id")), render_outcome(trace, paint));
  const std::string names = fmt::format("asked {}  generation {}  conversation {}\nrequest {}  trace {}  span {}\n",
                                        shown(trace, "asked_at"), integer_at(trace, "generation"), shown(trace, "conversation_id"),
                                        shown(trace, "request_id"), shown(trace, "trace_id"), shown(trace, "span_id"));
  return out + styled(paint, Style::kDim, names);
}

/// A stage's bar on the time line, from `start` for `took` of `total` milliseconds: at least one cell.
std::string bar(double start, double took, double total) {
  if (total <= 0) return {};
  const auto cell = [&](double time) { return std::clamp(time / total * kBarCells, 0.0, kBarCells); };
  const auto from = static_cast<std::size_t>(std::min(std::floor(cell(start)), kBarCells - 1));
  const auto to = static_cast<std::size_t>(std::ceil(cell(start + took)));
  return std::string(from, ' ') + std::string(std::max(to, from + 1) - from, '#');
}

std::string render_stages(const Json& trace, Paint paint) {
  const double total = number_at(trace, "total_ms");
  TextTable table({{"stage", Align::kLeft}, {"start ms", Align::kRight}, {"took ms", Align::kRight}, {"", Align::kLeft}});
  for (const Json& stage : array_at(trace, "stages")) {
    const double start = number_at(stage, "start_ms"), took = number_at(stage, "took_ms");
    const bool measured = !value_at(stage, "took_ms").is_null();
    table.add({printable(text_at(stage, "stage")), fmt::format("{:.2f}", start), measured ? fmt::format("{:.2f}", took) : "",
               measured ? styled(paint, Style::kCyan, bar(start, took, total)) : ""});
  }
  std::string out = table.render() + fmt::format("together {:.2f} ms", total);
  if (!value_at(trace, "first_text_ms").is_null()) out += fmt::format(", first text after {:.2f} ms", number_at(trace, "first_text_ms"));
  return out + "\n";
}

std::string tokens_at(const Json& model, std::string_view key) {
  return value_at(model, key).is_null() ? "tokens not counted" : fmt::format("{} tokens", integer_at(model, key));
}

std::string render_model(const Json& model) {
  if (!model.is_object()) return "model: none was called\n";
  return fmt::format("model: {}, finish {}; prompt {} messages, {} ({}), answer {}\n", shown(model, "name"), shown(model, "finish"),
                     integer_at(model, "prompt_messages"),
                     human_bytes(static_cast<std::uint64_t>(std::max<std::int64_t>(integer_at(model, "prompt_bytes"), 0))),
                     tokens_at(model, "prompt_tokens"), tokens_at(model, "completion_tokens"));
}

std::string render_language(const Json& trace) {
  const std::string_view language = text_at(trace, "foreign_language");
  if (language.empty()) return {};
  return fmt::format("language: the question is in '{}', which the embedding model was not made for; words count most\n",
                     printable(language));
}

std::string render_errors(const JsonArray& errors, Paint paint) {
  std::string out;
  for (const Json& error : errors) {
    out += fmt::format("{} in {}: {} ({})\n", styled(paint, Style::kRed, "error"), shown(error, "stage"), shown(error, "message"),
                       shown(error, "code"));
  }
  return out;
}

}  // namespace

std::string render_trace(const Json& trace, Paint paint) {
  const JsonArray& candidates = array_at(trace, "candidates");
  const std::int64_t found = integer_at(trace, "candidates_found");
  std::string out = render_head(trace, paint) + "\n" + render_stages(trace, paint) + "\n";
  out += render_vector_search(value_at(trace, "vector_search"));
  out += render_gate(value_at(trace, "gate"), paint) + render_language(trace) + render_model(value_at(trace, "model")) +
         render_errors(array_at(trace, "errors"), paint);
  const Json& limits = value_at(trace, "limits");
  out +=
      fmt::format("\n{} candidates (recall {} a side, {} hits, {} of a document); {}\n", found, integer_at(limits, "recall"),
                  integer_at(limits, "hits"), integer_at(limits, "hits_per_document"),
                  static_cast<std::int64_t>(candidates.size()) < found ? fmt::format("the best {}:", candidates.size()) : "all of them:");
  return out + render_cuts(array_at(trace, "cuts")) + render_score_table(candidates);
}

}  // namespace footnote::cli
