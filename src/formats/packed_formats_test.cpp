#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/file.h"
#include "base/utf8.h"
#include "formats/builder.h"
#include "formats/child.h"
#include "formats/formats_for_test.h"
#include "formats/package.h"
#include "formats/xml_reader.h"
#include "support/source_folder.h"
#include "support/temp_folder.h"

namespace footnote::formats {
namespace {

using test::outline;
using test::reason;

/// tests/fixtures/formats/make.py wrote most of them.
std::string fixture(std::string_view name) {
  const auto content = read_file(footnote::test::source_folder() / "tests/fixtures/formats" / name, chunk::kDocumentBytesMax);
  EXPECT_TRUE(content.has_value()) << name;
  return content.value_or("");
}

chunk::ParsedDocument read_fixture(std::string_view name) { return test::read(name, fixture(name)); }

/// The place of these words: a page, slide, row or line, depending on the format.
int place_of(const chunk::ParsedDocument& document, std::string_view words) {
  const std::size_t at = document.text.find(words);
  EXPECT_NE(at, std::string::npos) << words << "\n" << document.text;
  return at == std::string::npos ? -1 : place_at(document.places, document.text, at, document.first_line);
}

/// A damaged file gives a document with valid text, or an error that tells the user why.
void expect_document_or_reason(const Result<chunk::ParsedDocument>& read, std::string_view name, std::size_t at) {
  if (read) {
    EXPECT_TRUE(is_valid_utf8(read->text)) << name << " at " << at;
  } else {
    EXPECT_THAT(read.error().code, testing::AnyOf(ErrorCode::kUnsupported, ErrorCode::kTooLarge)) << name << " at " << at;
    EXPECT_FALSE(read.error().message.empty()) << name << " at " << at;
  }
}

TEST(Docx, HeadingsListsTablesAndPages) {
  const auto document = read_fixture("leave.docx");
  EXPECT_EQ(
      outline(document),
      "1 h1 [Leave handbook] Leave handbook\n1 p Everyone has twenty-eight days of paid leave a year.\n1 li 1. Ask two weeks before.\n"
      "1 li 2. Name who stands in.\n1 li   - Not yourself.\n2 h2 [Sick leave] Sick leave\n2 p Call before nine o\u2019clock.\n"
      "2 table Days | Who pays/1 to 42 | the employer/43 and more | the insurance\n2 h3 [Details] Details\n"
      "2 p A doctor's note is needed from the fourth day on.\n2 p By law since 1994.\n");
  EXPECT_EQ(document.places.unit, PlaceUnit::kPage);
  EXPECT_EQ(document.attributes.title, "Leave handbook");
  EXPECT_EQ(document.attributes.language, "en");
  EXPECT_EQ(document.attributes.media_type, "application/vnd.openxmlformats-officedocument.wordprocessingml.document");
}

TEST(Pptx, SlidesInTheirOrderWithNotes) {
  const auto document = read_fixture("offices.pptx");
  EXPECT_EQ(outline(document),
            "1 h2 [Welcome] Welcome\n1 li - Two cities\n1 li   - one of them cold\n2 h2 [Slide 2] Slide 2\n"
            "2 table City | Rooms/Rome | 12/Oslo | 7\n2 p Rooms are booked at the desk.\n2 p Say that Oslo grows.\n");
  EXPECT_EQ(document.places.unit, PlaceUnit::kSlide);
  EXPECT_EQ(document.attributes.title, "Our offices");
  EXPECT_EQ(document.root_heading, "Our offices");
}

TEST(Xlsx, RowsWithTheirHeaderAndNumbers) {
  const auto document = read_fixture("prices.xlsx");
  EXPECT_EQ(outline(document),
            "1 h2 [Canteen] Canteen\n1 p Prices of May\n4 table Article | Price in EUR |  | Since/Coffee | 0.1 |  | 2026-01-31/Tea | 2.5 | "
            "TRUE\n");
  EXPECT_EQ(place_of(document, "Tea"), 5);
  EXPECT_EQ(document.places.unit, PlaceUnit::kRow);
  EXPECT_EQ(document.attributes.title, "prices");
  EXPECT_EQ(document.warnings, std::vector<std::string>{"1 hidden sheet was left out"});
}

TEST(Odf, TextSheetsAndSlides) {
  const auto text = read_fixture("urlaub.odt");
  EXPECT_EQ(outline(text),
            "1 h1 [Urlaub] Urlaub\n1 p Seit 1994.\n1 p Achtundzwanzig Tage im Jahr.\n1 li - Zwei Wochen vorher.\n1 li   - Schriftlich.\n"
            "1 h2 [Krankheit] Krankheit\n1 table Tage | Wer zahlt/1 bis 42 | der Arbeitgeber\n");
  EXPECT_EQ(text.places.unit, PlaceUnit::kNone);
  EXPECT_EQ(text.attributes.title, "Urlaub im Haus");
  EXPECT_EQ(text.attributes.language, "de");
  EXPECT_EQ(outline(read_fixture("preise.ods")), "1 h2 [Preise] Preise\n2 table Tage | Wer zahlt/1 bis 42 | der Arbeitgeber\n");
  EXPECT_EQ(outline(read_fixture("haus.odp")), "1 h2 [Willkommen] Willkommen\n1 li - Zwei Orte\n2 h2 [Slide 2] Slide 2\n2 p Fragen?\n");
}

TEST(Epub, ChaptersInTheOrderOfReading) {
  const auto document = read_fixture("guide.epub");
  EXPECT_EQ(document.text, "The tower\n\nIt has 112 steps and a door to the east.\n\nThe lamp\n\nPart | Watts\nBulb | 1000");
  EXPECT_EQ(document.attributes.title, "Lighthouse guide");
  EXPECT_EQ(document.blocks.size(), 4u);
  EXPECT_EQ(document.blocks[2].first_line, 5);
  EXPECT_EQ(document.blocks[3].kind, chunk::BlockKind::kTable);
}

TEST(Packed, BombsAreRefused) {
  EXPECT_EQ(reason("a.docx", fixture("bomb.docx")), "it unpacks to more than 16.8 MB, from 66.2 KB");
  EXPECT_EQ(reason("a.docx", fixture("entities.docx")), "damaged: a part of it is not valid XML");
  EXPECT_EQ(reason("a.docx", fixture("deep.docx")), "damaged: a part of it is not valid XML");
  const std::string whole = fixture("leave.docx");
  EXPECT_EQ(reason("a.docx", std::string_view(whole).substr(0, whole.size() / 2)),
            "damaged: it can't be unpacked; open it in its program and save it again");
}

TEST(Xml, NoDocumentTypeAndNoDeepNesting) {
  const auto events_of = [](std::string xml) {
    const auto reader = XmlReader::open(std::move(xml));
    for (;;) {
      const auto event = (*reader)->next();
      if (!event) return event.error().message;
      if (*event == XmlReader::Event::kDone) return std::string("read");
    }
  };
  EXPECT_EQ(events_of("<a><b x=\"1\"/>t</a>"), "read");
  EXPECT_EQ(events_of("<!DOCTYPE a><a/>"), "refused: a part of it declares a document type, which no office program writes");
  std::string deep;
  for (int i = 0; i < 300; ++i) deep += "<a>";
  EXPECT_EQ(events_of(deep), "damaged: a part of it is not valid XML");
}

TEST(Packed, EveryTruncationEndsInAReasonOrADocument) {
  for (const std::string_view name : {"leave.docx", "offices.pptx", "prices.xlsx", "urlaub.odt", "guide.epub"}) {
    const std::string whole = fixture(name);
    for (std::size_t at = 0; at < whole.size(); at += 13) {
      std::string changed = whole;
      changed[at] = static_cast<char>(changed[at] ^ 0x5A);
      expect_document_or_reason(read_document(name, {}, changed), name, at);
      expect_document_or_reason(read_document(name, {}, std::string_view(whole).substr(0, at)), name, at);
    }
  }
}

TEST(Pdf, PagesHeadingsAndTitle) {
  const auto document = read_fixture("leave.pdf");
  EXPECT_EQ(document.attributes.title, "Leave handbook");
  EXPECT_EQ(document.places.unit, PlaceUnit::kPage);
  EXPECT_EQ(place_of(document, "twenty-eight days of paid leave a year. Ask for leave at least two weeks"), 1);
  EXPECT_EQ(place_of(document, "2. Sick leave"), 2);
  EXPECT_EQ(place_of(document, "doctor's note is needed & sent to <sick@example.org>."), 2);
  EXPECT_EQ(place_of(document, "fourteen months together."), 3);
  const auto pieces = chunk::chunk_document(document);
  ASSERT_FALSE(pieces.empty());
  EXPECT_EQ(pieces.back().last_line, 3);
  std::string headings;
  for (const auto& block : document.blocks) headings += block.heading.empty() ? "" : fmt::format("{} {}; ", block.level, block.heading);
  EXPECT_EQ(headings, "1 Leave handbook; 2 2. Sick leave; 2 3. Parental leave; ");
}

TEST(Pdf, WhatCannotBeReadSaysWhy) {
  EXPECT_EQ(reason("a.pdf", fixture("scan.pdf")),
            "no text layer: its pages are images, such as scans; make them readable with a program for OCR");
  EXPECT_EQ(reason("a.pdf", fixture("locked.pdf")), "protected by a password; save a copy without one");
  EXPECT_EQ(reason("a.pdf", fixture("loop.pdf")), "a damaged PDF; open it in its program and save it again");
  EXPECT_EQ(reason("a.pdf", "%PDF-1.7 and nothing else"), "a damaged PDF; open it in its program and save it again");
}

TEST(Child, GetsItsInputAndGivesItsOutput) {
  const auto outcome = run_child({"sh", "-c", "cat /dev/stdin; echo problem >&2; exit 3"}, "words", {});
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(outcome->end, ChildOutcome::End::kExited);
  EXPECT_EQ(outcome->exit_code, 3);
  EXPECT_EQ(outcome->output, "words");
  EXPECT_EQ(outcome->errors, "problem\n");
}

TEST(Child, HasLimits) {
  using namespace std::chrono_literals;
  const auto end_of = [](const char* script, const ChildLimits& limits) { return run_child({"sh", "-c", script}, "", limits)->end; };
  EXPECT_EQ(end_of("while :; do :; done", {.processor = 1s}), ChildOutcome::End::kKilled);
  EXPECT_EQ(end_of("sleep 100", {.wall = 1s}), ChildOutcome::End::kTooSlow);
  EXPECT_EQ(end_of("cat /dev/zero", {.output_bytes = 1000}), ChildOutcome::End::kTooMuch);
  const footnote::test::TempFolder folder;
  EXPECT_EQ(end_of(fmt::format("echo words >{}/file", folder.path().string()).c_str(), {}), ChildOutcome::End::kKilled);
  EXPECT_EQ(run_child({"no-such-program"}, "", {}).error().code, ErrorCode::kFailedPrecondition);
}

}  // namespace
}  // namespace footnote::formats
