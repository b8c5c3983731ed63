#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "code/source_type.h"
#include "domain/ids.h"

namespace footnote::code {

/// A chunk has about this many tokens at most (4 bytes each); longer code is split between statements, longer prose between paragraphs.
inline constexpr std::size_t kChunkBytesMax = 4'800;
/// Shorter prose joins its neighbour.
inline constexpr std::size_t kProseBytesMin = 800;
/// What a piece of a long section of prose repeats of the piece before it.
inline constexpr std::size_t kProseOverlapBytes = 800;
/// Of one file and of one unit. More are left out, with a warning.
inline constexpr std::size_t kUnitsMax = 5'000;
inline constexpr std::size_t kReferencesMax = 128;
/// Longer symbols are cut.
inline constexpr std::size_t kSymbolBytesMax = 300;

/// What a unit says about another one. Targets are names; graph.h finds the units that have them.
enum class RefKind {
  kHandler,    ///< A route's handler: "App\C::method", or "App\C" for an invokable controller.
  kClass,      ///< A class that is used, by its full name.
  kParameter,  ///< A class that is the type of a parameter.
  kName,       ///< A definition that is called or named, by its last name.
  kTable,      ///< A model's table.
  kRelation,   ///< A relation's model, by its full name.
  kCreates,    ///< A migration's tables ...
  kAlters,
  kDrops,
  kForeignKey,  ///< A table's.
  kHandles,     ///< A listener's event.
  kGuards,      ///< A policy's model.
  kTests,       ///< A test's class.
  kMentions,    ///< What a section of prose names: a symbol, a route or a path.
  kOperation,   ///< An operation's route: "GET /invoices/{}".
};
inline constexpr int kRefKinds = static_cast<int>(RefKind::kOperation) + 1;

struct Reference {
  RefKind kind = RefKind::kName;
  std::string target;
  std::string from = {};  ///< Another unit's symbol: a provider says which listener handles what. Empty: this unit.

  auto operator<=>(const Reference&) const = default;
};

/// Facts about a unit by name, for its metadata: {"uri": ["/invoices"], "middleware": ["web", "auth"]}.
using Facts = std::map<std::string, std::vector<std::string>, std::less<>>;

/// A node of the code base: one definition, route, section ... A unit that has a range is a chunk; a unit split because it is too long is
/// several chunks of the same symbol (`part`).
struct Unit {
  SourceType type = SourceType::kSymbol;
  std::string kind;    ///< "class", "method", "function", "group" ...; empty where the type says it all.
  std::string symbol;  ///< The full name, unique in its file and type: "App\Models\Invoice::lines".
  std::string header;  ///< Makes the chunk readable on its own; comes before its text.
  TextRange range;     ///< In CodeFile::text. Empty: the text is `own_text`.
  int first_line = 1;
  int last_line = 1;
  int part = 0;
  std::string own_text;  ///< The text of a unit that is no part of its file: a table.
  Facts facts;
  std::vector<Reference> references;
};

/// The last part of a name: "lines" of "App\Models\Invoice::lines".
std::string_view last_name(std::string_view symbol);
/// What is embedded and shown for a unit: its header, a line end, its text.
std::string chunk_text(const Unit& unit, std::string_view file_text);
/// SHA-256 of the normalised chunk text: LF, no trailing blanks, no leading or final empty lines.
std::string chunk_hash(std::string_view chunk_text);

}  // namespace footnote::code
