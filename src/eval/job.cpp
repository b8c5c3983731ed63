#include "eval/job.h"

namespace footnote::eval {

cli::ProgressBar EvalJob::bar(std::string unit) const { return cli::progress_bar(std::move(unit), context.terminal); }

double RowTimer::ms_per_row(std::size_t rows) const {
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start_;
  return rows == 0 ? 0 : took.count() / static_cast<double>(rows);
}

}  // namespace footnote::eval
