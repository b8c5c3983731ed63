#pragma once

#include <cstdint>

#include "base/result.h"
#include "engine/sql/database.h"

namespace footnote {

/// "Foot" in the file's header marks a Footnote database.
inline constexpr std::int32_t kApplicationId = 0x466F6F74;

/// The newest schema version of this build.
std::int32_t newest_schema();

/// Upgrades the schema, one transaction per step: a crash leaves either the old or the new schema. kFailedPrecondition: a newer footnote
/// wrote the file, or it belongs to another program; nothing was changed. REQUIRES: no other connection to the file.
Result<void> migrate(sql::Database& database);

}  // namespace footnote
