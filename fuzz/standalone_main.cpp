// Drives a fuzz target without libFuzzer: runs every file of a corpus, then mutations of them. The same seed gives the same inputs on every
// machine. A finding aborts the process; before that, its input is saved to a file, and the command that repeats it is printed. An input
// that takes longer than kInputSeconds is a finding too.
//
//   fuzz_NAME [--runs N] [--seconds N] [--seed N] [--dictionary FILE] [--findings FOLDER] FILE_OR_FOLDER...
//
// --seconds continues with mutations until the time is up, for at least --runs of them.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "target.h"

namespace {

using footnote::fuzz::kInputBytesMax;
using footnote::fuzz::Random;

struct Options {
  std::string program;
  std::size_t runs = 0;
  std::chrono::seconds seconds{0};
  std::uint64_t seed = 1;
  std::filesystem::path dictionary;
  std::filesystem::path findings = ".";
  std::vector<std::filesystem::path> inputs;
};

[[noreturn]] void give_up(const std::string& message) {
  std::fprintf(stderr, "fuzz: %s\n", message.c_str());
  std::exit(2);
}

Options parse_options(int count, char** arguments) {
  Options options{.program = arguments[0]};
  for (int i = 1; i < count; ++i) {
    const std::string name = arguments[i];
    if (!name.starts_with("--")) {
      options.inputs.emplace_back(name);
      continue;
    }
    if (++i == count) give_up(name + " needs a value");
    if (name == "--runs") {
      options.runs = std::strtoull(arguments[i], nullptr, 10);
    } else if (name == "--seconds") {
      options.seconds = std::chrono::seconds(std::strtoull(arguments[i], nullptr, 10));
    } else if (name == "--seed") {
      options.seed = std::strtoull(arguments[i], nullptr, 10);
    } else if (name == "--dictionary") {
      options.dictionary = arguments[i];
    } else if (name == "--findings") {
      options.findings = arguments[i];
    } else {
      give_up("unknown option " + name);
    }
  }
  return options;
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) give_up("can't read " + path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The files below the given paths, sorted by name, because the results of a seed depend on the order.
std::vector<std::string> read_corpus(const std::vector<std::filesystem::path>& inputs) {
  std::vector<std::filesystem::path> files;
  for (const auto& input : inputs) {
    if (!std::filesystem::is_directory(input)) {
      files.push_back(input);
      continue;
    }
    for (const auto& entry : std::filesystem::recursive_directory_iterator(input)) {
      if (entry.is_regular_file()) files.push_back(entry.path());
    }
  }
  std::ranges::sort(files);
  std::vector<std::string> out;
  for (const auto& file : files) out.push_back(read_file(file));
  if (out.empty()) give_up("the corpus is empty");
  return out;
}

/// The quoted tokens of a libFuzzer dictionary: "text" or name="text", with \\, \" and \xAB.
std::vector<std::string> read_dictionary(const std::filesystem::path& path) {
  std::vector<std::string> out;
  if (path.empty() || !std::filesystem::exists(path)) return out;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const std::size_t begin = line.find('"'), end = line.rfind('"');
    if (line.starts_with('#') || begin == std::string::npos || begin == end) continue;
    std::string token;
    for (std::size_t i = begin + 1; i < end; ++i) {
      if (line[i] == '\\' && line[i + 1] == 'x') {
        token += static_cast<char>(std::stoi(line.substr(i + 2, 2), nullptr, 16));
        i += 3;
      } else {
        if (line[i] == '\\') ++i;
        token += line[i];
      }
    }
    out.push_back(std::move(token));
  }
  return out;
}

/// Makes new inputs from old ones. Each step is one typical way in which hostile input differs from valid input.
class Mutator {
 public:
  Mutator(const std::vector<std::string>& corpus, const std::vector<std::string>& dictionary, std::uint64_t seed)
      : corpus_(corpus), dictionary_(dictionary), random_(seed) {}

  std::string next() {
    std::string text = pick(corpus_);
    for (std::size_t steps = 1 + random_.below(6); steps > 0; --steps) mutate(text);
    if (text.size() > kInputBytesMax) text.resize(kInputBytesMax);
    return text;
  }

 private:
  const std::string& pick(const std::vector<std::string>& from) { return from[random_.below(from.size())]; }
  std::size_t place(const std::string& text) { return random_.below(text.size() + 1); }

  void mutate(std::string& text) {
    const std::size_t at = place(text);
    switch (random_.below(9)) {
      case 0: flip(text); break;
      case 1: text.insert(at, 1, static_cast<char>(random_.below(256))); break;
      case 2: text.erase(at, 1 + random_.below(8)); break;
      case 3: text.resize(at); break;
      case 4: text.insert(at, token()); break;
      case 5: text.replace(at, std::min(random_.below(8), text.size() - at), token()); break;
      case 6: splice(text); break;
      case 7: repeat(text, at); break;
      default: move_part(text, at);
    }
  }

  void flip(std::string& text) {
    if (text.empty()) return;
    text[random_.below(text.size())] ^= static_cast<char>(1 << random_.below(8));
  }

  std::string token() {
    static const std::vector<std::string> kCommon = {std::string(1, '\0'),
                                                     "\xFF",
                                                     "\xC3",
                                                     "\xF0\x9F\x98\x80",
                                                     "\xEF\xBB\xBF",
                                                     "\xE2\x80\xA8",
                                                     "\r",
                                                     "\n",
                                                     "\r\n",
                                                     "\n\n",
                                                     "\t",
                                                     " ",
                                                     "\"",
                                                     "'",
                                                     "\\",
                                                     "0",
                                                     "-1",
                                                     "1e999",
                                                     "18446744073709551616",
                                                     "%00",
                                                     "../"};
    return dictionary_.empty() || random_.below(4) == 0 ? pick(kCommon) : pick(dictionary_);
  }

  /// Joins the head of this input with the tail of another.
  void splice(std::string& text) {
    const std::string& other = pick(corpus_);
    text = text.substr(0, place(text)) + other.substr(random_.below(other.size() + 1));
  }

  /// Repeats a part: few inputs are long by themselves, and quadratic time shows only in long ones.
  void repeat(std::string& text, std::size_t at) {
    const std::string part = random_.below(2) == 0 ? token() : text.substr(at, 1 + random_.below(16));
    std::string run;
    for (std::size_t times = std::size_t{1} << random_.below(12); times > 0 && run.size() < kInputBytesMax; --times) run += part;
    text.insert(at, run);
  }

  void move_part(std::string& text, std::size_t at) {
    const std::string part = text.substr(at, random_.below(32));
    text.insert(place(text), part);
  }

  const std::vector<std::string>& corpus_;
  const std::vector<std::string>& dictionary_;
  Random random_;
};

// The current input, for the crash handler, which may neither allocate nor lock.
std::string current;
std::string finding_path;
std::string report;

void keep_finding() {
  if (FILE* file = std::fopen(finding_path.c_str(), "wb")) {
    std::fwrite(current.data(), 1, current.size(), file);
    std::fclose(file);
  }
  std::fputs(report.c_str(), stderr);
}

void on_crash(int signal) {
  std::signal(signal, SIG_DFL);
  keep_finding();
  std::raise(signal);
}

/// Generous: the sanitizers make a program several times slower, and the machine may be busy.
constexpr unsigned kInputSeconds = 60;

void run(std::string input) {
  current = std::move(input);
  ::alarm(kInputSeconds);
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(current.data()), current.size());
}

}  // namespace

// A sanitizer report ends the process without a signal.
extern "C" void __sanitizer_set_death_callback(void (*callback)()) __attribute__((weak));

int main(int count, char** arguments) {
  const Options options = parse_options(count, arguments);
  const std::vector<std::string> corpus = read_corpus(options.inputs);
  const std::vector<std::string> dictionary = read_dictionary(options.dictionary);
  const std::string name = std::filesystem::path(options.program).filename().string();
  finding_path = std::filesystem::absolute(options.findings / (name + "-finding")).lexically_normal().string();
  report =
      name + ": a finding (seed " + std::to_string(options.seed) + "); run it again with\n  " + options.program + " " + finding_path + "\n";
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGALRM}) std::signal(signal, on_crash);
  if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(keep_finding);

  const auto end = std::chrono::steady_clock::now() + options.seconds;
  for (const std::string& file : corpus) run(file);
  Mutator mutator(corpus, dictionary, options.seed);
  std::size_t runs = 0;
  for (; runs < options.runs || std::chrono::steady_clock::now() < end; ++runs) run(mutator.next());
  rusage used{};
  (void)::getrusage(RUSAGE_SELF, &used);
  std::printf("%s: %zu corpus files, %zu mutations by seed %llu, peak %ld MB\n", name.c_str(), corpus.size(), runs,
              static_cast<unsigned long long>(options.seed), used.ru_maxrss / 1024);
  return 0;
}
