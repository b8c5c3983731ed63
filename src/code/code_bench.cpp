// Reads every file below a folder as project memory does: files a second, units by type, and what is not read.
//   code_bench FOLDER...
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include <fmt/format.h>

#include "code/graph.h"

int main(int count, char** arguments) {
  using namespace footnote;
  for (int i = 1; i < count; ++i) {
    const std::filesystem::path root = arguments[i];
    std::map<std::string, std::size_t> types;
    std::map<std::string, std::size_t> refused;
    std::size_t files = 0;
    std::size_t bytes = 0;
    std::size_t warnings = 0;
    std::chrono::duration<double> spent{};
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
      const std::string path = std::filesystem::relative(entry.path(), root).generic_string();
      if (!entry.is_regular_file() || code::detect(path).language == code::Language::kNone) continue;
      std::ifstream in(entry.path(), std::ios::binary);
      std::ostringstream text;
      text << in.rdbuf();
      const auto start = std::chrono::steady_clock::now();
      const auto file = code::read_code(path, text.str());
      spent += std::chrono::steady_clock::now() - start;
      ++files;
      bytes += text.str().size();
      if (!file) {
        ++refused[file.error().message.substr(0, file.error().message.find(':'))];
        continue;
      }
      warnings += file->warnings.empty() ? 0 : 1;
      for (const code::Unit& unit : file->units) ++types[std::string(to_string(unit.type))];
    }
    fmt::print("{}: {} files, {} bytes, {:.0f} files/s, {} with broken syntax\n", root.string(), files, bytes,
               static_cast<double>(files) / spent.count(), warnings);
    for (const auto& [type, units] : types) fmt::print("  {} {}\n", units, type);
    for (const auto& [reason, skipped] : refused) fmt::print("  not read: {} {}\n", skipped, reason);
  }
}
