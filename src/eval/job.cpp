#include "eval/job.h"

namespace footnote::eval {

cli::ProgressBar EvalJob::bar(std::string unit) const {
  return cli::ProgressBar(
      std::move(unit), context.terminal.width,
      context.terminal.progress ? cli::ProgressBar::Write([](std::string_view text) { cli::write_err(text); }) : cli::ProgressBar::Write());
}

double RowTimer::ms_per_row(std::size_t rows) const {
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start_;
  return rows == 0 ? 0 : took.count() / static_cast<double>(rows);
}

}  // namespace footnote::eval
