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
  kServerMemoryMax,
  kServerIoUring,
  kIngestSecrets,
  kProjectsRoots,
  kIngestHardLinks,
  kIngestOriginals,
  kSourcesFolders,
  kSourcesDriftScan,
  kUploadsSizeMax,
  kJobsWorkers,
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
  kLateLocalCodes,
  kRerankerProvider,
  kRerankerUrl,
  kRerankerAccount,
  kRerankerModel,
  kRerankerKey,
  kRerankerTimeout,
  kJudgeWindows,
  kJudgeTimeout,
  kCalibrateAutomatic,
  kReaderModel,
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
  kProxyStoreTurns,
  kProxyQdrantUrl,
  kProxyQdrantKey,
  kProxyQdrantTimeout,
  kAgentEmbedderUrl,
  kAgentVectorSize,
  kPointsWorkMax,
  kAnswerCitationCheck,
  kAnswerFollowUps,
  kAnswerFollowUpModel,
  kAnswerFollowUpTimeout,
  kAnswerTraces,
  kWebEnabled,
  kWebAllow,
  kWebPorts,
  kWebDelay,
  kWebTimeout,
  kWebSearchUrl,
  kWebSearchTimeout,
  kKbWeightVector,
  kKbWeightKeyword,
  kKbWeightHeading,
  kKbWeightTags,
  kKbWeightPriority,
  kKbGraph,
  kKbRejected,
  kKbRejectedMin,
  kKbMentions,
  kKbChatDays,
  kKbMaskPii,
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

/// One row of the table. Everything about a setting (file, environment, flag, `footnote config`, docs/configuration.md) is derived from it.
struct SettingSpec {
  Setting id;
  std::string_view key;   ///< Name in footnote.toml: "server.port".
  std::string_view env;   ///< Name in the environment and in .env.
  std::string_view flag;  ///< "--port"; empty: none.
  SettingType type = SettingType::kString;
  std::string_view default_text;  ///< In the format of an environment value; empty: not set.
  std::string_view help;
  std::int64_t min = 0;  ///< Range of integers and other numbers; of durations in milliseconds.
  std::int64_t max = 0;
  std::string_view choices = {};  ///< "auto|always|never"
  Secrecy secrecy = Secrecy::kOpen;
};

std::span<const SettingSpec> setting_table();
const SettingSpec& spec_of(Setting id);
/// The row with that key, or null.
const SettingSpec* find_setting(std::string_view key);
/// The key that a misspelt one probably means; empty if none is close.
std::string_view nearest_setting(std::string_view key);
/// "integer, 0 to 65535", "auto, always or never": for messages and the reference.
std::string describe_type(const SettingSpec& spec);

/// The layers in increasing precedence.
enum class Origin { kDefault, kFile, kDotEnv, kEnvironment, kFlag };

/// A validated value, and where it came from ("footnote.toml:3", "flag --port").
struct SettingValue {
  std::string text;
  Origin origin = Origin::kDefault;
  std::string place;
};

/// Where the layers are read from; tests provide their own.
struct SettingSources {
  std::filesystem::path working_folder;
  /// --config: the file must exist. Without it, `footnote.toml` in the working folder is read if present.
  std::optional<std::filesystem::path> config_file;
  std::function<std::optional<std::string>(std::string_view name)> environment;
  std::vector<std::pair<Setting, std::string>> flags;
};

/// All settings, validated. Immutable.
class Settings {
 public:
  /// kInvalidArgument: a value of the wrong type or range, or an unknown key in the file; the message names the key and its origin.
  /// kNotFound: no such --config file.
  static Result<Settings> load(const SettingSources& sources);

  const SettingValue& value(Setting id) const { return values_[static_cast<std::size_t>(id)]; }
  /// False if it has neither a default nor a value.
  bool is_set(Setting id) const { return !value(id).text.empty(); }
  const std::string& text(Setting id) const { return value(id).text; }
  std::int64_t integer(Setting id) const;
  bool flag(Setting id) const { return text(id) == "true"; }
  double number(Setting id) const;
  std::chrono::milliseconds duration(Setting id) const;
  std::filesystem::path path(Setting id) const { return value(id).text; }

  /// Warnings, such as a FOOTNOTE_ name in .env that is not a setting.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  friend class SettingsLoader;
  Settings() = default;

  std::vector<SettingValue> values_;
  std::vector<std::string> notes_;
};

/// "90s", "1500ms", "2m", "1h", "7d"; a bare number is in seconds. kInvalidArgument otherwise.
Result<std::chrono::milliseconds> parse_duration(std::string_view text);

}  // namespace footnote
