#include <fmt/format.h>

#include "base/utf8.h"
#include "formats/builder.h"
#include "formats/formats_for_test.h"

namespace footnote::formats {
namespace {

using test::outline;
using test::read;
using test::reason;

TEST(Csv, RowsStandUnderTheirHeader) {
  const auto document = read("offices.csv", "City,Phone,Note\nRome,\"06, 12\",\"two\nlines\"\nOslo,22,\n");
  EXPECT_EQ(outline(document), "2 table City | Phone | Note/Rome | 06, 12 | two lines/Oslo | 22\n");
  EXPECT_EQ(document.attributes.title, "offices");
  EXPECT_EQ(document.root_heading, "offices");
  EXPECT_EQ(place_at(document.places, document.text, document.text.find("Oslo"), 1), 4);
}

TEST(Csv, EveryPassageOfALongTableHasTheHeader) {
  std::string text = "Article;Price;Stock\n";
  for (int i = 0; i < 500; ++i) text += fmt::format("Lamp number {};{} EUR;{}\n", i, i * 3, i % 7);
  const auto document = read("stock.csv", text);
  const auto pieces = chunk::chunk_document(document);
  EXPECT_GT(pieces.size(), 10u);
  for (const auto& piece : pieces) EXPECT_TRUE(piece.text.starts_with("Article | Price | Stock\n")) << piece.text;
  const std::size_t at = document.text.find("Lamp number 250 ");
  EXPECT_EQ(place_at(document.places, document.text, at, 1), 252);
  for (const auto& piece : pieces) {
    if (piece.range.begin <= at && at < piece.range.end) {
      EXPECT_LE(piece.first_line, 252);
      EXPECT_GE(piece.last_line, 252);
    }
  }
}

TEST(Csv, SeparatorsAndOddities) {
  EXPECT_EQ(outline(read("a.tsv", "a\tb\n1\t2\n")), "2 table a | b/1 | 2\n");
  EXPECT_EQ(outline(read("a.csv", "a|b\n1|2\n")), "2 table a | b/1 | 2\n");
  EXPECT_EQ(outline(read("a.csv", "1,2\n3,4\n")), "1 table 1 | 2/3 | 4\n");
  EXPECT_EQ(outline(read("a.csv", "Prices of May\n\nName,EUR\nTea,2\n")), "1 p Prices of May\n4 table Name | EUR/Tea | 2\n");
  EXPECT_EQ(outline(read("a.csv", "Name,EUR\n")), "1 table Name | EUR\n");
  EXPECT_EQ(outline(read("a.csv", "a,b\n\"never closed,2\n3,4")), "2 table a | b/never closed,2 3,4\n");
}

TEST(Csv, AWideRowIsARecord) {
  const std::string longer(400, 'x');
  const auto document = read("a.csv", "Name,Description,Note\nLamp," + longer + "," + longer + "\n");
  EXPECT_EQ(outline(document), "2 p Name: Lamp/Description: " + longer + "/Note: " + longer + "\n");
}

TEST(Csv, ColumnsHaveABound) {
  std::string text;
  for (std::size_t i = 0; i <= kTableColumnsMax; ++i) text += "a,";
  const auto document = read("a.csv", text + "b\n1,2\n" + text + "b\n");
  ASSERT_EQ(document.warnings.size(), 1u);
  EXPECT_EQ(document.warnings[0], "columns after the first 256 were left out");
}

TEST(Json, KeysBecomeHeadingsAndLines) {
  const auto document =
      read("app.json",
           "{\n  \"name\": \"B\\u00fcro \\ud83d\\ude00\",\n  \"limits\": {\n    \"per_day\": 20,\n    \"deep\": {\"a\": true}\n  },\n"
           "  \"tags\": [\"x\", \"y\"]\n}\n");
  EXPECT_EQ(outline(document),
            "2 p name: B\xC3\xBCro \xF0\x9F\x98\x80\n3 h2 [limits] limits\n4 p per_day: 20\n5 h3 [deep] deep\n5 p a: true\n7 h2 [tags] "
            "tags\n7 p - x/- y\n");
  EXPECT_EQ(document.attributes.title, "app");
}

TEST(Json, RecordsOfAListStayApart) {
  EXPECT_EQ(outline(read("faq.json", R"([{"q": "Open?", "a": "Yes."}, {"q": "Where?", "a": "Rome."}])")),
            "1 p q: Open?/a: Yes.\n1 p q: Where?/a: Rome.\n");
}

TEST(Json, LinesAreRecords) {
  EXPECT_EQ(outline(read("log.jsonl", "{\"q\": \"A\", \"n\": {\"m\": 1}}\n\n{\"q\": \"B\"}\n")),
            "1 p q: A\n1 h2 [n] n\n1 p m: 1\n3 p q: B\n");
}

TEST(Json, MalformedAndDeepTextIsReadAsFarAsItGoes) {
  const auto malformed = read("a.json", "{\"a\": [1, 2}, \"b\": \"open");
  EXPECT_EQ(malformed.warnings, std::vector<std::string>{"not valid JSON; read as far as it goes"});
  const auto deep = read("a.json", "{\"a\": 1, \"b\": " + std::string(100'000, '[') + "1");
  ASSERT_FALSE(deep.warnings.empty());
  EXPECT_EQ(deep.warnings[0], "nested more than 200 deep; the rest was left out");
  EXPECT_EQ(read("a.json", std::string(1u << 20, '[')).text, "");
}

TEST(Yaml, KeysWithoutValuesAreHeadings) {
  const auto document =
      read("ci.yml", "# Build\nname: build\non:\n  push:\n    branches: [main]\njobs:\n  test:\n    steps:\n      - run: make\n");
  EXPECT_EQ(outline(document),
            "1 code # Build/name: build\n3 h2 [on] on:\n4 h3 [push]   push:\n5 code     branches: [main]\n6 h2 [jobs] jobs:\n"
            "7 h3 [test]   test:\n8 h4 [steps]     steps:\n9 code       - run: make\n");
  EXPECT_EQ(outline(read("a.toml", "title = \"x\"\n\n[server]\nport = 7700\n")),
            "1 code title = \"x\"\n3 h2 [server] [server]\n4 code port = 7700\n");
}

TEST(Notebook, CellsWithTheirNumbers) {
  const auto document = read("a.ipynb", R"json({"cells": [
    {"cell_type": "markdown", "source": ["# Sales\n", "\n", "Of May."]},
    {"cell_type": "code", "source": "print(1)", "outputs": [{"output_type": "stream", "text": ["1\n"]},
      {"data": {"text/plain": "<Figure>", "image/png": "aGk="}}]},
    {"cell_type": "code", "source": [], "outputs": []},
    {"cell_type": "raw", "source": "As it is."}], "metadata": {"kernelspec": {"language": "python"}}, "nbformat": 4})json");
  EXPECT_EQ(outline(document),
            "1 h1 [Sales] # Sales\n1 p Of May.\n2 code ```python/print(1)/```\n2 code ```/1/```\n2 code ```/<Figure>/```\n4 p As it is.\n");
  EXPECT_EQ(document.attributes.title, "Sales");
  EXPECT_EQ(document.places.unit, PlaceUnit::kCell);
  EXPECT_EQ(reason("a.ipynb", "{}"), "a notebook without cells, or one of a version before 4");
  EXPECT_EQ(reason("a.ipynb", "print(1)").substr(0, 16), "not a notebook: ");
}

TEST(ReStructuredText, TitlesByTheirMarks) {
  const auto document =
      read("a.rst",
           "=====\nTitle\n=====\n\nWords of\nthe text::\n\n    make all\n\n    make test\n\nPart\n----\n\n- one\n  more\n- two\n\n"
           ".. code-block:: c\n\n   int a;\n\nDeep\n~~~~\n\n=== ===\na   b\n=== ===\n1   2\n=== ===\n\n----\n\nEnd.\n");
  EXPECT_EQ(outline(document),
            "1 h1 [Title] =====/Title/=====\n5 p Words of/the text::\n8 code     make all//    make test\n12 h2 [Part] Part/----\n15 li - "
            "one/  more\n"
            "17 li - two\n19 code .. code-block:: c//   int a;\n23 h3 [Deep] Deep/~~~~\n26 table === ===/a   b/=== ===/1   2/=== ===\n34 p "
            "End.\n");
  EXPECT_EQ(document.attributes.title, "Title");
}

TEST(AsciiDoc, HeadingsCodeTablesLists) {
  const auto document = read("a.adoc",
                             "= Guide\n:toc: left\n\nWords.\n\n== Part\n\n[source,sh]\n----\nmake = x\n\nmake test\n----\n\n* one\n* "
                             "two\n\n|===\n|a |b\n\n|1 |2\n|===\n");
  EXPECT_EQ(outline(document),
            "1 h1 [Guide] = Guide\n4 p Words.\n6 h2 [Part] == Part\n9 code ----/make = x//make test/----\n15 li * one\n16 li * two\n"
            "18 table |===/|a |b//|1 |2/|===\n");
}

TEST(Code, DefinitionsAreSections) {
  EXPECT_EQ(
      outline(read(
          "src/area.cpp",
          "#include <a>\n\n// The area.\nint area(int w, int h) {\n  if (w > 1) {\n    return w;\n  }\n  return w * h;\n}\n\nclass Box {\n"
          "  int size() const {\n    return 1;\n  }\n};\n")),
      "1 code #include <a>\n3 h2 [int area(int w, int h)] // The area./int area(int w, int h) {\n5 code   if (w > 1) {/    return w;/  }/  "
      "return w "
      "* h;/}\n11 h2 [class Box] class Box {\n12 h3 [int size() const]   int size() const {\n13 code     return 1;/  }/};\n");
  const auto python =
      read("tool.py", "import os\n\n@cache\ndef load(path):\n    return path\n\nclass A:\n    def run(self):\n        pass\n");
  EXPECT_EQ(outline(python),
            "1 code import os\n3 h2 [def load(path)] @cache/def load(path):\n5 code     return path\n7 h2 [class A] class A:\n8 h3 [def "
            "run(self)]     def "
            "run(self):\n9 code         pass\n");
  EXPECT_EQ(python.attributes.title, "tool.py");
  std::string accents;
  for (int i = 0; i < 100; ++i) accents += "\xC3\xA9";
  EXPECT_TRUE(is_valid_utf8(read("a.py", "def a" + accents + "():\n").blocks[0].heading));
  EXPECT_EQ(outline(read("a.sql", "CREATE TABLE t (\n  id int\n);\n")), "1 h2 [CREATE TABLE t (] CREATE TABLE t (\n2 code   id int/);\n");
}

TEST(Text, TheRemarkNamesTheEncoding) {
  const auto document = read("a.txt",
                             "Das B\xFCro \xF6"
                             "ffnet.");
  EXPECT_EQ(document.text,
            "Das B\xC3\xBCro \xC3\xB6"
            "ffnet.");
  EXPECT_EQ(document.warnings, std::vector<std::string>{"read as windows-1252"});
}

}  // namespace
}  // namespace footnote::formats
