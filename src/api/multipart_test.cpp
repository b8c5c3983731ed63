#include "api/multipart.h"

#include <gtest/gtest.h>

#include <vector>

namespace footnote::api {
namespace {

/// "name|file|type|data" of each part, or the error.
std::string parts_of(std::string_view body, std::size_t piece, std::string_view boundary = "B") {
  std::string out;
  MultipartParser parser(boundary, {.begin = [&](const PartHead& head) -> Result<void> {
                                      out += head.name + "|" + head.file_name + "|" + head.media_type + "|";
                                      return {};
                                    },
                                    .data = [&](std::string_view bytes) -> Result<void> {
                                      out += bytes;
                                      return {};
                                    },
                                    .end = [&]() -> Result<void> {
                                      out += ";";
                                      return {};
                                    }});
  for (std::size_t at = 0; at < body.size(); at += piece) {
    if (const auto fed = parser.feed(body.substr(at, piece)); !fed) return fed.error().message;
  }
  const auto ended = parser.finish();
  return ended ? out : ended.error().message;
}

constexpr std::string_view kTwo =
    "preamble\r\n--B\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a b.txt\"\r\nContent-Type: text/plain\r\n\r\nline\r\n--Bline"
    "\r\n\r\n--B  \r\ncontent-disposition: form-data; name=title\r\n\r\n\r\n--B--\r\nafter";

TEST(Multipart, PartsComeOutWhateverThePieces) {
  for (const std::size_t piece : {1U, 2U, 3U, 7U, 100U, 10'000U}) {
    EXPECT_EQ(parts_of("--B\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a b.txt\"\r\nContent-Type: text/plain\r\n\r\n"
                       "line\r\n--C\r\nmore\r\n--B  \r\ncontent-disposition: form-data; name=title\r\n\r\n\r\n--B--\r\nafter",
                       piece),
              "f|a b.txt|text/plain|line\r\n--C\r\nmore;title|||;")
        << piece;
  }
  EXPECT_EQ(parts_of(kTwo, 5), "multipart body: a boundary is followed by something else");
}

TEST(Multipart, WhatIsBrokenIsSaid) {
  EXPECT_EQ(parts_of("", 10), "multipart body: it ends before its last boundary");
  EXPECT_EQ(parts_of("--B\r\n\r\nx", 10), "multipart body: it ends before its last boundary");
  EXPECT_EQ(parts_of("--BX\r\n\r\nx\r\n--B--", 10), "multipart body: a boundary is followed by something else");
  EXPECT_EQ(parts_of("--B\r\n" + std::string(kMultipartHeadBytesMax + 10, 'x'), 1000), "the head of a part is longer than 8192 bytes");
  std::string many;
  for (std::size_t i = 0; i <= kMultipartPartsMax; ++i) many += "--B\r\n\r\nx\r\n";
  EXPECT_EQ(parts_of(many + "--B--", 1000), "a body has at most 200 parts; send the rest later");
}

TEST(Multipart, NamesAreReadAsBrowsersWriteThem) {
  const auto head = [](std::string_view disposition) {
    return parts_of("--B\r\nContent-Disposition: " + std::string(disposition) + "\r\n\r\nx\r\n--B--", 50);
  };
  EXPECT_EQ(head("form-data; name=\"a;b\"; filename=\"c\\\"d.md\""), "a;b|c\"d.md||x;");
  EXPECT_EQ(head("form-data; filename=\"never ends"), "|||x;");
  EXPECT_EQ(head("form-data; name=\"\xff\""), "\xEF\xBF\xBD|||x;");
}

TEST(Multipart, TheBoundaryIsInTheContentType) {
  EXPECT_EQ(multipart_boundary("multipart/form-data; boundary=----WebKit1").value(), "----WebKit1");
  EXPECT_EQ(multipart_boundary("Multipart/Form-Data; charset=utf-8; boundary=\"a b\"").value(), "a b");
  EXPECT_EQ(multipart_boundary("application/json").error().code, ErrorCode::kUnsupported);
  for (const char* wrong : {"multipart/form-data", "multipart/form-data; boundary=", "multipart/form-data; boundary=\"a\r\nb\"",
                            "multipart/form-data; boundary=\"a \""}) {
    EXPECT_EQ(multipart_boundary(wrong).error().code, ErrorCode::kInvalidArgument) << wrong;
  }
  EXPECT_FALSE(multipart_boundary("multipart/form-data; boundary=" + std::string(kMultipartBoundaryBytesMax + 1, 'x')).has_value());
}

}  // namespace
}  // namespace footnote::api
