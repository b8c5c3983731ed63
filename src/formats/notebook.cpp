#include <algorithm>

#include <fmt/format.h>

#include "base/json.h"
#include "base/json_view.h"
#include "base/utf8.h"
#include "chunk/blocks.h"
#include "formats/read.h"

namespace footnote::formats {

namespace {

using chunk::Block;
using chunk::BlockKind;

/// Longer outputs are cut: they are mostly data.
constexpr std::size_t kOutputBytesMax = 2000;

/// A string, or a list of strings one after the other.
std::string joined(const Json& value) {
  if (const auto* text = value.if_string()) return std::string(*text);
  std::string out;
  if (const JsonArray* parts = value.if_array()) {
    for (const Json& part : *parts) {
      if (const auto* text = part.if_string()) out += std::string_view(*text);
    }
  }
  return out;
}

std::size_t longest_run(std::string_view text, char mark) {
  std::size_t longest = 0;
  std::size_t run = 0;
  for (const char c : text) {
    run = c == mark ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return longest;
}

/// Writes cells one after the other: Markdown as it is, code and text outputs in fences.
class NotebookWriter {
 public:
  NotebookWriter(std::string language, const CallContext& call) : call_(call), language_(std::move(language)) {
    out_.places.unit = PlaceUnit::kCell;
  }

  Result<void> cell(const Json& cell, int number) {
    const std::string source = chunk::normalise_text(joined(value_at(cell, "source")));
    const std::string_view type = text_at(cell, "cell_type");
    number_ = number;
    if (type == "code") {
      fenced(language_, source);
      for (const Json& output : array_at(cell, "outputs")) {
        std::string text = joined(value_at(output, "text"));
        if (text.empty()) text = joined(value_at(value_at(output, "data"), "text/plain"));
        fenced("", chunk::normalise_text(utf8_prefix(text, kOutputBytesMax)));
      }
    } else if (type == "markdown") {
      FOOTNOTE_CHECK(markdown(source));
    } else {
      paragraph(source);
    }
    return {};
  }

  chunk::ParsedDocument finish(std::string_view key) && {
    chunk::settle_title(key, {}, out_);
    return std::move(out_);
  }

 private:
  /// Offset where the next block begins.
  std::size_t begin() {
    if (!out_.text.empty()) out_.text += "\n\n";
    if (out_.places.marks.empty() || out_.places.marks.back().number != number_) {
      out_.places.marks.push_back({static_cast<std::uint32_t>(out_.text.size()), number_});
    }
    lines_ += static_cast<int>(std::count(out_.text.begin() + static_cast<std::ptrdiff_t>(counted_), out_.text.end(), '\n'));
    counted_ = out_.text.size();
    return out_.text.size();
  }

  static bool is_empty(std::string_view text) { return text.find_first_not_of(" \t\n") == std::string_view::npos; }

  Result<void> markdown(std::string_view source) {
    if (is_empty(source)) return {};
    const std::size_t at = begin();
    out_.text += source;
    FOOTNOTE_TRY(auto blocks, chunk::markdown_blocks(source, 1 + lines_, call_));
    for (Block& block : blocks) {
      block.range.begin += at;
      block.range.end += at;
      out_.blocks.push_back(std::move(block));
    }
    return {};
  }

  void paragraph(std::string_view source) {
    if (is_empty(source)) return;
    const std::size_t at = begin();
    out_.text += source;
    out_.blocks.push_back(Block{BlockKind::kParagraph, 0, {at, out_.text.size()}, 1 + lines_, {}});
  }

  /// The fence is longer than any in the source, so that the source can't end it.
  void fenced(std::string_view language, std::string_view source) {
    if (is_empty(source)) return;
    const std::string fence(std::max<std::size_t>(3, longest_run(source, '`') + 1), '`');
    const std::size_t at = begin();
    out_.text += fmt::format("{}{}\n{}{}{}", fence, language, source, source.ends_with('\n') ? "" : "\n", fence);
    out_.blocks.push_back(Block{BlockKind::kCode, 0, {at, out_.text.size()}, 1 + lines_, {}});
  }

  const CallContext& call_;
  const std::string language_;
  chunk::ParsedDocument out_;
  int number_ = 0;
  int lines_ = 0;  ///< Line ends before counted_.
  std::size_t counted_ = 0;
};

}  // namespace

Result<chunk::ParsedDocument> read_notebook(std::string_view key, std::string_view text, const CallContext& call) {
  const auto json = parse_json(text);
  if (!json) return fail(ErrorCode::kUnsupported, "not a notebook: {}", json.error().message);
  const JsonArray& cells = array_at(*json, "cells");
  if (cells.empty()) return fail(ErrorCode::kUnsupported, "a notebook without cells, or one of a version before 4");
  const std::string_view language = text_at(value_at(value_at(*json, "metadata"), "kernelspec"), "language");
  const bool is_word = std::ranges::all_of(language, [](char c) { return c > ' ' && c < 0x7F && c != '`'; });
  NotebookWriter writer(is_word ? std::string(language.substr(0, 20)) : std::string(), call);
  int number = 0;
  for (const Json& cell : cells) FOOTNOTE_CHECK(writer.cell(cell, ++number));
  return std::move(writer).finish(key);
}

}  // namespace footnote::formats
