#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/call_context.h"
#include "base/result.h"
#include "domain/ids.h"

namespace footnote::code {

/// Values nested deeper are left out.
inline constexpr int kDataDepthMax = 40;

/// A JSON or YAML value with its place in the file.
struct DataNode {
  enum class Kind { kScalar, kList, kMap };
  Kind kind = Kind::kScalar;
  std::string scalar;
  std::vector<DataNode> items;
  std::vector<std::pair<std::string, DataNode>> members;  ///< In the order of the file.
  TextRange range;                                        ///< A member's with its key.
  int first_line = 1;
  int last_line = 1;

  /// The member; null if there is none or this is no map.
  const DataNode* find(std::string_view key) const;
};

enum class DataFormat { kJson, kYaml };

/// Errors of syntax::parse; broken text gives what can be told. YAML: the first document; anchors and tags are not resolved.
Result<DataNode> read_data(DataFormat format, std::string_view text, const CallContext& call);

}  // namespace footnote::code
