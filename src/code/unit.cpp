#include "code/unit.h"

#include "base/sha256.h"
#include "base/text.h"

namespace footnote::code {

std::string_view last_name(std::string_view symbol) {
  const std::size_t at = symbol.find_last_of("\\:.#/");
  return at == std::string_view::npos ? symbol : symbol.substr(at + 1);
}

std::string chunk_text(const Unit& unit, std::string_view file_text) {
  const std::string_view body =
      unit.range.size() == 0 ? std::string_view(unit.own_text) : file_text.substr(unit.range.begin, unit.range.size());
  if (unit.header.empty()) return std::string(body);
  std::string out = unit.header;
  out += '\n';
  out += body;
  return out;
}

std::string chunk_hash(std::string_view chunk_text) {
  std::string normal;
  for (std::string_view line : split(chunk_text, '\n')) {
    while (!line.empty() && is_ascii_space(line.back())) line.remove_suffix(1);
    if (line.empty() && normal.empty()) continue;
    normal += line;
    normal += '\n';
  }
  while (!normal.empty() && normal.back() == '\n') normal.pop_back();
  return sha256_hex(normal);
}

}  // namespace footnote::code
