#include <array>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "base/text.h"
#include "formats/builder.h"
#include "formats/office.h"
#include "formats/read.h"
#include "formats/table.h"
#include "formats/xml_reader.h"

namespace footnote::formats {

namespace {

using Event = XmlReader::Event;

constexpr int kListLevels = 9;

/// What a paragraph style means.
struct Style {
  std::string name;      ///< In lower case.
  std::string based_on;  ///< Another style's id.
  int outline = 0;       ///< Heading level from 1; 0 for text.
};

class Styles {
 public:
  Result<void> read(std::string xml) {
    FOOTNOTE_TRY(const auto reader, XmlReader::open(std::move(xml)));
    std::string id;
    for (;;) {
      FOOTNOTE_TRY(const Event event, reader->next());
      if (event == Event::kDone) return {};
      if (event != Event::kStart) continue;
      const std::string_view name = reader->name();
      if (name == "style") id = reader->attribute("styleId");
      if (name == "name") styles_[id].name = to_lower_ascii(reader->attribute("val"));
      if (name == "basedOn") styles_[id].based_on = reader->attribute("val");
      if (name == "outlineLvl") styles_[id].outline = parse_whole_number<int>(reader->attribute("val")).value_or(9) + 1;
    }
  }

  /// The heading level that a style has, or one that it is based on; 0 for text.
  int heading_level(std::string id) const {
    for (int steps = 0; steps < 16; ++steps) {
      const auto found = styles_.find(id);
      if (found == styles_.end()) return 0;
      const Style& style = found->second;
      if (style.name.starts_with("heading ")) return parse_whole_number<int>(std::string_view(style.name).substr(8)).value_or(1);
      if (style.outline >= 1 && style.outline <= 9) return style.outline;
      id = style.based_on;
    }
    return 0;
  }

  std::string name_of(const std::string& id) const {
    const auto found = styles_.find(id);
    return found == styles_.end() ? to_lower_ascii(id) : found->second.name;
  }

 private:
  std::map<std::string, Style> styles_;
};

/// Which lists have numbers, and how far they have counted.
class Numbering {
 public:
  Result<void> read(std::string xml) {
    FOOTNOTE_TRY(const auto reader, XmlReader::open(std::move(xml)));
    std::string abstract;
    std::string number;
    int level = 0;
    for (;;) {
      FOOTNOTE_TRY(const Event event, reader->next());
      if (event == Event::kDone) return {};
      if (event != Event::kStart) continue;
      const std::string_view name = reader->name();
      if (name == "abstractNum") abstract = reader->attribute("abstractNumId");
      if (name == "lvl") level = parse_whole_number<int>(reader->attribute("ilvl")).value_or(0);
      if (name == "numFmt") is_bullet_[{abstract, level}] = reader->attribute("val") == "bullet";
      if (name == "num") number = reader->attribute("numId");
      if (name == "abstractNumId") abstract_of_[number] = reader->attribute("val");
    }
  }

  /// "-" or "3."
  std::string next_marker(const std::string& list, int level) {
    level = std::clamp(level, 0, kListLevels - 1);
    const auto abstract = abstract_of_.find(list);
    const auto bullet = abstract == abstract_of_.end() ? is_bullet_.end() : is_bullet_.find({abstract->second, level});
    if (bullet == is_bullet_.end() || bullet->second) return "-";
    auto& counts = counts_[list];
    for (int deeper = level + 1; deeper < kListLevels; ++deeper) counts[static_cast<std::size_t>(deeper)] = 0;
    return fmt::format("{}.", ++counts[static_cast<std::size_t>(level)]);
  }

 private:
  std::map<std::pair<std::string, int>, bool> is_bullet_;
  std::map<std::string, std::string> abstract_of_;
  std::map<std::string, std::array<int, kListLevels>> counts_;
};

struct Paragraph {
  std::string text;
  std::string style;
  std::string list;  ///< Its list's number; empty if it is in none.
  int level = 0;
  int outline = 0;
  int page = 0;  ///< Page of its first character.
};

/// Reads the body, footnotes and endnotes into blocks.
class BodyReader {
 public:
  BodyReader(const Styles& styles, Numbering& numbering, DocumentBuilder& builder)
      : styles_(styles), numbering_(numbering), builder_(builder) {}

  Result<void> read(PartStream part) {
    FOOTNOTE_TRY(const auto reader, XmlReader::open(std::move(part)));
    while (!builder_.is_full()) {
      FOOTNOTE_TRY(const Event event, reader->next());
      if (event == Event::kDone) break;
      if (event == Event::kStart) FOOTNOTE_CHECK(start(*reader));
      if (event == Event::kText && in_text_) append(reader->text());
      if (event == Event::kEnd) end(reader->name());
    }
    return {};
  }

  /// True if the document contains the page breaks that Word rendered when it last displayed it.
  bool saw_pages() const { return saw_pages_; }

 private:
  Result<void> start(XmlReader& reader) {
    const std::string_view name = reader.name();
    if (name == "Fallback" || name == "pPrChange" || name == "del" || name == "moveFrom") return reader.skip();
    if (name == "p") {
      paragraphs_.emplace_back();
    } else if (name == "tbl") {
      if (++tables_ == 1) table_.emplace(builder_);
    } else if (name == "tr" && tables_ == 1) {
      row_ = {{}, page_};
    } else if (name == "tc" && tables_ == 1) {
      cell_.clear();
    } else if (!paragraphs_.empty()) {
      in_paragraph(name, reader);
    }
    return {};
  }

  void in_paragraph(std::string_view name, const XmlReader& reader) {
    Paragraph& paragraph = paragraphs_.back();
    const auto number = [&] { return parse_whole_number<int>(reader.attribute("val")).value_or(0); };
    if (name == "pPr") in_properties_ = true;
    if (name == "t") in_text_ = true;
    if (in_properties_) {
      if (name == "pStyle") paragraph.style = reader.attribute("val");
      if (name == "numId") paragraph.list = reader.attribute("val");
      if (name == "ilvl") paragraph.level = number();
      if (name == "outlineLvl") paragraph.outline = number() + 1;
      return;
    }
    if (name == "lastRenderedPageBreak" || (name == "br" && reader.attribute("type") == "page")) {
      saw_pages_ = saw_pages_ || name == "lastRenderedPageBreak";
      // Word also writes lastRenderedPageBreak after a manual break, so count only those.
      if (name == "lastRenderedPageBreak") ++page_;
    } else if (name == "br" || name == "cr") {
      append("\n");
    } else if (name == "tab") {
      append("\t");
    } else if (name == "noBreakHyphen") {
      append("-");
    }
  }

  void append(std::string_view text) {
    if (paragraphs_.empty()) return;
    Paragraph& paragraph = paragraphs_.back();
    if (paragraph.page == 0) paragraph.page = page_;
    paragraph.text += text;
  }

  void end(std::string_view name) {
    if (name == "t") in_text_ = false;
    if (name == "pPr") in_properties_ = false;
    if (name == "p" && !paragraphs_.empty()) {
      const Paragraph paragraph = std::move(paragraphs_.back());
      paragraphs_.pop_back();
      finish(paragraph);
    } else if (name == "tc" && tables_ == 1) {
      if (row_.cells.size() <= kTableColumnsMax) row_.cells.push_back(std::move(cell_));
      cell_.clear();
    } else if (name == "tr" && tables_ == 1) {
      table_->add(std::move(row_));
      row_ = {};
    } else if (name == "tbl" && tables_ > 0) {
      --tables_;
      if (tables_ == 0) table_->finish();
    }
  }

  void finish(const Paragraph& paragraph) {
    if (tables_ > 0) {
      cell_ += (cell_.empty() ? "" : " ") + paragraph.text;
      return;
    }
    builder_.at(std::max(1, paragraph.page));
    const std::string style = styles_.name_of(paragraph.style);
    const int level = paragraph.outline >= 1 && paragraph.outline <= 9 ? paragraph.outline : styles_.heading_level(paragraph.style);
    if (style == "title") {
      has_title_ = has_title_ || !trim(paragraph.text).empty();
      return builder_.heading(1, paragraph.text);
    }
    if (level > 0) return builder_.heading(level + (has_title_ ? 1 : 0), paragraph.text);
    if (style.find("code") != std::string::npos || style.find("preformatted") != std::string::npos) return builder_.code(paragraph.text);
    if (!paragraph.list.empty() && paragraph.list != "0") {
      return builder_.list_item(paragraph.level + 1, numbering_.next_marker(paragraph.list, paragraph.level), paragraph.text);
    }
    if (style.starts_with("list bullet") || style.starts_with("list number")) return builder_.list_item(1, "-", paragraph.text);
    builder_.paragraph(paragraph.text);
  }

  const Styles& styles_;
  Numbering& numbering_;
  DocumentBuilder& builder_;
  std::vector<Paragraph> paragraphs_;  ///< A stack, because text boxes contain paragraphs inside a paragraph.
  bool in_text_ = false;
  bool in_properties_ = false;
  bool has_title_ = false;
  bool saw_pages_ = false;
  int page_ = 1;
  int tables_ = 0;  ///< Depth of tables. Nested tables become text of a cell.
  std::optional<TableWriter> table_;
  TableRow row_;
  std::string cell_;
};

}  // namespace

Result<chunk::ParsedDocument> read_docx(std::string_view key, std::string_view bytes) {
  FOOTNOTE_TRY(Package package, Package::open(bytes));
  std::string main = "word/document.xml";
  FOOTNOTE_TRY(const auto roots, read_relations(package, ""));
  for (const auto& [id, relation] : roots) {
    if (relation.type == "officeDocument" && package.has(relation.target)) main = relation.target;
  }
  if (!package.has(main)) return fail(ErrorCode::kUnsupported, "damaged: it has no text");
  Styles styles;
  Numbering numbering;
  const auto read_part = [&](const char* name, auto& into) -> Result<void> {
    const std::string part = part_name(main, name);
    if (!package.has(part)) return {};
    FOOTNOTE_TRY(std::string xml, package.read(part));
    return into.read(std::move(xml));
  };
  FOOTNOTE_CHECK(read_part("styles.xml", styles));
  FOOTNOTE_CHECK(read_part("numbering.xml", numbering));
  DocumentBuilder builder(PlaceUnit::kPage, text_bytes_max(bytes.size()));
  BodyReader body(styles, numbering, builder);
  FOOTNOTE_TRY(PartStream text, package.stream(main));
  FOOTNOTE_CHECK(body.read(std::move(text)));
  for (const char* notes : {"footnotes.xml", "endnotes.xml"}) {
    const std::string part = part_name(main, notes);
    if (!package.has(part)) continue;
    FOOTNOTE_TRY(PartStream stream, package.stream(part));
    FOOTNOTE_CHECK(body.read(std::move(stream)));
  }
  chunk::ParsedDocument out = std::move(builder).finish();
  if (!body.saw_pages()) out.places = {PlaceUnit::kNone, {}};
  settle(key, read_metadata(package, "docProps/core.xml"), out);
  return out;
}

}  // namespace footnote::formats
