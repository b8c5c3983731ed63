#include "app/commands.h"
#include "app/open_link.h"
#include "base/clock.h"
#include "base/json_view.h"
#include "cli/text_table.h"
#include "http/url.h"

namespace footnote::app {
namespace {

/// Keys may be created before any documents or the configured workspace exist.
constexpr LinkOptions kAdminLink{.needs = Needs::kStore, .missing = Missing::kCreate, .workspace = kDefaultWorkspace};

std::string_view date_or(std::string_view time, std::string_view otherwise) { return time.empty() ? otherwise : time.substr(0, 10); }

std::string scopes_of(const Json& key) {
  std::string out;
  for (const Json& scope : array_at(key, "scopes")) out += (out.empty() ? "" : ",") + std::string(scope.get_string());
  return out;
}

/// "600/min, 10000/day"; "default" for the server's default.
std::string limits_of(const Json& key) {
  std::string out;
  if (const auto minute = integer_at(key, "requests_per_minute"); minute > 0) out = fmt::format("{}/min", minute);
  if (const auto day = integer_at(key, "requests_per_day"); day > 0) out += fmt::format("{}{}/day", out.empty() ? "" : ", ", day);
  return out.empty() ? "default" : out;
}

void print_keys(const Json& answer) {
  cli::TextTable table({{"id", cli::Align::kRight},
                        {"name"},
                        {"key"},
                        {"scopes"},
                        {"state"},
                        {"expires"},
                        {"last used"},
                        {"today", cli::Align::kRight},
                        {"limits"}});
  for (const Json& key : array_at(answer, "keys")) {
    table.add({fmt::format("{}", integer_at(key, "id")), cli::printable(text_at(key, "name")), fmt::format("{}...", text_at(key, "prefix")),
               scopes_of(key), flag_at(key, "active") ? "active" : "ended", std::string(date_or(text_at(key, "expires_at"), "never")),
               std::string(date_or(text_at(key, "last_used_at"), "never")), fmt::format("{}", integer_at(key, "requests_today")),
               limits_of(key)});
  }
  if (array_at(answer, "keys").empty()) {
    cli::write_out(
        "This workspace has no keys. While no workspace has any, the server listens on loopback only and lets every caller in.\n");
  } else {
    cli::write_out(table.render());
  }
}

/// Prints only the key on standard output, for scripts; the rest is for people.
void print_issued(const Json& key) {
  cli::write_out(fmt::format("{}\n", text_at(key, "key")));
  cli::write_err(fmt::format("Key {} '{}' of workspace {}: {}; expires {}. Keep it now: it is not shown again.\n", integer_at(key, "id"),
                             cli::printable(text_at(key, "name")), cli::printable(text_at(key, "workspace")), scopes_of(key),
                             date_or(text_at(key, "expires_at"), "never")));
}

Json render_request(const cli::CommandContext& context, const cli::KeysCommand& command) {
  JsonObject body{{"name", command.name},
                  {"scopes", JsonArray(command.scopes.begin(), command.scopes.end())},
                  {"workspace", context.settings.text(Setting::kWorkspace)},
                  {"requests_per_minute", command.requests_per_minute},
                  {"requests_per_day", command.requests_per_day}};
  if (!command.labels.empty()) body["labels"] = JsonArray(command.labels.begin(), command.labels.end());
  if (command.life) body["expires_at"] = to_rfc3339(SystemClock().now() + *command.life);
  return body;
}

}  // namespace

Result<int> run_keys(const cli::CommandContext& context, const cli::KeysCommand& command) {
  FOOTNOTE_TRY(const auto link, open_link(context, kAdminLink));
  const bool json = context.form == cli::OutputForm::kJson;
  const std::string in_workspace = "?workspace=" + http::percent_encode(context.settings.text(Setting::kWorkspace));
  const std::string one = fmt::format("/api/admin/keys/{}", command.id);
  Json answer;
  switch (command.action) {
    case cli::KeysCommand::Action::kList: {
      FOOTNOTE_TRY(answer, link->get(context.call, "/api/admin/keys" + in_workspace));
      if (!json) print_keys(answer);
      break;
    }
    case cli::KeysCommand::Action::kCreate: {
      const Json request = render_request(context, command);
      FOOTNOTE_TRY(answer, link->post(context.call, "/api/admin/keys", request));
      if (!json) print_issued(answer);
      break;
    }
    case cli::KeysCommand::Action::kRotate: {
      const Json grace = JsonObject{{"grace_seconds", std::chrono::duration_cast<std::chrono::seconds>(command.grace).count()}};
      FOOTNOTE_TRY(answer, link->post(context.call, one + "/rotate" + in_workspace, grace));
      if (!json) print_issued(answer);
      break;
    }
    case cli::KeysCommand::Action::kRevoke: {
      FOOTNOTE_TRY(answer, link->send(context.call, http::Method::kDelete, one + in_workspace, nullptr));
      if (!json) cli::write_out(fmt::format("Key {} '{}' is revoked.\n", command.id, cli::printable(text_at(answer, "name"))));
      break;
    }
  }
  if (json) cli::write_out(to_text(answer) + "\n");
  return cli::kExitOk;
}

Result<int> run_workspaces(const cli::CommandContext& context, const cli::WorkspacesCommand& command) {
  FOOTNOTE_TRY(const auto link, open_link(context, kAdminLink));
  const bool json = context.form == cli::OutputForm::kJson;
  Json answer;
  if (command.name.empty()) {
    FOOTNOTE_TRY(answer, link->get(context.call, "/api/admin/workspaces"));
    cli::TextTable table({{"name"}, {"created"}});
    for (const Json& workspace : array_at(answer, "workspaces")) {
      table.add({cli::printable(text_at(workspace, "name")), std::string(date_or(text_at(workspace, "created_at"), ""))});
    }
    if (!json) cli::write_out(table.render());
  } else {
    const Json request = JsonObject{{"name", command.name}};
    FOOTNOTE_TRY(answer, link->post(context.call, "/api/admin/workspaces", request));
    if (!json) cli::write_out(fmt::format("Workspace '{}' created; use it with --workspace.\n", cli::printable(command.name)));
  }
  if (json) cli::write_out(to_text(answer) + "\n");
  return cli::kExitOk;
}

}  // namespace footnote::app
