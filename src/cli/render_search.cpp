#include "cli/render_search.h"

#include <fmt/format.h>

#include "base/json_view.h"
#include "base/text.h"
#include "base/utf8.h"
#include "cli/render_scores.h"

namespace footnote::cli {
namespace {

constexpr std::size_t kSnippetBytesMax = 200;

std::string snippet(std::string_view text) {
  const std::string folded = printable(fold_spaces(text));
  const std::string_view cut = utf8_prefix(folded, kSnippetBytesMax);
  return cut.size() < folded.size() ? fmt::format("{}...", cut) : folded;
}

std::string render_hit(const Json& hit, std::size_t rank, Paint paint) {
  std::vector<std::string> headings;
  for (const Json& heading : array_at(hit, "headings")) {
    if (const auto* text = heading.if_string()) headings.emplace_back(*text);
  }
  const std::string title = headings.empty() ? std::string(text_at(hit, "title")) : join(headings, " > ");
  return fmt::format("{:>2}. {}  {}  {:.3f}\n    {}\n", rank, styled(paint, Style::kBold, printable(fold_spaces(title))),
                     styled(paint, Style::kDim, render_place(hit)), number_at(hit, "score"), snippet(text_at(hit, "text")));
}

std::string render_timings(const Json& found) {
  std::string out;
  double total = 0;
  if (const JsonObject* timings = value_at(found, "timings").if_object()) {
    for (const auto& [name, value] : *timings) {
      const double took = number_at(*timings, name);
      total += took;
      std::string_view stage = name;
      if (stage.ends_with("_ms")) stage.remove_suffix(3);
      out += fmt::format("{} {:.2f} ms, ", stage, took);
    }
  }
  return fmt::format("times: {}together {:.2f} ms\n", out, total);
}

}  // namespace

std::string render_search(const Json& found, Explain explain, Paint paint) {
  const JsonArray& hits = array_at(found, "hits");
  std::string out;
  std::size_t rank = 0;
  for (const Json& hit : hits) out += render_hit(hit, ++rank, paint);
  if (hits.empty()) out += "Nothing found.\n";
  if (explain == Explain::kOff) return out;
  out += fmt::format("\n{}\n{}", render_score_table(hits), render_gate(value_at(found, "gate"), paint));
  out += render_vector_search(value_at(found, "vector_search"));
  out += render_timings(found);
  out += fmt::format("generation {}, {} candidates\n", integer_at(found, "generation"), integer_at(found, "candidates"));
  out += render_cuts(array_at(found, "cuts"));
  return out;
}

}  // namespace footnote::cli
