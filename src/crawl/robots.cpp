#include "crawl/robots.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/text.h"

namespace footnote::crawl {

namespace {

struct Line {
  std::string name;
  std::string_view value;
};

/// "Field: value # comment"; nullopt for anything else.
std::optional<Line> read_line(std::string_view line) {
  line = line.substr(0, line.find('#'));
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  return Line{to_lower_ascii(trim(line.substr(0, colon))), trim(line.substr(colon + 1))};
}

/// "footnote/1.0 (x)" -> "footnote"; "*" stays.
std::string product_token(std::string_view value) {
  if (value.starts_with('*')) return "*";
  std::size_t size = 0;
  while (size < value.size() && (is_ascii_alphanumeric(value[size]) || value[size] == '-' || value[size] == '_')) ++size;
  return to_lower_ascii(value.substr(0, size));
}

/// One spelling for a path: escapes of plain characters decoded, others in upper case, non-ASCII bytes escaped.
std::string normalised(std::string_view path) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  const auto is_plain = [](unsigned char c) {
    return is_ascii_alphanumeric(static_cast<char>(c)) || c == '-' || c == '.' || c == '_' || c == '~';
  };
  std::string out;
  out.reserve(path.size());
  for (std::size_t i = 0; i < path.size(); ++i) {
    auto byte = static_cast<unsigned char>(path[i]);
    const auto high = byte == '%' && i + 2 < path.size() ? hex_digit(path[i + 1]) : std::nullopt;
    const auto low = high ? hex_digit(path[i + 2]) : std::nullopt;
    const bool is_escape = high && low;
    if (is_escape) {
      byte = static_cast<unsigned char>(*high * 16 + *low);
      i += 2;
    }
    if ((is_escape && !is_plain(byte)) || byte >= 0x80) {
      out += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    } else {
      out += static_cast<char>(byte);
    }
  }
  return out;
}

/// Whether the pattern matches the start of the path, or with a last '$' all of it. Greedy: at most |pattern| * |path| steps.
bool matches(std::string_view pattern, std::string_view path) {
  const bool to_end = pattern.ends_with('$');
  if (to_end) pattern.remove_suffix(1);
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t star = std::string_view::npos;
  std::size_t resume = 0;
  while (true) {
    if (p == pattern.size() && (!to_end || t == path.size())) return true;
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && t < path.size() && pattern[p] == path[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos && resume < path.size()) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
}

}  // namespace

RobotsRules RobotsRules::disallow_all() {
  RobotsRules out;
  out.rules_.push_back({"/", false});
  return out;
}

RobotsRules RobotsRules::parse(std::string_view text, std::string_view product) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  if (text.size() > kRobotsBytesMax) text = text.substr(0, text.substr(0, kRobotsBytesMax).find_last_of("\r\n") + 1);
  RobotsRules ours;
  RobotsRules everyones;
  std::vector<std::string> sitemaps;
  const std::string name = to_lower_ascii(product);
  bool has_own_group = false;
  bool in_names = false;  // reading the user-agent lines of a group
  bool for_us = false;
  bool for_all = false;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of("\r\n"), text.size());
    const auto line = read_line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line) continue;
    if (line->name == "sitemap") {
      if (sitemaps.size() < kRobotsSitemapsMax && !line->value.empty()) sitemaps.emplace_back(line->value);
    } else if (line->name == "user-agent") {
      const std::string token = product_token(line->value);
      for_us = (in_names && for_us) || token == name;
      for_all = (in_names && for_all) || token == "*";
      has_own_group |= token == name;
      in_names = true;
    } else if (line->name == "allow" || line->name == "disallow" || line->name == "crawl-delay") {
      in_names = false;
      for (auto [applies, rules] : {std::pair{for_us, &ours}, std::pair{for_all, &everyones}}) {
        if (!applies) continue;
        if (line->name == "crawl-delay") {
          double seconds = 0;
          const auto read = std::from_chars(line->value.data(), line->value.data() + line->value.size(), seconds);
          if (read.ec != std::errc{} || !(seconds > 0)) continue;
          seconds = std::min(seconds, static_cast<double>(kCrawlDelayMax.count()));
          rules->crawl_delay_ = std::chrono::milliseconds{static_cast<std::int64_t>(seconds * 1000)};
        } else if (!line->value.empty()) {
          rules->rules_.push_back({normalised(line->value), line->name == "allow"});
        }
      }
    }
  }
  RobotsRules out = has_own_group ? std::move(ours) : std::move(everyones);
  out.sitemaps_ = std::move(sitemaps);
  return out;
}

bool RobotsRules::allows(std::string_view path) const {
  if (path == "/robots.txt") return true;
  const std::string text = normalised(path);
  std::size_t longest = 0;
  bool allowed = true;
  for (const Rule& rule : rules_) {
    if (rule.pattern.size() < longest || !matches(rule.pattern, text)) continue;
    allowed = rule.pattern.size() == longest && longest != 0 ? allowed || rule.allow : rule.allow;
    longest = rule.pattern.size();
  }
  return allowed;
}

RobotsTag read_robots_tag(std::string_view text, std::string_view product) {
  RobotsTag out;
  bool ours = true;
  for (const std::string_view part : split(text, ',')) {
    std::string directive = to_lower_ascii(trim(part));
    // "otherbot: noindex" names its crawler; a value such as "max-snippet: 5" has a colon too, and means nothing here.
    if (const std::size_t colon = directive.find(':'); colon != std::string::npos) {
      const std::string name(trim(std::string_view(directive).substr(0, colon)));
      if (name.starts_with("max-") || name == "unavailable_after") continue;
      ours = name == to_lower_ascii(product);
      directive = trim(std::string_view(directive).substr(colon + 1));
    }
    if (!ours) continue;
    if (directive == "noindex" || directive == "none") out.index = false;
    if (directive == "nofollow" || directive == "none") out.follow = false;
  }
  return out;
}

}  // namespace footnote::crawl
