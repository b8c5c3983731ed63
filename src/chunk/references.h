#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "chunk/front_matter.h"
#include "chunk/parse.h"

namespace footnote::chunk {

/// Maximum edges per document; later ones are dropped.
inline constexpr std::size_t kEdgesMax = 256;

/// Converts `related`, `supersedes` and `superseded_by` to edges. For `superseded_by`, the edge points from the newer document to this one.
std::vector<Edge> front_matter_edges(std::string_view key, const FrontMatter& front);

/// Adds an edge for each [[slug]] or [[slug|name]] outside code, once per target.
void add_wikilink_edges(std::string_view key, ParsedDocument& document);

/// The target of a reference in the document `key`: a path ("../b.md", "/b.md") as a key, a slug unchanged.
std::string resolve_reference(std::string_view key, std::string_view reference);

}  // namespace footnote::chunk
