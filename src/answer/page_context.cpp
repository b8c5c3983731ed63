#include "answer/page_context.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "base/utf8.h"

namespace footnote::answer {

namespace {

/// Each line is a separate statement; an empty line keeps it from merging with the next.
void add_statement(std::string& out, std::string_view before, std::string_view value) {
  const std::string folded = fold_spaces(value);
  if (!folded.empty()) out.append(before).append(folded).append("\n\n");
}

void add_line(std::string& out, std::string_view name, std::string_view value) { add_statement(out, fmt::format("{}: ", name), value); }

}  // namespace

std::string text_of(const PageContext& page) {
  std::string out;
  add_line(out, "Title", page.title);
  add_line(out, "Description", page.description);
  for (const std::string_view key : kPageOgKeys) {
    for (const auto& [name, value] : page.og) {
      if (name == key && value != page.title && value != page.description) add_line(out, key, value);
    }
  }
  for (std::size_t i = 0; i < std::min(page.h1.size(), kPageHeadingsMax); ++i) add_line(out, "Heading", page.h1[i]);
  for (std::size_t i = 0; i < std::min(page.h2.size(), kPageHeadingsMax); ++i) add_line(out, "Section", page.h2[i]);
  if (page.json_ld.size() <= kPageJsonLdBytesMax) add_line(out, "Data", page.json_ld);
  for (const std::string_view line : split(page.visible_text, '\n')) add_statement(out, "", line);
  out.resize(utf8_prefix(out, kPageContextBytesMax).size());
  return std::string(trim(out));
}

Hit page_hit(const PageContext& page, std::string_view page_url, double score) {
  Hit out;
  out.document.title = page.title;
  out.document.url = page_url.empty() ? page.url : std::string(page_url);
  out.document_key = out.document.url;
  out.chunk.text = text_of(page);
  out.chunk.range = {0, out.chunk.text.size()};
  out.score = score;
  return out;
}

std::vector<std::string_view> parts_to_judge(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty() && out.size() < kPagePartsMax) {
    std::string_view part = utf8_prefix(text, kPagePartBytes);
    // Prefer to end a part after a line or a sentence.
    if (part.size() < text.size()) {
      const std::size_t end = part.find_last_of("\n.");
      if (end != std::string_view::npos && end > kPagePartBytes / 2) part = part.substr(0, end + 1);
    }
    out.push_back(part);
    text.remove_prefix(part.size());
  }
  return out;
}

}  // namespace footnote::answer
