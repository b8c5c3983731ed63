#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "chunk/parse.h"
#include "domain/ids.h"

namespace footnote::chunk {

/// The smallest piece of a chunk, never cut: a heading, a sentence, a table, a code block, or a line of a table or code block that is too
/// long.
struct Unit {
  std::uint32_t begin = 0;  ///< In the document's text. 32 bits: a text of short lines has millions of units.
  std::uint32_t end = 0;
  /// A heading, or markup without words (an anchor, a rule): not worth a chunk of its own.
  bool is_bare = false;
  bool is_sentence = false;  ///< May be repeated as overlap.

  std::size_t size() const { return end - begin; }
};

/// A heading with everything below it. Section 0 is the document.
struct Section {
  int level = 0;
  std::string_view heading;    ///< A view into the document's headings; may be empty.
  std::size_t parent = 0;      ///< Index of the parent section; the document is its own parent.
  std::size_t first_unit = 0;  ///< The unit of its heading.
  std::size_t own_end = 0;     ///< Where its first child section starts.
  std::size_t end = 0;         ///< Past its last descendant.
  std::vector<std::size_t> children;
};

/// A document's units in order, and the tree of its headings over them. Borrows the document's headings.
struct Outline {
  std::vector<Unit> units;
  std::vector<Section> sections;

  /// The headings from the root to this section, without empty ones.
  std::vector<std::string> path_of(std::size_t section) const;
};

/// Splits the document into units of at most `unit_bytes_max` that cover every byte that is not white space.
Outline make_outline(const ParsedDocument& document, std::size_t unit_bytes_max);

}  // namespace footnote::chunk
