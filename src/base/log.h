#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/call_context.h"
#include "base/result.h"

namespace footnote {

enum class LogLevel { kDebug, kInfo, kWarn, kError, kOff };

Result<LogLevel> parse_log_level(std::string_view name);
std::string_view to_string(LogLevel level);

/// The modules that log; each has its own threshold.
inline constexpr std::array<std::string_view, 8> kLogModules{"access", "answer", "app", "http", "ingest", "llm", "sql", "vectors"};

/// One of kLogModules, constructed from its name. A name that is not in the table does not compile.
class LogModule {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor)
  consteval LogModule(const char* name) : LogModule(named(name).value()) {}
  static constexpr std::optional<LogModule> named(std::string_view name) {
    const auto* found = std::ranges::find(kLogModules, name);
    if (found == kLogModules.end()) return std::nullopt;
    return LogModule(static_cast<std::size_t>(found - kLogModules.begin()));
  }
  constexpr std::size_t index() const { return index_; }
  constexpr std::string_view name() const { return kLogModules[index_]; }

 private:
  explicit constexpr LogModule(std::size_t index) : index_(index) {}
  std::size_t index_;
};

/// A log setting as a person writes it: "info", "auto", "info,http=warn,ingest=debug".
struct LogSpec {
  std::optional<LogLevel> all;  ///< nullopt: "auto", or no level given.
  std::vector<std::pair<LogModule, LogLevel>> modules;
};
/// kInvalidArgument: an unknown level or module (the message suggests the nearest), or a module named twice.
Result<LogSpec> parse_log_spec(std::string_view text);

/// One named value in a log line. Never put users' texts, request bodies or keys here.
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

/// Writes one JSON object per line to standard error:
///   {"ts":"2026-03-01T09:30:00.125Z","level":"info","module":"http","msg":"listening","port":7700}
/// Control characters are escaped, so no text can forge a line or control a terminal. The thresholds are process-wide state, so that any
/// code can log. Thread-safe: a line is one write, so lines of several threads never mix.
void log(LogLevel level, LogModule module, std::string_view message, std::initializer_list<LogField> fields = {});
/// Adds the call's request_id, trace_id and span_id after the message.
void log(LogLevel level, LogModule module, std::string_view message, const CallContext& call, std::initializer_list<LogField> fields = {});

/// Whether such a line would be written. Check it before building an expensive line.
bool log_enabled(LogLevel level, LogModule module);
/// Sets the threshold of all modules.
void set_log_level(LogLevel threshold);
/// Uses `fallback` where the spec names no level.
void set_log_levels(const LogSpec& spec, LogLevel fallback);

}  // namespace footnote
