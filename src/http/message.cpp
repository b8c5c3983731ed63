#include "http/message.h"

#include <algorithm>

#include "base/text.h"

namespace footnote::http {

namespace {

constexpr std::pair<Method, std::string_view> kMethodNames[] = {
    {Method::kGet, "GET"},     {Method::kHead, "HEAD"},     {Method::kPost, "POST"},      {Method::kPut, "PUT"},
    {Method::kPatch, "PATCH"}, {Method::kDelete, "DELETE"}, {Method::kOptions, "OPTIONS"}};

bool same_name(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) { return ascii_lower(x) == ascii_lower(y); });
}

std::optional<std::string_view> find_exact(const NameValues& values, std::string_view name) {
  const auto found = std::ranges::find(values, name, [](const auto& pair) { return std::string_view(pair.first); });
  if (found == values.end()) return std::nullopt;
  return found->second;
}

}  // namespace

std::string_view to_string(Method method) {
  for (const auto& [value, name] : kMethodNames) {
    if (value == method) return name;
  }
  return "GET";
}

std::optional<Method> parse_method(std::string_view name) {
  for (const auto& [value, text] : kMethodNames) {
    if (text == name) return value;
  }
  return std::nullopt;
}

std::optional<std::string_view> Headers::find(std::string_view name) const {
  for (const auto& [field, value] : fields_) {
    if (same_name(field, name)) return value;
  }
  return std::nullopt;
}

std::size_t Headers::count(std::string_view name) const {
  return static_cast<std::size_t>(std::ranges::count_if(fields_, [&](const auto& field) { return same_name(field.first, name); }));
}

void Headers::set(std::string_view name, std::string_view value) {
  // The value may be a view into a field that is about to be removed.
  std::string kept(value);
  remove(name);
  fields_.emplace_back(name, std::move(kept));
}

void Headers::add(std::string_view name, std::string_view value) { fields_.emplace_back(name, value); }

void Headers::remove(std::string_view name) {
  std::erase_if(fields_, [&](const auto& field) { return same_name(field.first, name); });
}

std::string_view Request::param(std::string_view name) const { return find_exact(path_params, name).value_or(""); }

std::optional<std::string_view> Request::query_value(std::string_view name) const { return find_exact(query, name); }

Response Response::json(int status, const Json& value) { return text(status, "application/json", to_text(value)); }

Response Response::text(int status, std::string_view content_type, std::string body) {
  Response response;
  response.status = status;
  response.headers.add("content-type", content_type);
  response.body = std::move(body);
  return response;
}

std::string_view reason_phrase(int status) {
  static constexpr std::pair<int, std::string_view> kPhrases[] = {{100, "Continue"},
                                                                  {101, "Switching Protocols"},
                                                                  {200, "OK"},
                                                                  {201, "Created"},
                                                                  {202, "Accepted"},
                                                                  {204, "No Content"},
                                                                  {206, "Partial Content"},
                                                                  {207, "Multi-Status"},
                                                                  {301, "Moved Permanently"},
                                                                  {302, "Found"},
                                                                  {303, "See Other"},
                                                                  {304, "Not Modified"},
                                                                  {307, "Temporary Redirect"},
                                                                  {308, "Permanent Redirect"},
                                                                  {400, "Bad Request"},
                                                                  {401, "Unauthorized"},
                                                                  {402, "Payment Required"},
                                                                  {403, "Forbidden"},
                                                                  {404, "Not Found"},
                                                                  {405, "Method Not Allowed"},
                                                                  {406, "Not Acceptable"},
                                                                  {408, "Request Timeout"},
                                                                  {409, "Conflict"},
                                                                  {410, "Gone"},
                                                                  {411, "Length Required"},
                                                                  {412, "Precondition Failed"},
                                                                  {413, "Content Too Large"},
                                                                  {414, "URI Too Long"},
                                                                  {415, "Unsupported Media Type"},
                                                                  {416, "Range Not Satisfiable"},
                                                                  {417, "Expectation Failed"},
                                                                  {421, "Misdirected Request"},
                                                                  {422, "Unprocessable Content"},
                                                                  {424, "Failed Dependency"},
                                                                  {425, "Too Early"},
                                                                  {426, "Upgrade Required"},
                                                                  {428, "Precondition Required"},
                                                                  {429, "Too Many Requests"},
                                                                  {431, "Request Header Fields Too Large"},
                                                                  {499, "Client Closed Request"},
                                                                  {500, "Internal Server Error"},
                                                                  {501, "Not Implemented"},
                                                                  {502, "Bad Gateway"},
                                                                  {503, "Service Unavailable"},
                                                                  {504, "Gateway Timeout"},
                                                                  {505, "HTTP Version Not Supported"},
                                                                  {507, "Insufficient Storage"}};
  for (const auto& [code, phrase] : kPhrases) {
    if (code == status) return phrase;
  }
  return "Unknown";
}

}  // namespace footnote::http
