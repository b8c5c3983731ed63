#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/doctor_report.h"
#include "cli/ingest_output.h"
#include "cli/render_answer.h"
#include "cli/render_scores.h"
#include "cli/render_search.h"
#include "cli/render_trace.h"

namespace footnote::cli {
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
    "meta":{"latency_ms":9,"model":null,"turn_id":"turn_1"}})");
  EXPECT_FALSE(is_refusal(answer));
  EXPECT_EQ(render_answer_text(answer, Paint::kOff), "You get 26 weeks. [1]\n");
  EXPECT_EQ(render_answer_sources(answer, Paint::kOff),
            "\nSources:\n"
            "[1] Parental leave  time-off/leave.md:12\n"
            "    \"You get 26 weeks.\"\n"
            "\nconfidence 83, 9 ms, quoted by the built-in reader; footnote trace turn_1\n");
}

TEST(RenderAnswer, ARefusalLooksDifferent) {
  const Json answer = json(R"({"answer":"I could not find that.","refusal_reason":"no_relevant_context","citations":[],
    "meta":{"turn_id":"turn_1","nearest":[{"title":"Travel","source_path":"money/travel.md"},{"title":"Travel","source_path":"money/travel.md"}]}})");
  EXPECT_TRUE(is_refusal(answer));
  EXPECT_EQ(render_answer_text(answer, Paint::kOff), "Not answered: I could not find that.\n");
  EXPECT_EQ(render_answer_sources(answer, Paint::kOff), "\nClosest matches:\n  Travel  money/travel.md\n\nfootnote trace turn_1\n");
}

TEST(RenderAnswer, DocumentsCannotDriveTheTerminal) {
  const Json answer = json("{\"answer\":\"a \\u001b[31mred\\u0007 [1]\",\"refusal_reason\":null,\"citations\":[]}");
  EXPECT_THAT(render_answer_text(answer, Paint::kOff), Not(HasSubstr("\x1b")));
  EXPECT_EQ(printable("a\x1b[2J\r\nb\tc\u202Ed"), "a\uFFFD[2J \nb\tc\uFFFDd");
}

TEST(RenderAnswer, HalfAnAnswerDoesNotBreakIt) {
  for (const auto* text : {"{}", "[]", R"({"citations":[1,{"marks":[2]}],"meta":5})"}) {
    EXPECT_EQ(render_answer_text(json(text), Paint::kOff), "\n") << text;
    EXPECT_THAT(render_answer_sources(json(text), Paint::kOff), HasSubstr("confidence 0, 0 ms")) << text;
    EXPECT_THAT(render_search(json(text), Explain::kOn, Paint::kOff), HasSubstr("generation 0, 0 candidates")) << text;
    EXPECT_THAT(render_trace(json(text), Paint::kOff), HasSubstr("0 candidates (recall 0 a side")) << text;
  }
}

TEST(RenderSearch, ExplainShowsEveryStage) {
  const Json found =
      json(R"({"hits":[{"title":"Leave","source_path":"a.md","headings":["Leave","Parental"],"text":"26 weeks","first_line":3,
      "score":0.9,"cosine":0.61,"coverage":0.5,
      "terms":[{"stage":"vector","raw":0.61,"normalised":1,"weight":0.5,"contribution":0.5},
               {"stage":"keyword","raw":7.25,"normalised":0.8,"weight":0.5,"contribution":0.4}]}],
    "gate":{"grounded":true,"evidence":0.7,"threshold":0.45,"cosine":0.61,"coverage":0.5},
    "vector_search":{"plan":"graph","scanned":2400,"rescored":12},
    "generation":4,"candidates":120,"cuts":[{"stage":"select","reason":"document_limit","count":112}],
    "timings":{"embed_ms":3.5,"vector_ms":0.25}})");
  const std::string text = render_search(found, Explain::kOn, Paint::kOff);
  EXPECT_THAT(text, HasSubstr(" 1. Leave > Parental  a.md:3  0.900\n    26 weeks\n"));
  EXPECT_THAT(text, HasSubstr("#   score          vector         keyword  cosine  coverage  passage\n"
                              "1  0.9000  0.6100 +0.5000  7.2500 +0.4000  0.6100    0.5000  a.md:3\n"
                              "weights: vector 0.50, keyword 0.50 ("));
  EXPECT_THAT(text, HasSubstr("gate: answerable  evidence 0.7000, needs 0.4500"));
  EXPECT_THAT(text, HasSubstr("vectors: plan graph, 2400 read, 12 compared in full\n"));
  EXPECT_THAT(text, HasSubstr("times: embed 3.50 ms, vector 0.25 ms, together 3.75 ms\n"));
  EXPECT_THAT(text, HasSubstr("generation 4, 120 candidates\ncut: 112 by select (document limit)\n"));
  EXPECT_THAT(render_search(found, Explain::kOff, Paint::kOff), Not(HasSubstr("gate")));
}

TEST(RenderTrace, ShowsStagesAsBarsAndWhatBecameOfEachCandidate) {
  const Json trace = json(R"({"version":1,"turn_id":"turn_1","request_id":"r1","trace_id":"t1","span_id":"s1","conversation_id":null,
    "generation":4,"asked_at":"2026-03-01T09:00:00Z","state":"partial","total_ms":10,"first_text_ms":9.5,
    "outcome":{"kind":"answer","refusal_reason":null,"confidence":0.83,"citations":1,"sources":2},
    "stages":[{"stage":"embed","start_ms":0,"took_ms":5},{"stage":"gate","start_ms":5,"took_ms":0.001},
              {"stage":"llm","start_ms":7.5,"took_ms":2.5},{"stage":"store","start_ms":10,"took_ms":null}],
    "gate":{"grounded":true,"evidence":0.7,"threshold":0.4,"cosine":0.6,"coverage":0.5},
    "model":{"name":"m-1","finish":"stop","prompt_messages":2,"prompt_bytes":1200,"prompt_tokens":300,"completion_tokens":20},
    "limits":{"recall":100,"hits":8,"hits_per_document":3},"candidates_found":3,
    "vector_search":{"plan":"codes","scanned":900,"rescored":14},
    "cuts":[{"stage":"fuse","reason":"limit","count":1},{"stage":"select","reason":"document_limit","count":1}],
    "candidates":[
      {"rank":1,"chunk_id":5,"source_path":"a.md","first_line":3,"score":0.9,"cosine":0.6,"coverage":0.5,"number":1,"cut":null,
       "terms":[{"stage":"vector","raw":0.6,"normalised":1,"weight":0.55,"contribution":0.55},
                {"stage":"penalty","raw":1,"normalised":1,"weight":-0.4,"contribution":-0.4}]},
      {"rank":2,"chunk_id":6,"source_path":null,"first_line":null,"score":0.2,"cosine":0.3,"coverage":0,"number":null,
       "cut":{"stage":"select","reason":"document_limit"},
       "terms":[{"stage":"vector","raw":0.3,"normalised":0.5,"weight":0.55,"contribution":0.275}]}],
    "errors":[{"stage":"llm","code":"unavailable","message":"broke off\u001b[2J"}]})");
  const std::string text = render_trace(trace, Paint::kOff);
  EXPECT_THAT(text, HasSubstr("turn_1  answer, confidence 0.83, citations: 1, sources: 2  (incomplete)\n"));
  EXPECT_THAT(text, HasSubstr("request r1  trace t1  span s1\n"));
  EXPECT_THAT(text, HasSubstr("embed      0.00     5.00  ####################\n"
                              "gate       5.00     0.00                      #\n"
                              "llm        7.50     2.50                                ##########\n"
                              "store     10.00\n"
                              "together 10.00 ms, first text after 9.50 ms\n"));
  EXPECT_THAT(text, HasSubstr("vectors: plan codes, 900 read, 14 compared in full\n"));
  EXPECT_THAT(text, HasSubstr("gate: answerable  evidence 0.7000, needs 0.4000"));
  EXPECT_THAT(text, HasSubstr("model: m-1, finish stop; prompt 2 messages, 1.2 KB (300 tokens), answer 20 tokens\n"));
  EXPECT_THAT(text, HasSubstr("error in llm: broke off\uFFFD[2J (unavailable)\n"));
  EXPECT_THAT(text, HasSubstr("3 candidates (recall 100 a side, 8 hits, 3 of a document); the best 2:\n"
                              "cut: 1 by fuse (limit), 1 by select (document limit)\n"));
  EXPECT_THAT(text, HasSubstr("1  0.9000  0.6000 +0.5500  1.0000 -0.4000  0.6000    0.5000  cited [1]               a.md:3\n"
                              "2  0.2000  0.3000 +0.2750                  0.3000    0.0000  select: document limit  (chunk 6, gone)\n"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(render_trace(trace, Paint::kOn), HasSubstr("\x1b[36m####"));
}

TEST(IngestOutput, SecondRunSaysThatNothingWasEmbedded) {
  ingest::IngestReport report;
  report.unchanged = 1000;
  EXPECT_EQ(render_ingest_counts(report), "nothing changed: 0 of 1000 files embedded");
  EXPECT_EQ(ingest_exit_code(report), kExitOk);
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
  EXPECT_EQ(render_ingest_counts(report), "6 files: 2 added, 1 updated, 3 unchanged, 1 deleted; 12 chunks embedded, 4 reused");
  EXPECT_EQ(render_ingest_problems(report, Paint::kOff), "1 left out:\n  a.bin: binary file\n1 taken with a remark:\n  b.md: repaired\n");
  EXPECT_EQ(ingest_exit_code(report), kExitSomeFailed);
  report.problems.clear();
  report.no_documents = {{"fonts", 1}, {"images", 12}};
  EXPECT_EQ(render_ingest_problems(report, Paint::kOff), "not read, as they are no documents: 1 fonts, 12 images\n");
  EXPECT_EQ(ingest_exit_code(report), kExitOk);
}

TEST(RenderPlace, LinesPagesOrNothing) {
  EXPECT_EQ(path_and_place("a.md", json(R"({"first_line":3,"place":"line 3"})"), "first_line"), "a.md:3");
  EXPECT_EQ(path_and_place("a.pdf", json(R"({"first_line":null,"place":"p. 12"})"), "first_line"), "a.pdf, p. 12");
  EXPECT_EQ(path_and_place("a.odt", json(R"({"first_line":null,"place":null})"), "first_line"), "a.odt");
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
  for (const Check& check : checks) EXPECT_EQ(api::render_check(parse_check(api::render_check(check))), api::render_check(check));
}

}  // namespace
}  // namespace footnote::cli
