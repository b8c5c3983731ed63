#include <array>

#include <fmt/format.h>

#include "app/settings.h"
#include "base/assert.h"
#include "base/text.h"

namespace footnote::app {
namespace {

constexpr std::int64_t kHourMs = 3'600'000;

constexpr std::array kTable{
    SettingSpec{.id = Setting::kData,
                .key = "data",
                .env = "FOOTNOTE_DATA",
                .flag = "--data",
                .type = SettingType::kPath,
                .default_text = "footnote-data",
                .help = "Folder of the embedded store. One process at a time holds it."},
    SettingSpec{.id = Setting::kCorpus,
                .key = "corpus",
                .env = "FOOTNOTE_CORPUS",
                .flag = "--corpus",
                .type = SettingType::kString,
                .default_text = "memory",
                .help = "Corpus that commands read and write when none is named."},
    SettingSpec{.id = Setting::kServerHost,
                .key = "server.host",
                .env = "FOOTNOTE_HOST",
                .flag = "--host",
                .type = SettingType::kString,
                .default_text = "127.0.0.1",
                .help = "Address to listen on. Loopback only, until there are API keys."},
    SettingSpec{.id = Setting::kServerPort,
                .key = "server.port",
                .env = "FOOTNOTE_PORT",
                .flag = "--port",
                .type = SettingType::kInteger,
                .default_text = "7700",
                .help = "Port to listen on; 0 takes any free one.",
                .min = 0,
                .max = 65535},
    SettingSpec{.id = Setting::kServerDrain,
                .key = "server.drain",
                .env = "FOOTNOTE_DRAIN",
                .flag = "",
                .type = SettingType::kDuration,
                .default_text = "10s",
                .help = "How long running answers may go on after SIGTERM or Ctrl-C.",
                .min = 0,
                .max = kHourMs},
    SettingSpec{.id = Setting::kServerFreeDisk,
                .key = "server.free_disk_mib",
                .env = "FOOTNOTE_FREE_DISK_MIB",
                .flag = "",
                .type = SettingType::kInteger,
                .default_text = "100",
                .help = "Space in MiB that the data folder's disk should have left: below, /readyz answers 503. 0: never.",
                .min = 0,
                .max = 100'000'000},
    SettingSpec{.id = Setting::kModelsPath,
                .key = "models.path",
                .env = "FOOTNOTE_MODELS",
                .flag = "--models",
                .type = SettingType::kPath,
                .default_text = "",
                .help = "Folder that holds the model folders. Unset: ./.deps/models, then ../../.deps/models beside the "
                        "program, then ~/.local/share/footnote/models."},
    SettingSpec{.id = Setting::kModelsName,
                .key = "models.name",
                .env = "MODEL_NAME",
                .flag = "",
                .type = SettingType::kString,
                .default_text = "all-MiniLM-L6-v2",
                .help = "Embedding model: the name of its folder."},
    SettingSpec{.id = Setting::kEngineCpu,
                .key = "engine.cpu",
                .env = "FOOTNOTE_CPU",
                .flag = "",
                .type = SettingType::kChoice,
                .default_text = "auto",
                .help = "Highest level of CPU instructions that the encoder may use.",
                .choices = "auto|portable|avx2|avx512"},
    SettingSpec{.id = Setting::kEngineThreads,
                .key = "engine.threads",
                .env = "FOOTNOTE_THREADS",
                .flag = "--threads",
                .type = SettingType::kInteger,
                .default_text = "0",
                .help = "Threads that embed at once; 0 takes one per core.",
                .min = 0,
                .max = 256},
    SettingSpec{.id = Setting::kLlmBaseUrl,
                .key = "llm.base_url",
                .env = "LLM_BASE_URL",
                .flag = "",
                .type = SettingType::kString,
                .default_text = "",
                .help = "OpenAI-compatible server with its version path, http://host:4000/v1. Unset: LITELLM_BASE is "
                        "read (with or without /v1); when that is unset too, the built-in reader answers by quoting."},
    SettingSpec{.id = Setting::kLlmApiKey,
                .key = "llm.api_key",
                .env = "LLM_API_KEY",
                .flag = "",
                .type = SettingType::kString,
                .default_text = "",
                .help = "Key for that server. Never printed or logged.",
                .secrecy = Secrecy::kSecret},
    SettingSpec{.id = Setting::kLlmModel,
                .key = "llm.model",
                .env = "LLM_MODEL",
                .flag = "",
                .type = SettingType::kString,
                .default_text = "",
                .help = "Model to ask that server for."},
    SettingSpec{.id = Setting::kLlmTimeout,
                .key = "llm.timeout",
                .env = "LLM_TIMEOUT",
                .flag = "",
                .type = SettingType::kDuration,
                .default_text = "120s",
                .help = "Longest silence of that server before the call counts as failed.",
                .min = 1,
                .max = kHourMs},
    SettingSpec{.id = Setting::kLogLevel,
                .key = "log.level",
                .env = "FOOTNOTE_LOG_LEVEL",
                .flag = "--log-level",
                .type = SettingType::kChoice,
                .default_text = "auto",
                .help = "Log lines on standard error, one JSON object a line. auto: info for serve, error for the rest.",
                .choices = "auto|debug|info|warn|error|off"},
    SettingSpec{.id = Setting::kColor,
                .key = "color",
                .env = "FOOTNOTE_COLOR",
                .flag = "--color",
                .type = SettingType::kChoice,
                .default_text = "auto",
                .help = "Colour and progress bars. auto: on a terminal, unless NO_COLOR is set.",
                .choices = "auto|always|never"},
};

constexpr bool in_enum_order() {
  for (std::size_t i = 0; i < kTable.size(); ++i) {
    if (kTable[i].id != static_cast<Setting>(i)) return false;
  }
  return true;
}
static_assert(in_enum_order(), "the table follows enum Setting");

std::string_view last_part(std::string_view key) {
  const auto dot = key.rfind('.');
  return dot == std::string_view::npos ? key : key.substr(dot + 1);
}

}  // namespace

std::span<const SettingSpec> setting_table() { return kTable; }

const SettingSpec& spec_of(Setting id) {
  const auto index = static_cast<std::size_t>(id);
  FOOTNOTE_ASSERT(index < kTable.size());
  return kTable[index];
}

const SettingSpec* find_setting(std::string_view key) {
  for (const auto& spec : kTable) {
    if (spec.key == key) return &spec;
  }
  return nullptr;
}

std::string_view nearest_setting(std::string_view key) {
  constexpr std::size_t kDistanceMax = 3;
  const std::string wanted = to_lower_ascii(key);
  std::string_view best;
  std::size_t best_distance = kDistanceMax + 1;
  for (const auto& spec : kTable) {
    const std::size_t distance = edit_distance(wanted, spec.key, kDistanceMax);
    if (distance < best_distance) {
      best_distance = distance;
      best = spec.key;
    }
  }
  if (!best.empty()) return best;
  for (const auto& spec : kTable) {  // "port" or "http.port" for server.port
    if (last_part(spec.key) == last_part(wanted)) return spec.key;
  }
  return {};
}

std::string describe_type(const SettingSpec& spec) {
  switch (spec.type) {
    case SettingType::kString: return "text";
    case SettingType::kPath: return "path";
    case SettingType::kBool: return "true or false";
    case SettingType::kInteger: return fmt::format("integer, {} to {}", spec.min, spec.max);
    case SettingType::kDuration: return "duration (500ms, 10s, 2m)";
    case SettingType::kChoice: {
      std::string out;
      const auto names = split(spec.choices, '|');
      for (std::size_t i = 0; i < names.size(); ++i) {
        if (i > 0) out += i + 1 == names.size() ? " or " : ", ";
        out += names[i];
      }
      return out;
    }
  }
  return {};
}

}  // namespace footnote::app
