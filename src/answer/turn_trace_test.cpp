#include "answer/turn_trace.h"

#include <gtest/gtest.h>

#include "answer/answer_service.h"

namespace footnote::answer {
namespace {

Hit hit(std::int64_t id, const std::string& title) {
  Hit out;
  out.chunk.id = {id};
  out.chunk.document = {id};
  out.document.title = title;
  out.document_key = title;
  out.terms = {{Stage::kVector, 0.123456789, 0.987654321, 0.55}, {Stage::kPenalty, 1, 1, -0.4}};
  return out;
}

TurnReport report_of(std::size_t hits, std::size_t cut, const std::string& title) {
  TurnReport report;
  report.turn.outcome = Refusal{};
  for (std::size_t i = 0; i < hits; ++i) report.retrieval.hits.push_back(hit(static_cast<std::int64_t>(i) + 1, title));
  for (std::size_t i = 0; i < cut; ++i)
    report.retrieval.cut.push_back({hit(static_cast<std::int64_t>(hits + i) + 1, title), Fate::kTopLimit});
  report.retrieval.candidates = hits + cut;
  if (cut > 0) report.retrieval.cut_counts[Fate::kTopLimit] = cut;
  report.trace.fates.assign(hits, Fate::kBelowGate);
  return report;
}

JsonObject parsed(const std::string& text) {
  const auto value = parse_json(text);
  EXPECT_TRUE(value && value->is_object()) << text.substr(0, 200);
  return value && value->is_object() ? value->get_object() : JsonObject{};
}

TEST(TurnTrace, NamesNoMoreCandidatesThanItsLimitAndCountsTheRest) {
  const JsonObject trace = parsed(render_turn_trace(report_of(8, kTraceCandidatesMax, "a.md")));
  EXPECT_EQ(trace.at("candidates").as_array().size(), kTraceCandidatesMax);
  EXPECT_EQ(to_text(trace.at("cuts")),
            R"([{"stage":"select","reason":"limit","count":40},{"stage":"gate","reason":"below_threshold","count":8}])");
  EXPECT_EQ(trace.at("candidates_found"), 48);
}

TEST(TurnTrace, SaysHowTheVectorsWereSearched) {
  TurnReport report = report_of(1, 0, "a.md");
  EXPECT_TRUE(parsed(render_turn_trace(report)).at("vector_search").is_null());
  report.retrieval.vector_search = {.plan = "graph", .scanned = 2400, .rescored = 12};
  EXPECT_EQ(to_text(parsed(render_turn_trace(report)).at("vector_search")), R"({"plan":"graph","scanned":2400,"rescored":12})");
}

TEST(TurnTrace, LongNamesAreCut) {
  const JsonObject trace = parsed(render_turn_trace(report_of(1, 0, std::string(1'000, 'x'))));
  const JsonObject& candidate = trace.at("candidates").as_array().at(0).as_object();
  EXPECT_EQ(candidate.at("title").as_string().size(), kTraceNameBytesMax);
  EXPECT_EQ(candidate.at("source_path").as_string().size(), kTraceNameBytesMax);
}

TEST(TurnTrace, StaysWithinItsBoundWhateverTheNamesAre) {
  // Each byte of such a name takes six in JSON.
  const std::string text = render_turn_trace(report_of(8, 100, std::string(1'000, '\x01')));
  EXPECT_LE(text.size(), kTurnTraceBytesMax);
  const JsonObject trace = parsed(text);
  EXPECT_LT(trace.at("candidates").as_array().size(), kTraceCandidatesMax);
  EXPECT_GE(trace.at("candidates").as_array().size(), 10u);
  EXPECT_EQ(trace.at("candidates_found"), 108) << "what is not named is counted";
}

TEST(TurnTrace, ScoresAreTellingNotExact) {
  const JsonObject trace = parsed(render_turn_trace(report_of(1, 0, "a.md")));
  EXPECT_EQ(to_text(trace.at("candidates").as_array().at(0).as_object().at("terms")),
            R"([{"stage":"vector","raw":0.123457,"normalised":0.987654,"weight":0.55,"contribution":0.54321},)"
            R"({"stage":"penalty","raw":1,"normalised":1,"weight":-0.4,"contribution":-0.4}])");
}

TEST(TurnTrace, APassageThatIsGoneHasItsIdAlone) {
  TurnReport report = report_of(0, 0, "");
  Hit gone;
  gone.chunk.id = {7};
  report.retrieval.cut = {{gone, Fate::kGone}};
  const JsonObject candidate = parsed(render_turn_trace(report)).at("candidates").as_array().at(0).as_object();
  EXPECT_EQ(candidate.at("chunk_id"), 7);
  for (const char* field : {"document_id", "version", "title", "source_path", "first_line"}) EXPECT_TRUE(candidate.at(field).is_null());
  EXPECT_EQ(to_text(candidate.at("cut")), R"({"stage":"fetch","reason":"gone"})");
}

}  // namespace
}  // namespace footnote::answer
