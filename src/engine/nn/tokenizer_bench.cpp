// Speed of a tokenizer on lines of text, and its tokens for comparison; driven by bench/peers/tokenizers.py.
//   tokenizer_bench MODEL_FOLDER LINES            for each line on standard input: tokenizes all, prints the seconds
//   tokenizer_bench MODEL_FOLDER LINES OUT        writes count, ids, begins and ends of each line as 32-bit numbers
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "engine/nn/tokenizer_files.h"

namespace {

using footnote::nn::Tokenizer;
using footnote::nn::Tokens;

void put(std::string& out, std::uint32_t value) { out.append(reinterpret_cast<const char*>(&value), sizeof value); }

std::string tokens_of(const Tokenizer& tokenizer, const std::vector<std::string_view>& lines) {
  std::string out;
  Tokens tokens;
  for (const std::string_view line : lines) {
    tokenizer.tokenize_into(line, Tokenizer::kNoLimit, footnote::nn::Specials::kRecognise, tokens);
    put(out, static_cast<std::uint32_t>(tokens.ids.size()));
    for (const std::uint32_t id : tokens.ids) put(out, id);
    for (const auto& range : tokens.ranges) put(out, range.begin);
    for (const auto& range : tokens.ranges) put(out, range.end);
  }
  return out;
}

double seconds_of(const Tokenizer& tokenizer, const std::vector<std::string_view>& lines) {
  const auto begin = std::chrono::steady_clock::now();
  std::size_t count = 0;
  for (const std::string_view line : lines) count += tokenizer.tokenize(line).ids.size();
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
  return count == 0 ? 0 : time.count();
}

int fail(const footnote::Error& error) {
  fmt::print(stderr, "{}\n", error.message);
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr, "usage: {} MODEL_FOLDER LINES [OUT]\n", argv[0]);
    return 2;
  }
  const auto tokenizer = footnote::nn::open_tokenizer(argv[1]);
  if (!tokenizer) return fail(tokenizer.error());
  const auto text = footnote::read_file(argv[2], std::uint64_t{1} << 32);
  if (!text) return fail(text.error());
  // Lines end with U+0000, so that they may contain any other character.
  auto lines = footnote::split(*text, '\0');
  if (!lines.empty() && lines.back().empty()) lines.pop_back();
  if (argc > 3) {
    const auto written = footnote::write_file_atomically(argv[3], tokens_of(**tokenizer, lines));
    return written ? 0 : fail(written.error());
  }
  for (std::string command; std::getline(std::cin, command);) {
    fmt::print("{:.6f}\n", seconds_of(**tokenizer, lines));
    std::fflush(stdout);
  }
  return 0;
}
