#include "chunk/detect.h"

#include <gtest/gtest.h>

#include <string>

namespace footnote::chunk {
namespace {

void check(std::string_view name, std::string_view content, std::string_view expected) {
  const auto format = detect(name, content);
  const std::string got = format ? std::string(media_type(*format)) : "error: " + format.error().message;
  EXPECT_EQ(got, expected) << name;
  if (!format) {
    EXPECT_EQ(format.error().code, ErrorCode::kUnsupported);
  }
}

TEST(Detect, ByExtension) {
  check("a.md", "x", "text/markdown");
  check("dir.v2/A.MarkDown", "x", "text/markdown");
  check("a.mdx", "x", "text/markdown");
  check("a.html", "x", "text/html");
  check("a.HTM", "x", "text/html");
  check("a.txt", "<html>", "text/plain");
  check("a.rst", "x", "text/plain");
  check("a.log", "x", "text/plain");
  check("a.csv", "a,b", "text/csv");
  check("a.xyz", "x", "error: unknown file type .xyz");
  check("a.docx", "x", "error: unknown file type .docx");
}

TEST(Detect, WithoutExtensionByContent) {
  check("README", "Words", "text/plain");
  check("index", " <!DOCTYPE HTML><p>", "text/html");
  check(".profile", "Words", "text/plain");
}

TEST(Detect, BinaryWhateverTheName) {
  check("a.md", std::string("a\0b", 3), "error: binary file");
  check("a.txt", "%PDF-1.7", "error: binary file");
  check("a.html", "PK\x03\x04zip", "error: binary file");
  check("a.txt", "\xFF\xFEh", "error: UTF-16 text; save it as UTF-8");
  check("photo.png", "\x89PNG\r\n\x1A\n", "error: binary file");
}

TEST(Detect, MediaTypes) {
  for (Format format : {Format::kMarkdown, Format::kHtml, Format::kPlainText, Format::kCsv}) {
    EXPECT_EQ(format_of_media_type(media_type(format)), format);
  }
  EXPECT_EQ(format_of_media_type("Text/HTML; charset=utf-8"), Format::kHtml);
  EXPECT_EQ(format_of_media_type("application/pdf").error().code, ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace footnote::chunk
