// footnote.toml, .env and setting values: loaded values are within their limits, and load again unchanged.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "base/log.h"
#include "base/text.h"
#include "config/dot_env.h"
#include "config/settings.h"
#include "config/toml_file.h"
#include "target.h"

namespace footnote {
namespace {

/// An in-memory file, for a parser that needs a path.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view text) : descriptor_(::memfd_create("config", MFD_CLOEXEC)) {
    FOOTNOTE_ASSERT(descriptor_ >= 0 && ::write(descriptor_, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  }
  ~MemoryFile() { ::close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  std::filesystem::path path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  const int descriptor_;
};

SettingSources no_sources() {
  return {.working_folder = "/nowhere", .environment = [](std::string_view) { return std::optional<std::string>(); }};
}

bool is_in_bounds(const SettingSpec& spec, const Settings& settings) {
  const std::string& text = settings.text(spec.id);
  switch (spec.type) {
    case SettingType::kString:
    case SettingType::kPath: return text.find_first_of(std::string_view("\n\0", 2)) == std::string::npos;
    case SettingType::kBool: return text == "true" || text == "false";
    case SettingType::kInteger: return settings.integer(spec.id) >= spec.min && settings.integer(spec.id) <= spec.max;
    case SettingType::kNumber:
      return settings.number(spec.id) >= static_cast<double>(spec.min) && settings.number(spec.id) <= static_cast<double>(spec.max);
    case SettingType::kDuration: return settings.duration(spec.id).count() >= spec.min && settings.duration(spec.id).count() <= spec.max;
    case SettingType::kChoice: return std::ranges::count(split(spec.choices, '|'), text) == 1;
    case SettingType::kLogSpec: return parse_log_spec(text).has_value();
  }
  return false;
}

void check_settings(const Result<Settings>& settings) {
  if (!settings) return FOOTNOTE_ASSERT(settings.error().code == ErrorCode::kInvalidArgument && !settings.error().message.empty());
  SettingSources flags = no_sources();
  for (const SettingSpec& spec : setting_table()) {
    FOOTNOTE_ASSERT(is_in_bounds(spec, *settings));
    if (settings->is_set(spec.id) || !spec.default_text.empty()) flags.flags.emplace_back(spec.id, settings->text(spec.id));
  }
  const auto again = Settings::load(flags);
  FOOTNOTE_ASSERT(again.has_value());
  for (const SettingSpec& spec : setting_table()) FOOTNOTE_ASSERT(again->text(spec.id) == settings->text(spec.id));
}

void check_toml(std::string_view text) {
  const auto leaves = parse_toml(text, "footnote.toml");
  if (!leaves) {
    FOOTNOTE_ASSERT(leaves.error().code == ErrorCode::kInvalidArgument);
  } else {
    int last = 0;
    for (const TomlLeaf& leaf : *leaves) {
      FOOTNOTE_ASSERT(leaf.line >= last && !leaf.kind_name.empty() && leaf.text.size() <= text.size() + 32);
      last = leaf.line;
    }
  }
  const MemoryFile file(text);
  SettingSources sources = no_sources();
  sources.config_file = file.path();
  check_settings(Settings::load(sources));
}

void check_dot_env(std::string_view text) {
  const auto entries = parse_dot_env(text, ".env");
  if (!entries) return FOOTNOTE_ASSERT(entries.error().code == ErrorCode::kInvalidArgument);
  const auto lines = std::ranges::count(text, '\n') + 1;
  std::vector<std::string> names;
  for (const DotEnvEntry& entry : *entries) {
    FOOTNOTE_ASSERT(!entry.name.empty() && entry.line >= 1 && entry.line <= lines && entry.value.size() <= text.size());
    names.push_back(entry.name);
  }
  std::ranges::sort(names);
  FOOTNOTE_ASSERT(std::ranges::adjacent_find(names) == names.end());
}

void check_duration(std::string_view text) {
  const auto duration = parse_duration(text);
  if (!duration) return;
  FOOTNOTE_ASSERT(duration->count() >= 0);
  FOOTNOTE_ASSERT(parse_duration(fmt::format("{}ms", duration->count())).value_or(*duration) == *duration);
}

/// Uses one text as the value of every setting in turn.
void check_values(std::string_view text) {
  for (const SettingSpec& spec : setting_table()) {
    SettingSources sources = no_sources();
    sources.environment = [&](std::string_view name) {
      return name == spec.env ? std::optional<std::string>(text) : std::optional<std::string>();
    };
    check_settings(Settings::load(sources));
  }
  const std::string_view near = nearest_setting(text);
  FOOTNOTE_ASSERT(near.empty() || find_setting(near) != nullptr);
}

}  // namespace
}  // namespace footnote

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace footnote;
  if (size > fuzz::kInputBytesMax) return 0;
  fuzz::Input input(data, size);
  switch (input.byte() % 3) {
    case 0: check_toml(input.rest()); break;
    case 1: check_dot_env(input.rest()); break;
    default: check_duration(input.rest()); check_values(input.rest());
  }
  return 0;
}
