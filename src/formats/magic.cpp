#include "formats/magic.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/text.h"
#include "formats/encoding.h"

namespace footnote::formats {

namespace {

using namespace std::string_view_literals;

/// Other bytes may precede the PDF header, up to this many.
constexpr std::size_t kPdfHeadBytes = 1024;

struct Head {
  std::string_view bytes;
  std::string_view reason;
  std::string_view kind;
};
constexpr auto kHeads = std::to_array<Head>({
    {"MZ"sv, "a Windows program", "programs"},
    {"\x7F"
     "ELF"sv,
     "a Linux program", "programs"},
    {"\xCF\xFA\xED\xFE"sv, "a macOS program", "programs"},
    {"\xCA\xFE\xBA\xBE"sv, "a Java or macOS program", "programs"},
    {"\0asm"sv, "a WebAssembly program", "programs"},
    {"\x89PNG\r\n"sv, "an image", "images"},
    {"\xFF\xD8\xFF"sv, "an image", "images"},
    {"GIF87a"sv, "an image", "images"},
    {"GIF89a"sv, "an image", "images"},
    {"II*\0"sv, "an image", "images"},
    {"MM\0*"sv, "an image", "images"},
    {"\0\0\1\0"sv, "an image", "images"},
    {"8BPS"sv, "an image", "images"},
    {"\x1F\x8B"sv, "an archive; unpack it", "archives"},
    {"BZh"sv, "an archive; unpack it", "archives"},
    {"\xFD"
     "7zXZ"sv,
     "an archive; unpack it", "archives"},
    {"7z\xBC\xAF"sv, "an archive; unpack it", "archives"},
    {"Rar!\x1A"sv, "an archive; unpack it", "archives"},
    {"\x28\xB5\x2F\xFD"sv, "an archive; unpack it", "archives"},
    {"SQLite format 3"sv, "a database", "data"},
    {"PAR1"sv, "a Parquet table", "data"},
    {"OggS"sv, "a recording", "recordings"},
    {"ID3"sv, "a recording", "recordings"},
    {"fLaC"sv, "a recording", "recordings"},
    {"wOFF"sv, "a font", "fonts"},
    {"wOF2"sv, "a font", "fonts"},
    {"OTTO"sv, "a font", "fonts"},
    {"\0\1\0\0\0"sv, "a font", "fonts"},
    {"{\\rtf"sv, "an RTF file; save it as .docx or .txt", "documents of other formats"},
});

/// The names of a ZIP file's entries are stored uncompressed; these names identify the format.
std::optional<Format> format_of_zip(std::string_view content) {
  const auto has = [&](std::string_view part) { return content.find(part) != std::string_view::npos; };
  const std::string_view head = content.substr(0, 256);
  if (head.find("mimetypeapplication/epub+zip") != std::string_view::npos) return Format::kEpub;
  if (head.find("mimetypeapplication/vnd.oasis.opendocument.") != std::string_view::npos) return Format::kOdf;
  if (has("word/document") || has("word/styles.xml")) return Format::kDocx;
  if (has("ppt/presentation.xml")) return Format::kPptx;
  if (has("xl/workbook.xml")) return Format::kXlsx;
  if (has("META-INF/container.xml")) return Format::kEpub;
  return std::nullopt;
}

/// The container of old Word, Excel and PowerPoint files, and of newer ones with a password.
Magic compound_file(std::string_view content) {
  constexpr auto kEncrypted = "E\0n\0c\0r\0y\0p\0t\0e\0d\0P\0a\0c\0k\0a\0g\0e\0"sv;
  const bool locked = content.find(kEncrypted) != std::string_view::npos;
  return {{},
          locked ? "protected by a password; save a copy without one"
                 : "an old Word, Excel or PowerPoint file; save it as .docx, .xlsx or .pptx",
          "documents of other formats"};
}

struct Kind {
  std::string_view name;
  std::string_view suffixes;  ///< Each between spaces.
};
constexpr auto kKinds = std::to_array<Kind>({
    {"images", " png jpg jpeg jfif gif bmp tif tiff webp avif heic heif ico svg psd ai eps xcf drawio raw cr2 dwg "},
    {"style sheets", " css scss sass less "},
    {"fonts", " woff woff2 ttf otf eot "},
    {"archives", " zip tar gz tgz bz2 xz 7z rar zst jar war whl deb rpm iso dmg cab "},
    {"recordings", " mp3 mp4 m4a m4v wav ogg oga ogv flac avi mov mkv webm wmv aac opus srt vtt "},
    {"programs", " exe dll so dylib o obj a lib class pyc pyo wasm bin msi apk app "},
    {"data", " db sqlite sqlite3 parquet feather arrow npy npz pkl pickle h5 hdf5 onnx safetensors pt pth gguf avro dat mdb "},
    {"generated files", " map lock sum pb "},
});
constexpr auto kGenerated =
    std::to_array<std::string_view>({"package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "composer.lock"});

}  // namespace

Magic magic_of(std::string_view content) {
  if (content.substr(0, kPdfHeadBytes).find("%PDF-") != std::string_view::npos) return {Format::kPdf, {}, {}};
  if (content.starts_with("PK\x03\x04") || content.starts_with("PK\x05\x06")) {
    const auto format = format_of_zip(content);
    return format ? Magic{format, {}, {}} : Magic{{}, "an archive; unpack it", "archives"};
  }
  if (content.starts_with("\xD0\xCF\x11\xE0")) return compound_file(content);
  if (content.size() > 11 && content.starts_with("RIFF")) {
    return content.substr(8, 4) == "WEBP" ? Magic{{}, "an image", "images"} : Magic{{}, "a recording", "recordings"};
  }
  if (content.size() > 11 && content.substr(4, 4) == "ftyp") return {{}, "a recording or an image", "recordings"};
  for (const Head& head : kHeads) {
    // "MZ" and "ID3" may also begin a text: it is a program or a recording only if binary bytes follow.
    const bool is_word = head.bytes.size() <= 3 && std::ranges::all_of(head.bytes, is_ascii_alphanumeric);
    if (content.starts_with(head.bytes) && (!is_word || !is_text(content))) return {{}, head.reason, head.kind};
  }
  return {};
}

std::string_view kind_of_no_document(std::string_view file_name) {
  const std::string name = to_lower_ascii(file_name.substr(file_name.find_last_of('/') + 1));
  if (std::ranges::find(kGenerated, name) != kGenerated.end() || name.ends_with(".min.js")) return "generated files";
  const std::string suffix = " " + suffix_of(name) + " ";
  if (suffix.size() == 2) return {};
  for (const Kind& kind : kKinds) {
    if (kind.suffixes.find(suffix) != std::string_view::npos) return kind.name;
  }
  return {};
}

std::string_view kind_of_no_document(std::string_view file_name, std::string_view content) {
  if (is_document_name(file_name)) return {};
  const Magic magic = magic_of(content);
  if (magic.format) return {};
  if (!magic.kind.empty()) return magic.kind;
  return is_text(content) ? std::string_view() : "binary files";
}

bool is_page_script(std::string_view file_name) {
  const std::string suffix = suffix_of(file_name);
  return suffix == "js" || suffix == "mjs";
}

}  // namespace footnote::formats
