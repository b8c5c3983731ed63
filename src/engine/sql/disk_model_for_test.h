#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace footnote::sql {

/// Models what a disk may contain after a power failure, for the files of one folder. It guarantees what POSIX does and no more:
///   - Bytes and sizes are durable after fsync of the file. Before that, any subset of its writes and truncations may have reached the
///   disk, in any order, each whole or torn at sectors, and the space by which a file grew may contain anything.
///   - Names created or deleted are durable after fsync of the folder. Before that, each may be in its old or new state.
///   - After a failed fsync, earlier writes stay lost for later ones too, as on Linux.
/// The caller writes the files; this only records. Not thread-safe.
class DiskModel {
 public:
  explicit DiskModel(std::uint64_t seed) : random_(seed) {}

  /// A file was opened; `made`: it was new.
  void open(const std::string& name, bool made) {
    names_.insert(name);
    if (made) {
      now_[name] = ++last_inode_;
      inodes_[last_inode_] = {};
    } else if (!now_.contains(name)) {
      // It existed before the model.
      now_[name] = durable_[name] = ++last_inode_;
      inodes_[last_inode_].durable = bytes_of(name);
    }
  }
  void write(const std::string& name, std::size_t offset, std::string bytes) { change(name, {offset, std::move(bytes), false}); }
  void cut_file(const std::string& name, std::size_t size) { change(name, {size, {}, true}); }
  void erase(const std::string& name) { now_.erase(name); }

  void sync(const std::string& name) {
    Inode& inode = inodes_[now_[name]];
    for (const Change& change : inode.pending) apply(inode.durable, change);
    inode.pending.clear();
  }
  void sync_folder() { durable_ = now_; }
  void lose(const std::string& name) {
    Inode& inode = inodes_[now_[name]];
    inode.durable = after_power_cut(inode, random_sector());
    inode.pending.clear();
  }

  /// Replaces the real files with a state that a power failure may leave, and continues from there.
  void cut_power() {
    const std::size_t sector = random_sector();
    std::map<std::string, int> left;
    for (const auto& [name, inode] : durable_) left.emplace(name, inode);
    for (const auto& [name, inode] : now_) {
      if (one_in(2)) left[name] = inode;
    }
    for (const auto& [name, inode] : durable_) {
      if (!now_.contains(name) && one_in(2)) left.erase(name);
    }
    std::map<int, Inode> inodes;
    for (const auto& [name, inode] : left) {
      inodes[inode].durable = after_power_cut(inodes_[inode], sector);
      write_real(name, inodes[inode].durable);
    }
    for (const std::string& name : names_) {
      if (!left.contains(name)) std::filesystem::remove(name);
    }
    inodes_ = std::move(inodes);
    now_ = durable_ = std::move(left);
  }

  bool one_in(unsigned n) { return random_() % n == 0; }
  std::size_t below(std::size_t n) { return random_() % n; }

 private:
  struct Change {
    std::size_t offset = 0;
    std::string bytes;
    bool cut = false;  ///< Truncated to `offset` bytes.
  };
  struct Inode {
    std::string durable;
    std::vector<Change> pending;
  };

  static std::string bytes_of(const std::string& name) {
    std::ifstream in(name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static void write_real(const std::string& name, const std::string& bytes) {
    std::ofstream(name, std::ios::binary | std::ios::trunc).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  std::size_t random_sector() { return one_in(2) ? 512 : 4096; }

  void change(const std::string& name, Change change) {
    if (now_.contains(name)) inodes_[now_[name]].pending.push_back(std::move(change));
  }

  static void apply(std::string& image, const Change& change, char filler = 0) {
    if (change.cut) {
      if (change.offset < image.size()) image.resize(change.offset);
      return;
    }
    if (change.bytes.empty()) return;
    image.resize(std::max(image.size(), change.offset + change.bytes.size()), filler);
    image.replace(change.offset, change.bytes.size(), change.bytes);
  }

  std::string after_power_cut(const Inode& inode, std::size_t sector) {
    std::string image = inode.durable;
    std::vector<Change> changes = inode.pending;
    if (one_in(2)) std::shuffle(changes.begin(), changes.end(), random_);
    const char filler = one_in(2) ? 0 : static_cast<char>(random_());
    for (const Change& change : changes) {
      switch (below(4)) {
        case 0:  // Lost.
          // The file may have grown without the new bytes.
          if (!change.cut && one_in(4)) image.resize(std::max(image.size(), change.offset + change.bytes.size()), filler);
          break;
        case 1: tear(image, change, sector, filler); break;
        default: apply(image, change, filler);
      }
    }
    return image;
  }

  void tear(std::string& image, const Change& change, std::size_t sector, char filler) {
    if (change.cut) return apply(image, change);
    for (std::size_t at = 0; at < change.bytes.size();) {
      const std::size_t end = std::min(change.bytes.size(), ((change.offset + at) / sector + 1) * sector - change.offset);
      if (one_in(2)) apply(image, {change.offset + at, change.bytes.substr(at, end - at)}, filler);
      at = end;
    }
  }

  std::mt19937_64 random_;
  std::set<std::string> names_;  // All that were ever opened.
  int last_inode_ = 0;
  std::map<int, Inode> inodes_;
  std::map<std::string, int> now_;      // Names as programs see them.
  std::map<std::string, int> durable_;  // Names as stored on disk.
};

}  // namespace footnote::sql
