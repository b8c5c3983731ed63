#include "proxied_chat.h"

#include <gtest/gtest.h>

#include "answer/relayed_turn.h"
#include "proxy/chat_policy.h"
#include "render.h"

namespace footnote::behaviour {

namespace {

std::string_view name_of(proxy::ChatPlan::Kind kind) {
  switch (kind) {
    case proxy::ChatPlan::Kind::kPassThrough: return "passed through";
    case proxy::ChatPlan::Kind::kRefuse: return "refused";
    case proxy::ChatPlan::Kind::kGround: return "grounded";
  }
  return "";
}

std::string shown(const proxy::ChatPlan& plan) {
  std::string out = fmt::format("chat {}\n", name_of(plan.kind));
  for (std::size_t i = 0; i < plan.sources.size(); ++i) out += fmt::format("source [{}] {}\n", i + 1, plan.sources[i].url);
  if (plan.kind == proxy::ChatPlan::Kind::kRefuse) out += fmt::format("text \"{}\"\n", plan.refusal.text);
  return out;
}

/// Sends the model's pieces to the client until it disconnects.
void pass_on(World& world, const proxy::ChatPlan& plan, answer::RelayedTurn& turn, const std::string& question) {
  const std::size_t writes = world.store.writes();
  std::size_t sent = 0;
  const auto take = [&](std::string_view piece) -> Result<void> {
    if (world.client.leaves_after == sent) return fail(ErrorCode::kCancelled, "the client left");
    ++sent;
    turn.on_text(piece);
    EXPECT_EQ(world.store.writes(), writes) << "nothing is written between the first and the last text";
    return {};
  };
  ChatRequest request;
  if (plan.kind == proxy::ChatPlan::Kind::kGround) {
    request.messages = {{ChatRole::kSystem, plan.prompt.system}, {ChatRole::kUser, plan.prompt.message}};
  } else {
    request.messages = {{ChatRole::kUser, question}};
  }
  turn.on_prompt(request.messages.size(), 0);
  const auto end = world.llm.stream({}, request, take);
  if (!end) return turn.fail(end.error());
  turn.finish({.model = end->model, .finish = end->finish, .tokens = end->tokens});
}

}  // namespace

std::string run_proxied_chat(World& world, const proxy::Policy& policy, const std::string& question) {
  const retrieve::AskedCorpora corpora(world.store, world.embedder, {});
  const proxy::SourceFinder finder(
      {.retriever = world.retriever(), .catalog = world.store, .corpora = corpora, .points = world.store, .embedder = world.embedder},
      policy);
  const std::size_t calls_before = world.llm.calls();
  auto plan = proxy::ChatPolicy(finder, policy).plan({}, world.workspace(), proxy::resolve_model(policy, "rag/model"), question);
  if (!plan) return fmt::format("error {}\n", to_string(plan.error().code));
  std::string out = shown(*plan);
  answer::RelayedTurns turns({.conversations = world.store, .clock = world.clock});
  auto turn = turns.begin({},
                          {.workspace = world.workspace(),
                           .corpus = plan->own->corpus,
                           .text = question,
                           .profile = plan->own->profile,
                           .retrieval = std::move(plan->own->retrieval),
                           .given = std::move(plan->own->given)},
                          std::chrono::steady_clock::now());
  const TurnId id{std::string(turn->id())};
  if (plan->kind == proxy::ChatPlan::Kind::kRefuse) {
    turn->refuse(plan->refusal.reason, plan->refusal.text);
  } else {
    pass_on(world, *plan, *turn, question);
  }
  EXPECT_TRUE(turns.wait_until_idle(std::chrono::steady_clock::now() + std::chrono::seconds(30)));
  out += fmt::format("llm_calls {}\n", world.llm.calls() - calls_before);
  const auto stored = world.store.turn({}, world.workspace(), id);
  EXPECT_EQ(world.store.trace({}, world.workspace(), id).has_value(), stored.has_value()) << "a stored turn has its trace";
  out += stored ? render(*stored) + render_gap(*stored, world) : "not stored\n";
  world.clock.advance(std::chrono::seconds{1});
  return out;
}

}  // namespace footnote::behaviour
