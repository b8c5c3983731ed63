#pragma once

#include <cstddef>
#include <vector>

#include "engine/html/dom.h"
#include "engine/html/extract.h"

namespace footnote::html {

/// The amount of text in an element, and how much of it is in links, in bytes without white space.
struct TextWeight {
  std::size_t text = 0;
  std::size_t link = 0;
  std::size_t own() const { return text - link; }
  double link_density() const { return text == 0 ? 0.0 : static_cast<double>(link) / static_cast<double>(text); }
};

/// Measures a page once, then decides what to read and what to drop.
class RegionFinder {
 public:
  RegionFinder(const Dom& dom, Region region);

  /// The element to render; null for an empty page.
  const xmlNode* content() const { return content_; }
  /// True for parts that no reader would miss: scripts and hidden parts anywhere, navigation and the like in kContent.
  bool is_dropped(const xmlNode* element) const;
  TextWeight weight(const xmlNode* element) const;

 private:
  TextWeight weigh(const xmlNode* node, bool in_link);
  const xmlNode* find_content();
  const xmlNode* find_main() const;
  const xmlNode* find_dense(const xmlNode* start) const;
  bool is_boilerplate(const xmlNode* element) const;

  const Region region_;
  const xmlNode* const body_;
  std::vector<TextWeight> weights_;  ///< By element number.
  /// A <main> or <article> was found: the author marked the content.
  bool marked_up_ = false;
  const xmlNode* content_ = nullptr;
};

/// True for <div>, <section>, <table> and the like: only their class and id are read.
bool is_block_container(std::string_view name);

/// True for <script>, <style> and the like, and for elements that a browser would not show.
bool is_invisible(const xmlNode* element);

}  // namespace footnote::html
