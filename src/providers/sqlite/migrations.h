#pragma once

#include <cstdint>

#include "base/result.h"
#include "engine/sql/database.h"

namespace footnote {

/// "Foot" in the file's header: this database is ours.
inline constexpr std::int32_t kApplicationId = 0x466F6F74;

/// The number of the newest schema that this build knows.
std::int32_t newest_schema();

/// Brings the schema up to date, one transaction a step: a crash leaves a whole older schema or a whole newer one.
/// kFailedPrecondition: a newer footnote wrote the file, or it holds somebody else's tables; nothing was changed.
/// REQUIRES: no other connection to the file.
Result<void> migrate(sql::Database& database);

}  // namespace footnote
