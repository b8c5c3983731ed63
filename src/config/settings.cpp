#include "config/settings.h"

#include <algorithm>
#include <charconv>

#include "base/assert.h"
#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "config/dot_env.h"
#include "config/toml_file.h"

namespace footnote {
namespace {

constexpr std::uint64_t kConfigBytesMax = 1 << 20;

Result<double> parse_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return fail(ErrorCode::kInvalidArgument, "'{}' is not a number", text);
  return value;
}

Result<std::int64_t> parse_integer(std::string_view text) {
  const auto number = parse_whole_number(text);
  if (!number) return fail(ErrorCode::kInvalidArgument, "'{}' is not an integer", text);
  return *number;
}

Result<void> check_choice(const SettingSpec& spec, std::string_view text) {
  const auto names = split(spec.choices, '|');
  if (std::find(names.begin(), names.end(), text) != names.end()) return {};
  return fail(ErrorCode::kInvalidArgument, "'{}' is not one of {}", text, describe_type(spec));
}

/// The value in canonical form, or an error.
Result<std::string> check_value(const SettingSpec& spec, std::string text) {
  switch (spec.type) {
    case SettingType::kString:
    case SettingType::kPath:
      if (text.find('\0') != std::string::npos || text.find('\n') != std::string::npos) {
        return fail(ErrorCode::kInvalidArgument, "must be one line");
      }
      return text;
    case SettingType::kBool:
      if (text == "true" || text == "1" || text == "yes" || text == "on") return "true";
      if (text == "false" || text == "0" || text == "no" || text == "off") return "false";
      return fail(ErrorCode::kInvalidArgument, "'{}' is neither true nor false", text);
    case SettingType::kInteger: {
      FOOTNOTE_TRY(const std::int64_t number, parse_integer(text));
      if (number < spec.min || number > spec.max) {
        return fail(ErrorCode::kInvalidArgument, "{} is not between {} and {}", number, spec.min, spec.max);
      }
      return fmt::format("{}", number);
    }
    case SettingType::kNumber: {
      FOOTNOTE_TRY(const double number, parse_number(text));
      // Written this way to reject NaN too.
      if (!(number >= static_cast<double>(spec.min) && number <= static_cast<double>(spec.max))) {
        return fail(ErrorCode::kInvalidArgument, "{} is not between {} and {}", text, spec.min, spec.max);
      }
      return text;
    }
    case SettingType::kDuration: {
      FOOTNOTE_TRY(const auto duration, parse_duration(text));
      if (duration.count() < spec.min || duration.count() > spec.max) {
        return fail(ErrorCode::kInvalidArgument, "{} is not between {} and {} ms", text, spec.min, spec.max);
      }
      return text;
    }
    case SettingType::kChoice: {
      FOOTNOTE_CHECK(check_choice(spec, text));
      return text;
    }
    case SettingType::kLogSpec: {
      FOOTNOTE_CHECK(parse_log_spec(text));
      return text;
    }
  }
  return text;
}

bool kind_fits(const SettingSpec& spec, TomlKind kind) {
  switch (spec.type) {
    case SettingType::kInteger: return kind == TomlKind::kInteger;
    case SettingType::kNumber: return kind == TomlKind::kFloat || kind == TomlKind::kInteger;
    case SettingType::kBool: return kind == TomlKind::kBool;
    case SettingType::kDuration: return kind == TomlKind::kString || kind == TomlKind::kInteger;
    case SettingType::kString:
    case SettingType::kPath:
    case SettingType::kLogSpec:
    case SettingType::kChoice: return kind == TomlKind::kString;
  }
  return false;
}

std::string wanted_kind(const SettingSpec& spec) {
  switch (spec.type) {
    case SettingType::kInteger: return "an integer";
    case SettingType::kNumber: return "a number";
    case SettingType::kBool: return "a boolean";
    case SettingType::kDuration: return "a duration such as \"10s\"";
    case SettingType::kString:
    case SettingType::kPath:
    case SettingType::kLogSpec:
    case SettingType::kChoice: return "a string";
  }
  return {};
}

/// LiteLLM's own variable has no version path.
std::string with_version_path(std::string url) {
  while (url.ends_with('/')) url.pop_back();
  if (!url.empty() && !url.ends_with("/v1")) url += "/v1";
  return url;
}

}  // namespace

Result<std::chrono::milliseconds> parse_duration(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  std::int64_t factor = 0;
  if (unit == "ms") factor = 1;
  if (unit.empty() || unit == "s") factor = 1000;
  if (unit == "m") factor = 60'000;
  if (unit == "h") factor = 3'600'000;
  if (unit == "d") factor = 86'400'000;
  constexpr std::int64_t kCountMax = 1'000'000'000;
  if (error != std::errc{} || factor == 0 || number < 0 || number > kCountMax) {
    return fail(ErrorCode::kInvalidArgument, "'{}' is not a duration; write 500ms, 10s, 2m, 1h or 7d", text);
  }
  return std::chrono::milliseconds{number * factor};
}

/// Applies the layers in order of increasing precedence.
class SettingsLoader {
 public:
  explicit SettingsLoader(const SettingSources& sources) : sources_(sources) {
    for (const auto& spec : setting_table()) {
      settings_.values_.push_back({std::string(spec.default_text), Origin::kDefault, "default"});
    }
  }

  Result<Settings> load() {
    FOOTNOTE_CHECK(read_config_file());
    FOOTNOTE_CHECK(read_dot_env());
    FOOTNOTE_CHECK(take_dot_env());
    FOOTNOTE_CHECK(take_environment());
    for (const auto& [id, text] : sources_.flags) {
      FOOTNOTE_CHECK(put(spec_of(id), text, Origin::kFlag, fmt::format("flag {}", spec_of(id).flag)));
    }
    FOOTNOTE_CHECK(take_stand_in(Setting::kLlmBaseUrl, "LITELLM_BASE", with_version_path));
    FOOTNOTE_CHECK(take_stand_in(Setting::kEmbedderUrl, "EMBEDDER_BASE", [](std::string url) { return url; }));
    FOOTNOTE_CHECK(take_embedder_base());
    return std::move(settings_);
  }

 private:
  Result<void> put(const SettingSpec& spec, std::string text, Origin origin, std::string place) {
    auto checked = check_value(spec, std::move(text));
    if (!checked) {
      return fail_field(checked.error().code, spec.key, "{}: {} (from {})", spec.key, checked.error().message, place);
    }
    settings_.values_[static_cast<std::size_t>(spec.id)] = {*std::move(checked), origin, std::move(place)};
    return {};
  }

  Result<void> read_config_file() {
    std::filesystem::path path;
    if (sources_.config_file) {
      path = *sources_.config_file;
    } else {
      path = sources_.working_folder / "footnote.toml";
      std::error_code ignored;
      if (!std::filesystem::exists(path, ignored)) return {};
    }
    const std::string name = sources_.config_file ? path.string() : "footnote.toml";
    auto text = footnote::read_file(path, kConfigBytesMax);
    if (!text) return with_context(std::move(text).error(), "configuration file");
    FOOTNOTE_TRY(const auto leaves, parse_toml(*text, name));
    for (const auto& leaf : leaves) FOOTNOTE_CHECK(take_leaf(leaf, name));
    return {};
  }

  Result<void> take_leaf(const TomlLeaf& leaf, const std::string& file) {
    const std::string place = fmt::format("{}:{}", file, leaf.line);
    const SettingSpec* spec = find_setting(leaf.key);
    if (spec == nullptr) {
      const std::string_view near = nearest_setting(leaf.key);
      const std::string hint = near.empty() ? "`footnote config` lists the settings" : fmt::format("did you mean {}?", near);
      return fail_field(ErrorCode::kInvalidArgument, leaf.key, "{}: unknown setting '{}'; {}", place, leaf.key, hint);
    }
    if (!kind_fits(*spec, leaf.kind)) {
      return fail_field(ErrorCode::kInvalidArgument, spec->key, "{}: expected {}, found {} (from {})", spec->key, wanted_kind(*spec),
                        leaf.kind_name, place);
    }
    return put(*spec, leaf.text, Origin::kFile, place);
  }

  Result<void> read_dot_env() {
    const auto path = sources_.working_folder / ".env";
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(path, ignored)) return {};
    FOOTNOTE_TRY(const std::string text, footnote::read_file(path, kConfigBytesMax));
    FOOTNOTE_TRY(dot_env_, parse_dot_env(text, ".env"));
    return {};
  }

  Result<void> take_dot_env() {
    for (const auto& entry : dot_env_) {
      const auto table = setting_table();
      const auto spec = std::find_if(table.begin(), table.end(), [&](const auto& row) { return row.env == entry.name; });
      if (spec != table.end()) {
        if (entry.value.empty()) continue;  // NAME= leaves it unset
        FOOTNOTE_CHECK(put(*spec, entry.value, Origin::kDotEnv, fmt::format(".env:{}", entry.line)));
      } else if (entry.name.starts_with("FOOTNOTE_")) {
        settings_.notes_.push_back(fmt::format(".env:{}: no setting is called {}", entry.line, entry.name));
      }
    }
    return {};
  }

  Result<void> take_environment() {
    for (const auto& spec : setting_table()) {
      auto text = sources_.environment(spec.env);
      if (!text || text->empty()) continue;
      FOOTNOTE_CHECK(put(spec, *std::move(text), Origin::kEnvironment, fmt::format("environment variable {}", spec.env)));
    }
    return {};
  }

  /// Uses another program's variable for a setting that is not set.
  Result<void> take_stand_in(Setting id, std::string_view name, std::string (*form)(std::string)) {
    const SettingSpec& spec = spec_of(id);
    if (settings_.is_set(spec.id)) return {};
    if (const auto text = sources_.environment(name); text && !text->empty()) {
      return put(spec, form(*text), Origin::kEnvironment, fmt::format("environment variable {}", name));
    }
    for (const auto& entry : dot_env_) {
      if (entry.name != name || entry.value.empty()) continue;
      return put(spec, form(entry.value), Origin::kDotEnv, fmt::format(".env:{} ({})", entry.line, name));
    }
    return {};
  }

  /// EMBEDDER_BASE names a service with POST /embed, so it selects that provider unless another is set.
  Result<void> take_embedder_base() {
    const SettingValue& url = settings_.value(Setting::kEmbedderUrl);
    const bool from_base = url.place.find("EMBEDDER_BASE") != std::string::npos;
    if (!from_base || settings_.value(Setting::kEmbedderProvider).origin != Origin::kDefault) return {};
    return put(spec_of(Setting::kEmbedderProvider), "embed-service", url.origin, url.place);
  }

  const SettingSources& sources_;
  std::vector<DotEnvEntry> dot_env_;
  Settings settings_;
};

Result<Settings> Settings::load(const SettingSources& sources) { return SettingsLoader(sources).load(); }

std::int64_t Settings::integer(Setting id) const {
  FOOTNOTE_ASSERT(spec_of(id).type == SettingType::kInteger);
  return parse_integer(text(id)).value_or(0);
}

double Settings::number(Setting id) const {
  FOOTNOTE_ASSERT(spec_of(id).type == SettingType::kNumber);
  return parse_number(text(id)).value_or(0);
}

std::chrono::milliseconds Settings::duration(Setting id) const {
  FOOTNOTE_ASSERT(spec_of(id).type == SettingType::kDuration);
  return parse_duration(text(id)).value_or(std::chrono::milliseconds{0});
}

}  // namespace footnote
