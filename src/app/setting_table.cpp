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
    SettingSpec{.id = Setting::kWorkspace,
                .key = "workspace",
                .env = "FOOTNOTE_WORKSPACE",
                .flag = "--workspace",
                .type = SettingType::kString,
                .default_text = "default",
                .help = "Workspace that commands work in; for the server, that of callers while there are no API keys."},
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
                .help = "Address to listen on. Loopback only, until there is an API key."},
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
    SettingSpec{.id = Setting::kServerAllowedHosts,
                .key = "server.allowed_hosts",
                .env = "FOOTNOTE_ALLOWED_HOSTS",
                .flag = "",
                .type = SettingType::kString,
                .default_text = "",
                .help = "Names, between commas, under which the server is reached beside the loopback ones: docs.example.com. "
                        "A server that listens beyond loopback also answers to addresses."},
    SettingSpec{.id = Setting::kServerAllowedOrigins,
                .key = "server.allowed_origins",
                .env = "FOOTNOTE_ALLOWED_ORIGINS",
                .flag = "",
                .type = SettingType::kString,
                .default_text = "",
                .help = "Sites, between commas, whose pages may call the server from a browser: https://www.example.com. Pages of "
                        "the server itself and of loopback names always may."},
    SettingSpec{.id = Setting::kServerRequestsPerMinute,
                .key = "server.requests_per_minute",
                .env = "FOOTNOTE_REQUESTS_PER_MINUTE",
                .flag = "",
                .type = SettingType::kInteger,
                .default_text = "600",
                .help = "Requests a minute of an API key that has no bound of its own; 0: no bound.",
                .min = 0,
                .max = 1'000'000},
    SettingSpec{.id = Setting::kServerWorkers,
                .key = "server.workers",
                .env = "FOOTNOTE_WORKERS",
                .flag = "",
                .type = SettingType::kInteger,
                .default_text = "0",
                .help = "Requests answered at once; the next ones wait. 0 takes 256 where a model writes the answers, else 8 per core.",
                .min = 0,
                .max = 4096},
    SettingSpec{
        .id = Setting::kServerConnections,
        .key = "server.connections",
        .env = "FOOTNOTE_CONNECTIONS",
        .flag = "",
        .type = SettingType::kInteger,
        .default_text = "16384",
        .help = "Connections held at once, as far as the limit of open files allows. Past it the one idle for the longest is closed.",
        .min = 16,
        .max = 1'000'000},
    SettingSpec{.id = Setting::kServerConnectionsPerPeer,
                .key = "server.connections_per_peer",
                .env = "FOOTNOTE_CONNECTIONS_PER_PEER",
                .flag = "",
                .type = SettingType::kInteger,
                .default_text = "0",
                .help = "Connections held at once for one address (IPv6: one /64); 0 sets no bound. Not for use behind a reverse proxy.",
                .min = 0,
                .max = 1'000'000},
    SettingSpec{.id = Setting::kServerQueueWait,
                .key = "server.queue_wait",
                .env = "FOOTNOTE_QUEUE_WAIT",
                .flag = "",
                .type = SettingType::kDuration,
                .default_text = "5s",
                .help = "How long a request may wait for a worker; one that would wait longer gets 503 with Retry-After.",
                .min = 1,
                .max = kHourMs},
    SettingSpec{.id = Setting::kServerHeadTimeout,
                .key = "server.head_timeout",
                .env = "FOOTNOTE_HEAD_TIMEOUT",
                .flag = "",
                .type = SettingType::kDuration,
                .default_text = "10s",
                .help = "How long a client may take to send a request's head.",
                .min = 1,
                .max = kHourMs},
    SettingSpec{.id = Setting::kServerBodyTimeout,
                .key = "server.body_timeout",
                .env = "FOOTNOTE_BODY_TIMEOUT",
                .flag = "",
                .type = SettingType::kDuration,
                .default_text = "30s",
                .help = "How long a client may take to send a request's body.",
                .min = 1,
                .max = kHourMs},
    SettingSpec{.id = Setting::kServerWriteTimeout,
                .key = "server.write_timeout",
                .env = "FOOTNOTE_WRITE_TIMEOUT",
                .flag = "",
                .type = SettingType::kDuration,
                .default_text = "30s",
                .help = "How long a client may take nothing of an answer before it is cut off.",
                .min = 1,
                .max = kHourMs},
    SettingSpec{.id = Setting::kServerIdleTimeout,
                .key = "server.idle_timeout",
                .env = "FOOTNOTE_IDLE_TIMEOUT",
                .flag = "",
                .type = SettingType::kDuration,
                .default_text = "75s",
                .help = "How long a connection may be silent between two requests.",
                .min = 1,
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
                .help = "Embedding model: the name of its folder, which a publisher may precede (publisher/name). `footnote models list` "
                        "shows those that are there."},
    SettingSpec{.id = Setting::kModelsLanguages,
                .key = "models.languages",
                .env = "MODEL_LANGUAGES",
                .flag = "",
                .type = SettingType::kString,
                .default_text = "",
                .help = "Languages that the embedding model was made for, by their codes between commas: en,de. Questions in others are "
                        "ranked by words first. Unset: en for all-MiniLM-L6-v2, any for others."},
    SettingSpec{.id = Setting::kEngineCpu,
                .key = "engine.cpu",
                .env = "FOOTNOTE_CPU",
                .flag = "",
                .type = SettingType::kChoice,
                .default_text = "auto",
                .help = "Level of CPU instructions that the encoder and the vector scan use; auto takes the best that works here.",
                .choices = "auto|amx|vnni|avx512|avx2-int8|avx2|portable"},
    SettingSpec{.id = Setting::kEngineThreads,
                .key = "engine.threads",
                .env = "FOOTNOTE_THREADS",
                .flag = "--threads",
                .type = SettingType::kInteger,
                .default_text = "0",
                .help = "Threads that embed at once; 0 takes one per core.",
                .min = 0,
                .max = 256},
    SettingSpec{.id = Setting::kIndexMemoryBudget,
                .key = "index.memory_budget_mib",
                .env = "FOOTNOTE_INDEX_MEMORY_BUDGET_MIB",
                .flag = "",
                .type = SettingType::kInteger,
                .default_text = "2048",
                .help = "Memory in MiB for full vectors that are in no index file yet. Past it the fullest index is saved at once, and "
                        "its vectors are read from the file.",
                .min = 1,
                .max = 100'000'000},
    SettingSpec{.id = Setting::kIndexGraph,
                .key = "index.graph",
                .env = "FOOTNOTE_INDEX_GRAPH",
                .flag = "",
                .type = SettingType::kChoice,
                .default_text = "auto",
                .help = "Whether the server makes a graph, in the background, of a corpus with 500,000 vectors or more: searches of all of "
                        "it are faster and find a little less. off reads the vectors one by one.",
                .choices = "auto|off"},
    SettingSpec{.id = Setting::kKeywordK1,
                .key = "keyword.k1",
                .env = "FOOTNOTE_KEYWORD_K1",
                .flag = "",
                .type = SettingType::kNumber,
                .default_text = "0.9",
                .help = "BM25's k1: how much more a passage counts that says a word more often.",
                .min = 0,
                .max = 10},
    SettingSpec{.id = Setting::kKeywordB,
                .key = "keyword.b",
                .env = "FOOTNOTE_KEYWORD_B",
                .flag = "",
                .type = SettingType::kNumber,
                .default_text = "0.4",
                .help = "BM25's b: how much less a long passage counts; 0 not at all, 1 in full.",
                .min = 0,
                .max = 1},
    SettingSpec{.id = Setting::kKeywordSynonyms,
                .key = "keyword.synonyms",
                .env = "FOOTNOTE_KEYWORD_SYNONYMS",
                .flag = "",
                .type = SettingType::kPath,
                .default_text = "",
                .help = "File of words that stand for each other in questions: a line a group, with commas between the words; after a line "
                        "[NAME] for that corpus alone. Unset: none."},
    SettingSpec{.id = Setting::kEmbedderProvider,
                .key = "embedder.provider",
                .env = "EMBEDDER_PROVIDER",
                .flag = "",
                .type = SettingType::kChoice,
                .default_text = "local",
                .help = "Who embeds. local: the built-in model, models.name. openai: any server with /v1/embeddings. embed-service: "
                        "a server with /embed, such as another Footnote.",
                .choices = "local|openai|embed-service"},
    SettingSpec{.id = Setting::kEmbedderUrl,
                .key = "embedder.url",
                .env = "EMBEDDER_URL",
                .flag = "",
                .type = SettingType::kString,
                .default_text = "",
                .help = "That server's address; for openai with its version path, http://host:4000/v1. Unset: EMBEDDER_BASE is read."},
    SettingSpec{.id = Setting::kEmbedderModel,
                .key = "embedder.model",
                .env = "EMBEDDER_MODEL",
                .flag = "",
                .type = SettingType::kString,
                .default_text = "",
                .help = "Model to ask that server for; vectors are only compared with others of this name. Unset with embed-service: "
                        "the name that its /health gives."},
    SettingSpec{.id = Setting::kEmbedderKey,
                .key = "embedder.key",
                .env = "EMBEDDER_KEY",
                .flag = "",
                .type = SettingType::kString,
                .default_text = "",
                .help = "Key for that server. Never printed or logged.",
                .secrecy = Secrecy::kSecret},
    SettingSpec{.id = Setting::kEmbedderDimension,
                .key = "embedder.dimension",
                .env = "EMBEDDER_DIMENSION",
                .flag = "",
                .type = SettingType::kInteger,
                .default_text = "0",
                .help = "Numbers of a vector of that server, checked at the start; an openai model with longer ones is asked to shorten "
                        "them. 0 takes what comes.",
                .min = 0,
                .max = 4096},
    SettingSpec{.id = Setting::kEmbedderTimeout,
                .key = "embedder.timeout",
                .env = "EMBEDDER_TIMEOUT",
                .flag = "",
                .type = SettingType::kDuration,
                .default_text = "30s",
                .help = "Longest time for one answer of that server; a call that fails is tried up to four times.",
                .min = 1,
                .max = kHourMs},
    SettingSpec{.id = Setting::kLateCodes,
                .key = "late.codes",
                .env = "LATE_CODES",
                .flag = "",
                .type = SettingType::kChoice,
                .default_text = "full",
                .help = "What is kept of each token of a passage, to be compared with a question's tokens. full: one bit for each number "
                        "of the model's vectors. half: half as many. off: nothing.",
                .choices = "off|full|half"},
    SettingSpec{.id = Setting::kLateDropFrequent,
                .key = "late.drop_frequent",
                .env = "LATE_DROP_FREQUENT",
                .flag = "",
                .type = SettingType::kBool,
                .default_text = "true",
                .help = "Keep nothing of a passage's commonest word pieces, which take a third of the room."},
    SettingSpec{.id = Setting::kRerankerProvider,
                .key = "reranker.provider",
                .env = "RERANKER_PROVIDER",
                .flag = "",
                .type = SettingType::kChoice,
                .default_text = "none",
                .help = "Who scores passages against a question. cohere: any server with Cohere's /rerank (Jina, LiteLLM, vLLM). tei: "
                        "Text Embeddings Inference. local: a cross-encoder of this machine.",
                .choices = "none|local|cohere|tei"},
    SettingSpec{.id = Setting::kRerankerUrl,
                .key = "reranker.url",
                .env = "RERANKER_URL",
                .flag = "",
                .type = SettingType::kString,
                .default_text = "",
                .help = "That server's address; for cohere with its version path, https://host/v2."},
    SettingSpec{.id = Setting::kRerankerModel,
                .key = "reranker.model",
                .env = "RERANKER_MODEL",
                .flag = "",
                .type = SettingType::kString,
                .default_text = "",
                .help = "Model to ask that server for, or the name of the cross-encoder's folder."},
    SettingSpec{.id = Setting::kRerankerKey,
                .key = "reranker.key",
                .env = "RERANKER_KEY",
                .flag = "",
                .type = SettingType::kString,
                .default_text = "",
                .help = "Key for that server. Never printed or logged.",
                .secrecy = Secrecy::kSecret},
    SettingSpec{.id = Setting::kRerankerTimeout,
                .key = "reranker.timeout",
                .env = "RERANKER_TIMEOUT",
                .flag = "",
                .type = SettingType::kDuration,
                .default_text = "30s",
                .help = "Longest time for one answer of that server; a call that fails is tried up to four times.",
                .min = 1,
                .max = kHourMs},
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
                .type = SettingType::kLogSpec,
                .default_text = "auto",
                .help = "Log lines on standard error, one JSON object a line. auto: info for serve, error for the rest. "
                        "Modules may have levels of their own: info,http=warn,ingest=debug.",
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
    case SettingType::kNumber: return fmt::format("number, {} to {}", spec.min, spec.max);
    case SettingType::kDuration: return "duration (500ms, 10s, 2m)";
    case SettingType::kLogSpec: return "auto, debug, info, warn, error or off; then MODULE=LEVEL, between commas";
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
