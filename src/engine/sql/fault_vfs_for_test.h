#pragma once

#include <sqlite3.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "base/mutex.h"

namespace footnote::sql {

/// SQLite's file layer over the real one, with faults on demand: full disks, failing syncs, and power cuts that lose
/// or tear what was not synced. One at a time; name it in OpenOptions. Must outlive the connections that use it.
class FaultVfs {
 public:
  static constexpr const char* kName = "footnote-faults";

  FaultVfs() {
    real_ = sqlite3_vfs_find(nullptr);
    vfs_ = *real_;
    vfs_.zName = kName;
    vfs_.szOsFile = static_cast<int>(sizeof(File)) + real_->szOsFile;
    vfs_.pAppData = this;
    vfs_.xOpen = &open;
    vfs_.xDelete = [](sqlite3_vfs* vfs, const char* name, int sync) { return self(vfs).record_delete(name, sync); };
    vfs_.xAccess = [](sqlite3_vfs* vfs, const char* name, int flags, int* out) {
      return self(vfs).real_->xAccess(self(vfs).real_, name, flags, out);
    };
    vfs_.xFullPathname = [](sqlite3_vfs* vfs, const char* name, int size, char* out) {
      return self(vfs).real_->xFullPathname(self(vfs).real_, name, size, out);
    };
    fill_methods();
    sqlite3_vfs_register(&vfs_, 0);
  }
  ~FaultVfs() { sqlite3_vfs_unregister(&vfs_); }
  FaultVfs(const FaultVfs&) = delete;
  FaultVfs& operator=(const FaultVfs&) = delete;

  /// The n-th write from now (from 1) and all after it fail with `code`; 0 heals.
  void fail_writes(int nth, int code) {
    write_code_ = code;
    writes_left_ = nth;
  }
  /// Syncs fail from now on, or work again.
  void fail_syncs(bool fail) { syncs_fail_ = fail; }

  /// The power goes: of each file's writes since its last sync any may be lost or torn at a sector. Until
  /// restore_power() nothing that is written lasts; close all connections before that.
  void cut_power(std::mt19937& random) {
    const MutexLock lock(mutex_);
    for (auto& [name, file] : files_) {
      for (const Change& change : file.pending) {
        switch (random() % 4) {
          case 0: break;
          case 1: apply(file.durable, change, (random() % (change.bytes.size() / kSectorBytes + 1)) * kSectorBytes); break;
          default: apply(file.durable, change, change.bytes.size());
        }
      }
      file.pending.clear();
    }
    power_ = false;
  }
  void restore_power() {
    const MutexLock lock(mutex_);
    for (const auto& [name, file] : files_) {
      std::ofstream(name, std::ios::binary | std::ios::trunc).write(file.durable.data(), static_cast<std::streamsize>(file.durable.size()));
    }
    files_.clear();
    power_ = true;
  }

 private:
  static constexpr std::size_t kSectorBytes = 512;
  /// A write, or with `truncate` a cut to `offset`.
  struct Change {
    std::size_t offset = 0;
    std::string bytes;
    bool truncate = false;
  };
  struct Image {
    std::string durable;
    std::vector<Change> pending;
  };

  static void apply(std::string& image, const Change& change, std::size_t bytes) {
    if (change.truncate) return image.resize(std::min(image.size(), change.offset));
    if (bytes == 0) return;
    image.resize(std::max(image.size(), change.offset + bytes));
    image.replace(change.offset, bytes, change.bytes, 0, bytes);
  }
  void record(const std::string& name, Change change) {
    const MutexLock lock(mutex_);
    if (power_ && !name.empty()) files_[name].pending.push_back(std::move(change));
  }
  void record_sync(const std::string& name) {
    const MutexLock lock(mutex_);
    if (!power_ || name.empty()) return;
    Image& file = files_[name];
    for (const Change& change : file.pending) apply(file.durable, change, change.bytes.size());
    file.pending.clear();
  }
  void record_open(const std::string& name) {
    const MutexLock lock(mutex_);
    if (name.empty() || files_.contains(name)) return;
    std::ifstream in(name, std::ios::binary);
    files_[name].durable.assign(std::istreambuf_iterator<char>(in), {});
  }
  int record_delete(const char* name, int sync) {
    {
      const MutexLock lock(mutex_);
      if (!power_) return SQLITE_OK;
      files_.erase(name);
    }
    return real_->xDelete(real_, name, sync);
  }

  struct File {
    sqlite3_file base;
    FaultVfs* vfs;
    const char* name;  // SQLite keeps it for as long as the file is open
    std::string path() const { return name == nullptr ? "" : name; }
    sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
  };
  static FaultVfs& self(sqlite3_vfs* vfs) { return *static_cast<FaultVfs*>(vfs->pAppData); }
  static File& of(sqlite3_file* file) { return *reinterpret_cast<File*>(file); }
  static sqlite3_file* real(sqlite3_file* file) { return of(file).real(); }

  static int open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out_flags) {
    File& wrapper = of(file);
    wrapper.vfs = &self(vfs);
    wrapper.name = name;
    std::memset(static_cast<void*>(wrapper.real()), 0, static_cast<std::size_t>(self(vfs).real_->szOsFile));
    const int code = self(vfs).real_->xOpen(self(vfs).real_, name, wrapper.real(), flags, out_flags);
    // Without methods SQLite does not close what was not opened.
    file->pMethods = wrapper.real()->pMethods != nullptr ? &self(vfs).methods_ : nullptr;
    if (code == SQLITE_OK) self(vfs).record_open(wrapper.path());
    return code;
  }

  int write_fault() {
    const int code = write_code_;
    if (code == 0) return SQLITE_OK;
    return writes_left_.fetch_sub(1) <= 1 ? code : SQLITE_OK;
  }

  void fill_methods() {
    methods_.iVersion = 2;
    methods_.xClose = [](sqlite3_file* f) { return real(f)->pMethods->xClose(real(f)); };
    methods_.xRead = [](sqlite3_file* f, void* out, int size, sqlite3_int64 at) {
      return real(f)->pMethods->xRead(real(f), out, size, at);
    };
    methods_.xWrite = [](sqlite3_file* f, const void* bytes, int size, sqlite3_int64 at) {
      if (const int code = of(f).vfs->write_fault(); code != SQLITE_OK) return code;
      of(f).vfs->record(of(f).path(),
                        {static_cast<std::size_t>(at), std::string(static_cast<const char*>(bytes), static_cast<std::size_t>(size))});
      return real(f)->pMethods->xWrite(real(f), bytes, size, at);
    };
    methods_.xTruncate = [](sqlite3_file* f, sqlite3_int64 size) {
      of(f).vfs->record(of(f).path(), {static_cast<std::size_t>(size), {}, true});
      return real(f)->pMethods->xTruncate(real(f), size);
    };
    methods_.xSync = [](sqlite3_file* f, int flags) {
      if (of(f).vfs->syncs_fail_) return SQLITE_IOERR_FSYNC;
      of(f).vfs->record_sync(of(f).path());
      return real(f)->pMethods->xSync(real(f), flags);
    };
    methods_.xFileSize = [](sqlite3_file* f, sqlite3_int64* size) { return real(f)->pMethods->xFileSize(real(f), size); };
    methods_.xLock = [](sqlite3_file* f, int level) { return real(f)->pMethods->xLock(real(f), level); };
    methods_.xUnlock = [](sqlite3_file* f, int level) { return real(f)->pMethods->xUnlock(real(f), level); };
    methods_.xCheckReservedLock = [](sqlite3_file* f, int* out) { return real(f)->pMethods->xCheckReservedLock(real(f), out); };
    methods_.xFileControl = [](sqlite3_file* f, int what, void* arg) { return real(f)->pMethods->xFileControl(real(f), what, arg); };
    methods_.xSectorSize = [](sqlite3_file* f) { return real(f)->pMethods->xSectorSize(real(f)); };
    methods_.xDeviceCharacteristics = [](sqlite3_file* f) { return real(f)->pMethods->xDeviceCharacteristics(real(f)); };
    methods_.xShmMap = [](sqlite3_file* f, int page, int size, int extend, void volatile** out) {
      return real(f)->pMethods->xShmMap(real(f), page, size, extend, out);
    };
    methods_.xShmLock = [](sqlite3_file* f, int offset, int n, int flags) {
      return real(f)->pMethods->xShmLock(real(f), offset, n, flags);
    };
    methods_.xShmBarrier = [](sqlite3_file* f) { real(f)->pMethods->xShmBarrier(real(f)); };
    methods_.xShmUnmap = [](sqlite3_file* f, int erase) { return real(f)->pMethods->xShmUnmap(real(f), erase); };
  }

  sqlite3_vfs* real_ = nullptr;
  sqlite3_vfs vfs_{};
  sqlite3_io_methods methods_{};
  std::atomic<int> write_code_{0};
  std::atomic<int> writes_left_{0};
  std::atomic<bool> syncs_fail_{false};
  Mutex mutex_;
  std::map<std::string, Image> files_ FOOTNOTE_TSA(guarded_by(mutex_));  // what is on the platter
  bool power_ FOOTNOTE_TSA(guarded_by(mutex_)) = true;
};

}  // namespace footnote::sql
