#include "formats/office.h"

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "formats/xml_reader.h"

namespace footnote::formats {

using Event = XmlReader::Event;

std::string relations_name(std::string_view part) {
  const std::size_t slash = part.rfind('/');
  const std::size_t name = slash == std::string_view::npos ? 0 : slash + 1;
  return std::string(part.substr(0, name)) + "_rels/" + std::string(part.substr(name)) + ".rels";
}

std::string part_name(std::string_view part, std::string_view target) {
  std::vector<std::string> names;
  const auto add = [&](std::string_view path) {
    for (const std::string_view name : split(path, '/')) {
      if (name == ".." && !names.empty()) {
        names.pop_back();
      } else if (!name.empty() && name != "." && name != "..") {
        names.emplace_back(name);
      }
    }
  };
  if (!target.starts_with('/')) add(part.substr(0, part.rfind('/') == std::string_view::npos ? 0 : part.rfind('/')));
  add(target);
  return join(names, "/");
}

Result<std::map<std::string, Relation>> parse_relations(std::string_view part, std::string xml) {
  std::map<std::string, Relation> out;
  FOOTNOTE_TRY(const auto reader, XmlReader::open(std::move(xml)));
  for (;;) {
    FOOTNOTE_TRY(const Event event, reader->next());
    if (event == Event::kDone) return out;
    if (event != Event::kStart || reader->name() != "Relationship" || reader->attribute("TargetMode") == "External") continue;
    const std::string type = reader->attribute("Type");
    out[reader->attribute("Id")] = {type.substr(type.rfind('/') + 1), part_name(part, reader->attribute("Target"))};
  }
}

Result<std::map<std::string, Relation>> read_relations(Package& package, std::string_view part) {
  const std::string name = relations_name(part);
  if (!package.has(name)) return std::map<std::string, Relation>{};
  FOOTNOTE_TRY(std::string xml, package.read(name));
  return parse_relations(part, std::move(xml));
}

Metadata read_metadata(Package& package, const std::string& part) {
  Metadata out;
  auto xml = package.read(part);
  auto reader = xml ? XmlReader::open(*std::move(xml)) : std::unexpected(xml.error());
  while (reader) {
    const auto event = (*reader)->next();
    if (!event || *event == Event::kDone) break;
    if (*event != Event::kStart) continue;
    const std::string name((*reader)->name());
    if (name != "title" && name != "language") continue;
    std::string& field = name == "title" ? out.title : out.language;
    const auto text = (*reader)->inner_text();
    if (text && field.empty()) field = fold_spaces(*text);
  }
  return out;
}

void settle(std::string_view key, const Metadata& metadata, chunk::ParsedDocument& document) {
  const std::string language = to_lower_ascii(metadata.language.substr(0, metadata.language.find_first_of("-_")));
  const bool is_code = language.size() == 2 && std::ranges::all_of(language, is_ascii_lower);
  if (is_code) document.attributes.language = language;
  chunk::settle_title(key, metadata.title, document);
}

}  // namespace footnote::formats
