#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "formats/builder.h"
#include "formats/encoding.h"
#include "formats/office.h"
#include "formats/read.h"
#include "formats/xml_reader.h"

namespace footnote::formats {

namespace {

using Event = XmlReader::Event;
using chunk::Block;
using chunk::BlockKind;

Result<std::string> main_part(Package& package) {
  FOOTNOTE_TRY(std::string xml, package.read("META-INF/container.xml"));
  FOOTNOTE_TRY(const auto reader, XmlReader::open(std::move(xml)));
  for (;;) {
    FOOTNOTE_TRY(const Event event, reader->next());
    if (event == Event::kDone) return fail(ErrorCode::kUnsupported, "damaged: it does not name its contents");
    if (event == Event::kStart && reader->name() == "rootfile") return part_name("", reader->attribute("full-path"));
  }
}

/// The parts of the text in the order of reading.
Result<std::vector<std::string>> chapters_in_order(Package& package, const std::string& main) {
  FOOTNOTE_TRY(std::string xml, package.read(main));
  FOOTNOTE_TRY(const auto reader, XmlReader::open(std::move(xml)));
  std::map<std::string, std::string> parts;
  std::vector<std::string> out;
  for (;;) {
    FOOTNOTE_TRY(const Event event, reader->next());
    if (event == Event::kDone) return out;
    if (event != Event::kStart) continue;
    if (reader->name() == "item" && reader->attribute("media-type") == "application/xhtml+xml" &&
        reader->attribute("properties").find("nav") == std::string::npos) {
      parts[reader->attribute("id")] = part_name(main, reader->attribute("href"));
    }
    if (reader->name() != "itemref") continue;
    const auto found = parts.find(reader->attribute("idref"));
    if (found != parts.end() && std::ranges::find(out, found->second) == out.end()) out.push_back(found->second);
  }
}

/// Appends a chapter, which is a web page.
class BookWriter {
 public:
  explicit BookWriter(std::size_t text_bytes_max) : text_bytes_max_(text_bytes_max) { out_.places.unit = PlaceUnit::kNone; }

  void chapter(const chunk::ParsedDocument& page) {
    if (page.text.empty() || is_full_) return;
    const std::size_t gap = out_.text.empty() ? 0 : 2;
    is_full_ = out_.text.size() + gap + page.text.size() > text_bytes_max_;
    if (is_full_) {
      out_.warnings.push_back("only the first " + human_bytes(out_.text.size()) + " of its text were read");
      return;
    }
    out_.text.append(gap, '\n');
    const std::size_t shift = out_.text.size();
    out_.text += page.text;
    for (Block block : page.blocks) {
      block.range.begin += shift;
      block.range.end += shift;
      block.first_line += lines_ + static_cast<int>(gap);
      out_.blocks.push_back(std::move(block));
    }
    lines_ += static_cast<int>(gap) + static_cast<int>(std::ranges::count(page.text, '\n'));
  }

  bool is_full() const { return is_full_; }
  chunk::ParsedDocument& document() { return out_; }

 private:
  const std::size_t text_bytes_max_;
  chunk::ParsedDocument out_;
  int lines_ = 0;  ///< Line ends of the text.
  bool is_full_ = false;
};

}  // namespace

Result<chunk::ParsedDocument> read_epub(std::string_view key, std::string_view bytes, const CallContext& call) {
  FOOTNOTE_TRY(Package package, Package::open(bytes));
  if (package.has("META-INF/encryption.xml") && package.has("META-INF/rights.xml")) {
    return fail(ErrorCode::kUnsupported, "protected by copy protection; its text can't be read");
  }
  if (!package.has("META-INF/container.xml")) return fail(ErrorCode::kUnsupported, "damaged: it does not name its contents");
  FOOTNOTE_TRY(const std::string main, main_part(package));
  FOOTNOTE_TRY(const auto chapters, chapters_in_order(package, main));
  const std::set<std::string> wanted(chapters.begin(), chapters.end());
  FOOTNOTE_TRY(const auto parts, package.read_all([&](const std::string& name) { return wanted.contains(name); }));
  BookWriter book(text_bytes_max(bytes.size()));
  for (const std::string& name : chapters) {
    const auto part = parts.find(name);
    if (part == parts.end() || book.is_full()) continue;
    FOOTNOTE_TRY(const auto page, chunk::parse_document(name, chunk::Format::kHtml, decode(part->second).text, call));
    book.chapter(page);
  }
  settle(key, read_metadata(package, main), book.document());
  return std::move(book.document());
}

}  // namespace footnote::formats
