#include "api/agent_routes.h"

#include <gmock/gmock.h>

#include "answer/visitor_history.h"
#include "api/curated_routes.h"
#include "api/route_for_test.h"
#include "api/visitor_admin_routes.h"
#include "api/webhook_routes.h"
#include "fakes/fake_embedder.h"
#include "fakes/memory_agent_store.h"
#include "fakes/memory_cache.h"
#include "fakes/memory_store.h"
#include "fakes/memory_webhook_store.h"

namespace footnote::api {
namespace {

using http::Method;
using ::testing::ElementsAre;

/// All agent routes over in-memory stores, for callers of two workspaces.
class AgentRoutes : public ::testing::Test {
 protected:
  void SetUp() override {
    store_.tell_to(webhooks_);
    home_ = store_.find_workspace({}, kDefaultWorkspace)->id;
    other_ = store_.add_workspace({}, "other")->id;
    const AgentServices services{agents_, store_, webhooks_, store_, embedder_, cache_};
    for (auto more :
         {make_agent_routes(services), make_curated_routes(services), make_visitor_admin_routes(services), make_webhook_routes(services)}) {
      std::ranges::move(more, std::back_inserter(routes_));
    }
  }
  http::Response send(Method method, std::string path, std::string body = {}) {
    return testing::send(routes_, {method, std::move(path), std::move(body), home_});
  }
  Json good(Method method, std::string path, std::string body = {}, int status = 200) {
    const http::Response response = send(method, std::move(path), std::move(body));
    EXPECT_EQ(response.status, status) << response.body;
    return parse_json(response.body).value_or(Json());
  }
  /// "422 settings.theme.accent"
  std::string fault(Method method, std::string path, std::string body = {}) {
    const http::Response response = send(method, std::move(path), std::move(body));
    const Json answer = parse_json(response.body).value();
    const Json* field = answer.at("error").get_object().if_contains("field");
    return std::to_string(response.status) + (field == nullptr ? "" : " " + std::string(field->as_string()));
  }
  std::string make_agent(const std::string& name = "Shop") {
    return std::string(good(Method::kPost, "/api/admin/agents", R"({"name":")" + name + R"("})", 201).at("id").as_string());
  }
  void visit(const std::string& agent, const std::string& id, const std::string& question, std::optional<GapReason> gap = {}) {
    const CorpusId corpus = store_.corpora({}, home_)->front().id;
    Turn turn{.id = {id},
              .workspace = home_,
              .corpus = corpus,
              .conversation = {"conv_1"},
              .question = question,
              .outcome = Answer{.text = "So."},
              .asked_at = clock_.now()};
    turn.visit = Visit{.agent = {agent}, .visitor = {"vis_1"}, .page_url = "https://shop.example/", .confidence = 0.25, .gap = gap};
    ASSERT_TRUE(store_.finish_turn({}, turn, 10, 2, {}).has_value());
  }

  ManualClock clock_{UtcTime{std::chrono::milliseconds{1'772'357'400'125}}};
  fakes::MemoryStore store_{clock_};
  fakes::MemoryAgentStore agents_{store_, clock_};
  fakes::MemoryWebhookStore webhooks_{clock_};
  fakes::FakeEmbedder embedder_;
  fakes::MemoryCache cache_{clock_};
  std::vector<Route> routes_;
  WorkspaceId home_;
  WorkspaceId other_;
};

TEST_F(AgentRoutes, EveryRowIsForAdmins) {
  ASSERT_FALSE(routes_.empty());
  for (const Route& route : routes_) EXPECT_EQ(route.access.scope(), KeyScope::kAdmin) << route.pattern;
}

TEST_F(AgentRoutes, AnAgentIsMadeWithACorpusOfItsOwn) {
  const Json made = good(Method::kPost, "/api/admin/agents", R"({"name":"Shop"})", 201);
  EXPECT_EQ(made.at("name"), "Shop");
  EXPECT_EQ(made.at("published_version"), 0);
  const Json& settings = made.at("settings");
  EXPECT_EQ(settings.at("persona").at("name"), "Shop");
  EXPECT_EQ(settings.at("corpora").as_array(), JsonArray{"Shop"});
  EXPECT_TRUE(settings.at("confidence_threshold").is_null());
  EXPECT_EQ(settings.at("guardrails").at("max_chars"), 2'500);
  EXPECT_EQ(store_.find_corpus({}, home_, "Shop")->space, embedder_.space());
  EXPECT_EQ(good(Method::kGet, "/api/admin/agents").at("agents").as_array().size(), 1U);
  EXPECT_EQ(good(Method::kGet, "/api/admin/agents/" + std::string(made.at("id").as_string())), made);
  EXPECT_EQ(fault(Method::kPost, "/api/admin/agents", R"({"name":"Shop"})"), "409 name");
}

TEST_F(AgentRoutes, WhatIsGivenChangesAndTheRestStays) {
  const std::string path = "/api/admin/agents/" + make_agent();
  store_.ensure_corpus({}, home_, "faq", embedder_.space()).value();
  const std::string change =
      R"({"settings":{"persona":{"tone":"dry"},"confidence_threshold":0.7,"theme":{"position":"left","accent":"#112233"},
    "guardrails":{"avoid":["politics"],"max_chars":900},"allowed_origins":["https://shop.example"],"retention_days":30,"language_default":"de",
    "system_prompt":"Be brief.","starter_prompts":["Where is it?"],"corpora":["faq","Shop"]}})";
  const Json changed = good(Method::kPatch, path, change).at("settings");
  EXPECT_EQ(changed.at("persona").at("tone"), "dry");
  EXPECT_EQ(changed.at("persona").at("name"), "Shop");
  EXPECT_EQ(changed.at("theme").at("position"), "left");
  EXPECT_EQ(changed.at("theme").at("accent_text"), "#ffffff");
  EXPECT_EQ(changed.at("corpora").as_array(), (JsonArray{"faq", "Shop"}));
  EXPECT_EQ(changed.at("retention_days"), 30);
  const Json renamed = good(Method::kPatch, path, R"({"name":"Store","settings":{"confidence_threshold":null}})");
  EXPECT_EQ(renamed.at("name"), "Store");
  EXPECT_TRUE(renamed.at("settings").at("confidence_threshold").is_null());
  EXPECT_EQ(renamed.at("settings").at("language_default"), "de");
}

TEST_F(AgentRoutes, WrongInputIsNamed) {
  store_.ensure_corpus({}, home_, "agent-memories", embedder_.space()).value();
  const std::string path = "/api/admin/agents/" + make_agent();
  const std::pair<const char*, const char*> cases[] = {
      {R"({"nam":"x"})", "422 nam"},
      {R"({"name":"  "})", "422 name"},
      {R"({"settings":[]})", "422 settings"},
      {R"({"settings":{"colour":"red"}})", "422 settings.colour"},
      {R"({"settings":{"theme":{"accent":"red"}}})", "422 theme.accent"},
      {R"({"settings":{"theme":{"colour":"red"}}})", "422 settings.theme.colour"},
      {R"({"settings":{"theme":{"position":"top"}}})", "422 settings.theme.position"},
      {R"({"settings":{"persona":{"mood":"x"}}})", "422 settings.persona.mood"},
      {R"({"settings":{"guardrails":{"max_chars":1}}})", "422 settings.guardrails.max_chars"},
      {R"({"settings":{"confidence_threshold":1.5}})", "422 settings.confidence_threshold"},
      {R"({"settings":{"language_default":"German"}})", "422 language_default"},
      {R"({"settings":{"allowed_origins":["*"]}})", "422 allowed_origins"},
      {R"({"settings":{"retention_days":-1}})", "422 settings.retention_days"},
      {R"({"settings":{"corpora":["nowhere"]}})", "422 settings.corpora"},
      {R"({"settings":{"corpora":[]}})", "422 settings.corpora"},
      {R"({"settings":{"corpora":["agent-memories"]}})", "422 settings.corpora"},
      {R"({)", "400"},
  };
  for (const auto& [body, expected] : cases) EXPECT_EQ(fault(Method::kPatch, path, body), expected) << body;
  EXPECT_EQ(fault(Method::kPost, "/api/admin/agents", R"({})"), "422 name");
}

TEST_F(AgentRoutes, VersionsArePublishedAndRolledBack) {
  const std::string path = "/api/admin/agents/" + make_agent();
  EXPECT_EQ(good(Method::kPost, path + "/publish", "", 201).at("version"), 1);
  good(Method::kPatch, path, R"({"settings":{"system_prompt":"worse"}})");
  good(Method::kPost, path + "/publish", "", 201);
  const Json back = good(Method::kPost, path + "/rollback", R"({"version":1})", 201);
  EXPECT_EQ(back.at("version"), 3);
  EXPECT_EQ(back.at("settings").at("system_prompt"), "");
  EXPECT_EQ(good(Method::kGet, path).at("settings").at("system_prompt"), "");
  EXPECT_EQ(good(Method::kGet, path + "/versions").at("versions").as_array().size(), 3U);
  EXPECT_EQ(fault(Method::kPost, path + "/rollback", R"({"version":9})"), "404 version");
  EXPECT_EQ(fault(Method::kPost, path + "/rollback", R"({})"), "422 version");
  EXPECT_EQ(fault(Method::kPost, path + "/rollback", R"({"version":1,"x":1})"), "422 x");
}

TEST_F(AgentRoutes, AnotherWorkspacesAgentIsAsOneThatNeverWas) {
  const std::string id = make_agent();
  const auto answer = [&](const std::string& agent, Method method, std::string path, std::string body) {
    const auto at = path.find("ID");
    path.replace(at, 2, agent);
    const http::Response response = testing::send(routes_, {method, path, std::move(body), other_});
    EXPECT_EQ(response.status, 404) << path;
    std::string text = response.body;
    for (std::size_t found = text.find(agent); found != std::string::npos; found = text.find(agent))
      text.replace(found, agent.size(), "ID");
    return text;
  };
  const std::tuple<Method, const char*, const char*> cases[] = {
      {Method::kGet, "/api/admin/agents/ID", ""},
      {Method::kPatch, "/api/admin/agents/ID", R"({"name":"Mine"})"},
      {Method::kDelete, "/api/admin/agents/ID", ""},
      {Method::kPost, "/api/admin/agents/ID/publish", ""},
      {Method::kGet, "/api/admin/agents/ID/versions", ""},
      {Method::kPost, "/api/admin/agents/ID/rollback", R"({"version":1})"},
      {Method::kGet, "/api/admin/curated?agent_id=ID", ""},
      {Method::kPost, "/api/admin/curated?agent_id=ID", R"({"pattern":"a","answer":"b"})"},
      {Method::kPost, "/api/admin/curated/import?agent_id=ID", "pattern,answer\na,b\n"},
      {Method::kPatch, "/api/admin/curated/1?agent_id=ID", R"({})"},
      {Method::kDelete, "/api/admin/curated/1?agent_id=ID", ""},
      {Method::kGet, "/api/admin/gaps?agent_id=ID", ""},
      {Method::kGet, "/api/admin/usage?agent_id=ID", ""},
  };
  for (const auto& [method, path, body] : cases)
    EXPECT_EQ(answer(id, method, path, body), answer("agt_nobody", method, path, body)) << path;
  EXPECT_EQ(good(Method::kGet, "/api/admin/agents/" + id).at("name"), "Shop");
}

TEST_F(AgentRoutes, ARemovedAgentIsGone) {
  const std::string path = "/api/admin/agents/" + make_agent();
  EXPECT_EQ(good(Method::kDelete, path).at("deleted"), true);
  EXPECT_EQ(fault(Method::kGet, path), "404");
}

TEST_F(AgentRoutes, CuratedAnswersAreKeptOneByOne) {
  const std::string query = "?agent_id=" + make_agent();
  const Json made = good(Method::kPost, "/api/admin/curated" + query,
                         R"({"pattern":"refund","answer":"Within 30 days.","priority":5,"language":"de"})", 201);
  const std::string path = "/api/admin/curated/" + std::to_string(made.at("id").as_int64()) + query;
  const Json changed = good(Method::kPatch, path, R"({"enabled":false,"page_url_prefix":"https://shop.example/returns"})");
  EXPECT_EQ(changed.at("pattern"), "refund");
  EXPECT_EQ(changed.at("priority"), 5);
  EXPECT_EQ(changed.at("enabled"), false);
  EXPECT_EQ(good(Method::kGet, "/api/admin/curated" + query).at("curated").as_array(), JsonArray{changed});
  EXPECT_EQ(fault(Method::kPatch, path, R"({"pattern":"?!"})"), "422 pattern");
  EXPECT_EQ(fault(Method::kPatch, path, R"({"patern":"x"})"), "422 patern");
  EXPECT_EQ(fault(Method::kPost, "/api/admin/curated" + query, R"({"pattern":"x"})"), "422 answer");
  EXPECT_EQ(fault(Method::kPatch, "/api/admin/curated/987" + query, "{}"), "404");
  EXPECT_EQ(fault(Method::kPatch, "/api/admin/curated/x" + query, "{}"), "404");
  EXPECT_EQ(good(Method::kDelete, path).at("deleted"), true);
  EXPECT_EQ(fault(Method::kDelete, path), "404");
  EXPECT_EQ(fault(Method::kGet, "/api/admin/curated"), "422 agent_id");
}

TEST_F(AgentRoutes, AFileOfCuratedAnswersIsTakenWholeOrNotAtAll) {
  const std::string id = make_agent();
  const std::string path = "/api/admin/curated/import?agent_id=" + id;
  const Json done = good(
      Method::kPost, path,
      "pattern,answer,priority,enabled\r\n\"refund, money back\",\"Say \"\"please\"\".\nThen wait.\",7,false\r\nshipping,Two days.,,\r\n",
      201);
  EXPECT_EQ(done.at("imported"), 2);
  const auto answers = agents_.curated({}, {id}).value();
  ASSERT_EQ(answers.size(), 2U);
  EXPECT_EQ(answers[0].pattern, "refund, money back");
  EXPECT_EQ(answers[0].answer, "Say \"please\".\nThen wait.");
  EXPECT_EQ(answers[0].priority, 7);
  EXPECT_FALSE(answers[0].enabled);
  EXPECT_TRUE(answers[1].enabled);
  const std::pair<const char*, const char*> cases[] = {
      {"", "422 line 1"},
      {"pattern\nx\n", "422 line 1"},
      {"pattern,answer,colour\nx,y,z\n", "422 line 1"},
      {"pattern,answer,pattern\nx,y,z\n", "422 line 1"},
      {"pattern,answer\n", "422 body"},
      {"pattern,answer\ngood,fine\n?!,empty\n", "422 line 3"},
      {"pattern,answer\ngood,fine\nx\n", "422 line 3"},
      {"pattern,answer,priority\ngood,fine,1\ngood,fine,high\n", "422 line 3"},
      {"pattern,answer,enabled\ngood,fine,yes\n", "422 line 2"},
      {"pattern,answer,language\ngood,fine,German\n", "422 line 2"},
      {"pattern,answer\n\"open,fine\n", "422 body"},
  };
  for (const auto& [body, expected] : cases) EXPECT_EQ(fault(Method::kPost, path, body), expected) << body;
  EXPECT_EQ(agents_.curated({}, {id})->size(), 2U);
}

TEST_F(AgentRoutes, AFileHasABoundOfAnswers) {
  std::string text = "pattern,answer\n";
  for (std::size_t i = 0; i < kCuratedAnswersMax; ++i) text += "a,b\n";
  EXPECT_EQ(parse_curated_csv(text)->size(), kCuratedAnswersMax);
  EXPECT_EQ(parse_curated_csv(text + "a,b\n").error().code, ErrorCode::kTooLarge);
}

TEST_F(AgentRoutes, GapsAreListedAndMarked) {
  const std::string id = make_agent();
  visit(id, "turn_1", "Which size?", GapReason::kLowConfidence);
  visit(id, "turn_2", "which SIZE", GapReason::kFailurePhrase);
  const JsonArray gaps = good(Method::kGet, "/api/admin/gaps?agent_id=" + id).at("gaps").as_array();
  ASSERT_EQ(gaps.size(), 1U);
  EXPECT_EQ(gaps[0].at("question"), "Which size?");
  EXPECT_EQ(gaps[0].at("occurrences"), 2);
  EXPECT_EQ(gaps[0].at("reason"), "failure_phrase");
  EXPECT_EQ(gaps[0].at("status"), "open");
  const std::string path = "/api/admin/gaps/" + std::to_string(gaps[0].at("id").as_int64());
  EXPECT_EQ(good(Method::kPatch, path, R"({"status":"ignored"})").at("status"), "ignored");
  EXPECT_TRUE(good(Method::kGet, "/api/admin/gaps?status=open&agent_id=" + id).at("gaps").as_array().empty());
  EXPECT_EQ(good(Method::kGet, "/api/admin/gaps?status=ignored&agent_id=" + id).at("gaps").as_array().size(), 1U);
  EXPECT_EQ(fault(Method::kPatch, path, R"({"status":"gone"})"), "422 status");
  EXPECT_EQ(fault(Method::kPatch, path, R"({"state":"open"})"), "422 state");
  EXPECT_EQ(fault(Method::kGet, "/api/admin/gaps?status=gone&agent_id=" + id), "422 status");
  EXPECT_EQ(fault(Method::kGet, "/api/admin/gaps?limit=0&agent_id=" + id), "422 limit");
  EXPECT_EQ(fault(Method::kGet, "/api/admin/gaps?limit=1001&agent_id=" + id), "422 limit");
  EXPECT_EQ(testing::send(routes_, {Method::kPatch, path, R"({"status":"open"})", other_}).status, 404);
}

TEST_F(AgentRoutes, UsageIsByDay) {
  const std::string id = make_agent();
  visit(id, "turn_1", "a");
  const Json used = good(Method::kGet, "/api/admin/usage?days=7&agent_id=" + id);
  EXPECT_EQ(used.at("days").as_array(),
            (JsonArray{JsonObject{
                {"day", "2026-03-01"}, {"turns", 1}, {"curated", 0}, {"refused", 0}, {"prompt_tokens", 10}, {"completion_tokens", 2}}}));
  EXPECT_EQ(fault(Method::kGet, "/api/admin/usage?days=367&agent_id=" + id), "422 days");
}

TEST_F(AgentRoutes, AVisitorIsExportedAndErased) {
  const std::string id = make_agent();
  visit(id, "turn_1", "My parcel?");
  ASSERT_TRUE(store_.rate_turn({}, home_, {"vis_1"}, {"turn_1"}, {Rating::kDown, "wrong"}).has_value());
  const http::Response response = send(Method::kGet, "/api/admin/visitors/vis_1");
  EXPECT_EQ(response.headers.find("cache-control"), "no-store");
  const Json kept = parse_json(response.body).value();
  ASSERT_EQ(kept.at("turns").as_array().size(), 1U);
  const Json& turn = kept.at("turns").at(0);
  EXPECT_EQ(turn.at("question"), "My parcel?");
  EXPECT_EQ(turn.at("text"), "So.");
  EXPECT_EQ(turn.at("outcome"), "answer");
  EXPECT_EQ(turn.at("page_url"), "https://shop.example/");
  EXPECT_EQ(turn.at("feedback"), (JsonObject{{"rating", "down"}, {"reason", "wrong"}}));
  EXPECT_EQ(testing::send(routes_, {Method::kGet, "/api/admin/visitors/vis_1", "", other_}).status, 404);
  EXPECT_EQ(testing::send(routes_, {Method::kDelete, "/api/admin/visitors/vis_1", "", other_}).status, 404);
  const VisitorId visitor{"vis_1"};
  const ConversationId conversation{"conv_1"};
  const answer::VisitorHistory remembered(&cache_, visitor, conversation);
  EXPECT_EQ(remembered.read({}, store_, home_).size(), 2u);
  EXPECT_EQ(good(Method::kDelete, "/api/admin/visitors/vis_1").at("erased_turns"), 1);
  EXPECT_TRUE(remembered.read({}, store_, home_).empty()) << "nor is anything remembered";
  EXPECT_EQ(fault(Method::kGet, "/api/admin/visitors/vis_1"), "404");
  EXPECT_EQ(fault(Method::kDelete, "/api/admin/visitors/vis_1"), "404");
}

TEST_F(AgentRoutes, AWebhooksSecretIsShownOnce) {
  const http::Response created =
      send(Method::kPost, "/api/admin/webhooks", R"({"url":"https://hooks.example/in","events":["turn.completed"]})");
  EXPECT_EQ(created.status, 201);
  EXPECT_EQ(created.headers.find("cache-control"), "no-store");
  const Json made = parse_json(created.body).value();
  EXPECT_TRUE(std::string_view(made.at("secret").as_string()).starts_with("whsec_"));
  const Json listed = good(Method::kGet, "/api/admin/webhooks");
  EXPECT_EQ(to_text(listed).find("whsec_"), std::string::npos);
  EXPECT_EQ(listed.at("webhooks").at(0).at("events").as_array(), JsonArray{"turn.completed"});
  const std::string path = "/api/admin/webhooks/" + std::to_string(made.at("id").as_int64());
  EXPECT_EQ(good(Method::kPatch, path, R"({"enabled":false})").at("enabled"), false);
  EXPECT_EQ(fault(Method::kPatch, path, R"({"secret":"whsec_x"})"), "422 secret");
  EXPECT_EQ(fault(Method::kPatch, path, R"({"url":"file:///etc/passwd"})"), "422 url");
  EXPECT_EQ(fault(Method::kPost, "/api/admin/webhooks", R"({"url":"https://a.example/"})"), "422 events");
  EXPECT_EQ(fault(Method::kPost, "/api/admin/webhooks", R"({"events":["gap.opened"]})"), "422 url");
  EXPECT_EQ(testing::send(routes_, {Method::kPatch, path, R"({"enabled":true})", other_}).status, 404);
  EXPECT_EQ(testing::send(routes_, {Method::kDelete, path, "", other_}).status, 404);
  EXPECT_EQ(good(Method::kDelete, path).at("deleted"), true);
  EXPECT_EQ(fault(Method::kDelete, path), "404");
}

TEST_F(AgentRoutes, AMessageThatWasGivenUpIsRetried) {
  good(Method::kPost, "/api/admin/webhooks", R"({"url":"https://hooks.example/in","events":["turn.completed"]})", 201);
  visit(make_agent(), "turn_1", "a");
  const WebhookDelivery delivery = webhooks_.due({}, clock_.now(), 10)->at(0);
  ASSERT_TRUE(webhooks_.postpone({}, delivery.id, "answered with status 500", std::nullopt).has_value());
  const Json dead = good(Method::kGet, "/api/admin/webhooks/dead-letters").at("dead_letters");
  ASSERT_EQ(dead.as_array().size(), 1U);
  EXPECT_EQ(dead.at(0).at("subject"), "turn_1");
  EXPECT_EQ(dead.at(0).at("last_error"), "answered with status 500");
  const std::string path = "/api/admin/webhooks/dead-letters/" + std::to_string(dead.at(0).at("id").as_int64()) + "/retry";
  EXPECT_EQ(testing::send(routes_, {Method::kPost, path, "", other_}).status, 404);
  EXPECT_EQ(good(Method::kPost, path, "", 202).at("queued"), true);
  EXPECT_EQ(fault(Method::kPost, path), "404");
  EXPECT_EQ(webhooks_.due({}, clock_.now(), 10)->size(), 1U);
}

}  // namespace
}  // namespace footnote::api
