#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
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

/// More sheets are left out, and reported.
constexpr std::size_t kSheetsMax = 256;

struct Sheet {
  std::string name;
  std::string part;
};

struct Workbook {
  std::vector<Sheet> sheets;
  std::size_t hidden = 0;
  bool starts_1904 = false;
};

Result<Workbook> read_workbook(Package& package, const std::string& main) {
  FOOTNOTE_TRY(const auto relations, read_relations(package, main));
  FOOTNOTE_TRY(std::string xml, package.read(main));
  FOOTNOTE_TRY(const auto reader, XmlReader::open(std::move(xml)));
  Workbook out;
  for (;;) {
    FOOTNOTE_TRY(const Event event, reader->next());
    if (event == Event::kDone) return out;
    if (event != Event::kStart) continue;
    if (reader->name() == "workbookPr") out.starts_1904 = reader->attribute("date1904") == "1" || reader->attribute("date1904") == "true";
    if (reader->name() != "sheet") continue;
    const auto found = relations.find(reader->attribute("r:id"));
    if (found == relations.end() || found->second.type != "worksheet") continue;
    const std::string state = reader->attribute("state");
    if (state == "hidden" || state == "veryHidden") {
      ++out.hidden;
    } else {
      out.sheets.push_back({reader->attribute("name"), found->second.target});
    }
  }
}

/// Texts that cells refer to by number.
Result<std::vector<std::string>> read_strings(PartStream part, std::size_t bytes_max) {
  FOOTNOTE_TRY(const auto reader, XmlReader::open(std::move(part)));
  std::vector<std::string> out;
  std::size_t bytes = 0;
  bool in_text = false;
  for (;;) {
    FOOTNOTE_TRY(const Event event, reader->next());
    if (event == Event::kDone) return out;
    const std::string_view name = reader->name();
    if (event == Event::kStart && name == "rPh") FOOTNOTE_CHECK(reader->skip());  // Phonetic text, not part of the content.
    if (event == Event::kStart && name == "si") out.emplace_back();
    if (event == Event::kStart || event == Event::kEnd) in_text = event == Event::kStart && name == "t";
    if (event != Event::kText || !in_text || out.empty()) continue;
    out.back() += reader->text();
    bytes += reader->text().size() + sizeof(std::string);
    if (bytes > bytes_max) return fail(ErrorCode::kTooLarge, "its texts have more than {}", human_bytes(bytes_max));
  }
}

/// Whether the number format of this code shows a date or a time.
bool shows_date(std::string_view code) {
  bool quoted = false;
  bool in_brackets = false;
  for (const char c : code) {
    if (c == '"') quoted = !quoted;
    if (c == '[' || c == ']') in_brackets = c == '[';
    if (!quoted && !in_brackets && std::string_view("yYdDhH").contains(c)) return true;
  }
  return false;
}

/// For each cell style, whether it shows its number as a date.
Result<std::vector<bool>> read_date_styles(std::string xml) {
  FOOTNOTE_TRY(const auto reader, XmlReader::open(std::move(xml)));
  std::map<int, bool> formats;
  std::vector<bool> out;
  bool in_cells = false;
  for (;;) {
    FOOTNOTE_TRY(const Event event, reader->next());
    if (event == Event::kDone) return out;
    const std::string_view name = reader->name();
    if (name == "cellXfs") in_cells = event == Event::kStart;
    if (event != Event::kStart) continue;
    const int id = parse_whole_number<int>(reader->attribute("numFmtId")).value_or(0);
    if (name == "numFmt") formats[id] = shows_date(reader->attribute("formatCode"));
    const bool built_in = (id >= 14 && id <= 22) || (id >= 45 && id <= 47);
    if (name == "xf" && in_cells) out.push_back(formats.contains(id) ? formats[id] : built_in);
  }
}

/// A day number as "2027-01-31", with its time if it has one.
std::string date_of(double serial, bool starts_1904) {
  const double days = std::floor(serial);
  const auto minutes = static_cast<int>(std::lround((serial - days) * 1440));
  const std::chrono::sys_days epoch =
      starts_1904 ? std::chrono::sys_days{std::chrono::year{1904} / 1 / 1} : std::chrono::sys_days{std::chrono::year{1899} / 12 / 30};
  const std::chrono::year_month_day day{epoch + std::chrono::days{static_cast<int>(days)}};
  std::string out = days < 1 ? std::string()
                             : fmt::format("{:04}-{:02}-{:02}", static_cast<int>(day.year()), static_cast<unsigned>(day.month()),
                                           static_cast<unsigned>(day.day()));
  if (minutes > 0 || out.empty()) out += fmt::format("{}{:02}:{:02}", out.empty() ? "" : " ", minutes / 60 % 24, minutes % 60);
  return out;
}

/// 0 for "A7", 27 for "AB7"; nullopt for anything else.
std::optional<std::size_t> column_of(std::string_view reference) {
  std::size_t column = 0;
  std::size_t letters = 0;
  while (letters < reference.size() && is_ascii_upper(reference[letters]) && letters < 4) {
    column = column * 26 + static_cast<std::size_t>(reference[letters++] - 'A') + 1;
  }
  return letters == 0 ? std::nullopt : std::optional(column - 1);
}

/// Reads the rows of one sheet.
class SheetReader {
 public:
  SheetReader(const std::vector<std::string>& strings, const std::vector<bool>& date_styles, bool starts_1904, DocumentBuilder& builder)
      : strings_(strings), date_styles_(date_styles), starts_1904_(starts_1904), builder_(builder), table_(builder) {}

  Result<void> read(PartStream part) {
    FOOTNOTE_TRY(const auto reader, XmlReader::open(std::move(part)));
    while (!builder_.is_full()) {
      FOOTNOTE_TRY(const Event event, reader->next());
      if (event == Event::kDone) break;
      if (event == Event::kStart) start(*reader);
      if (event == Event::kText && in_value_) value_ += reader->text();
      if (event == Event::kEnd) end(reader->name());
    }
    table_.finish();
    return {};
  }

 private:
  void start(const XmlReader& reader) {
    const std::string_view name = reader.name();
    if (name == "row") {
      row_ = {{}, parse_whole_number<int>(reader.attribute("r")).value_or(row_.place + 1)};
    } else if (name == "c") {
      column_ = column_of(reader.attribute("r")).value_or(row_.cells.size());
      type_ = reader.attribute("t");
      style_ = parse_whole_number<std::size_t>(reader.attribute("s")).value_or(0);
      value_.clear();
    } else {
      in_value_ = name == "v" || name == "t";
    }
  }

  void end(std::string_view name) {
    in_value_ = false;
    if (name == "c") cell();
    if (name == "row") {
      const int place = row_.place;
      table_.add(std::move(row_));
      row_ = {{}, place};
    }
  }

  void cell() {
    if (value_.empty() || column_ >= kTableColumnsMax) {
      if (!value_.empty()) builder_.remark(fmt::format("columns after the first {} were left out", kTableColumnsMax));
      return;
    }
    if (row_.cells.size() <= column_) row_.cells.resize(column_ + 1);
    row_.cells[column_] = shown();
  }

  std::string shown() const {
    if (type_ == "s") {
      const auto index = parse_whole_number<std::size_t>(trim(value_));
      return index && *index < strings_.size() ? strings_[*index] : std::string();
    }
    if (type_ == "b") return value_ == "1" ? "TRUE" : "FALSE";
    if (!type_.empty() && type_ != "n") return value_;
    double number = 0;
    const auto [end, error] = std::from_chars(value_.data(), value_.data() + value_.size(), number);
    if (error != std::errc{} || end != value_.data() + value_.size()) return value_;
    const bool is_date = style_ < date_styles_.size() && date_styles_[style_] && number >= 0 && number < 3'000'000;
    if (is_date) return date_of(number, starts_1904_);
    // The file has more digits than a person sees: 0.1 is written as 0.10000000000000001.
    return fmt::format("{:.15g}", number);
  }

  const std::vector<std::string>& strings_;
  const std::vector<bool>& date_styles_;
  const bool starts_1904_;
  DocumentBuilder& builder_;
  TableWriter table_;
  TableRow row_{{}, 0};
  std::size_t column_ = 0;
  std::size_t style_ = 0;
  std::string type_;
  std::string value_;
  bool in_value_ = false;
};

}  // namespace

Result<chunk::ParsedDocument> read_xlsx(std::string_view key, std::string_view bytes) {
  FOOTNOTE_TRY(Package package, Package::open(bytes));
  const std::string main = "xl/workbook.xml";
  if (!package.has(main)) return fail(ErrorCode::kUnsupported, "damaged: it has no sheets");
  FOOTNOTE_TRY(const Workbook workbook, read_workbook(package, main));
  std::vector<std::string> strings;
  if (package.has("xl/sharedStrings.xml")) {
    FOOTNOTE_TRY(PartStream part, package.stream("xl/sharedStrings.xml"));
    FOOTNOTE_TRY(strings, read_strings(std::move(part), 2 * text_bytes_max(bytes.size())));
  }
  std::vector<bool> date_styles;
  if (package.has("xl/styles.xml")) {
    FOOTNOTE_TRY(std::string xml, package.read("xl/styles.xml"));
    FOOTNOTE_TRY(date_styles, read_date_styles(std::move(xml)));
  }
  DocumentBuilder builder(PlaceUnit::kRow, text_bytes_max(bytes.size()));
  if (workbook.hidden > 0)
    builder.remark(fmt::format("{} hidden sheet{} left out", workbook.hidden, workbook.hidden == 1 ? " was" : "s were"));
  if (workbook.sheets.size() > kSheetsMax) builder.remark(fmt::format("sheets after the first {} were left out", kSheetsMax));
  for (std::size_t i = 0; i < std::min(workbook.sheets.size(), kSheetsMax); ++i) {
    const Sheet& sheet = workbook.sheets[i];
    if (!package.has(sheet.part)) continue;
    builder.at(1);
    builder.heading(2, sheet.name);
    FOOTNOTE_TRY(PartStream part, package.stream(sheet.part));
    FOOTNOTE_CHECK(SheetReader(strings, date_styles, workbook.starts_1904, builder).read(std::move(part)));
  }
  chunk::ParsedDocument out = std::move(builder).finish();
  Metadata metadata = read_metadata(package, "docProps/core.xml");
  if (metadata.title.empty()) metadata.title = chunk::title_of_key(key);
  settle(key, metadata, out);
  return out;
}

}  // namespace footnote::formats
