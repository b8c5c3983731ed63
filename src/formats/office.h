#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "chunk/parse.h"
#include "formats/package.h"

namespace footnote::formats {

struct Relation {
  std::string type;    ///< The last word of its address: "slide", "image".
  std::string target;  ///< A part's name.
};

/// The name of the part that holds the relations of `part`: "word/_rels/document.xml.rels".
std::string relations_name(std::string_view part);
/// The relations in the XML text, by id. Targets are names of parts. Those outside of the package are left out.
Result<std::map<std::string, Relation>> parse_relations(std::string_view part, std::string xml);
/// The relations of a part; none if it has no relations.
Result<std::map<std::string, Relation>> read_relations(Package& package, std::string_view part);

/// A path relative to the folder of `part`, as the name of a part: "../media/a.xml" in "ppt/slides/b.xml" is "ppt/media/a.xml".
std::string part_name(std::string_view part, std::string_view target);

/// Title and language as the document states them; empty if it does not.
struct Metadata {
  std::string title;
  std::string language;
};
/// From Dublin Core elements, wherever they are in the XML. A part that is missing or damaged has none.
Metadata read_metadata(Package& package, const std::string& part);

/// Sets title, language and the like of a document that was read.
void settle(std::string_view key, const Metadata& metadata, chunk::ParsedDocument& document);

}  // namespace footnote::formats
