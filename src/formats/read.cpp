#include "formats/read.h"

#include <fmt/format.h>

#include "base/text.h"
#include "formats/encoding.h"

namespace footnote::formats {

namespace {

using chunk::ParsedDocument;

Result<ParsedDocument> read_text(std::string_view key, Format format, std::string_view bytes, const CallContext& call) {
  if (!is_text(bytes)) return fail(ErrorCode::kUnsupported, "binary file");
  const Decoded decoded = decode(bytes, format == Format::kHtml ? declared_charset(bytes) : std::string());
  std::string text = chunk::normalise_text(decoded.text);
  Result<ParsedDocument> out = ParsedDocument{};
  switch (format) {
    case Format::kMarkdown: out = chunk::parse_document(key, chunk::Format::kMarkdown, text, call); break;
    case Format::kHtml: out = chunk::parse_document(key, chunk::Format::kHtml, text, call); break;
    case Format::kCsv: out = read_csv(key, text); break;
    case Format::kJson: out = read_json(key, text); break;
    case Format::kJsonLines: out = read_json_lines(key, text); break;
    case Format::kYaml: out = read_yaml(key, std::move(text)); break;
    case Format::kNotebook: out = read_notebook(key, text, call); break;
    case Format::kReStructuredText: out = read_restructured_text(key, std::move(text)); break;
    case Format::kAsciiDoc: out = read_asciidoc(key, std::move(text)); break;
    case Format::kCode: out = read_code(key, std::move(text)); break;
    case Format::kPlainText:
    case Format::kPdf:
    case Format::kDocx:
    case Format::kPptx:
    case Format::kXlsx:
    case Format::kOdf:
    case Format::kEpub: out = chunk::parse_document(key, chunk::Format::kPlainText, text); break;
  }
  if (!out) return out;
  if (std::string remark = decoded.remark(); !remark.empty()) out->warnings.insert(out->warnings.begin(), std::move(remark));
  return out;
}

Result<ParsedDocument> read(std::string_view key, Format format, std::string_view bytes, const CallContext& call) {
  switch (format) {
    case Format::kDocx: return read_docx(key, bytes);
    case Format::kPptx: return read_pptx(key, bytes);
    case Format::kXlsx: return read_xlsx(key, bytes);
    case Format::kOdf: return read_odf(key, bytes);
    case Format::kEpub: return read_epub(key, bytes, call);
    case Format::kPdf: return read_pdf(key, bytes);
    case Format::kMarkdown:
    case Format::kHtml:
    case Format::kPlainText:
    case Format::kCsv:
    case Format::kJson:
    case Format::kJsonLines:
    case Format::kYaml:
    case Format::kNotebook:
    case Format::kReStructuredText:
    case Format::kAsciiDoc:
    case Format::kCode: return read_text(key, format, bytes, call);
  }
  return fail(ErrorCode::kUnsupported, "unknown format");
}

}  // namespace

Result<ParsedDocument> read_document(std::string_view key, std::string_view media_type, std::string_view bytes, const CallContext& call) {
  if (bytes.size() > chunk::kDocumentBytesMax) {
    return fail(ErrorCode::kTooLarge, "the document has {}; the limit is {}", human_bytes(bytes.size()),
                human_bytes(chunk::kDocumentBytesMax));
  }
  FOOTNOTE_TRY(const Format format, media_type.empty() ? detect(key, bytes) : format_of_media_type(media_type));
  FOOTNOTE_TRY(ParsedDocument out, read(key, format, bytes, call));
  out.attributes.media_type = formats::media_type(format);
  return out;
}

}  // namespace footnote::formats
