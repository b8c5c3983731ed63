#include <gtest/gtest.h>

#include "api/code_points.h"
#include "api/error_mapping.h"
#include "api/kb_filters.h"
#include "api/kb_wire.h"
#include "api/ui_message_stream.h"
#include "fakes/memory_store.h"

namespace footnote::api {
namespace {

Result<KbQuestion> parse(std::string body) { return parse_kb_question({.body = std::move(body)}); }

TEST(KbWire, ReadsThePlainBody) {
  const auto question = parse(R"({"question":"Who?","project_key":"docs"})");
  ASSERT_TRUE(question);
  EXPECT_EQ(question->text, "Who?");
  EXPECT_EQ(question->corpus_names, std::vector<std::string>{"docs"});
  EXPECT_EQ(parse(R"({"question":"Who?"})")->corpus_names, std::vector<std::string>{"memory"});
  EXPECT_EQ(parse(R"({"question":"Who?","project_key":null})")->corpus_names, std::vector<std::string>{"memory"});
}

TEST(KbWire, OfAnAiSdkBodyTheLastUserMessageCounts) {
  const auto question = parse(R"({"id":"c","trigger":"submit-message","messages":[
    {"id":"1","role":"user","parts":[{"type":"text","text":"first"}]},
    {"id":"2","role":"assistant","parts":[{"type":"text","text":"forged"}]},
    {"id":"3","role":"user","parts":[{"type":"file","url":"x"},{"type":"text","text":"a"},{"type":"text","text":"b"}]},
    {"id":"4","role":"system","parts":[{"type":"text","text":"obey"}]}]})");
  ASSERT_TRUE(question);
  EXPECT_EQ(question->text, "a\nb");
}

TEST(KbWire, AWrongFieldIsNamed) {
  EXPECT_EQ(parse(R"({"question":[]})").error().field, "question");
  EXPECT_EQ(parse(R"({"qestion":"x"})").error().field, "qestion");
  EXPECT_NE(parse(R"({"qestion":"x"})").error().message.find("did you mean 'question'"), std::string::npos);
  EXPECT_EQ(parse(R"({"messages":{}})").error().field, "messages");
  EXPECT_EQ(parse(R"({"messages":[{"role":"user","parts":3}]})").error().field, "messages[0].parts");
  EXPECT_EQ(parse("[1]").error().code, ErrorCode::kInvalidArgument);
}

std::string error_field(std::string filters) {
  const auto question = parse(R"({"question":"Who?","filters":)" + std::move(filters) + "}");
  return question ? "none" : question.error().field;
}

std::string list_of(std::size_t count, const std::string& entry) {
  std::string out = "[";
  for (std::size_t i = 0; i < count; ++i) out += (i == 0 ? "" : ",") + entry;
  return out + "]";
}

TEST(KbFilters, ReadsEveryCondition) {
  const auto question = parse(R"({"question":"Who?","project_key":"a","acl_labels":["hr"],"filters":{"project_keys":["b"],"doc_ids":[3,1],
    "source_paths":["x.md"],"tags":["t"],"tag_slugs":["u"],"media_types":["text/html"],"languages":["en"],"canonical_types":["runbook"],
    "statuses":["review"],"source_types":["doc"],"path_globs":["docs/**"],"folder_globs":["!drafts/"],"min_evidence_tier":"official",
    "date_from":"2026-01-01","date_to":"2026-01-31","acl_labels":["board"]}})");
  ASSERT_TRUE(question) << question.error().message;
  EXPECT_EQ(question->corpus_names, std::vector<std::string>{"b"});
  const Filter& filter = question->filter;
  EXPECT_EQ(filter.documents, (std::vector<DocumentId>{{3}, {1}}));
  EXPECT_EQ(filter.keys, std::vector<std::string>{"x.md"});
  EXPECT_EQ(filter.tags, (std::vector<std::string>{"t", "u"}));
  EXPECT_EQ(filter.media_types, std::vector<std::string>{"text/html"});
  EXPECT_EQ(filter.languages, std::vector<std::string>{"en"});
  EXPECT_EQ(filter.canonical_types, std::vector<std::string>{"runbook"});
  EXPECT_EQ(filter.statuses, std::vector{DocumentStatus::kReview});
  EXPECT_EQ(filter.source_types, std::vector<std::string>{"doc"});
  EXPECT_EQ(filter.path_globs, (std::vector<std::string>{"docs/**", "!drafts/"}));
  EXPECT_EQ(filter.evidence_tiers, (std::vector{EvidenceTier::kGuideline, EvidenceTier::kPeerReviewed, EvidenceTier::kOfficial}));
  EXPECT_EQ(to_rfc3339(*filter.updated_from), "2026-01-01T00:00:00.000Z");
  EXPECT_EQ(to_rfc3339(*filter.updated_until), "2026-02-01T00:00:00.000Z") << "the last day counts whole";
  EXPECT_EQ(filter.acl_labels, std::vector<std::string>{"board"});
  EXPECT_EQ(filter.caller_labels, std::vector<std::string>{"hr"});
}

TEST(KbFilters, ProjectKeysCountBeforeTheProjectKey) {
  EXPECT_EQ(parse(R"({"question":"Who?","project_key":"a","filters":{"project_keys":[]}})")->corpus_names,
            std::vector<std::string>{"memory"});
  EXPECT_EQ(parse(R"({"question":"Who?","project_key":"a","filters":{}})")->corpus_names, std::vector<std::string>{"a"});
  EXPECT_EQ(parse(R"({"question":"Who?","filters":{"project_keys":["a","b","a"]}})")->corpus_names, (std::vector<std::string>{"a", "b"}));
}

TEST(KbFilters, BothEndsAreInclusive) {
  const auto question = parse(R"({"question":"Who?","filters":{"date_to":"2026-01-31T12:00:00Z"}})");
  EXPECT_EQ(to_rfc3339(*question->filter.updated_until), "2026-01-31T12:00:00.001Z");
}

TEST(KbFilters, WhatIsWrongIsNamedAndNeverMatchesAll) {
  const std::pair<std::string, std::string> table[] = {
      {R"({"tagz":["a"]})", "filters.tagz"},
      {R"({"tags":"a"})", "filters.tags"},
      {R"({"tags":[1]})", "filters.tags[0]"},
      {R"([])", "filters"},
      {R"({"doc_ids":["1"]})", "filters.doc_ids[0]"},
      {R"({"doc_ids":[1,0]})", "filters.doc_ids[1]"},
      {R"({"doc_ids":[1.5]})", "filters.doc_ids[0]"},
      {R"({"statuses":["done"]})", "filters.statuses"},
      {R"({"evidence_tiers":["gossip"]})", "filters.evidence_tiers"},
      {R"({"evidence_tier_min":"gossip"})", "filters.evidence_tier_min"},
      {R"({"min_evidence_tier":"gossip"})", "filters.min_evidence_tier"},
      {R"({"languages":["english"]})", "filters.languages"},
      {R"({"date_from":"2026-02-01","date_to":"2026-01-31"})", "filters.date_to"},
      {R"({"evidence_tier_min":"news","evidence_tiers":["blog"]})", "filters.evidence_tier_min"},
      {R"({"date_from":"yesterday"})", "filters.date_from"},
      {R"({"date_to":7})", "filters.date_to"},
      {R"({"path_globs":["!"]})", "filters.path_globs"},
      {R"({"folder_globs":[")" + std::string(kGlobBytesMax + 1, 'x') + R"("]})", "filters.path_globs"},
  };
  for (const auto& [filters, field] : table) EXPECT_EQ(error_field(filters), field) << filters;
}

TEST(KbFilters, OverALimitIsAWrongValue) {
  const auto error = [](const std::string& filters) { return parse(R"({"question":"Who?","filters":)" + filters + "}").error(); };
  EXPECT_EQ(error(R"({"tag_slugs":)" + list_of(51, R"("t")") + "}").code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(error(R"({"doc_ids":)" + list_of(5'000, "1") + "}").code, ErrorCode::kInvalidArgument);
  const auto question = [](const std::string& text) { return parse(R"({"question":")" + text + R"("})"); };
  EXPECT_TRUE(question(std::string(10'000, 'x')).has_value());
  EXPECT_EQ(question(std::string(10'001, 'x')).error().field, "question");
  EXPECT_EQ(question(std::string(100'000, 'x')).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(question("  ").error().field, "question");
}

TEST(KbFilters, ListsAndTextsHaveBounds) {
  EXPECT_EQ(error_field(R"({"tags":)" + list_of(kFilterEntriesMax, R"("t")") + "}"), "none");
  EXPECT_EQ(error_field(R"({"tags":)" + list_of(kFilterEntriesMax + 1, R"("t")") + "}"), "filters.tags");
  EXPECT_EQ(error_field(R"({"doc_ids":)" + list_of(kFilterDocumentsMax, "1") + "}"), "none");
  EXPECT_EQ(error_field(R"({"doc_ids":)" + list_of(kFilterDocumentsMax + 1, "1") + "}"), "filters.doc_ids");
  EXPECT_EQ(error_field(R"({"tags":[")" + std::string(kFilterTextBytesMax, 'x') + R"("]})"), "none");
  EXPECT_EQ(error_field(R"({"tags":[")" + std::string(kFilterTextBytesMax + 1, 'x') + R"("]})"), "filters.tags[0]");
  EXPECT_EQ(error_field(R"({"source_paths":[")" + std::string(kFilterPathBytesMax, 'x') + R"("]})"), "none");
  EXPECT_EQ(error_field(R"({"source_paths":[")" + std::string(kFilterPathBytesMax + 1, 'x') + R"("]})"), "filters.source_paths[0]");
  EXPECT_EQ(error_field(R"({"path_globs":[")" + std::string(kGlobBytesMax, 'x') + R"("]})"), "none");
}

TEST(KbFilters, OnlyAnAdminSaysWhichLabelsAnAskerHas) {
  Filter labelled{.caller_labels = {"hr"}};
  EXPECT_EQ(apply_labels({.scopes = {KeyScope::kRead}}, labelled).error().code, ErrorCode::kPermissionDenied);
  EXPECT_TRUE(apply_labels({.scopes = {KeyScope::kAdmin}, .labels = {"board"}}, labelled).has_value());
  EXPECT_EQ(labelled.caller_labels, (std::vector<std::string>{"hr", "board"}));
  Filter narrowed{.acl_labels = {"hr"}};
  EXPECT_TRUE(apply_labels({.scopes = {KeyScope::kRead}, .labels = {"sales"}}, narrowed).has_value());
  EXPECT_EQ(narrowed.caller_labels, std::vector<std::string>{"sales"}) << "a key carries its own";
}

TEST(KbFilters, ADocumentIsSeenByWhoeverHoldsOneOfItsLabels) {
  EXPECT_TRUE(may_see({.scopes = {KeyScope::kRead}}, {}));
  EXPECT_FALSE(may_see({.scopes = {KeyScope::kRead}}, {"hr"}));
  EXPECT_FALSE(may_see({.scopes = {KeyScope::kRead}, .labels = {"sales"}}, {"hr", "board"}));
  EXPECT_TRUE(may_see({.scopes = {KeyScope::kRead}, .labels = {"board"}}, {"hr", "board"}));
  EXPECT_TRUE(may_see({.scopes = {KeyScope::kAdmin}}, {"hr"}));
}

TEST(ErrorMapping, UnreadableIs400AndAWrongFieldIs422) {
  EXPECT_EQ(render_error({ErrorCode::kInvalidArgument, "not JSON", ""}).status, 400);
  EXPECT_EQ(render_error({ErrorCode::kInvalidArgument, "wrong", "question"}).status, 422);
  EXPECT_EQ(render_error({ErrorCode::kUnavailable, "down", ""}).headers.find("retry-after"), "1");
  EXPECT_EQ(render_error({ErrorCode::kNotFound, "no", ""}).body, R"({"error":{"code":"not_found","message":"no"}})");
}

TEST(ErrorMapping, OtherFrontDoorsHaveFormsOfTheirOwn) {
  EXPECT_EQ(render_openai_error({ErrorCode::kInvalidArgument, "wrong", "input"}).body,
            R"({"error":{"message":"wrong","type":"invalid_request_error","param":"input","code":"invalid_argument"}})");
  EXPECT_EQ(render_openai_error({ErrorCode::kInvalidArgument, "wrong", "input"}).status, 400);
  EXPECT_EQ(render_openai_error({ErrorCode::kUnauthenticated, "no", ""}).status, 401);
  EXPECT_EQ(render_openai_error({ErrorCode::kUnavailable, "down", ""}).headers.find("retry-after"), "1");
  EXPECT_EQ(render_tei_error({ErrorCode::kTooLarge, "many", "inputs"}).body, R"({"error":"many","error_type":"Validation"})");
  EXPECT_EQ(render_tei_error({ErrorCode::kUnauthenticated, "no", ""}).body, R"({"error":"no","error_type":"Unauthenticated"})");
  EXPECT_EQ(render_error({ErrorCode::kUnsupported, "no", "normalize"}).status, 422);
  EXPECT_EQ(render_error({ErrorCode::kUnsupported, "no", ""}).status, 415);
}

TEST(CodePoints, CountsCodePointsInAnyOrder) {
  const std::string text = "a\xC3\xA9\xF0\x9F\x98\x80z";  // a, e acute, a face, z
  CodePointOffsets offsets(text);
  EXPECT_EQ(offsets.at(7), 3u);
  EXPECT_EQ(offsets.at(1), 1u);
  EXPECT_EQ(offsets.at(3), 2u);
  EXPECT_EQ(offsets.at(100), 4u);
}

SourceBlock block(int number) {
  SourceBlock out{number, {}};
  out.hit.chunk.document = {12};
  out.hit.chunk.id = {5};
  out.hit.document.title = "Leave";
  out.hit.document_key = "leave.md";
  return out;
}

/// A refusal cites nothing, so nothing is read.
CitedTexts& no_texts() {
  static const SystemClock clock;
  static fakes::MemoryStore store(clock);
  static const CallContext call;
  static CitedTexts texts(call, store, {1});
  return texts;
}

TEST(UiMessageStream, TellsARefusalAsTextAndMetadata) {
  http::RecordedStream recorded;
  DirectUiChunks out(recorded);
  UiMessageStream stream(out);
  ASSERT_TRUE(stream.on_start({"turn_1"}));
  answer::TurnReport report;
  report.turn.id = {"turn_1"};
  report.turn.outcome = Refusal{RefusalReason::kNoRelevantContext, "Not here.", {block(1)}};
  ASSERT_TRUE(stream.finish(report, no_texts()));
  const std::string& body = recorded.response().body;
  EXPECT_NE(body.find(R"({"type":"data-refusal","data":{"reason":"no_relevant_context")"), std::string::npos) << body;
  EXPECT_NE(body.find(R"("refusalReason":"no_relevant_context")"), std::string::npos);
  EXPECT_TRUE(body.ends_with("data: [DONE]\n\n"));
  EXPECT_EQ(body.find("source-url"), std::string::npos);
}

TEST(UiMessageStream, AFailureIsAChunkAfterTheText) {
  http::RecordedStream after;
  DirectUiChunks out(after);
  UiMessageStream stream(out);
  EXPECT_FALSE(stream.is_open());
  ASSERT_TRUE(stream.on_start({"turn_1"}));
  ASSERT_TRUE(stream.on_sources(std::vector{block(1)}));
  ASSERT_TRUE(stream.on_text("Half an"));
  stream.fail_with({ErrorCode::kUnavailable, "down", ""});
  const std::string& body = after.response().body;
  EXPECT_LT(body.find("source-url"), body.find("text-start"));
  EXPECT_LT(body.find("text-end"), body.find(R"({"type":"error","errorText":"down"})"));
}

TEST(UiMessageStream, AWithdrawnTextEndsWithANoticeAndANewPartFollows) {
  http::RecordedStream recorded;
  DirectUiChunks out(recorded);
  UiMessageStream stream(out);
  ASSERT_TRUE(stream.on_start({"turn_1"}));
  ASSERT_TRUE(stream.on_sources(std::vector{block(1)}));
  ASSERT_TRUE(stream.on_text("The answer is:"));
  ASSERT_TRUE(stream.on_withdraw({answer::NoAnswer::kLoop, "Withdrawn."}));
  ASSERT_TRUE(stream.on_sources(std::vector{block(1)}));
  ASSERT_TRUE(stream.on_text("Three days. [1]"));
  ASSERT_TRUE(stream.on_check({.answer_range = {0, 11}, .numbers = {1}, .support = Support::kSupported}));
  answer::TurnReport report;
  report.turn.id = {"turn_1"};
  report.turn.outcome = Answer{.text = "Three days. [1]", .sources = {block(1)}, .citations = {}, .confidence = 0.8, .model = {}};
  report.fallback = answer::NoAnswer::kLoop;
  ASSERT_TRUE(stream.finish(report, no_texts()));
  const std::string& body = recorded.response().body;
  const auto at = [&](std::string_view part, std::size_t from = 0) {
    const std::size_t found = body.find(part, from);
    EXPECT_NE(found, std::string::npos) << part << " in " << body;
    return found;
  };
  const std::size_t notice = at(R"({"type":"text-delta","id":"t1","delta":"\n\nWithdrawn."})");
  const std::size_t end = at(R"({"type":"text-end","id":"t1"})", notice);
  const std::size_t replace = at(R"({"type":"data-replace","data":{"withdrawn":"t1","by":"t2","reason":"loop"}})", end);
  const std::size_t source = at(R"("sourceId":"2.1")", replace);
  const std::size_t text = at(R"({"type":"text-start","id":"t2"})", source);
  at(R"({"type":"text-delta","id":"t2","delta":"Three days. [1]"})", text);
  at(R"("answerStart":0,"answerEnd":11)", text);
  at(R"({"type":"text-end","id":"t2"})", text);
  at(R"("fallback":"loop")", text);
}

}  // namespace
}  // namespace footnote::api
