#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"

namespace footnote {

enum class LogLevel { kDebug, kInfo, kWarn, kError, kOff };

Result<LogLevel> parse_log_level(std::string_view name);
std::string_view to_string(LogLevel level);

/// One named value of a log line. Texts of users, bodies and keys do not belong here.
struct LogField {
  LogField(std::string_view field_name, std::string_view text) : name(field_name), value(std::string(text)) {}
  LogField(std::string_view field_name, const char* text) : name(field_name), value(std::string(text)) {}
  LogField(std::string_view field_name, const std::string& text) : name(field_name), value(text) {}
  LogField(std::string_view field_name, double number) : name(field_name), value(number) {}
  LogField(std::string_view field_name, bool flag) : name(field_name), value(flag) {}
  template <class Integer>
    requires std::is_integral_v<Integer>
  LogField(std::string_view field_name, Integer number) : name(field_name), value(static_cast<std::int64_t>(number)) {}

  std::string_view name;
  std::variant<std::string, double, bool, std::int64_t> value;
};

/// Writes one JSON object a line to standard error:
///   {"ts":"2026-03-01T09:30:00.125Z","level":"info","module":"http","msg":"listening","port":7700}
/// The threshold is the one piece of process-wide state: a log line must be possible anywhere. Thread-safe;
/// a line is one write, so lines of several threads never mix.
void log(LogLevel level, std::string_view module, std::string_view message, std::initializer_list<LogField> fields = {});
void set_log_level(LogLevel threshold);
LogLevel log_level();

}  // namespace footnote
