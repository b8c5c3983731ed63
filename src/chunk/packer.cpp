#include "chunk/packer.h"

#include <algorithm>

namespace footnote::chunk {

namespace {

class Packer {
 public:
  Packer(const Outline& outline, const ChunkOptions& options) : outline_(outline), options_(options) {}

  std::vector<PackedChunk> run() {
    if (!outline_.units.empty()) section(0, 0);
    return std::move(out_);
  }

 private:
  /// Units [begin, end) to keep together under one path.
  struct Group {
    std::size_t begin = 0;
    std::size_t end = 0;
    const std::vector<std::string>* path = nullptr;
    bool empty() const { return begin == end; }
  };

  /// Packs a section and everything below it. `begin` may be before its heading: headings of parents without text of their own go with
  /// their first child.
  void section(std::size_t index, std::size_t begin) {
    const Section& self = outline_.sections[index];
    if (begin == self.end) return;
    if (bytes(begin, self.end) <= options_.target_bytes) return emit(begin, self.end, path_of_whole(self));
    if (self.children.empty()) return run_of(begin, self.end, self.path);
    Group group{begin, begin, &self.path};
    std::size_t child_begin = begin;
    if (!is_bare(begin, self.own_end)) {
      add_own(self, group);
      child_begin = self.own_end;
    }
    for (const std::size_t child : self.children) {
      add_child(self, child, child_begin, group);
      child_begin = outline_.sections[child].end;
    }
    flush(group);
  }

  /// The path of the one section that holds all the text of this one: parents with only a heading add nothing.
  const std::vector<std::string>& path_of_whole(const Section& whole) const {
    const Section* at = &whole;
    while (at->children.size() == 1 && is_bare(at->first_unit, at->own_end)) at = &outline_.sections[at->children[0]];
    return at->path;
  }

  void add_own(const Section& self, Group& group) {
    if (bytes(group.begin, self.own_end) <= options_.target_bytes) {
      group.end = self.own_end;
    } else {
      run_of(group.begin, self.own_end, self.path);
    }
  }

  /// Small siblings share a chunk under their parent's path.
  void add_child(const Section& self, std::size_t child, std::size_t begin, Group& group) {
    const Section& section_of_child = outline_.sections[child];
    const bool small = bytes(begin, section_of_child.end) <= options_.target_bytes;
    if (small && !group.empty() && bytes(group.begin, section_of_child.end) <= options_.target_bytes) {
      group.end = section_of_child.end;
      group.path = &self.path;
      return;
    }
    flush(group);
    if (small) {
      group = {begin, section_of_child.end, &path_of_whole(section_of_child)};
    } else {
      section(child, begin);
    }
  }

  void flush(Group& group) {
    if (!group.empty()) emit(group.begin, group.end, *group.path);
    group.begin = group.end;
  }

  /// Cuts a long run between units, repeating the last sentence.
  void run_of(std::size_t begin, std::size_t end, const std::vector<std::string>& path) {
    std::size_t at_least = begin + 1;
    while (begin < end) {
      std::size_t cut = std::max(begin + 1, at_least);
      while (cut < end && fits(begin, cut)) ++cut;
      // A tail of a few words joins this chunk.
      if (cut < end && bytes(cut, end) < options_.target_bytes / 4 && bytes(begin, end) <= options_.max_bytes) cut = end;
      emit(begin, cut, path);
      at_least = cut + 1;
      begin = cut < end && may_overlap(begin, cut) ? cut - 1 : cut;
    }
  }

  /// Whether unit `next` may join the chunk that starts at `begin`: up to the target, or up to the maximum while the chunk is short, so
  /// that a heading or a lead-in stays with the code that it introduces.
  bool fits(std::size_t begin, std::size_t next) const {
    const std::size_t size = bytes(begin, next + 1);
    if (size <= options_.target_bytes) return true;
    const bool is_short = bytes(begin, next) < options_.target_bytes / 2 || is_bare(begin, next);
    return is_short && size <= options_.max_bytes;
  }

  bool may_overlap(std::size_t begin, std::size_t cut) const {
    const Unit& last = outline_.units[cut - 1];
    return last.is_sentence && cut - 1 > begin && last.range.size() <= options_.overlap_bytes_max &&
           bytes(cut - 1, cut + 1) <= options_.max_bytes;
  }

  bool is_bare(std::size_t begin, std::size_t end) const {
    for (; begin < end; ++begin) {
      if (!outline_.units[begin].is_bare) return false;
    }
    return true;
  }

  std::size_t bytes(std::size_t begin, std::size_t end) const {
    return begin >= end ? 0 : outline_.units[end - 1].range.end - outline_.units[begin].range.begin;
  }

  void emit(std::size_t begin, std::size_t end, const std::vector<std::string>& path) {
    out_.push_back({{outline_.units[begin].range.begin, outline_.units[end - 1].range.end}, path});
  }

  const Outline& outline_;
  const ChunkOptions& options_;
  std::vector<PackedChunk> out_;
};

}  // namespace

std::vector<PackedChunk> pack(const Outline& outline, const ChunkOptions& options) { return Packer(outline, options).run(); }

}  // namespace footnote::chunk
