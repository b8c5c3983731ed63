#include "chunk/parse.h"

#include <algorithm>
#include <filesystem>

#include "base/text.h"
#include "base/utf8.h"
#include "chunk/blocks.h"
#include "chunk/front_matter.h"
#include "chunk/lines.h"
#include "chunk/references.h"
#include "engine/html/extract.h"

namespace footnote::chunk {

namespace {

constexpr std::size_t kSummaryBytesMax = 2'000;

const Block* main_heading(const ParsedDocument& document) {
  for (const Block& block : document.blocks) {
    if (block.kind == BlockKind::kHeading && block.level == 1 && !block.heading.empty()) return &block;
  }
  return nullptr;
}

void apply_front_matter(std::string_view key, const FrontMatter& front, ParsedDocument& out) {
  DocumentAttributes& attributes = out.attributes;
  if (front.canonical) attributes.canonical_type = front.type;
  if (front.status) attributes.status = *front.status;
  if (front.retrieval_priority) attributes.priority = *front.retrieval_priority;
  attributes.evidence = front.evidence;
  attributes.url = front.url;
  attributes.language = front.language;
  attributes.tags = front.tags;
  attributes.updated_at = front.updated_at;
  attributes.slug = front.slug;
  attributes.canonical_id = front.id;
  attributes.summary = utf8_prefix(front.summary, kSummaryBytesMax);
  attributes.owners = front.owners;
  out.edges = front_matter_edges(key, front);
  out.warnings.insert(out.warnings.end(), front.warnings.begin(), front.warnings.end());
}

Result<void> parse_markdown(std::string_view key, const std::string& text, const CallContext& call, ParsedDocument& out) {
  const FrontMatter front = parse_front_matter(text);
  out.first_line = 1 + static_cast<int>(std::ranges::count(std::string_view(text).substr(0, front.body_offset), '\n'));
  out.text = text.substr(front.body_offset);
  FOOTNOTE_TRY(out.blocks, markdown_blocks(out.text, out.first_line, call));
  apply_front_matter(key, front, out);
  add_wikilink_edges(key, out);
  settle_title(key, front.title, out);
  return {};
}

BlockKind block_kind(html::BlockKind kind) {
  switch (kind) {
    case html::BlockKind::kHeading: return BlockKind::kHeading;
    case html::BlockKind::kParagraph: return BlockKind::kParagraph;
    case html::BlockKind::kListItem: return BlockKind::kListItem;
    case html::BlockKind::kTableRow: return BlockKind::kTable;
    case html::BlockKind::kCode: return BlockKind::kCode;
    case html::BlockKind::kQuote: return BlockKind::kQuote;
  }
  return BlockKind::kParagraph;
}

/// Adjacent rows of one table become one block.
void take_html_blocks(const html::Page& page, ParsedDocument& out) {
  const LineIndex lines(out.text, 1);
  for (const html::Block& block : page.blocks) {
    const BlockKind kind = block_kind(block.kind);
    const bool joins = kind == BlockKind::kTable && !out.blocks.empty() && out.blocks.back().kind == kind &&
                       block.begin - out.blocks.back().range.end == 1;
    if (joins) {
      out.blocks.back().range.end = block.end;
      continue;
    }
    Block& added = out.blocks.emplace_back(Block{kind, 0, {block.begin, block.end}, lines.line_of(block.begin), {}});
    if (kind != BlockKind::kHeading) continue;
    added.level = block.level;
    added.heading = heading_text(std::string_view(out.text).substr(block.begin, block.end - block.begin));
  }
}

Result<void> parse_html(std::string_view key, std::string_view content, const CallContext& call, ParsedDocument& out) {
  FOOTNOTE_TRY(html::Page page, html::extract(content, {}, call));
  out.text = std::move(page.text);
  out.places.marks.reserve(page.lines.size());
  for (const html::LineMark& mark : page.lines) out.places.marks.push_back({static_cast<std::uint32_t>(mark.offset), mark.line});
  take_html_blocks(page, out);
  out.attributes.url = page.canonical_url;
  out.attributes.summary = utf8_prefix(page.description, kSummaryBytesMax);
  out.attributes.language = page.language.substr(0, page.language.find_first_of("-_"));
  if (page.cut) out.warnings.push_back("nested too deep, or too many tags; the end of the page was not read");
  settle_title(key, page.title, out);
  return {};
}

std::string_view media_type(Format format) {
  switch (format) {
    case Format::kMarkdown: return "text/markdown";
    case Format::kHtml: return "text/html";
    case Format::kPlainText: return "text/plain";
  }
  return "text/plain";
}

}  // namespace

std::string title_of_key(std::string_view key) {
  std::string name = std::filesystem::path(key).stem().string();
  std::ranges::replace(name, '_', ' ');
  std::ranges::replace(name, '-', ' ');
  return fold_spaces(name);
}

void settle_title(std::string_view key, std::string given, ParsedDocument& out) {
  const Block* heading = main_heading(out);
  given = heading_text(given);
  if (heading == nullptr) out.root_heading = given;
  if (given.empty() && heading != nullptr) given = heading->heading;
  if (given.empty()) {
    const auto first = std::ranges::find_if(out.blocks, [](const Block& block) { return !block.heading.empty(); });
    if (first != out.blocks.end()) given = first->heading;
  }
  out.attributes.title = given.empty() ? title_of_key(key) : std::move(given);
}

std::string heading_text(std::string_view text) {
  std::string line = fold_spaces(text);
  if (line.size() <= kHeadingBytesMax) return line;
  line.resize(utf8_prefix(line, kHeadingBytesMax).size());
  if (const std::size_t space = line.rfind(' '); space != std::string::npos && space > kHeadingBytesMax / 2) line.resize(space);
  return line;
}

std::string normalise_text(std::string_view bytes) {
  if (bytes.starts_with("\xEF\xBB\xBF")) bytes.remove_prefix(3);
  std::string repaired = repair_utf8(bytes);
  if (repaired.find_first_of(std::string_view("\r\0", 2)) == std::string::npos) return repaired;
  std::string out;
  out.reserve(repaired.size());
  for (std::size_t i = 0; i < repaired.size(); ++i) {
    const char c = repaired[i];
    if (c == '\0') {
      append_utf8(out, kReplacementCharacter);
    } else if (c != '\r') {
      out.push_back(c);
    } else if (i + 1 >= repaired.size() || repaired[i + 1] != '\n') {
      out.push_back('\n');
    }
  }
  return out;
}

Result<ParsedDocument> parse_document(std::string_view key, Format format, std::string_view content, const CallContext& call) {
  if (content.size() > kDocumentBytesMax) {
    return fail(ErrorCode::kTooLarge, "the document has {}; the limit is {}", human_bytes(content.size()), human_bytes(kDocumentBytesMax));
  }
  ParsedDocument out;
  out.attributes.media_type = media_type(format);
  if (!is_valid_utf8(content)) out.warnings.push_back("not valid UTF-8; malformed bytes were replaced");
  switch (format) {
    case Format::kMarkdown: FOOTNOTE_CHECK(parse_markdown(key, normalise_text(content), call, out)); break;
    case Format::kHtml: FOOTNOTE_CHECK(parse_html(key, content, call, out)); break;
    case Format::kPlainText:
      out.text = normalise_text(content);
      out.blocks = plain_text_blocks(out.text, 1);
      settle_title(key, {}, out);
      break;
  }
  FOOTNOTE_CHECK(call.check());
  return out;
}

}  // namespace footnote::chunk
