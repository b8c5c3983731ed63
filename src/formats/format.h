#pragma once

#include <string_view>

#include "base/result.h"

namespace footnote::formats {

/// The document formats that are read.
enum class Format {
  kMarkdown,
  kHtml,
  kPlainText,
  kCsv,
  kJson,
  kJsonLines,
  kYaml,  ///< Also TOML, INI and similar formats: keys by indentation or section.
  kNotebook,
  kReStructuredText,
  kAsciiDoc,
  kCode,
  kPdf,
  kDocx,
  kPptx,
  kXlsx,
  kOdf,  ///< OpenDocument: .odt, .ods, .odp.
  kEpub,
};

/// "text/markdown", "application/pdf" ...
std::string_view media_type(Format format);

/// The format for a media type ("text/html; charset=utf-8"); kUnsupported for unknown ones.
Result<Format> format_of_media_type(std::string_view media_type);

/// Detects the format from the content; if that is ambiguous, from the file name's suffix. Text with an unknown suffix is plain text.
/// kUnsupported, with a reason for people, if the content is no document ("a Windows program", "an image", "binary file") or contradicts
/// the suffix.
Result<Format> detect(std::string_view file_name, std::string_view content);

/// Lower-case suffix without the dot: "md"; empty for "README" and ".profile".
std::string suffix_of(std::string_view file_name);

/// True if the suffix is that of a document format, supported or not: if such a file can't be read, the user should be told.
bool is_document_name(std::string_view file_name);

/// True for names of source code and of web pages.
bool is_code_name(std::string_view file_name);
bool is_page_name(std::string_view file_name);

}  // namespace footnote::formats
