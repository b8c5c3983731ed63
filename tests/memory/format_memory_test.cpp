// Memory that files of other formats may use: see document_memory_test.cpp.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/file.h"
#include "chunk/chunker.h"
#include "formats/read.h"
#include "support/heap_meter.h"
#include "support/source_folder.h"

namespace footnote {
namespace {

constexpr std::size_t kFormatBaseBytes = 48u << 20;
constexpr std::size_t kFormatPerByte = 18;

void expect_file_bounded(std::string_view name, const std::string& bytes, std::string_view what) {
  const HeapMeter meter;
  const auto document = formats::read_document(name, {}, bytes);
  if (document) (void)chunk::chunk_document(*document);
  EXPECT_LE(meter.peak_bytes(), kFormatBaseBytes + kFormatPerByte * bytes.size())
      << name << " of " << what << ": " << bytes.size() << " bytes took " << (meter.peak_bytes() >> 20) << " MiB";
}

std::string repeated(std::string_view unit, std::size_t bytes) {
  std::string out;
  while (out.size() < bytes) out += unit;
  return out;
}

TEST(FormatMemory, TextOfEveryShape) {
  for (const std::string_view name : {"a.csv", "a.json", "a.jsonl", "a.yaml", "a.toml", "a.rst", "a.adoc", "a.cpp", "a.py", "a.sql"}) {
    for (const std::string_view unit : {"a",      ",",           "\n",         "a\n",           "a,b\n", "\"",       "[",     "{",
                                        "1,",     "{\"a\":1}\n", "\"a\":{",    "a:\n",          "[a]\n", "a\n=\n\n", "- a\n", "= a\n",
                                        "|===\n", "a() {\n",     "def a():\n", "::\n\n  a\n\n", "\xFF",  "\xE9 "}) {
      expect_file_bounded(name, repeated(unit, 1u << 19), unit);
    }
  }
}

TEST(FormatMemory, PackedBombs) {
  for (const std::string_view name : {"bomb.docx", "deep.docx", "entities.docx"}) {
    const auto bytes = read_file(test::source_folder() / "tests/fixtures/formats" / name, 1u << 20);
    ASSERT_TRUE(bytes.has_value());
    expect_file_bounded(name, *bytes, "a bomb");
  }
}

}  // namespace
}  // namespace footnote
