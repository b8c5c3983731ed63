#include <cmark-gfm-core-extensions.h>
#include <cmark-gfm.h>

#include <algorithm>

#include "base/text.h"
#include "chunk/blocks.h"
#include "chunk/cmark_arena.h"
#include "chunk/lines.h"

namespace footnote::chunk {

namespace {

/// The node after this one in document order below `root`; null at the end. Does not allocate.
cmark_node* next_below(cmark_node* root, cmark_node* node) {
  if (cmark_node* child = cmark_node_first_child(node)) return child;
  while (node != root && cmark_node_next(node) == nullptr) node = cmark_node_parent(node);
  return node == root ? nullptr : cmark_node_next(node);
}

bool has_words(cmark_node* node) {
  const cmark_node_type type = cmark_node_get_type(node);
  return type == CMARK_NODE_TEXT || type == CMARK_NODE_CODE;
}

struct ParseJob {
  std::string_view text;
  cmark_syntax_extension* table = nullptr;
  cmark_node* document = nullptr;
};

/// Runs in a CmarkArena: must not use destructors. Nothing is freed; the arena releases everything at once.
void parse_in_arena(void* state) {
  auto& job = *static_cast<ParseJob*>(state);
  cmark_parser* parser = cmark_parser_new_with_mem(CMARK_OPT_DEFAULT, CmarkArena::memory());
  if (job.table != nullptr) cmark_parser_attach_syntax_extension(parser, job.table);
  cmark_parser_feed(parser, job.text.data(), job.text.size());
  cmark_node* document = cmark_parser_finish(parser);
  // The first call for a node allocates its text; later calls, outside the arena's run, return the same text.
  for (cmark_node* heading = document; heading != nullptr; heading = next_below(document, heading)) {
    if (cmark_node_get_type(heading) != CMARK_NODE_HEADING) continue;
    for (cmark_node* node = heading; node != nullptr; node = next_below(heading, node)) {
      if (has_words(node)) cmark_node_get_literal(node);
    }
  }
  job.document = document;
}

/// Registered at program start: cmark uses its own allocator for this, which ends the process when memory is exhausted.
[[maybe_unused]] const bool extensions_are_registered = [] {
  cmark_gfm_core_extensions_ensure_registered();
  return true;
}();

/// Null if the arena is too small, or the call ended.
cmark_node* parse(std::string_view text, CmarkArena& arena, const CallContext& call) {
  ParseJob job{.text = text, .table = cmark_find_syntax_extension("table")};
  return arena.run(&parse_in_arena, &job, call) ? job.document : nullptr;
}

/// The heading's text without markup.
std::string words_of(cmark_node* heading) {
  std::string out;
  for (cmark_node* node = heading; node != nullptr && out.size() <= 2 * kHeadingBytesMax; node = next_below(heading, node)) {
    const cmark_node_type type = cmark_node_get_type(node);
    if (has_words(node)) out += cmark_node_get_literal(node);
    if (type == CMARK_NODE_SOFTBREAK || type == CMARK_NODE_LINEBREAK) out += ' ';
  }
  return heading_text(out);
}

/// Reads block positions from the tree. cmark counts lines from 1; columns are not needed: no two text blocks start on one line, and only
/// their containers' markers precede them there.
class BlockReader {
 public:
  BlockReader(std::string_view text, int first_line) : lines_(text, 0), first_line_(first_line) {}

  std::vector<Block> run(cmark_node* document) {
    children(document, BlockKind::kParagraph);
    return std::move(out_);
  }

 private:
  // is_safe_markdown bounds the nesting, and so the recursion.
  void children(cmark_node* parent, BlockKind inside) {
    for (cmark_node* node = cmark_node_first_child(parent); node != nullptr; node = cmark_node_next(node)) read(node, inside);
  }

  void read(cmark_node* node, BlockKind inside) {
    const cmark_node_type type = cmark_node_get_type(node);
    if (type == CMARK_NODE_LIST) return children(node, BlockKind::kListItem);
    if (type == CMARK_NODE_ITEM) return children(node, BlockKind::kListItem);
    if (type == CMARK_NODE_BLOCK_QUOTE) return children(node, inside == BlockKind::kListItem ? inside : BlockKind::kQuote);
    if (type == CMARK_NODE_THEMATIC_BREAK) return;
    if (type == CMARK_NODE_CODE_BLOCK) return add(node, BlockKind::kCode);
    // The table extension registers its type at run time; its name is the public handle.
    if (std::string_view(cmark_node_get_type_string(node)) == "table") return add(node, BlockKind::kTable);
    if (type == CMARK_NODE_HEADING && inside == BlockKind::kParagraph) return add(node, BlockKind::kHeading);
    add(node, inside);
  }

  void add(cmark_node* node, BlockKind kind) {
    const int start = cmark_node_get_start_line(node) - 1;
    const int end = std::max(start, cmark_node_get_end_line(node) - 1);
    const TextRange range{lines_.line(start).begin, lines_.line(end).end};
    // Positions come from the library; blocks out of order would split sentences.
    const bool in_order = start > last_line_ && range.size() != 0;
    if (!in_order) return;
    last_line_ = start;
    if (!out_.empty()) out_.back().range.end = std::min(out_.back().range.end, range.begin);
    Block block{kind, 0, range, first_line_ + start, {}};
    if (kind == BlockKind::kHeading) {
      block.level = cmark_node_get_heading_level(node);
      block.heading = words_of(node);
    }
    out_.push_back(std::move(block));
  }

  const LineIndex lines_;
  const int first_line_;
  int last_line_ = -1;
  std::vector<Block> out_;
};

}  // namespace

Result<std::vector<Block>> markdown_blocks(std::string_view text, int first_line, const CallContext& call) {
  if (!is_safe_markdown(text)) return markdown_blocks_by_lines(text, first_line);
  const auto arena = CmarkArena::reserve(markdown_memory_max(text.size()));
  cmark_node* document = arena == nullptr ? nullptr : parse(text, *arena, call);
  FOOTNOTE_CHECK(call.check());
  if (document == nullptr) return markdown_blocks_by_lines(text, first_line);
  return BlockReader(text, first_line).run(document);
}

}  // namespace footnote::chunk
