#include "formats/format.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "base/text.h"
#include "formats/encoding.h"
#include "formats/magic.h"

namespace footnote::formats {

namespace {

struct Suffix {
  std::string_view name;
  Format format;
};
constexpr auto kSuffixes = std::to_array<Suffix>({
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
    {"log", Format::kPlainText},
    {"org", Format::kPlainText},
    {"me", Format::kPlainText},
    {"csv", Format::kCsv},
    {"tsv", Format::kCsv},
    {"tab", Format::kCsv},
    {"json", Format::kJson},
    {"geojson", Format::kJson},
    {"jsonld", Format::kJson},
    {"jsonl", Format::kJsonLines},
    {"ndjson", Format::kJsonLines},
    {"yaml", Format::kYaml},
    {"yml", Format::kYaml},
    {"toml", Format::kYaml},
    {"ini", Format::kYaml},
    {"cfg", Format::kYaml},
    {"conf", Format::kYaml},
    {"properties", Format::kYaml},
    {"ipynb", Format::kNotebook},
    {"rst", Format::kReStructuredText},
    {"rest", Format::kReStructuredText},
    {"adoc", Format::kAsciiDoc},
    {"asciidoc", Format::kAsciiDoc},
    {"asc", Format::kAsciiDoc},
    {"pdf", Format::kPdf},
    {"docx", Format::kDocx},
    {"docm", Format::kDocx},
    {"dotx", Format::kDocx},
    {"pptx", Format::kPptx},
    {"pptm", Format::kPptx},
    {"xlsx", Format::kXlsx},
    {"xlsm", Format::kXlsx},
    {"odt", Format::kOdf},
    {"ods", Format::kOdf},
    {"odp", Format::kOdf},
    {"epub", Format::kEpub},
});
constexpr auto kCodeSuffixes = std::to_array<std::string_view>(
    {"bash",   "bat", "c",    "cc",   "clj",   "cljs", "cmake",  "cpp",     "cs",     "cxx",    "dart",  "erl", "ex",
     "exs",    "f90", "fish", "fs",   "go",    "gql",  "gradle", "graphql", "groovy", "h",      "hcl",   "hh",  "hpp",
     "hrl",    "hs",  "hxx",  "java", "jl",    "js",   "jsx",    "kt",      "kts",    "lisp",   "lua",   "m",   "mjs",
     "cjs",    "ml",  "mli",  "mm",   "nim",   "nix",  "pas",    "php",     "pl",     "pm",     "proto", "ps1", "py",
     "pyi",    "r",   "rb",   "rs",   "scala", "scm",  "sh",     "sol",     "sql",    "svelte", "swift", "tex", "tf",
     "thrift", "ts",  "tsx",  "v",    "vb",    "vue",  "xml",    "xsd",     "xsl",    "zig",    "zsh"});
/// Document formats that are not supported, and what to do instead.
constexpr auto kUnread = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"doc", "an old Word file; save it as .docx"},
    {"xls", "an old Excel file; save it as .xlsx"},
    {"ppt", "an old PowerPoint file; save it as .pptx"},
    {"rtf", "an RTF file; save it as .docx or .txt"},
    {"pages", "a Pages file; export it as .docx or .pdf"},
    {"numbers", "a Numbers file; export it as .xlsx or .csv"},
    {"mobi", "a Mobipocket book; convert it to .epub"},
    {"azw3", "a Kindle book; convert it to .epub"},
    {"djvu", "a DjVu file; convert it to .pdf"},
});

struct MediaType {
  Format format;
  std::string_view name;  ///< The first row of a format has its canonical name.
};
constexpr auto kMediaTypes = std::to_array<MediaType>({
    {Format::kMarkdown, "text/markdown"},
    {Format::kMarkdown, "text/x-markdown"},
    {Format::kHtml, "text/html"},
    {Format::kHtml, "application/xhtml+xml"},
    {Format::kPlainText, "text/plain"},
    {Format::kCsv, "text/csv"},
    {Format::kCsv, "text/tab-separated-values"},
    {Format::kJson, "application/json"},
    {Format::kJsonLines, "application/jsonl"},
    {Format::kJsonLines, "application/x-ndjson"},
    {Format::kYaml, "application/yaml"},
    {Format::kYaml, "text/yaml"},
    {Format::kYaml, "application/toml"},
    {Format::kNotebook, "application/x-ipynb+json"},
    {Format::kReStructuredText, "text/x-rst"},
    {Format::kAsciiDoc, "text/asciidoc"},
    {Format::kCode, "text/x-source"},
    {Format::kPdf, "application/pdf"},
    {Format::kDocx, "application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
    {Format::kPptx, "application/vnd.openxmlformats-officedocument.presentationml.presentation"},
    {Format::kXlsx, "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
    {Format::kOdf, "application/vnd.oasis.opendocument.text"},
    {Format::kOdf, "application/vnd.oasis.opendocument.spreadsheet"},
    {Format::kOdf, "application/vnd.oasis.opendocument.presentation"},
    {Format::kEpub, "application/epub+zip"},
});

std::optional<Format> format_of_suffix(std::string_view suffix) {
  const auto* known = std::ranges::find(kSuffixes, suffix, &Suffix::name);
  if (known != kSuffixes.end()) return known->format;
  if (std::ranges::find(kCodeSuffixes, suffix) != kCodeSuffixes.end()) return Format::kCode;
  return std::nullopt;
}

/// Formats whose files are not text.
bool is_packed(Format format) {
  return format == Format::kPdf || format == Format::kDocx || format == Format::kPptx || format == Format::kXlsx ||
         format == Format::kOdf || format == Format::kEpub;
}

bool looks_like_html(std::string_view content) {
  const std::string head = to_lower_ascii(trim(content.substr(0, 1024)));
  return head.starts_with("<!doctype html") || head.starts_with("<html");
}

Format format_of_text(std::string_view suffix, std::string_view content) {
  if (const auto known = format_of_suffix(suffix)) return *known;
  if (suffix.empty() && looks_like_html(content)) return Format::kHtml;
  return content.starts_with("#!") ? Format::kCode : Format::kPlainText;
}

}  // namespace

std::string suffix_of(std::string_view file_name) {
  const std::string_view name = file_name.substr(file_name.find_last_of('/') + 1);
  const std::size_t dot = name.find_last_of('.');
  // ".profile" is a name, not a suffix.
  return dot == std::string_view::npos || dot == 0 ? std::string() : to_lower_ascii(name.substr(dot + 1));
}

bool is_document_name(std::string_view file_name) {
  const std::string suffix = suffix_of(file_name);
  const auto unread = [&](const auto& known) { return known.first == suffix; };
  return format_of_suffix(suffix).has_value() || std::ranges::any_of(kUnread, unread);
}

bool is_code_name(std::string_view file_name) { return format_of_suffix(suffix_of(file_name)) == Format::kCode; }

bool is_page_name(std::string_view file_name) { return format_of_suffix(suffix_of(file_name)) == Format::kHtml; }

std::string_view media_type(Format format) { return std::ranges::find(kMediaTypes, format, &MediaType::format)->name; }

Result<Format> format_of_media_type(std::string_view media_type) {
  const std::string name = to_lower_ascii(trim(media_type.substr(0, media_type.find(';'))));
  const auto* known = std::ranges::find(kMediaTypes, name, &MediaType::name);
  if (known != kMediaTypes.end()) return known->format;
  return fail(ErrorCode::kUnsupported, "media type '{}' can't be read; leave it out to have the format detected", name);
}

Result<Format> detect(std::string_view file_name, std::string_view content) {
  const std::string suffix = suffix_of(file_name);
  if (content.empty()) return fail(ErrorCode::kUnsupported, "empty file");
  for (const auto& [name, reason] : kUnread) {
    if (name == suffix) return fail(ErrorCode::kUnsupported, "{}", reason);
  }
  const Magic magic = magic_of(content);
  if (magic.format) return *magic.format;
  if (!magic.reason.empty()) return fail(ErrorCode::kUnsupported, "{}", magic.reason);
  const auto named = format_of_suffix(suffix);
  if (named && is_packed(*named)) return fail(ErrorCode::kUnsupported, "not a .{} file, whatever its name: damaged, or renamed", suffix);
  if (!is_text(content)) return fail(ErrorCode::kUnsupported, "binary file");
  return format_of_text(suffix, content);
}

}  // namespace footnote::formats
