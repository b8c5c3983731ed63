#include <array>
#include <utility>

#include "base/text.h"
#include "code/code_file.h"

namespace footnote::code {
namespace {

constexpr std::array<std::string_view, 16> kLanguageNames = {
    "", "php", "typescript", "javascript", "vue", "python", "go", "java", "rust", "c", "cpp", "swift", "json", "yaml", "markdown", "ruby"};

constexpr std::pair<std::string_view, Language> kLanguageSuffixes[] = {{".php", Language::kPhp},
                                                                       {".ts", Language::kTypeScript},
                                                                       {".mts", Language::kTypeScript},
                                                                       {".cts", Language::kTypeScript},
                                                                       {".tsx", Language::kJavaScript},
                                                                       {".js", Language::kJavaScript},
                                                                       {".jsx", Language::kJavaScript},
                                                                       {".mjs", Language::kJavaScript},
                                                                       {".cjs", Language::kJavaScript},
                                                                       {".vue", Language::kVue},
                                                                       {".py", Language::kPython},
                                                                       {".go", Language::kGo},
                                                                       {".java", Language::kJava},
                                                                       {".rs", Language::kRust},
                                                                       {".c", Language::kC},
                                                                       {".h", Language::kCpp},
                                                                       {".cc", Language::kCpp},
                                                                       {".cpp", Language::kCpp},
                                                                       {".cxx", Language::kCpp},
                                                                       {".hpp", Language::kCpp},
                                                                       {".hh", Language::kCpp},
                                                                       {".swift", Language::kSwift},
                                                                       {".json", Language::kJson},
                                                                       {".yaml", Language::kYaml},
                                                                       {".yml", Language::kYaml},
                                                                       {".md", Language::kMarkdown},
                                                                       {".mdc", Language::kMarkdown},
                                                                       {".markdown", Language::kMarkdown}};

/// Written by tools, of no use to a reader.
constexpr std::string_view kLockFiles[] = {"package-lock.json", "composer.lock", "yarn.lock", "pnpm-lock.yaml", "npm-shrinkwrap.json"};

SourceType prose_type(std::string_view path, std::string_view name) {
  const std::string lower = to_lower_ascii(name);
  if (path.starts_with(".cursor/rules/")) return SourceType::kCursorRule;
  if (path.starts_with(".claude/") || lower == "claude.md") return SourceType::kClaudeRule;
  if (lower == "known_bugs.md" || lower == "known-bugs.md") return SourceType::kKnownBug;
  if (path.find("adr/") != std::string_view::npos || path.find("decisions/") != std::string_view::npos) return SourceType::kAdr;
  if (lower.starts_with("readme")) return SourceType::kReadme;
  return SourceType::kDoc;
}

}  // namespace

std::string_view to_string(Language language) { return kLanguageNames[static_cast<std::size_t>(language)]; }

Detected detect(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  for (const std::string_view lock : kLockFiles) {
    if (name == lock) return {};
  }
  if (name == "Podfile") return {Language::kRuby, SourceType::kPackage};
  if (name == "Package.swift") return {Language::kSwift, SourceType::kPackage};
  if (name == "README") return {Language::kMarkdown, SourceType::kReadme};
  for (const auto& [suffix, language] : kLanguageSuffixes) {
    if (name.size() <= suffix.size() || !name.ends_with(suffix)) continue;
    Detected out{language, SourceType::kSymbol};
    if (language == Language::kMarkdown) out.type = prose_type(path, name);
    if (name == "composer.json" || name == "package.json") {
      out.type = SourceType::kPackage;
    } else if (language == Language::kJson || language == Language::kYaml) {
      out.type = SourceType::kConfig;
    }
    if (language == Language::kPhp && (path.starts_with("config/") || path.find("/config/") != std::string_view::npos))
      out.type = SourceType::kConfig;
    return out;
  }
  return {};
}

}  // namespace footnote::code
