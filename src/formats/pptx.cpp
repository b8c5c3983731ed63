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
using Parts = std::map<std::string, std::string>;

/// The paragraphs and tables of one slide.
struct Slide {
  struct Item {
    std::string text;
    int level = 0;  ///< Level of a list item, from 1; 0 for a paragraph.
    std::vector<TableRow> rows;
  };
  std::string title;
  std::vector<Item> items;
};

class SlideReader {
 public:
  Result<Slide> read(std::string xml) {
    FOOTNOTE_TRY(const auto reader, XmlReader::open(std::move(xml)));
    for (;;) {
      FOOTNOTE_TRY(const Event event, reader->next());
      if (event == Event::kDone) return std::move(slide_);
      if (event == Event::kStart) FOOTNOTE_CHECK(start(*reader));
      if (event == Event::kText && in_text_) text_ += reader->text();
      if (event == Event::kEnd) end(reader->name());
    }
  }

 private:
  Result<void> start(XmlReader& reader) {
    const std::string_view name = reader.name();
    if (name == "Fallback") return reader.skip();
    if (name == "sp") placeholder_.reset();
    if (name == "ph") {
      placeholder_ = reader.attribute("type");
      // Skip the slide's number, date and footer: they are the same on all slides.
      is_furniture_ = *placeholder_ == "sldNum" || *placeholder_ == "dt" || *placeholder_ == "ftr";
    }
    if (name == "p") text_.clear(), level_ = 0;
    if (name == "pPr") level_ = parse_whole_number<int>(reader.attribute("lvl")).value_or(0);
    if (name == "t") in_text_ = true;
    if (name == "br") text_ += ' ';
    if (name == "tbl") is_table_ = true, slide_.items.push_back({});
    if (name == "tr" && is_table_) slide_.items.back().rows.push_back({});
    if (name == "tc" && is_table_) cell_.clear();
    return {};
  }

  void end(std::string_view name) {
    if (name == "t") in_text_ = false;
    if (name == "p") paragraph();
    if (name == "sp") placeholder_.reset(), is_furniture_ = false;
    if (name == "tbl") is_table_ = false;
    if (name == "tc" && is_table_) cell();
  }

  void cell() {
    std::vector<TableRow>& rows = slide_.items.back().rows;
    if (!rows.empty() && rows.back().cells.size() <= kTableColumnsMax) rows.back().cells.push_back(cell_);
  }

  void paragraph() {
    const std::string text = fold_spaces(text_);
    text_.clear();
    if (text.empty() || is_furniture_) return;
    if (is_table_) {
      cell_ += (cell_.empty() ? "" : " ") + text;
    } else if (placeholder_ == "title" || placeholder_ == "ctrTitle") {
      slide_.title += (slide_.title.empty() ? "" : " ") + text;
    } else {
      const bool is_list = placeholder_ && *placeholder_ != "subTitle";
      slide_.items.push_back({text, is_list ? level_ + 1 : 0, {}});
    }
  }

  Slide slide_;
  std::optional<std::string> placeholder_;
  bool is_furniture_ = false;
  bool in_text_ = false;
  bool is_table_ = false;
  int level_ = 0;
  std::string text_;
  std::string cell_;
};

void write(const Slide& slide, int number, DocumentBuilder& builder) {
  builder.at(number);
  builder.heading(2, slide.title.empty() ? fmt::format("Slide {}", number) : slide.title);
  for (const Slide::Item& item : slide.items) {
    if (!item.rows.empty()) {
      TableWriter table(builder);
      for (TableRow row : item.rows) {
        row.place = number;
        table.add(std::move(row));
      }
      table.finish();
    } else if (item.level > 0) {
      builder.list_item(item.level, "-", item.text);
    } else {
      builder.paragraph(item.text);
    }
  }
}

/// Writes the speaker notes below the slide.
Result<void> write_notes(const Parts& parts, const std::string& slide, DocumentBuilder& builder) {
  const auto relations = parts.find(relations_name(slide));
  if (relations == parts.end()) return {};
  FOOTNOTE_TRY(const auto found, parse_relations(slide, relations->second));
  for (const auto& [id, relation] : found) {
    const auto part = parts.find(relation.target);
    if (relation.type != "notesSlide" || part == parts.end()) continue;
    FOOTNOTE_TRY(const Slide notes, SlideReader().read(part->second));
    for (const Slide::Item& item : notes.items) builder.paragraph(item.text);
  }
  return {};
}

Result<std::vector<std::string>> slides_in_order(Package& package, const std::string& main) {
  FOOTNOTE_TRY(const auto relations, read_relations(package, main));
  FOOTNOTE_TRY(std::string xml, package.read(main));
  FOOTNOTE_TRY(const auto reader, XmlReader::open(std::move(xml)));
  std::vector<std::string> out;
  for (;;) {
    FOOTNOTE_TRY(const Event event, reader->next());
    if (event == Event::kDone) return out;
    if (event != Event::kStart || reader->name() != "sldId") continue;
    // The element has two attributes with the local name "id"; the relation's is not a number.
    const auto found = relations.find(reader->attribute("r:id"));
    if (found != relations.end()) out.push_back(found->second.target);
  }
}

}  // namespace

Result<chunk::ParsedDocument> read_pptx(std::string_view key, std::string_view bytes) {
  FOOTNOTE_TRY(Package package, Package::open(bytes));
  const std::string main = "ppt/presentation.xml";
  if (!package.has(main)) return fail(ErrorCode::kUnsupported, "damaged: it has no slides");
  FOOTNOTE_TRY(const auto slides, slides_in_order(package, main));
  FOOTNOTE_TRY(const Parts parts, package.read_all([](const std::string& name) {
    return name.starts_with("ppt/slides/") || name.starts_with("ppt/notesSlides/notesSlide");
  }));
  DocumentBuilder builder(PlaceUnit::kSlide, text_bytes_max(bytes.size()));
  int number = 0;
  for (const std::string& name : slides) {
    ++number;
    const auto part = parts.find(name);
    if (part == parts.end() || builder.is_full()) continue;
    FOOTNOTE_TRY(const Slide slide, SlideReader().read(part->second));
    write(slide, number, builder);
    FOOTNOTE_CHECK(write_notes(parts, name, builder));
  }
  chunk::ParsedDocument out = std::move(builder).finish();
  settle(key, read_metadata(package, "docProps/core.xml"), out);
  return out;
}

}  // namespace footnote::formats
