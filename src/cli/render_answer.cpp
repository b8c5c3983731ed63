#include "cli/render_answer.h"

#include <set>

#include <fmt/format.h>

#include "base/json_view.h"
#include "base/text.h"
#include "base/utf8.h"
#include "cli/render_scores.h"

namespace footnote::cli {
namespace {

constexpr std::size_t kQuoteBytesMax = 400;

/// One line of text from a document, truncated.
std::string one_line(std::string_view text, std::size_t bytes_max) {
  const std::string folded = printable(fold_spaces(text));
  const std::string_view cut = utf8_prefix(folded, bytes_max);
  return cut.size() < folded.size() ? fmt::format("{}...", cut) : folded;
}

/// Where the first quotation is; without one, where the passage is.
std::string place_of(const Json& source) {
  const std::string path = printable(text_at(source, "source_path"));
  for (const Json& mark : array_at(source, "marks")) {
    if (integer_at(mark, "line") > 0 || !text_at(mark, "place").empty()) return path_and_place(path, mark, "line");
  }
  return path_and_place(path, source, "first_line");
}

std::string title_of(const Json& source) {
  const std::string_view title = text_at(source, "title");
  return one_line(title.empty() ? text_at(source, "source_path") : title, 120);
}

std::string render_source(const Json& source, Paint paint) {
  std::string out = fmt::format("{} {}  {}\n", styled(paint, Style::kCyan, fmt::format("[{}]", integer_at(source, "number"))),
                                styled(paint, Style::kBold, title_of(source)), styled(paint, Style::kDim, place_of(source)));
  std::set<std::string> shown;
  for (const Json& mark : array_at(source, "marks")) {
    const std::string quote = one_line(text_at(mark, "quote"), kQuoteBytesMax);
    if (quote.empty() || !shown.insert(quote).second) continue;
    const std::string doubt =
        text_at(mark, "support") == "unsupported" ? styled(paint, Style::kYellow, "  (does not support the sentence)") : "";
    out += fmt::format("    \"{}\"{}\n", quote, doubt);
  }
  return out;
}

std::string render_nearest(const Json& answer, Paint paint) {
  const JsonArray& nearest = array_at(value_at(answer, "meta"), "nearest");
  if (nearest.empty()) return {};
  std::string out = "\nClosest matches:\n";
  std::set<std::string> shown;
  for (const Json& source : nearest) {
    const std::string place = printable(text_at(source, "source_path"));
    if (!shown.insert(place).second) continue;
    out += fmt::format("  {}  {}\n", title_of(source), styled(paint, Style::kDim, place));
  }
  return out;
}

/// The hint how to see the full trace.
std::string render_trace_hint(const Json& answer) {
  return fmt::format("footnote trace {}", printable(text_at(value_at(answer, "meta"), "turn_id")));
}

}  // namespace

bool is_refusal(const Json& answer) { return value_at(answer, "refusal_reason").is_string(); }

std::string render_answer_text(const Json& answer, Paint paint) {
  const std::string text = printable(text_at(answer, "answer"));
  if (!is_refusal(answer)) return text + "\n";
  return fmt::format("{} {}\n", styled(paint, Style::kYellow, "Not answered:"), text);
}

std::string render_answer_sources(const Json& answer, Paint paint) {
  if (is_refusal(answer)) return render_nearest(answer, paint) + "\n" + styled(paint, Style::kDim, render_trace_hint(answer)) + "\n";
  std::string out = "\nSources:\n";
  for (const Json& source : array_at(answer, "citations")) {
    if (!array_at(source, "marks").empty()) out += render_source(source, paint);
  }
  const Json& meta = value_at(answer, "meta");
  const std::string_view model = text_at(meta, "model");
  const std::string_view fallback = text_at(meta, "fallback");
  std::string reader = model.empty() ? "quoted by the built-in reader" : fmt::format("by {}", printable(model));
  if (!fallback.empty()) reader += fmt::format(" (the model's text was no answer: {})", printable(fallback));
  const std::string line = fmt::format("confidence {}, {} ms, {}; {}", integer_at(answer, "confidence"), integer_at(meta, "latency_ms"),
                                       reader, render_trace_hint(answer));
  return out + "\n" + styled(paint, Style::kDim, line) + "\n";
}

}  // namespace footnote::cli
