#include <gtest/gtest.h>

#include "base/text.h"
#include "code/code_file.h"
#include "code/plural.h"

namespace footnote::code {
namespace {

/// One line a unit: type, kind, symbol, lines.
std::string outline(const CodeFile& file) {
  std::string out;
  for (const Unit& unit : file.units) {
    out += std::string(to_string(unit.type)) + (unit.kind.empty() ? "" : "/" + unit.kind) + " " + unit.symbol + " " +
           std::to_string(unit.first_line) + "-" + std::to_string(unit.last_line) + "\n";
  }
  return out;
}

void check_outline(std::string_view path, std::string_view source, std::string_view expected) {
  const auto file = read_code(path, source);
  ASSERT_TRUE(file.has_value()) << file.error().message;
  EXPECT_EQ(outline(*file), expected);
}

const Unit& unit_named(const CodeFile& file, std::string_view symbol) {
  for (const Unit& unit : file.units) {
    if (unit.symbol == symbol) return unit;
  }
  ADD_FAILURE() << "no unit " << symbol;
  static const Unit none;
  return none;
}

std::string facts_text(const Unit& unit, std::string_view name) {
  const auto found = unit.facts.find(name);
  return found == unit.facts.end() ? "(none)" : join(found->second, ", ");
}

TEST(ReadCode, PhpClassIsAHeaderAndItsMethods) {
  check_outline("app/Services/Mailer.php",
                "<?php\nnamespace App\\Services;\n\n/** Sends mail. */\nclass Mailer\n{\n    private $x = 1;\n\n    /** One. */\n"
                "    public function send(): void\n    {\n    }\n\n    private function retry() { }\n}\nfunction helper() {}\n",
                "service/class App\\Services\\Mailer 4-7\n"
                "service/method App\\Services\\Mailer::send 9-12\n"
                "symbol/method App\\Services\\Mailer::retry 14-14\n"
                "symbol/function App\\Services\\helper 16-16\n");
}

TEST(ReadCode, PhpChunkCarriesItsClassAndItsDoc) {
  const auto file = read_code(
      "app/Services/Mailer.php",
      "<?php\nnamespace App\\Services;\n/** Sends mail. */\nfinal class Mailer extends Base\n{\n    public function send() {}\n}\n");
  const Unit& method = unit_named(*file, "App\\Services\\Mailer::send");
  EXPECT_EQ(chunk_text(method, file->text), "App\\Services\\Mailer::send: Sends mail.\npublic function send() {}");
  EXPECT_EQ(unit_named(*file, "App\\Services\\Mailer").header, "namespace App\\Services; final class Mailer extends Base");
}

TEST(ReadCode, RoutesOfGroupsAndResourcesHaveFullAddresses) {
  const auto file = read_code("routes/web.php",
                              "<?php\nuse App\\A;\n"
                              "Route::prefix('admin')->name('admin.')->middleware('auth')->group(function () {\n"
                              "    Route::resource('photos.comments', A::class)->only('show')->shallow();\n"
                              "    Route::get('stats', A::class)->name('stats')->withoutMiddleware('auth');\n"
                              "});\n"
                              "Route::any('x', 'App\\\\B@run');\n");
  EXPECT_EQ(outline(*file),
            "route/group group /admin 3-6\n"
            "route admin.comments.show 4-4\n"
            "route admin.stats 5-5\n"
            "route GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS /x 7-7\n");
  const Unit& shown = unit_named(*file, "admin.comments.show");
  EXPECT_EQ(facts_text(shown, "uri"), "/admin/comments/{comment}");
  EXPECT_EQ(facts_text(shown, "params"), "comment");
  EXPECT_EQ(facts_text(shown, "middleware"), "web, auth");
  EXPECT_EQ(facts_text(shown, "group"), "group /admin");
  EXPECT_EQ(facts_text(unit_named(*file, "group /admin"), "routes"), "admin.comments.show, admin.stats");
  EXPECT_EQ(facts_text(unit_named(*file, "admin.stats"), "middleware"), "web");
  EXPECT_EQ(facts_text(unit_named(*file, "admin.stats"), "action"), "__invoke");
  EXPECT_EQ(facts_text(file->units.back(), "controller"), "App\\B");
}

TEST(ReadCode, AResourceHasSevenRoutes) {
  const auto file = read_code("routes/x.php", "<?php\nRoute::resource('user-cards', C::class);\n");
  std::string uris;
  for (const Unit& unit : file->units) uris += facts_text(unit, "methods") + " " + facts_text(unit, "uri") + " " + unit.symbol + "\n";
  EXPECT_EQ(uris,
            "GET, HEAD /user-cards user-cards.index\n"
            "GET, HEAD /user-cards/create user-cards.create\n"
            "POST /user-cards user-cards.store\n"
            "GET, HEAD /user-cards/{user_card} user-cards.show\n"
            "GET, HEAD /user-cards/{user_card}/edit user-cards.edit\n"
            "PUT, PATCH /user-cards/{user_card} user-cards.update\n"
            "DELETE /user-cards/{user_card} user-cards.destroy\n");
}

TEST(ReadCode, ConfigHasAChunkPerKey) {
  check_outline("config/mail.php", "<?php\nreturn [\n    'from' => 'a',\n    'smtp' => [\n        'host' => 'b',\n    ],\n];\n",
                "config mail.from 3-3\nconfig mail.smtp 4-6\n");
  check_outline("deploy.yml", "on: push\njobs:\n  build:\n    steps: [1]\n", "config deploy.on 1-1\nconfig deploy.jobs 2-4\n");
}

TEST(ReadCode, DefinitionsOfOtherLanguages) {
  check_outline("a.py", "# Doc.\n@cache\ndef f():\n    return 1\n\nclass A(B):\n    x = 1\n\n    def m(self):\n        pass\n",
                "symbol/function f 1-4\nsymbol/class A 6-7\nsymbol/method A.m 9-10\n");
  check_outline("a.go", "package a\n\n// F does.\nfunc F() {}\n\ntype T struct{ x int }\n\nfunc (t *T) M() {}\n",
                "symbol/function F 3-4\nsymbol/type T 6-6\nsymbol/method T.M 8-8\n");
  check_outline("A.java", "package a;\n\n/** D. */\npublic class A {\n  int x;\n\n  void m() {}\n}\n",
                "symbol/class A 3-5\nsymbol/method A.m 7-7\n");
  check_outline("a.rs", "struct S { a: i32 }\nimpl S {\n    fn m(&self) {}\n}\nmod q { fn g() {} }\n",
                "symbol/struct S 1-1\nsymbol/impl S #2 2-2\nsymbol/method S::m 3-3\nsymbol/function q::g 5-5\n");
  check_outline("a.cpp",
                "namespace n {\n// Doc\ntemplate <class T>\nclass X {\n public:\n  int a;\n  int m() { return 1; }\n};\nint *X::k(int a) { "
                "return 0; }\n}\n",
                "symbol/class n::X 2-6\nsymbol/method n::X::m 7-7\nsymbol/function n::X::k 9-9\n");
  check_outline("a.swift", "import UIKit\n/// Doc.\nstruct Row: View {\n  var body: some View { Text(\"}\") }\n}\nfunc f() {\n}\n",
                "symbol/view Row 2-5\nsymbol/function f 6-7\n");
}

TEST(ReadCode, ScriptsHaveTheirExports) {
  const auto file = read_code(
      "a.tsx",
      "/** Doc. */\nexport function App() { return <Row a={1} />; }\nexport const n = 1;\nexport default class Store { get() {} }\n"
      "interface I { a: string }\nconst local = () => helper();\n");
  EXPECT_EQ(outline(*file),
            "symbol/component App 1-2\nsymbol/variable n 3-3\nsymbol/class Store 4-4\nsymbol/method Store.get 4-4\nsymbol/interface I 5-5\n"
            "symbol/function local 6-6\n");
  EXPECT_EQ(facts_text(unit_named(*file, "App"), "exported"), "true");
  EXPECT_EQ(facts_text(unit_named(*file, "local"), "exported"), "(none)");
  EXPECT_EQ(unit_named(*file, "App").references, (std::vector<Reference>{{RefKind::kName, "Row"}}));
  check_outline("b.js", "'use strict';\nmodule.exports = function make() {};\nexports.one = 1;\nThing.prototype.go = function () {};\n",
                "symbol/function make 2-2\nsymbol/function one 3-3\nsymbol/function Thing.prototype.go 4-4\n");
}

TEST(ReadCode, ProseIsCutByHeadingsAndShortSectionsJoin) {
  const std::string text(900, 'x');
  check_outline("docs/a.md", "---\ntitle: T\n---\n# A\n\n## One\n" + text + "\n\n## Two\n" + text + "\n", "doc A 4-7\ndoc A > Two 9-10\n");
  check_outline("docs/KNOWN_BUGS.md", "# Bugs\n\n- First one\n- Second one\n  with a line\n",
                "known_bug Bugs > First one 3-3\nknown_bug Bugs > Second one with a line 4-5\n");
}

TEST(ReadCode, ALongMethodIsSplitBetweenStatements) {
  std::string source = "<?php\nclass A {\n    function long() {\n";
  for (int i = 0; i < 300; ++i) source += "        $this->call('" + std::to_string(i) + "', 'some argument of some length');\n";
  source += "    }\n}\n";
  const auto file = read_code("A.php", source);
  int line = 3;
  int parts = 0;
  for (const Unit& unit : file->units) {
    if (unit.symbol != "A::long") continue;
    ++parts;
    EXPECT_EQ(unit.part, parts);
    EXPECT_LE(unit.range.size(), kChunkBytesMax);
    EXPECT_EQ(unit.first_line, line);
    line = unit.last_line + 1;
  }
  EXPECT_GT(parts, 2);
  EXPECT_EQ(line, 305);
}

TEST(ReadCode, LongProseOverlaps) {
  std::string source = "# A\n";
  for (int i = 0; i < 40; ++i) source += "\nParagraph " + std::to_string(i) + " " + std::string(300, 'y') + "\n";
  const auto file = read_code("README.md", source);
  ASSERT_GT(file->units.size(), 2u);
  for (std::size_t i = 1; i < file->units.size(); ++i) {
    EXPECT_LT(file->units[i].range.begin, file->units[i - 1].range.end);
    EXPECT_GT(file->units[i].range.begin, file->units[i - 1].range.begin);
  }
}

TEST(ReadCode, WhatIsNotReadHasAReason) {
  const auto refused = [](std::string_view path, const std::string& bytes) {
    const auto file = read_code(path, bytes);
    return file ? std::string("read") : file.error().message;
  };
  EXPECT_EQ(refused("a.bin", "x"), "not a file that project memory reads");
  EXPECT_EQ(refused("package-lock.json", "{}"), "not a file that project memory reads");
  EXPECT_EQ(refused("a.php", std::string("<?php \0", 7)), "a binary file");
  EXPECT_EQ(refused("a.js", std::string(20'000, 'a')), "minified: 20000 bytes in 1 lines");
  EXPECT_EQ(refused("a.js", std::string(10 << 20, '\n')), "larger than 2.1 MB, generated or data");
  EXPECT_EQ(refused("data.json", "[\n" + std::string(200'000, '\n') + "]"), "a data file");
}

TEST(ReadCode, BrokenSyntaxGivesWhatCanBeToldAndAWarning) {
  const auto file = read_code("A.php", "<?php class A { function good() {} function ( }");
  ASSERT_TRUE(file.has_value());
  EXPECT_EQ(file->warnings.size(), 1u);
}

TEST(ReadCode, MixedEncodingsAndLineEndsAreNormalised) {
  const auto file = read_code("a.py", "\xEF\xBB\xBF# caf\xE9\r\ndef f():\r\n    pass\r\n");
  ASSERT_TRUE(file.has_value());
  EXPECT_EQ(outline(*file), "symbol/function f 1-3\n");
}

TEST(ReadCode, HashIgnoresTrailingBlanksAndEmptyLinesAround) {
  EXPECT_EQ(chunk_hash("a\n  b"), chunk_hash("\n\na  \n  b\t\n\n"));
  EXPECT_NE(chunk_hash("a\n  b"), chunk_hash("a\nb"));
  EXPECT_NE(chunk_hash("a // c"), chunk_hash("a"));
}

TEST(ReadCode, PluralsAsEloquentMakesThem) {
  for (const auto& [one, many] : std::vector<std::pair<std::string, std::string>>{{"invoice_line", "invoice_lines"},
                                                                                  {"company", "companies"},
                                                                                  {"day", "days"},
                                                                                  {"box", "boxes"},
                                                                                  {"person", "people"},
                                                                                  {"status", "statuses"}}) {
    EXPECT_EQ(plural(one), many);
    EXPECT_EQ(singular(many), one);
  }
  EXPECT_EQ(snake_case("InvoiceLine"), "invoice_line");
  EXPECT_EQ(snake_case("APIKey"), "a_p_i_key");
}

}  // namespace
}  // namespace footnote::code
