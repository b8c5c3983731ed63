#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "chunk/front_matter.h"
#include "chunk/parse.h"

namespace footnote::chunk {

/// A document has at most this many edges; later ones are left out.
inline constexpr std::size_t kEdgesMax = 256;

/// `related`, `supersedes` and `superseded_by` as edges. The last runs from the newer document to this one.
std::vector<Edge> front_matter_edges(std::string_view key, const FrontMatter& front);

/// Adds an edge for each [[slug]] or [[slug|name]] outside code, once per target.
void add_wikilink_edges(std::string_view key, ParsedDocument& document);

/// What a reference in the document `key` points at: a path ("../b.md", "/b.md") as a key, a slug as it is.
std::string resolve_reference(std::string_view key, std::string_view reference);

}  // namespace footnote::chunk
