#include <algorithm>

#include "app/commands.h"
#include "app/open_link.h"
#include "cli/render_trace.h"

namespace footnote::app {
namespace {

/// The check also makes the id safe in a path: see AnswerService.
Result<void> check_turn_id(const std::string& id) {
  const auto is_id_character = [](unsigned char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
  };
  if (id.starts_with("turn_") && std::ranges::all_of(id, is_id_character)) return {};
  return fail(ErrorCode::kInvalidArgument, "'{}' is not the id of a turn; `footnote ask` prints it, as turn_...", id);
}

}  // namespace

Result<int> run_trace(const cli::CommandContext& context, const cli::TraceCommand& command) {
  FOOTNOTE_CHECK(check_turn_id(command.turn));
  FOOTNOTE_TRY(const auto link, open_link(context, {}));
  FOOTNOTE_TRY(const std::string text, link->get_text(context.call, fmt::format("/api/turns/{}/trace", command.turn)));
  // As stored: parsing and rendering again could change a number's last digit.
  if (context.form == cli::OutputForm::kJson) {
    cli::write_out(text + "\n");
    return cli::kExitOk;
  }
  FOOTNOTE_TRY(const Json trace, parse_json(text));
  cli::write_out(cli::render_trace(trace, context.terminal.out));
  return cli::kExitOk;
}

}  // namespace footnote::app
