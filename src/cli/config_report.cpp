#include "cli/config_report.h"

#include <algorithm>

#include "base/text.h"

namespace footnote::cli {
namespace {

std::string_view origin_name(Origin origin) {
  switch (origin) {
    case Origin::kDefault: return "default";
    case Origin::kFile: return "file";
    case Origin::kDotEnv: return "dotenv";
    case Origin::kEnvironment: return "environment";
    case Origin::kFlag: return "flag";
  }
  return {};
}

std::string shown_value(const SettingSpec& spec, const SettingValue& value) {
  if (spec.secrecy == Secrecy::kSecret) return value.text.empty() ? "(not set)" : "(set, hidden)";
  return value.text.empty() ? "(not set)" : value.text;
}

std::string markdown_default(const SettingSpec& spec) {
  return spec.default_text.empty() ? "not set" : fmt::format("`{}`", spec.default_text);
}

std::string escape_cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

std::string render_config(const Settings& settings) {
  std::size_t key_width = 0;
  std::size_t value_width = 0;
  for (const auto& spec : setting_table()) {
    key_width = std::max(key_width, spec.key.size());
    value_width = std::max(value_width, shown_value(spec, settings.value(spec.id)).size());
  }
  std::string out;
  for (const auto& spec : setting_table()) {
    const auto& value = settings.value(spec.id);
    out += fmt::format("{:<{}}  {:<{}}  {}\n", spec.key, key_width, shown_value(spec, value), value_width, value.place);
  }
  return out;
}

Json config_json(const Settings& settings) {
  JsonArray rows;
  for (const auto& spec : setting_table()) {
    const auto& value = settings.value(spec.id);
    JsonObject row;
    row["key"] = spec.key;
    if (spec.secrecy == Secrecy::kSecret) {
      row["value"] = nullptr;
      row["set"] = !value.text.empty();
    } else if (value.text.empty()) {
      row["value"] = nullptr;
    } else if (spec.type == SettingType::kInteger) {
      row["value"] = settings.integer(spec.id);
    } else if (spec.type == SettingType::kNumber) {
      row["value"] = settings.number(spec.id);
    } else {
      row["value"] = value.text;
    }
    row["origin"] = origin_name(value.origin);
    row["place"] = value.place;
    row["env"] = spec.env;
    row["help"] = spec.help;
    rows.push_back(std::move(row));
  }
  return JsonObject{{"settings", std::move(rows)}};
}

std::string config_markdown() {
  std::string out =
      "# Configuration\n\n"
      "<!-- Made by `footnote config --markdown`; a test compares the two. Change src/config/setting_table.cpp instead. -->\n\n"
      "Every setting has a default. Each of these overrides the ones above it:\n\n"
      "1. the built-in default\n"
      "2. `footnote.toml` in the working folder, or the file that `--config FILE` names\n"
      "3. `.env` in the working folder\n"
      "4. the environment\n"
      "5. flags of the command line\n\n"
      "`footnote config` shows each value and where it came from; secrets are never shown. Relative paths count from the\n"
      "working folder.\n\n"
      "| key in footnote.toml | environment | flag | type | default | meaning |\n"
      "|---|---|---|---|---|---|\n";
  for (const auto& spec : setting_table()) {
    const std::string flag = spec.flag.empty() ? "" : fmt::format("`{}`", spec.flag);
    out += fmt::format("| `{}` | `{}` | {} | {} | {} | {} |\n", spec.key, spec.env, flag, escape_cell(describe_type(spec)),
                       markdown_default(spec), escape_cell(spec.help));
  }
  out +=
      "\nAn example:\n\n"
      "```toml\n"
      "data = \"/var/lib/footnote\"\n\n"
      "[server]\n"
      "port = 7700\n\n"
      "[llm]\n"
      "base_url = \"http://127.0.0.1:4000/v1\"\n"
      "model = \"qwen2.5-7b\"\n"
      "```\n\n"
      "Keys belong in the environment or in `.env`, not in this file.\n";
  return out;
}

}  // namespace footnote::cli
