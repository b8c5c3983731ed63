#include "chunk/detect.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/text.h"

namespace footnote::chunk {

namespace {

/// How many bytes are searched for a NUL; text files have none.
constexpr std::size_t kSniffBytes = 8192;

struct Extension {
  std::string_view name;
  Format format;
};
constexpr std::array<Extension, 18> kExtensions = {{
    {"md", Format::kMarkdown},
    {"markdown", Format::kMarkdown},
    {"mdx", Format::kMarkdown},
    {"mkd", Format::kMarkdown},
    {"mdown", Format::kMarkdown},
    {"html", Format::kHtml},
    {"htm", Format::kHtml},
    {"xhtml", Format::kHtml},
    {"txt", Format::kPlainText},
    {"text", Format::kPlainText},
    {"rst", Format::kPlainText},
    {"log", Format::kPlainText},
    {"adoc", Format::kPlainText},
    {"asciidoc", Format::kPlainText},
    {"org", Format::kPlainText},
    {"me", Format::kPlainText},
    {"csv", Format::kCsv},
    {"tsv", Format::kCsv},
}};

/// Magic numbers of formats that may have no NUL early on.
constexpr std::array<std::string_view, 20> kMagic = {"%PDF-",
                                                     "PK\x03\x04",
                                                     "PK\x05\x06",
                                                     "\x89PNG\r\n",
                                                     "\xFF\xD8\xFF",
                                                     "GIF87a",
                                                     "GIF89a",
                                                     "\x1F\x8B",
                                                     "BZh",
                                                     "\xFD"
                                                     "7zXZ",
                                                     "7z\xBC\xAF",
                                                     "Rar!\x1A",
                                                     "\x7F"
                                                     "ELF",
                                                     "SQLite format 3",
                                                     "\x28\xB5\x2F\xFD",
                                                     "OggS",
                                                     "\xCA\xFE\xBA\xBE",
                                                     "{\\rtf",
                                                     "\xD0\xCF\x11\xE0",
                                                     "ID3"};

std::string extension_of(std::string_view file_name) {
  const std::string_view name = file_name.substr(file_name.find_last_of('/') + 1);
  const std::size_t dot = name.find_last_of('.');
  // ".profile" is a name, not an extension.
  return dot == std::string_view::npos || dot == 0 ? std::string() : to_lower_ascii(name.substr(dot + 1));
}

bool looks_like_html(std::string_view content) {
  const std::string head = to_lower_ascii(trim(content.substr(0, 1024)));
  return head.starts_with("<!doctype html") || head.starts_with("<html");
}

}  // namespace

std::string_view media_type(Format format) {
  switch (format) {
    case Format::kMarkdown: return "text/markdown";
    case Format::kHtml: return "text/html";
    case Format::kPlainText: return "text/plain";
    case Format::kCsv: return "text/csv";
  }
  return "text/plain";
}

Result<Format> format_of_media_type(std::string_view media_type) {
  const std::string name = to_lower_ascii(trim(media_type.substr(0, media_type.find(';'))));
  if (name == "text/markdown" || name == "text/x-markdown") return Format::kMarkdown;
  if (name == "text/html" || name == "application/xhtml+xml") return Format::kHtml;
  if (name == "text/plain" || name == "text/x-rst") return Format::kPlainText;
  if (name == "text/csv" || name == "text/tab-separated-values") return Format::kCsv;
  return fail(ErrorCode::kUnsupported, "media type '{}' can't be read; text/markdown, text/html, text/plain and text/csv can", name);
}

Result<void> check_is_text(std::string_view content) {
  if (content.starts_with("\xFF\xFE") || content.starts_with("\xFE\xFF")) {
    return fail(ErrorCode::kUnsupported, "UTF-16 text; save it as UTF-8");
  }
  const auto begins = [&](std::string_view magic) { return content.starts_with(magic); };
  if (std::ranges::any_of(kMagic, begins)) return fail(ErrorCode::kUnsupported, "binary file");
  if (content.substr(0, kSniffBytes).find('\0') != std::string_view::npos) return fail(ErrorCode::kUnsupported, "binary file");
  return {};
}

Result<Format> detect(std::string_view file_name, std::string_view content) {
  FOOTNOTE_CHECK(check_is_text(content));
  const std::string extension = extension_of(file_name);
  if (extension.empty()) return looks_like_html(content) ? Format::kHtml : Format::kPlainText;
  for (const Extension& known : kExtensions) {
    if (known.name == extension) return known.format;
  }
  return fail(ErrorCode::kUnsupported, "unknown file type .{}", extension);
}

}  // namespace footnote::chunk
