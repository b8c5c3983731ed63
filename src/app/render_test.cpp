#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/doctor.h"
#include "app/ingest_output.h"
#include "app/render_answer.h"
#include "app/render_search.h"
#include "app/server_link.h"

namespace footnote::app {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Json json(std::string_view text) {
  auto value = parse_json(text);
  EXPECT_TRUE(value) << text;
  return value.value_or(Json());
}

TEST(RenderAnswer, TextThenSourcesWithQuotes) {
  const Json answer = json(R"({"answer":"You get 26 weeks. [1]","refusal_reason":null,"confidence":83,
    "citations":[{"number":1,"title":"Parental leave","source_path":"time-off/leave.md",
      "marks":[{"quote":"You get\n26 weeks.","line":12,"support":"supported"},{"quote":"You get 26 weeks.","line":12}]},
      {"number":2,"title":"Not cited","source_path":"x.md","marks":[]}],
    "meta":{"latency_ms":9,"model":null}})");
  EXPECT_FALSE(is_refusal(answer));
  EXPECT_EQ(render_answer_text(answer, Paint::kOff), "You get 26 weeks. [1]\n");
  EXPECT_EQ(render_answer_sources(answer, Paint::kOff),
            "\nSources:\n"
            "[1] Parental leave  time-off/leave.md:12\n"
            "    \"You get 26 weeks.\"\n"
            "\nconfidence 83, 9 ms, quoted by the built-in reader\n");
}

TEST(RenderAnswer, ARefusalLooksDifferent) {
  const Json answer = json(R"({"answer":"I could not find that.","refusal_reason":"no_relevant_context","citations":[],
    "meta":{"nearest":[{"title":"Travel","source_path":"money/travel.md"},{"title":"Travel","source_path":"money/travel.md"}]}})");
  EXPECT_TRUE(is_refusal(answer));
  EXPECT_EQ(render_answer_text(answer, Paint::kOff), "Not answered: I could not find that.\n");
  EXPECT_EQ(render_answer_sources(answer, Paint::kOff), "\nNearest, but not an answer:\n  Travel  money/travel.md\n");
}

TEST(RenderAnswer, DocumentsCannotDriveTheTerminal) {
  const Json answer = json("{\"answer\":\"a \\u001b[31mred\\u0007 [1]\",\"refusal_reason\":null,\"citations\":[]}");
  EXPECT_THAT(render_answer_text(answer, Paint::kOff), Not(HasSubstr("\x1b")));
  EXPECT_EQ(printable("a\x1b[2J\r\nb\tc\u202Ed"), "a\uFFFD[2J \nb\tc\uFFFDd");
}

TEST(RenderAnswer, HalfAnAnswerDoesNotBreakIt) {
  for (const auto* text : {"{}", "[]", R"({"citations":[1,{"marks":[2]}],"meta":5})"}) {
    EXPECT_NO_THROW(render_answer_text(json(text), Paint::kOn) + render_answer_sources(json(text), Paint::kOn));
    EXPECT_NO_THROW(render_search(json(text), Explain::kOn, Paint::kOn));
  }
}

TEST(RenderSearch, ExplainShowsEveryStage) {
  const Json found =
      json(R"({"hits":[{"title":"Leave","source_path":"a.md","headings":["Leave","Parental"],"text":"26 weeks","first_line":3,
      "score":0.9,"cosine":0.61,"coverage":0.5,
      "terms":[{"stage":"vector","raw":0.61,"normalised":1,"weight":0.5,"contribution":0.5},
               {"stage":"keyword","raw":7.25,"normalised":0.8,"weight":0.5,"contribution":0.4}]}],
    "gate":{"grounded":true,"evidence":0.7,"threshold":0.45,"cosine":0.61,"coverage":0.5},
    "generation":4,"candidates":120,"timings":{"embed_ms":3.5,"vector_ms":0.25}})");
  const std::string text = render_search(found, Explain::kOn, Paint::kOff);
  EXPECT_THAT(text, HasSubstr(" 1. Leave > Parental  a.md:3  0.900\n    26 weeks\n"));
  EXPECT_THAT(text, HasSubstr("  1  vector   0.6100      1.0000    0.50        0.5000  0.9000  0.6100    0.5000  a.md\n"));
  EXPECT_THAT(text, HasSubstr("     keyword  7.2500      0.8000    0.50        0.4000\n"));
  EXPECT_THAT(text, HasSubstr("gate: answerable  evidence 0.7000, needs 0.4500"));
  EXPECT_THAT(text, HasSubstr("times: embed 3.50 ms, vector 0.25 ms, together 3.75 ms\n"));
  EXPECT_THAT(text, HasSubstr("generation 4, 120 candidates\n"));
  EXPECT_THAT(render_search(found, Explain::kOff, Paint::kOff), Not(HasSubstr("gate")));
}

TEST(IngestOutput, SecondRunSaysThatNothingWasEmbedded) {
  ingest::IngestReport report;
  report.unchanged = 1000;
  EXPECT_EQ(render_ingest_counts({report, {}}), "nothing changed: 0 of 1000 files embedded");
  EXPECT_EQ(ingest_exit_code(report), kExitOk);
  report.updated = 1;
  EXPECT_EQ(render_ingest_counts({report, "http://h:1"}),
            "1001 files: 1 indexed, 1000 unchanged, 0 deleted, through the server at http://h:1");
}

TEST(IngestOutput, CountsAndProblems) {
  ingest::IngestReport report;
  report.added = 2;
  report.updated = 1;
  report.unchanged = 3;
  report.deleted = 1;
  report.embedded_chunks = 12;
  report.reused_chunks = 4;
  report.problems = {{"a.bin", "binary file", ingest::ProblemKind::kProblem}, {"b.md", "repaired", ingest::ProblemKind::kWarning}};
  EXPECT_EQ(render_ingest_counts({report, {}}), "6 files: 2 added, 1 updated, 3 unchanged, 1 deleted; 12 chunks embedded, 4 reused");
  EXPECT_EQ(render_ingest_problems(report, Paint::kOff), "1 left out:\n  a.bin: binary file\n1 taken with a remark:\n  b.md: repaired\n");
  EXPECT_EQ(ingest_exit_code(report), kExitSomeFailed);
}

TEST(Doctor, BrokenThingsNameTheFix) {
  const std::vector<Check> checks{{"disk", Health::kOk, "9 GB free", "", {{"free_bytes", 9}}},
                                  {"model", Health::kBroken, "not here", "run `make setup`", {}}};
  EXPECT_EQ(render_checks(checks, Paint::kOff),
            "ok      disk   9 GB free\n"
            "broken  model  not here\n"
            "               fix: run `make setup`\n"
            "\n1 to fix.\n");
  EXPECT_EQ(to_text(checks_json(checks)),
            R"({"ok":false,"checks":[{"name":"disk","status":"ok","detail":"9 GB free","fix":null,"free_bytes":9},)"
            R"({"name":"model","status":"broken","detail":"not here","fix":"run `make setup`"}]})");
}

TEST(ServerLink, ErrorEnvelopesKeepTheirCode) {
  const Error error = error_of_response(404, R"({"error":{"code":"not_found","message":"no corpus named 'x'","field":"project_key"}})");
  EXPECT_EQ(error.code, ErrorCode::kNotFound);
  EXPECT_EQ(error.message, "no corpus named 'x'");
  EXPECT_EQ(error.field, "project_key");
  EXPECT_EQ(error_of_response(502, "<html>").message, "the server answered with status 502");
}

}  // namespace
}  // namespace footnote::app
