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

/// Limit on repetitions of one cell: spreadsheets repeat thousands of empty cells at the end of a row.
constexpr std::size_t kRepeatMax = 64;

enum class Kind { kText, kSheets, kSlides };

/// Reads the body of a text, a spreadsheet or a presentation: they have the same elements.
class BodyReader {
 public:
  BodyReader(Kind kind, DocumentBuilder& builder) : kind_(kind), builder_(builder) {}

  Result<void> read(PartStream part) {
    FOOTNOTE_TRY(const auto reader, XmlReader::open(std::move(part)));
    while (!builder_.is_full()) {
      FOOTNOTE_TRY(const Event event, reader->next());
      if (event == Event::kDone) break;
      if (event == Event::kStart) FOOTNOTE_CHECK(start(*reader));
      if (event == Event::kText && !texts_.empty()) texts_.back() += reader->text();
      if (event == Event::kEnd) end(reader->name());
    }
    return {};
  }

 private:
  Result<void> start(XmlReader& reader) {
    const std::string_view name = reader.name();
    if (name == "tracked-changes" || name == "annotation" || name == "note-citation" || name == "automatic-styles" ||
        name == "font-face-decls" || name == "forms") {
      return reader.skip();
    }
    if (name == "h" || name == "p") {
      texts_.emplace_back();
      if (name == "h") level_ = parse_whole_number<int>(reader.attribute("outline-level")).value_or(1);
    } else if ((name == "s" || name == "tab" || name == "line-break") && !texts_.empty()) {
      texts_.back() += ' ';
    } else if (name == "list") {
      ++lists_;
    } else if (name == "page" && kind_ == Kind::kSlides) {
      builder_.at(++page_);
      has_title_ = false;
    } else if (name == "frame") {
      frame_class_ = reader.attribute("class");
    } else if (name == "notes") {
      in_notes_ = true;
    } else {
      start_table(name, reader);
    }
    return {};
  }

  void start_table(std::string_view name, const XmlReader& reader) {
    if (name == "table") {
      if (++tables_ != 1) return;
      if (kind_ == Kind::kSheets) {
        builder_.at(1);
        builder_.heading(2, reader.attribute("name"));
      }
      row_number_ = 0;
      table_.emplace(builder_);
    } else if (name == "table-row" && tables_ == 1) {
      const int repeated = parse_whole_number<int>(reader.attribute("number-rows-repeated")).value_or(1);
      row_ = {{}, place_of_row(row_number_ + 1)};
      row_number_ += std::max(1, repeated);
    } else if (name == "table-cell" && tables_ == 1) {
      cell_.clear();
      repeated_ = parse_whole_number<std::size_t>(reader.attribute("number-columns-repeated")).value_or(1);
    }
  }

  int place_of_row(int row) const { return kind_ == Kind::kSheets ? row : std::max(1, page_); }

  void end(std::string_view name) {
    if ((name == "h" || name == "p") && !texts_.empty()) {
      const std::string text = fold_spaces(texts_.back());
      texts_.pop_back();
      finish(text, name == "h");
    } else if (name == "list") {
      --lists_;
    } else if (name == "notes") {
      in_notes_ = false;
    } else if (name == "frame") {
      frame_class_.clear();
    } else if ((name == "table-cell" || name == "covered-table-cell") && tables_ == 1) {
      const std::size_t count = std::min({repeated_, kRepeatMax, cell_.empty() ? kRepeatMax : repeated_});
      for (std::size_t i = 0; i < count && row_.cells.size() <= kTableColumnsMax; ++i) row_.cells.push_back(cell_);
      cell_.clear();
      repeated_ = 1;
    } else if (name == "table-row" && tables_ == 1) {
      table_->add(std::move(row_));
      row_ = {};
    } else if (name == "table" && tables_ > 0) {
      --tables_;
      if (tables_ == 0) table_->finish();
    }
  }

  void finish(const std::string& text, bool is_heading) {
    if (text.empty()) return;
    if (tables_ > 0) {
      cell_ += (cell_.empty() ? "" : " ") + text;
      return;
    }
    if (kind_ == Kind::kSlides) slide_heading(text);
    if (kind_ == Kind::kSlides && frame_class_ == "title") return;
    if (is_heading) return builder_.heading(level_, text);
    if (lists_ > 0 && !in_notes_) return builder_.list_item(lists_, "-", text);
    builder_.paragraph(text);
  }

  /// The heading of a slide: its title, or its name if it has none.
  void slide_heading(const std::string& text) {
    if (has_title_) return;
    has_title_ = true;
    builder_.heading(2, frame_class_ == "title" ? text : fmt::format("Slide {}", page_));
  }

  const Kind kind_;
  DocumentBuilder& builder_;
  std::vector<std::string> texts_;  ///< A stack, because a footnote is a paragraph inside a paragraph.
  int level_ = 1;
  int lists_ = 0;
  int page_ = 0;
  std::string frame_class_;
  bool has_title_ = false;
  bool in_notes_ = false;
  int tables_ = 0;
  int row_number_ = 0;
  std::optional<TableWriter> table_;
  TableRow row_;
  std::string cell_;
  std::size_t repeated_ = 1;
};

}  // namespace

Result<chunk::ParsedDocument> read_odf(std::string_view key, std::string_view bytes) {
  FOOTNOTE_TRY(Package package, Package::open(bytes));
  if (!package.has("content.xml")) return fail(ErrorCode::kUnsupported, "damaged: it has no text");
  std::string type;
  if (package.has("mimetype")) {
    FOOTNOTE_TRY(type, package.read("mimetype", 1024));
  }
  const Kind kind = type.find("spreadsheet") != std::string::npos    ? Kind::kSheets
                    : type.find("presentation") != std::string::npos ? Kind::kSlides
                                                                     : Kind::kText;
  const PlaceUnit unit = kind == Kind::kSheets ? PlaceUnit::kRow : kind == Kind::kSlides ? PlaceUnit::kSlide : PlaceUnit::kNone;
  DocumentBuilder builder(unit, text_bytes_max(bytes.size()));
  FOOTNOTE_TRY(PartStream part, package.stream("content.xml"));
  FOOTNOTE_CHECK(BodyReader(kind, builder).read(std::move(part)));
  chunk::ParsedDocument out = std::move(builder).finish();
  Metadata metadata = read_metadata(package, "meta.xml");
  if (kind == Kind::kSheets && metadata.title.empty()) metadata.title = chunk::title_of_key(key);
  settle(key, metadata, out);
  return out;
}

}  // namespace footnote::formats
