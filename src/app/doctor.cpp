#include "app/doctor.h"

#include "app/commands.h"

namespace footnote::app {

Result<int> run_doctor(const cli::CommandContext& context) {
  std::vector<cli::Check> checks = check_machine(context.settings.path(Setting::kData));
  for (cli::Check& check : check_file_modes(context.settings.path(Setting::kData))) checks.push_back(std::move(check));
  checks.push_back(check_cpu(context.settings));
  checks.push_back(check_model(context.call, context.settings));
  checks.push_back(check_reranker(context.call, context.settings));
  for (cli::Check& check : check_data(context)) checks.push_back(std::move(check));
  checks.push_back(check_port(context.settings));
  checks.push_back(check_llm_endpoint(context.call, context.settings));
  cli::write_out(context.form == cli::OutputForm::kJson ? to_text(cli::checks_json(checks)) + "\n"
                                                        : cli::render_checks(checks, context.terminal.out));
  return cli::count(checks, cli::Health::kBroken) == 0 ? cli::kExitOk : cli::kExitFailure;
}

}  // namespace footnote::app
