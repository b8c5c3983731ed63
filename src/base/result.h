#pragma once

#include <expected>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"

namespace footnote {

/// A value or an Error. Expected failures are values; our code does not throw.
template <class T>
using Result = std::expected<T, Error>;

/// Makes the error of a Result: `return fail(ErrorCode::kNotFound, "no corpus named '{}'", name);`
template <class... Args>
std::unexpected<Error> fail(ErrorCode code, fmt::format_string<Args...> format, Args&&... args) {
  return std::unexpected(Error{code, fmt::format(format, std::forward<Args>(args)...), {}});
}

/// fail() that also names the invalid input field.
template <class... Args>
std::unexpected<Error> fail_field(ErrorCode code, std::string_view field, fmt::format_string<Args...> format, Args&&... args) {
  return std::unexpected(Error{code, fmt::format(format, std::forward<Args>(args)...), std::string(field)});
}

/// An error whose message is only for the operator: callers of the server see `shown` instead.
inline std::unexpected<Error> with_public_message(std::unexpected<Error> failed, std::string_view shown) {
  Error error = std::move(failed).error();
  error.public_message = shown;
  return std::unexpected(std::move(error));
}

/// Prefixes an error's message while it is passed up, and keeps its code: `read config: no such file`. In the path of a request, `context`
/// must not name a path or host: callers see it too.
inline std::unexpected<Error> with_context(Error error, std::string_view context) {
  error.message = fmt::format("{}: {}", context, error.message);
  if (!error.public_message.empty()) error.public_message = fmt::format("{}: {}", context, error.public_message);
  return std::unexpected(std::move(error));
}

}  // namespace footnote

#define FOOTNOTE_CONCAT_(a, b) a##b
#define FOOTNOTE_CONCAT(a, b) FOOTNOTE_CONCAT_(a, b)
#define FOOTNOTE_TRY_IMPL_(tmp, decl, ...)                  \
  auto tmp = (__VA_ARGS__);                                 \
  if (!tmp) return std::unexpected(std::move(tmp).error()); \
  decl = *std::move(tmp)

/// Unwraps a Result or returns its error: `FOOTNOTE_TRY(auto rows, store.rows(call));` One per line.
#define FOOTNOTE_TRY(decl, ...) FOOTNOTE_TRY_IMPL_(FOOTNOTE_CONCAT(try_, __LINE__), decl, __VA_ARGS__)

#define FOOTNOTE_CHECK_IMPL_(checked, ...)                                                          \
  do {                                                                                              \
    if (auto checked = (__VA_ARGS__); !checked) return std::unexpected(std::move(checked).error()); \
  } while (false)

/// The same for a Result<void>, or where the value is not needed. May be nested.
#define FOOTNOTE_CHECK(...) FOOTNOTE_CHECK_IMPL_(FOOTNOTE_CONCAT(checked_, __COUNTER__), __VA_ARGS__)
