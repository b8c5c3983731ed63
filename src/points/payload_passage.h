#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/json_path.h"

namespace footnote::points {

/// What a payload says about its passage. Empty where it says nothing.
struct PayloadPassage {
  std::string text;
  std::string title;
  std::string url;
};

/// Reads the passage from the first of `text_keys` that holds a text; without `text_keys`, from the keys that clients use: `text`,
/// `page_content`, `content`, `data`, `document`, or the `text` inside the JSON of `_node_content`. `title` and `url` may also be below
/// `metadata`, where a `source` that is a web address counts as the `url`.
PayloadPassage passage_of(const JsonObject& payload, std::span<const JsonPath> text_keys = {});

/// The paths that a collection's settings name as "payload_text_keys"; empty: the usual ones.
std::vector<JsonPath> text_keys_of(const JsonObject& config);

}  // namespace footnote::points
