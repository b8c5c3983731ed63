#include "formats/xml_reader.h"

namespace footnote::formats {

namespace {

std::string_view view(const xmlChar* text) {
  return text == nullptr ? std::string_view() : std::string_view(reinterpret_cast<const char*>(text));
}

/// libxml2 prints to the standard error without one.
void ignore_errors(void* /*context*/, const char* /*message*/, xmlParserSeverities /*severity*/, xmlTextReaderLocatorPtr /*locator*/) {}

constexpr int kOptions = XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING | XML_PARSE_NOCDATA | XML_PARSE_COMPACT;

}  // namespace

int XmlReader::read_part(void* context, char* out, int bytes) {
  auto& self = *static_cast<XmlReader*>(context);
  if (self.is_part_) return static_cast<int>(self.part_.read(out, static_cast<std::size_t>(bytes)));
  const std::size_t size = self.whole_.copy(out, static_cast<std::size_t>(bytes), self.at_);
  self.at_ += size;
  return static_cast<int>(size);
}

Result<std::unique_ptr<XmlReader>> XmlReader::open(PartStream part) {
  std::unique_ptr<XmlReader> out(new XmlReader);
  out->part_ = std::move(part);
  out->is_part_ = true;
  out->reader_ = xmlReaderForIO(&read_part, nullptr, out.get(), nullptr, nullptr, kOptions);
  if (out->reader_ == nullptr) return fail(ErrorCode::kResourceExhausted, "no memory for the XML parser");
  xmlTextReaderSetErrorHandler(out->reader_, &ignore_errors, nullptr);
  return out;
}

Result<std::unique_ptr<XmlReader>> XmlReader::open(std::string text) {
  std::unique_ptr<XmlReader> out(new XmlReader);
  out->whole_ = std::move(text);
  out->reader_ = xmlReaderForIO(&read_part, nullptr, out.get(), nullptr, nullptr, kOptions);
  if (out->reader_ == nullptr) return fail(ErrorCode::kResourceExhausted, "no memory for the XML parser");
  xmlTextReaderSetErrorHandler(out->reader_, &ignore_errors, nullptr);
  return out;
}

XmlReader::~XmlReader() {
  if (reader_ != nullptr) xmlFreeTextReader(reader_);
}

Result<XmlReader::Event> XmlReader::next() {
  if (end_is_due_) {
    end_is_due_ = false;
    return Event::kEnd;
  }
  for (;;) {
    const int status = xmlTextReaderRead(reader_);
    if (is_part_ && !part_.error()) return std::unexpected(part_.error().error());
    if (status < 0) return fail(ErrorCode::kUnsupported, "damaged: a part of it is not valid XML");
    if (status == 0) return Event::kDone;
    depth_ = xmlTextReaderDepth(reader_);
    switch (xmlTextReaderNodeType(reader_)) {
      case XML_READER_TYPE_ELEMENT:
        name_ = view(xmlTextReaderConstLocalName(reader_));
        end_is_due_ = xmlTextReaderIsEmptyElement(reader_) == 1;
        return Event::kStart;
      case XML_READER_TYPE_END_ELEMENT: name_ = view(xmlTextReaderConstLocalName(reader_)); return Event::kEnd;
      case XML_READER_TYPE_TEXT:
      case XML_READER_TYPE_CDATA:
      case XML_READER_TYPE_WHITESPACE:
      case XML_READER_TYPE_SIGNIFICANT_WHITESPACE: return Event::kText;
      case XML_READER_TYPE_DOCUMENT_TYPE:
        return fail(ErrorCode::kUnsupported, "refused: a part of it declares a document type, which no office program writes");
      default: break;
    }
  }
}

std::string_view XmlReader::text() const { return view(xmlTextReaderConstValue(reader_)); }

std::string XmlReader::attribute(std::string_view name) const {
  const bool is_relation = name == "r:id";
  std::string out;
  while (xmlTextReaderMoveToNextAttribute(reader_) == 1) {
    if (view(xmlTextReaderConstLocalName(reader_)) != (is_relation ? "id" : name)) continue;
    if (is_relation && !view(xmlTextReaderConstNamespaceUri(reader_)).ends_with("/relationships")) continue;
    out = view(xmlTextReaderConstValue(reader_));
    break;
  }
  xmlTextReaderMoveToElement(reader_);
  return out;
}

Result<void> XmlReader::skip() {
  for (int open = 1; open > 0;) {
    FOOTNOTE_TRY(const Event event, next());
    if (event == Event::kDone) return {};
    open += event == Event::kStart ? 1 : event == Event::kEnd ? -1 : 0;
  }
  return {};
}

Result<std::string> XmlReader::inner_text() {
  std::string out;
  for (int open = 1; open > 0;) {
    FOOTNOTE_TRY(const Event event, next());
    if (event == Event::kDone) return out;
    if (event == Event::kText) out += text();
    open += event == Event::kStart ? 1 : event == Event::kEnd ? -1 : 0;
  }
  return out;
}

}  // namespace footnote::formats
