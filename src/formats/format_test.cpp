#include "formats/format.h"

#include "formats/formats_for_test.h"
#include "formats/magic.h"

namespace footnote::formats {
namespace {

using namespace std::string_literals;
using test::reason;

void check(std::string_view name, std::string_view content, std::string_view expected) {
  const auto format = detect(name, content);
  EXPECT_EQ(format ? std::string(media_type(*format)) : "error: " + format.error().message, expected) << name;
  if (!format) {
    EXPECT_EQ(format.error().code, ErrorCode::kUnsupported);
  }
}

TEST(Detect, ByContentAndSuffix) {
  check("a.md", "x", "text/markdown");
  check("dir.v2/A.MarkDown", "x", "text/markdown");
  check("a.HTM", "x", "text/html");
  check("a.txt", "<html>", "text/plain");
  check("a.rst", "x", "text/x-rst");
  check("a.csv", "a,b", "text/csv");
  check("a.json", "{}", "application/json");
  check("a.py", "x", "text/x-source");
  check("a.txt", "%PDF-1.7", "application/pdf");
  check("README", "Words", "text/plain");
  check("index", " <!DOCTYPE HTML><p>", "text/html");
  check("run", "#!/bin/sh\n", "text/x-source");
  check(".profile", "Words", "text/plain");
  check("a.xyz", "Words", "text/plain");
  check("old.txt", "MZ is a zone.", "text/plain");
}

TEST(Detect, SaysWhatAFileIsThatIsNoDocument) {
  check("a.md", "a\0b"s, "error: binary file");
  check("report.docx", "MZ\x90\0\x03"s, "error: a Windows program");
  check("tool.txt",
        "\x7F"
        "ELF\x02\x01"s,
        "error: a Linux program");
  check("photo.md", "\x89PNG\r\n\x1A\n", "error: an image");
  check("a.html", "PK\x03\x04zip", "error: an archive; unpack it");
  check("a.docx", "x", "error: not a .docx file, whatever its name: damaged, or renamed");
  check("a.pdf", "x", "error: not a .pdf file, whatever its name: damaged, or renamed");
  check("a.doc", "\xD0\xCF\x11\xE0", "error: an old Word file; save it as .docx");
  check("a.docx", "\xD0\xCF\x11\xE0 E\0n\0c\0r\0y\0p\0t\0e\0d\0P\0a\0c\0k\0a\0g\0e\0"s,
        "error: protected by a password; save a copy without one");
  check("a.md", "", "error: empty file");
}

TEST(Detect, EveryFormatHasAMediaType) {
  for (int i = 0; i <= static_cast<int>(Format::kEpub); ++i) {
    const auto format = static_cast<Format>(i);
    EXPECT_EQ(format_of_media_type(media_type(format)), format);
  }
  EXPECT_EQ(format_of_media_type("Text/HTML; charset=utf-8"), Format::kHtml);
  EXPECT_EQ(format_of_media_type("video/mp4").error().code, ErrorCode::kUnsupported);
}

TEST(NoDocument, KnownByItsName) {
  EXPECT_EQ(kind_of_no_document("img/Logo.PNG"), "images");
  EXPECT_EQ(kind_of_no_document("style.css"), "style sheets");
  EXPECT_EQ(kind_of_no_document("a.woff2"), "fonts");
  EXPECT_EQ(kind_of_no_document("backup.tar.gz"), "archives");
  EXPECT_EQ(kind_of_no_document("jquery.min.js"), "generated files");
  EXPECT_EQ(kind_of_no_document("package-lock.json"), "generated files");
  for (const std::string_view name : {"a.md", "app.js", "README", "data.json", "a.docx", "a.xyz", "notes."}) {
    EXPECT_EQ(kind_of_no_document(name), "") << name;
  }
}

TEST(NoDocument, KnownByItsBytesUnlessItsNameIsADocuments) {
  EXPECT_EQ(kind_of_no_document("thumb", "\xFF\xD8\xFF\xE0"), "images");
  EXPECT_EQ(kind_of_no_document("a.xyz", "a\0b"s), "binary files");
  EXPECT_EQ(kind_of_no_document("a.xyz", "words"), "");
  EXPECT_EQ(kind_of_no_document("a.txt", "a\0b"s), "");
  EXPECT_EQ(kind_of_no_document("report.docx", "MZ\x90\0"s), "");
}

}  // namespace
}  // namespace footnote::formats
