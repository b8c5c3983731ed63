// The readable text of web pages, and the time that it takes: html_bench [--rounds N] FILE... prints a JSON object for each file.
#include <chrono>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/text.h"
#include "engine/html/extract.h"

int main(int count, char** arguments) {
  using namespace footnote;
  int rounds = 1;
  std::vector<std::string> files;
  for (int i = 1; i < count; ++i) {
    if (std::string_view(arguments[i]) == "--rounds" && i + 1 < count) {
      rounds = parse_whole_number<int>(arguments[++i]).value_or(1);
    } else {
      files.emplace_back(arguments[i]);
    }
  }
  for (const std::string& file : files) {
    std::ostringstream content;
    content << std::ifstream(file, std::ios::binary).rdbuf();
    const std::string page = content.str();
    const auto begin = std::chrono::steady_clock::now();
    Result<html::Page> read = html::extract(page);
    for (int round = 1; round < rounds && read; ++round) read = html::extract(page);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    if (!read) {
      std::fprintf(stderr, "%s: %s\n", file.c_str(), read.error().message.c_str());
      return 1;
    }
    const JsonObject out{{"file", file}, {"text", read->text}, {"title", read->title}, {"seconds", took.count() / rounds}};
    std::puts(to_text(out).c_str());
  }
  return 0;
}
