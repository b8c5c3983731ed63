#include "base/log.h"

#include <unistd.h>

#include <atomic>

#include "base/clock.h"
#include "base/json.h"

namespace footnote {

namespace {

std::atomic<LogLevel> threshold_level{LogLevel::kInfo};

Json to_json(const LogField& field) {
  return std::visit([](const auto& value) { return Json(value); }, field.value);
}

}  // namespace

std::string_view to_string(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug: return "debug";
    case LogLevel::kInfo: return "info";
    case LogLevel::kWarn: return "warn";
    case LogLevel::kError: return "error";
    case LogLevel::kOff: return "off";
  }
  return "info";
}

Result<LogLevel> parse_log_level(std::string_view name) {
  for (LogLevel level : {LogLevel::kDebug, LogLevel::kInfo, LogLevel::kWarn, LogLevel::kError, LogLevel::kOff}) {
    if (name == to_string(level)) return level;
  }
  return fail(ErrorCode::kInvalidArgument, "log level '{}' is not one of debug, info, warn, error, off", name);
}

void set_log_level(LogLevel threshold) { threshold_level = threshold; }
LogLevel log_level() { return threshold_level; }

void log(LogLevel level, std::string_view module, std::string_view message, std::initializer_list<LogField> fields) {
  if (level < threshold_level.load(std::memory_order_relaxed)) return;
  JsonObject line;
  line["ts"] = to_rfc3339(SystemClock().now());
  line["level"] = to_string(level);
  line["module"] = module;
  line["msg"] = message;
  for (const LogField& field : fields) line[field.name] = to_json(field);
  std::string text = to_text(line);
  text.push_back('\n');
  // A full or closed stderr must not stop the work: the line is lost, nothing else.
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace footnote
