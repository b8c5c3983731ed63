#include "base/log.h"

#include <unistd.h>

#include <atomic>

#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"
#include "base/utf8.h"

namespace footnote {

namespace {

constexpr LogLevel kLevels[] = {LogLevel::kDebug, LogLevel::kInfo, LogLevel::kWarn, LogLevel::kError, LogLevel::kOff};

struct Threshold {
  std::atomic<LogLevel> level{LogLevel::kInfo};
};
constinit std::array<Threshold, kLogModules.size()> thresholds;

Json to_json(const LogField& field) {
  return std::visit([](const auto& value) { return Json(value); }, field.value);
}

/// Characters that JSON does not escape but a terminal may obey: DEL, C1 controls, bidirectional marks, line separators.
bool drives_terminal(char32_t c) { return (c >= 0x7F && c < 0xA0) || (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069); }

/// Escapes them too. They occur only inside strings, so the result is still JSON.
std::string escape_rest(const std::string& json) {
  if (std::ranges::none_of(json, [](char c) { return static_cast<unsigned char>(c) >= 0x7F; })) return json;
  std::string out;
  for (std::size_t at = 0; at < json.size();) {
    const char32_t c = next_code_point(json, at);
    if (drives_terminal(c)) {
      out += fmt::format("\\u{:04x}", static_cast<std::uint32_t>(c));
    } else {
      append_utf8(out, c);
    }
  }
  return out;
}

void write_line(LogLevel level, LogModule module, std::string_view message, const CallContext* call,
                std::initializer_list<LogField> fields) {
  JsonObject line;
  line["ts"] = to_rfc3339(SystemClock().now());
  line["level"] = to_string(level);
  line["module"] = module.name();
  line["msg"] = message;
  if (call != nullptr && !call->request_id.empty()) line["request_id"] = call->request_id;
  if (call != nullptr && call->trace) {
    line["trace_id"] = call->trace.trace_id;
    line["span_id"] = call->trace.span_id;
  }
  for (const LogField& field : fields) line[field.name] = to_json(field);
  std::string text = escape_rest(to_text(line));
  text.push_back('\n');
  // A full or closed stderr must not stop the program: only this line is lost.
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
}

/// "; did you mean http?", or the whole list when nothing is close.
std::string module_hint(std::string_view name) {
  constexpr std::size_t kDistanceMax = 2;
  for (std::size_t limit = 1; limit <= kDistanceMax; ++limit) {
    for (const std::string_view module : kLogModules) {
      if (edit_distance(name, module, limit) <= limit) return fmt::format("did you mean {}?", module);
    }
  }
  return fmt::format("there are {}", fmt::join(kLogModules, ", "));
}

Result<std::pair<LogModule, LogLevel>> parse_module_level(std::string_view name, std::string_view level_name) {
  const auto module = LogModule::named(name);
  if (!module) return fail(ErrorCode::kInvalidArgument, "unknown log module '{}'; {}", name, module_hint(name));
  FOOTNOTE_TRY(const LogLevel level, parse_log_level(level_name));
  return std::pair(*module, level);
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
  for (const LogLevel level : kLevels) {
    if (name == to_string(level)) return level;
  }
  return fail(ErrorCode::kInvalidArgument, "log level '{}' is not one of debug, info, warn, error, off", name);
}

Result<LogSpec> parse_log_spec(std::string_view text) {
  LogSpec spec;
  bool first = true;
  for (const std::string_view part : split(text, ',')) {
    const std::string_view entry = trim(part);
    const std::size_t equals = entry.find('=');
    if (equals != std::string_view::npos) {
      FOOTNOTE_TRY(const auto module, parse_module_level(trim(entry.substr(0, equals)), trim(entry.substr(equals + 1))));
      const auto same = [&](const auto& other) { return other.first.index() == module.first.index(); };
      if (std::ranges::any_of(spec.modules, same)) {
        return fail(ErrorCode::kInvalidArgument, "module {} has two levels", module.first.name());
      }
      spec.modules.push_back(module);
    } else if (!first) {
      return fail(ErrorCode::kInvalidArgument, "'{}' is not MODULE=LEVEL; put the level for all modules first, as in info,http=warn",
                  entry);
    } else if (entry != "auto") {
      FOOTNOTE_TRY(spec.all, parse_log_level(entry));
    }
    first = false;
  }
  return spec;
}

bool log_enabled(LogLevel level, LogModule module) { return level >= thresholds[module.index()].level.load(std::memory_order_relaxed); }

void set_log_level(LogLevel threshold) {
  for (Threshold& module : thresholds) module.level = threshold;
}

void set_log_levels(const LogSpec& spec, LogLevel fallback) {
  set_log_level(spec.all.value_or(fallback));
  for (const auto& [module, level] : spec.modules) thresholds[module.index()].level = level;
}

void log(LogLevel level, LogModule module, std::string_view message, std::initializer_list<LogField> fields) {
  if (log_enabled(level, module)) write_line(level, module, message, nullptr, fields);
}

void log(LogLevel level, LogModule module, std::string_view message, const CallContext& call, std::initializer_list<LogField> fields) {
  if (log_enabled(level, module)) write_line(level, module, message, &call, fields);
}

}  // namespace footnote
