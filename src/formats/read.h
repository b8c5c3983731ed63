#pragma once

#include <string_view>

#include "base/call_context.h"
#include "base/result.h"
#include "chunk/parse.h"
#include "formats/format.h"

namespace footnote::formats {

/// Reads a document of any format: text with blocks for the chunker, title, places in the original, and remarks on what was left out or
/// repaired. `media_type` may be empty: the format is then detected. `key` is the document's path: its suffix helps the detection, its name
/// is the fallback title. Thread-safe.
///
/// kUnsupported: the bytes are no document that can be read; the message says what they are and what to do. kTooLarge: more than
/// chunk::kDocumentBytesMax, or a packed document that unpacks to more than its limits. kFailedPrecondition: an external program for the
/// format is not installed; the message names its package. kCancelled, kDeadlineExceeded: `call` ended. Only Markdown and HTML parsing
/// checks this; other formats have their own time limits.
Result<chunk::ParsedDocument> read_document(std::string_view key, std::string_view media_type, std::string_view bytes,
                                            const CallContext& call = {});

/// One reader per format. Each gets the file's bytes, or the decoded text for text formats.
chunk::ParsedDocument read_csv(std::string_view key, std::string_view text);
chunk::ParsedDocument read_json(std::string_view key, std::string_view text);
chunk::ParsedDocument read_json_lines(std::string_view key, std::string_view text);
chunk::ParsedDocument read_yaml(std::string_view key, std::string text);
Result<chunk::ParsedDocument> read_notebook(std::string_view key, std::string_view text, const CallContext& call = {});
chunk::ParsedDocument read_restructured_text(std::string_view key, std::string text);
chunk::ParsedDocument read_asciidoc(std::string_view key, std::string text);
chunk::ParsedDocument read_code(std::string_view key, std::string text);
Result<chunk::ParsedDocument> read_pdf(std::string_view key, std::string_view bytes);
Result<chunk::ParsedDocument> read_docx(std::string_view key, std::string_view bytes);
Result<chunk::ParsedDocument> read_pptx(std::string_view key, std::string_view bytes);
Result<chunk::ParsedDocument> read_xlsx(std::string_view key, std::string_view bytes);
Result<chunk::ParsedDocument> read_odf(std::string_view key, std::string_view bytes);
Result<chunk::ParsedDocument> read_epub(std::string_view key, std::string_view bytes, const CallContext& call = {});

}  // namespace footnote::formats
