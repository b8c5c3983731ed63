#include <thread>

#include "app/commands.h"
#include "app/open_link.h"
#include "base/json_view.h"
#include "base/text.h"
#include "cli/progress.h"
#include "cli/text_table.h"

namespace footnote::app {
namespace {

constexpr std::string_view kSourcesPath = "/api/v1/workspace/sources";
constexpr std::chrono::milliseconds kFollowEvery{250};
constexpr LinkOptions kSourcesLink{.needs = Needs::kModel, .missing = Missing::kCreate};

std::string minute_of(std::string_view time) { return std::string(time.empty() ? "never" : time.substr(0, 16)); }

void print_sources(const Json& answer) {
  cli::TextTable table({{"id", cli::Align::kRight},
                        {"kind"},
                        {"status"},
                        {"documents", cli::Align::kRight},
                        {"chunks", cli::Align::kRight},
                        {"failed", cli::Align::kRight},
                        {"synced"},
                        {"corpus"},
                        {"location"}});
  for (const Json& source : array_at(answer, "sources")) {
    const std::string_view place = text_at(source, "location").empty() ? text_at(source, "source_url") : text_at(source, "location");
    table.add({fmt::format("{}", integer_at(source, "id")), std::string(text_at(source, "kind")), std::string(text_at(source, "status")),
               fmt::format("{}", integer_at(source, "documents")), fmt::format("{}", integer_at(source, "chunks")),
               fmt::format("{}", integer_at(source, "failed")), minute_of(text_at(source, "synced_at")),
               cli::printable(text_at(source, "project_key")), cli::printable(place)});
  }
  cli::write_out(array_at(answer, "sources").empty() ? "no sources yet: footnote sources add FOLDER\n" : table.render());
}

std::string counts_of(const Json& job) {
  const Json& documents = value_at(job, "documents");
  return fmt::format("{} added, {} updated, {} unchanged, {} deleted, {} failed", integer_at(documents, "added"),
                     integer_at(documents, "updated"), integer_at(documents, "unchanged"), integer_at(documents, "deleted"),
                     integer_at(documents, "failed"));
}

void print_jobs(const Json& answer) {
  cli::TextTable table({{"id", cli::Align::kRight}, {"kind"}, {"state"}, {"corpus"}, {"created"}, {"documents"}});
  for (const Json& job : array_at(answer, "jobs")) {
    table.add({fmt::format("{}", integer_at(job, "id")), std::string(text_at(job, "kind")), std::string(text_at(job, "state")),
               cli::printable(text_at(job, "corpus")), minute_of(text_at(job, "created_at")), counts_of(job)});
  }
  cli::write_out(array_at(answer, "jobs").empty() ? "no jobs yet\n" : table.render());
}

bool is_over(const Json& job) { return text_at(job, "state") != "queued" && text_at(job, "state") != "running"; }

/// Shows a job until it ends. Exit code 4: documents failed.
Result<int> follow(const cli::CommandContext& context, cli::Link& link, std::int64_t id) {
  Json job;
  {
    cli::ProgressBar bar = cli::progress_bar("bytes", context.terminal);
    for (;;) {
      FOOTNOTE_TRY(job, link.get(context.call, fmt::format("/api/jobs/{}", id)));
      if (is_over(job)) break;
      const std::int64_t left = integer_at(job, "eta_seconds");
      bar.update(static_cast<std::uint64_t>(integer_at(job, "done")), static_cast<std::uint64_t>(integer_at(job, "total")),
                 left > 0 ? std::optional(std::chrono::seconds{left}) : std::nullopt);
      std::this_thread::sleep_for(kFollowEvery);
      FOOTNOTE_CHECK(context.call.check());
    }
  }
  if (context.form == cli::OutputForm::kJson) {
    cli::write_out(to_text(job) + "\n");
  } else {
    cli::write_out(fmt::format("job {} {}: {}\n", id, text_at(job, "state"), counts_of(job)));
    if (!text_at(job, "error").empty()) cli::write_out(fmt::format("  {}\n", cli::printable(text_at(job, "error"))));
    for (const Json& error : array_at(job, "errors")) {
      cli::write_out(fmt::format("  {}: {}\n", cli::printable(text_at(error, "path")), cli::printable(text_at(error, "reason"))));
    }
  }
  if (text_at(job, "state") != "done") return cli::kExitFailure;
  return integer_at(value_at(job, "documents"), "failed") > 0 ? cli::kExitSomeFailed : cli::kExitOk;
}

Result<Json> description_of(const cli::CommandContext& context, const cli::SourcesCommand& command) {
  const bool is_address = command.location.starts_with("http://") || command.location.starts_with("https://");
  const std::string kind = !command.kind.empty() ? command.kind : is_address ? "url" : "folder";
  JsonObject options;
  for (const std::string& option : command.options) {
    const std::size_t equals = option.find('=');
    if (equals == std::string::npos) return fail(ErrorCode::kInvalidArgument, "--option {}: write NAME=VALUE", option);
    options[option.substr(0, equals)] = option.substr(equals + 1);
  }
  std::error_code error;
  const std::string place = is_address ? command.location : std::filesystem::absolute(command.location, error).string();
  return JsonObject{{"kind", kind},
                    {is_address ? "source_url" : "location", place},
                    {"title", command.title},
                    {"project_key", context.settings.text(Setting::kCorpus)},
                    {"interval_seconds", std::chrono::duration_cast<std::chrono::seconds>(command.every).count()},
                    {"watch", command.watch},
                    {"options", std::move(options)}};
}

}  // namespace

Result<int> run_sources(const cli::CommandContext& context, const cli::SourcesCommand& command) {
  FOOTNOTE_TRY(const auto link, open_link(context, kSourcesLink));
  const std::string one = fmt::format("{}/{}", kSourcesPath, command.id);
  const bool as_json = context.form == cli::OutputForm::kJson;
  switch (command.action) {
    case cli::SourcesCommand::Action::kList: {
      FOOTNOTE_TRY(const Json answer, link->get(context.call, kSourcesPath));
      if (!as_json) {
        print_sources(answer);
      } else {
        cli::write_out(to_text(answer) + "\n");
      }
      return cli::kExitOk;
    }
    case cli::SourcesCommand::Action::kAdd: {
      FOOTNOTE_TRY(const Json body, description_of(context, command));
      FOOTNOTE_TRY(const Json answer, link->post(context.call, kSourcesPath, body));
      if (!as_json) cli::write_out(fmt::format("source {}\n", integer_at(answer, "id")));
      const std::int64_t job = integer_at(answer, "job_id");
      if (job != 0) return follow(context, *link, job);
      if (as_json) cli::write_out(to_text(answer) + "\n");
      return cli::kExitOk;
    }
    case cli::SourcesCommand::Action::kRemove: {
      FOOTNOTE_TRY(const Json answer, link->send(context.call, http::Method::kDelete, one, nullptr));
      const std::string text = fmt::format("source {} removed, with {} documents", command.id, integer_at(answer, "deleted_documents"));
      cli::write_out((as_json ? to_text(answer) : text) + "\n");
      return cli::kExitOk;
    }
    case cli::SourcesCommand::Action::kResync: {
      FOOTNOTE_TRY(const Json answer, link->post(context.call, one + "/resync", JsonObject{}));
      return follow(context, *link, integer_at(value_at(answer, "job"), "id"));
    }
  }
  return cli::kExitFailure;
}

Result<int> run_jobs(const cli::CommandContext& context, const cli::JobsCommand& command) {
  FOOTNOTE_TRY(const auto link, open_link(context, kSourcesLink));
  const bool as_json = context.form == cli::OutputForm::kJson;
  switch (command.action) {
    case cli::JobsCommand::Action::kList: {
      FOOTNOTE_TRY(const Json answer, link->get(context.call, "/api/jobs"));
      if (!as_json) {
        print_jobs(answer);
      } else {
        cli::write_out(to_text(answer) + "\n");
      }
      return cli::kExitOk;
    }
    case cli::JobsCommand::Action::kFollow: return follow(context, *link, command.id);
    case cli::JobsCommand::Action::kCancel: {
      FOOTNOTE_TRY(const Json answer, link->send(context.call, http::Method::kDelete, fmt::format("/api/jobs/{}", command.id), nullptr));
      cli::write_out((as_json ? to_text(answer) : fmt::format("job {} {}", command.id, text_at(answer, "state"))) + "\n");
      return cli::kExitOk;
    }
  }
  return cli::kExitFailure;
}

}  // namespace footnote::app
