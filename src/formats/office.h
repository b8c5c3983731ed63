#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "chunk/parse.h"
#include "formats/package.h"

namespace footnote::formats {

struct Relation {
  std::string type;    ///< The last part of the relation's type URI: "slide", "image".
  std::string target;  ///< The name of the target part.
};

/// The name of the part that holds the relations of `part`: "word/_rels/document.xml.rels".
std::string relations_name(std::string_view part);
/// Parses the relations in an XML text, by id. Targets are part names; external targets are left out.
Result<std::map<std::string, Relation>> parse_relations(std::string_view part, std::string xml);
/// The relations of a part; none if it has no relations.
Result<std::map<std::string, Relation>> read_relations(Package& package, std::string_view part);

/// Resolves a path relative to the folder of `part`: "../media/a.xml" in "ppt/slides/b.xml" is "ppt/media/a.xml".
std::string part_name(std::string_view part, std::string_view target);

/// Title and language stated by the document; empty if missing.
struct Metadata {
  std::string title;
  std::string language;
};
/// Reads the Dublin Core elements of a part, at any depth of the XML. Empty if the part is missing or damaged.
Metadata read_metadata(Package& package, const std::string& part);

/// Sets title, language and other metadata of a document after reading.
void settle(std::string_view key, const Metadata& metadata, chunk::ParsedDocument& document);

}  // namespace footnote::formats
