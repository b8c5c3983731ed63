#include "http/router.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "base/text.h"
#include "http/url.h"

namespace footnote::http {

namespace {

bool has_handler(const Route& route) {
  return std::visit([](const auto& handler) { return static_cast<bool>(handler); }, route.handler);
}

/// The segments of an encoded path, decoded one by one. The first starts after the leading slash.
Result<std::vector<std::string>> split_path(std::string_view path) {
  if (!path.starts_with('/')) return fail(ErrorCode::kInvalidArgument, "the path does not start with '/'");
  std::vector<std::string> out;
  for (const std::string_view part : split(path.substr(1), '/')) {
    FOOTNOTE_TRY(std::string segment, percent_decode(part));
    out.push_back(std::move(segment));
  }
  if (out.empty()) out.emplace_back();
  return out;
}

/// True if a path that is passed on whole could escape a folder: "..%2f" decodes to a slash.
bool could_escape_folder(const std::vector<std::string>& segments, std::size_t from) {
  for (std::size_t i = from; i < segments.size(); ++i) {
    for (const std::string_view part : split(segments[i], '/')) {
      if (part == ".." || part == ".") return true;
    }
    if (segments[i].find('\\') != std::string::npos) return true;
  }
  return false;
}

void allow(std::vector<Method>& allowed, Method method) {
  allowed.push_back(method);
  if (method == Method::kGet) allowed.push_back(Method::kHead);
}

}  // namespace

std::string render_allow(const std::vector<Method>& methods) {
  std::string out;
  for (const Method method : methods) {
    if (!out.empty()) out += ", ";
    out += to_string(method);
  }
  return out;
}

Result<Router::Pattern> Router::parse_pattern(std::string_view pattern) {
  if (!pattern.starts_with('/')) return fail(ErrorCode::kInvalidArgument, "route '{}' does not start with '/'", pattern);
  Pattern out;
  std::set<std::string> names;
  const std::vector<std::string_view> parts = split(pattern.substr(1), '/');
  for (std::size_t i = 0; i < parts.size(); ++i) {
    std::string_view part = parts[i];
    const bool braced = part.starts_with('{') && part.ends_with('}');
    if (!braced) {
      if (part.find_first_of("{}") != std::string_view::npos) {
        return fail(ErrorCode::kInvalidArgument, "route '{}': a parameter must fill its segment", pattern);
      }
      out.push_back({Segment::Kind::kLiteral, std::string(part)});
      continue;
    }
    std::string_view name = part.substr(1, part.size() - 2);
    const bool rest = name.ends_with("...");
    if (rest) name.remove_suffix(3);
    if (rest && i + 1 != parts.size()) {
      return fail(ErrorCode::kInvalidArgument, "route '{}': '{}' must come last", pattern, part);
    }
    if (name.empty() || !names.insert(std::string(name)).second) {
      return fail(ErrorCode::kInvalidArgument, "route '{}': an empty or repeated parameter name", pattern);
    }
    out.push_back({rest ? Segment::Kind::kRest : Segment::Kind::kOne, std::string(name)});
  }
  if (out.empty()) out.push_back({Segment::Kind::kLiteral, ""});
  return out;
}

std::string Router::shape_of(const Pattern& pattern) {
  std::string out;
  for (const Segment& segment : pattern) {
    out += '/';
    switch (segment.kind) {
      case Segment::Kind::kLiteral: out += segment.text; break;
      case Segment::Kind::kOne: out += "{}"; break;
      case Segment::Kind::kRest: out += "{...}"; break;
    }
  }
  return out;
}

bool Router::more_specific(const Pattern& a, const Pattern& b) {
  const auto by_kind = [](const Segment& x, const Segment& y) { return x.kind < y.kind; };
  // Compare kinds segment by segment; with equal prefixes the longer pattern is more specific.
  const std::size_t common = std::min(a.size(), b.size());
  for (std::size_t i = 0; i < common; ++i) {
    if (by_kind(a[i], b[i])) return true;
    if (by_kind(b[i], a[i])) return false;
  }
  return a.size() > b.size();
}

Result<Router> Router::build(std::vector<Route> routes) {
  std::vector<Pattern> patterns;
  std::set<std::pair<Method, std::string>> seen;
  for (const Route& route : routes) {
    FOOTNOTE_TRY(Pattern pattern, parse_pattern(route.pattern));
    if (!has_handler(route)) return fail(ErrorCode::kInvalidArgument, "route '{}' has no handler", route.pattern);
    if (route.lane == Lane::kInline && std::holds_alternative<StreamHandler>(route.handler)) {
      return fail(ErrorCode::kInvalidArgument, "route '{}': a stream can't run on the I/O thread", route.pattern);
    }
    if (!seen.emplace(route.method, shape_of(pattern)).second) {
      return fail(ErrorCode::kAlreadyExists, "two routes for {} {}", to_string(route.method), route.pattern);
    }
    patterns.push_back(std::move(pattern));
  }
  std::vector<std::size_t> order(routes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  // Equal routes keep their order. Not stable_sort: clang reports a deprecated function inside this standard library.
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    if (more_specific(patterns[a], patterns[b])) return true;
    return !more_specific(patterns[b], patterns[a]) && a < b;
  });
  Router router;
  for (const std::size_t i : order) {
    router.routes_.push_back(std::move(routes[i]));
    router.patterns_.push_back(std::move(patterns[i]));
  }
  return router;
}

bool Router::fits(const Pattern& pattern, const std::vector<std::string>& segments, NameValues* params) {
  const bool open_end = pattern.back().kind == Segment::Kind::kRest;
  if (open_end ? segments.size() < pattern.size() : segments.size() != pattern.size()) return false;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i].kind == Segment::Kind::kLiteral && pattern[i].text != segments[i]) return false;
    if (pattern[i].kind == Segment::Kind::kOne && segments[i].empty()) return false;
  }
  if (open_end && could_escape_folder(segments, pattern.size() - 1)) return false;
  if (params == nullptr) return true;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i].kind == Segment::Kind::kLiteral) continue;
    std::string value = segments[i];
    for (std::size_t k = i + 1; open_end && i + 1 == pattern.size() && k < segments.size(); ++k) value += "/" + segments[k];
    params->emplace_back(pattern[i].text, std::move(value));
  }
  return true;
}

Result<RouteMatch> Router::match(Method method, std::string_view path) const {
  FOOTNOTE_TRY(const std::vector<std::string> segments, split_path(path));
  RouteMatch match;
  for (std::size_t i = 0; i < routes_.size(); ++i) {
    if (!fits(patterns_[i], segments, nullptr)) continue;
    const Method served = routes_[i].method;
    const bool head_by_get = method == Method::kHead && served == Method::kGet;
    if (served == method || (head_by_get && match.route == nullptr)) {
      match.route = &routes_[i];
      match.path_params.clear();
      fits(patterns_[i], segments, &match.path_params);
      if (served == method) return match;
      continue;
    }
    allow(match.allowed, served);
  }
  if (match.route != nullptr) {
    match.allowed.clear();
  } else if (!match.allowed.empty()) {
    match.allowed.push_back(Method::kOptions);
    std::ranges::sort(match.allowed);
    const auto repeated = std::ranges::unique(match.allowed);
    match.allowed.erase(repeated.begin(), repeated.end());
  }
  return match;
}

}  // namespace footnote::http
