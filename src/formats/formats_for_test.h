#pragma once

#include <gtest/gtest.h>

#include <string>

#include "chunk/chunker.h"
#include "formats/read.h"

namespace footnote::formats::test {

/// Reads a document; fails the test if it can't be read.
inline chunk::ParsedDocument read(std::string_view key, std::string_view bytes) {
  auto document = read_document(key, {}, bytes);
  EXPECT_TRUE(document.has_value()) << key << ": " << document.error().message;
  return document ? *std::move(document) : chunk::ParsedDocument{};
}

/// The error message for a document that can't be read.
inline std::string reason(std::string_view key, std::string_view bytes) {
  const auto document = read_document(key, {}, bytes);
  return document ? "read" : document.error().message;
}

/// One line for each block: its place, its kind, its text with "/" for line ends. "3 h2 Title", "5 p Words.", "7 table a | b/1 | 2".
inline std::string outline(const chunk::ParsedDocument& document) {
  std::string out;
  for (const chunk::Block& block : document.blocks) {
    out += std::to_string(place_at(document.places, document.text, block.range.begin, document.first_line)) + " ";
    switch (block.kind) {
      case chunk::BlockKind::kHeading: out += "h" + std::to_string(block.level) + " [" + block.heading + "]"; break;
      case chunk::BlockKind::kParagraph: out += "p"; break;
      case chunk::BlockKind::kListItem: out += "li"; break;
      case chunk::BlockKind::kTable: out += "table"; break;
      case chunk::BlockKind::kCode: out += "code"; break;
      case chunk::BlockKind::kQuote: out += "quote"; break;
    }
    std::string text = document.text.substr(block.range.begin, block.range.size());
    for (char& c : text) c = c == '\n' ? '/' : c;
    out += " " + text + "\n";
  }
  return out;
}

}  // namespace footnote::formats::test
