#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "chunk/parse.h"
#include "domain/ids.h"

namespace footnote::chunk {

/// The smallest piece of a chunk, never cut: a heading, a sentence, a table, a code block, or a line of a table or code block that is too
/// long.
struct Unit {
  TextRange range;
  /// A heading, or markup without words (an anchor, a rule): not worth a chunk of its own.
  bool is_bare = false;
  bool is_sentence = false;  ///< May be repeated as overlap.
};

/// A heading with everything below it. Section 0 is the document.
struct Section {
  int level = 0;
  std::vector<std::string> path;  ///< Headings from the root to this one.
  std::size_t first_unit = 0;     ///< Its heading.
  std::size_t own_end = 0;        ///< Where its first child starts.
  std::size_t end = 0;            ///< After its last descendant.
  std::vector<std::size_t> children;
};

/// A document's units in order, and the tree of its headings over them.
struct Outline {
  std::vector<Unit> units;
  std::vector<Section> sections;
};

/// Splits the document into units of at most `unit_bytes_max` that cover every byte that is not white space.
Outline make_outline(const ParsedDocument& document, std::size_t unit_bytes_max);

}  // namespace footnote::chunk
