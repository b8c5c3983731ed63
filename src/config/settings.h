#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace footnote {

/// Every setting, in the order of the table in setting_table.cpp.
enum class Setting {
  kData,
  kWorkspace,
  kCorpus,
  kServerHost,
  kServerPort,
  kServerDrain,
  kServerAllowedHosts,
  kServerTrustedProxies,
  kServerAllowedOrigins,
  kServerRequestsPerMinute,
  kKeysRequestsPerMinuteMax,
  kKeysPerWorkspace,
  kServerWorkers,
  kServerStreams,
  kServerConnections,
  kServerConnectionsPerPeer,
  kServerQueueWait,
  kServerHeadTimeout,
  kServerBodyTimeout,
  kServerWriteTimeout,
  kServerIdleTimeout,
  kServerFreeDisk,
  kServerIoUring,
  kIngestSecrets,
  kIngestHardLinks,
  kModelsPath,
  kModelsName,
  kModelsLanguages,
  kEngineCpu,
  kEngineThreads,
  kIndexMemoryBudget,
  kIndexCodeFile,
  kIndexGraph,
  kKeywordK1,
  kKeywordB,
  kKeywordSynonyms,
  kEmbedderProvider,
  kEmbedderUrl,
  kEmbedderModel,
  kEmbedderKey,
  kEmbedderDimension,
  kEmbedderTimeout,
  kLateCodes,
  kLateDropFrequent,
  kRerankerProvider,
  kRerankerUrl,
  kRerankerModel,
  kRerankerKey,
  kRerankerTimeout,
  kJudgeWindows,
  kJudgeTimeout,
  kLlmBaseUrl,
  kLlmApiKey,
  kLlmModel,
  kLlmTimeout,
  kLlmCaFile,
  kProxyEnabled,
  kProxyTopK,
  kProxyMmrLambda,
  kProxyMaxSources,
  kProxyMaxChars,
  kProxyHistoryBytes,
  kProxyModels,
  kProxyNoHits,
  kProxySeedForm,
  kProxyQdrantUrl,
  kProxyQdrantKey,
  kProxyQdrantTimeout,
  kAgentEmbedderUrl,
  kAgentVectorSize,
  kAnswerCitationCheck,
  kAnswerFollowUps,
  kAnswerFollowUpModel,
  kAnswerFollowUpTimeout,
  kWebhookPrivateAddresses,
  kStreamResumeGrace,
  kCacheProvider,
  kCacheMemory,
  kCacheRedisUrl,
  kLogLevel,
  kColor,
};

enum class SettingType { kString, kInteger, kNumber, kBool, kDuration, kPath, kChoice, kLogSpec };
enum class Secrecy { kOpen, kSecret };

/// One row of the table. Everything that is said or asked about a setting (file, environment, flag, `footnote
/// config`, docs/configuration.md) comes from here.
struct SettingSpec {
  Setting id;
  std::string_view key;   ///< Name in footnote.toml: "server.port".
  std::string_view env;   ///< Name in the environment and in .env.
  std::string_view flag;  ///< "--port"; empty where there is none.
  SettingType type = SettingType::kString;
  std::string_view default_text;  ///< In the form of an environment value; empty: not set.
  std::string_view help;
  std::int64_t min = 0;  ///< Of integers and other numbers, and of durations in milliseconds.
  std::int64_t max = 0;
  std::string_view choices = {};  ///< "auto|always|never"
  Secrecy secrecy = Secrecy::kOpen;
};

std::span<const SettingSpec> setting_table();
const SettingSpec& spec_of(Setting id);
/// The row with that key, or null.
const SettingSpec* find_setting(std::string_view key);
/// The key that a misspelt one probably means; empty when none is near.
std::string_view nearest_setting(std::string_view key);
/// "integer, 0 to 65535", "auto, always or never": for messages and the reference.
std::string describe_type(const SettingSpec& spec);

/// The layers, weakest first: each overrides those before it.
enum class Origin { kDefault, kFile, kDotEnv, kEnvironment, kFlag };

/// A value that passed its check, and where it came from ("footnote.toml:3", "flag --port").
struct SettingValue {
  std::string text;
  Origin origin = Origin::kDefault;
  std::string place;
};

/// What the layers are read from; tests fill it with their own.
struct SettingSources {
  std::filesystem::path working_folder;
  /// --config: must be there. Without it `footnote.toml` of the working folder is read when present.
  std::optional<std::filesystem::path> config_file;
  std::function<std::optional<std::string>(std::string_view name)> environment;
  std::vector<std::pair<Setting, std::string>> flags;
};

/// All settings, checked. Immutable.
class Settings {
 public:
  /// kInvalidArgument: a value of the wrong type or range, or an unknown key in the file; the message names the
  /// key and the place. kNotFound: no such --config file.
  static Result<Settings> load(const SettingSources& sources);

  const SettingValue& value(Setting id) const { return values_[static_cast<std::size_t>(id)]; }
  /// False when it has neither a default nor a value.
  bool is_set(Setting id) const { return !value(id).text.empty(); }
  const std::string& text(Setting id) const { return value(id).text; }
  std::int64_t integer(Setting id) const;
  bool flag(Setting id) const { return text(id) == "true"; }
  double number(Setting id) const;
  std::chrono::milliseconds duration(Setting id) const;
  std::filesystem::path path(Setting id) const { return value(id).text; }

  /// Things worth a word that are not errors: a FOOTNOTE_ name in .env that no setting has.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  friend class SettingsLoader;
  Settings() = default;

  std::vector<SettingValue> values_;
  std::vector<std::string> notes_;
};

/// "90s", "1500ms", "2m", "1h", "7d"; a bare number counts seconds. kInvalidArgument otherwise.
Result<std::chrono::milliseconds> parse_duration(std::string_view text);

}  // namespace footnote
