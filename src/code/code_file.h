#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/call_context.h"
#include "code/schema_change.h"
#include "code/unit.h"

namespace footnote::code {

/// Bump whenever the same bytes would give other units, so that files read by an older build are read again.
inline constexpr int kCodeVersion = 1;

enum class Language {
  kNone,  ///< Not read here.
  kPhp,
  kTypeScript,
  kJavaScript,
  kVue,
  kPython,
  kGo,
  kJava,
  kRust,
  kC,
  kCpp,
  kSwift,
  kJson,
  kYaml,
  kMarkdown,
  kRuby,  ///< A Podfile alone.
};

/// "php", "typescript" ...; "" for kNone.
std::string_view to_string(Language language);

/// What a file is read as, by its path within the project; the path alone decides.
struct Detected {
  Language language = Language::kNone;
  /// What its units are unless their content says more.
  SourceType type = SourceType::kSymbol;
};
Detected detect(std::string_view path);

/// A file as the project's memory sees it. A pure function of its path and bytes.
struct CodeFile {
  Language language = Language::kNone;
  /// UTF-8, LF, no byte-order mark. Ranges count its bytes; its lines are the file's.
  std::string text;
  std::vector<Unit> units;            ///< In the order of the source.
  std::vector<SchemaChange> schema;   ///< What a migration's up() does, in order.
  std::vector<std::string> warnings;  ///< For people: broken syntax, units left out.
};

/// Reads a file. Broken syntax gives the units that can be told and a warning. kUnsupported, with a reason for people: not a language that
/// is read here, binary, minified or generated. kTooLarge, kDeadlineExceeded, kCancelled: see syntax::parse.
Result<CodeFile> read_code(std::string_view path, std::string_view bytes, const CallContext& call = {});

}  // namespace footnote::code
