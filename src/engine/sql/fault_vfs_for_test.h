#pragma once

#include <sqlite3.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>

#include "base/mutex.h"
#include "engine/sql/disk_model_for_test.h"

namespace footnote::sql {

/// An SQLite VFS over the real one that injects faults: full disks, failing reads, opens and syncs, and power failures according to a
/// DiskModel. One instance at a time; name it in OpenOptions. Must outlive the connections that use it. Syncs go to the model only, not to
/// the real disk.
class FaultVfs {
 public:
  static constexpr const char* kName = "footnote-faults";

  explicit FaultVfs(std::uint64_t seed = 1) : disk_(seed) {
    real_ = sqlite3_vfs_find(nullptr);
    vfs_ = *real_;
    vfs_.zName = kName;
    vfs_.szOsFile = static_cast<int>(sizeof(File)) + real_->szOsFile;
    vfs_.pAppData = this;
    vfs_.xOpen = &open;
    vfs_.xDelete = [](sqlite3_vfs* vfs, const char* name, int sync) { return self(vfs).erase(name, sync); };
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

  /// The n-th write from now (from 1) and all later ones fail with `code`; 0 ends this.
  void fail_writes(int nth, int code) {
    write_code_ = code;
    writes_left_ = nth;
  }
  /// From now on syncs, reads or opens (too many open files) fail, or work again.
  void fail_syncs(bool fail) { syncs_fail_ = fail; }
  void fail_reads(bool fail) { reads_fail_ = fail; }
  void fail_opens(bool fail) { opens_fail_ = fail; }

  /// How syncs are handled. kDone: performed. kAsIfNormal: syncs of the WAL are dropped except in checkpoints, like synchronous=NORMAL.
  /// kAsIfOff: all are dropped, like synchronous=OFF.
  enum class Syncs { kDone, kAsIfNormal, kAsIfOff };
  void set_syncs(Syncs syncs) { syncs_ = syncs; }

  /// The power fails during the n-th change from now (from 1): write, truncation, sync, file created or deleted. Then nothing works until
  /// restore_power(); close all connections before that.
  void cut_power_at(int nth) { changes_left_ = nth; }
  void cut_power() { power_ = false; }
  bool has_power() const { return power_; }
  /// Replaces the files with what the power failure left.
  void restore_power() {
    const MutexLock lock(mutex_);
    disk_.cut_power();
    // Shared memory may contain anything.
    if (std::filesystem::exists(shared_memory_)) {
      std::string noise(32'768, '\0');
      for (char& byte : noise) byte = static_cast<char>(disk_.below(256));
      std::ofstream(shared_memory_, std::ios::binary | std::ios::trunc) << noise;
    }
    changes_left_ = 0;
    power_ = true;
  }

 private:
  struct File {
    sqlite3_file base;
    FaultVfs* vfs;
    const char* name;  // SQLite keeps it while the file is open.
    bool is_log;
    bool syncs_folder;  // Sync the folder with this file's first sync, as SQLite's own VFS does for journals that it creates.
    std::string path() const { return name == nullptr ? "" : name; }
    sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
  };
  static FaultVfs& self(sqlite3_vfs* vfs) { return *static_cast<FaultVfs*>(vfs->pAppData); }
  static File& of(sqlite3_file* file) { return *reinterpret_cast<File*>(file); }
  static sqlite3_file* real(sqlite3_file* file) { return of(file).real(); }

  /// False when the power is off or fails with this change.
  bool change_lasts() {
    if (changes_left_ > 0 && --changes_left_ == 0) power_ = false;
    return power_;
  }

  static int open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out_flags) {
    return self(vfs).open_file(name, file, flags, out_flags);
  }
  int open_file(const char* name, sqlite3_file* handle, int flags, int* out_flags) {
    File& file = of(handle);
    handle->pMethods = nullptr;
    if (opens_fail_) {
      errno = EMFILE;
      return SQLITE_CANTOPEN;
    }
    const bool made = (flags & SQLITE_OPEN_CREATE) != 0 && name != nullptr && !std::filesystem::exists(name);
    if (!power_ || (made && !change_lasts())) return SQLITE_CANTOPEN;
    file.vfs = this;
    file.name = name;
    file.is_log = (flags & SQLITE_OPEN_WAL) != 0;
    file.syncs_folder = (flags & SQLITE_OPEN_CREATE) != 0 && (flags & (SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL)) != 0;
    std::memset(static_cast<void*>(file.real()), 0, static_cast<std::size_t>(real_->szOsFile));
    const int code = real_->xOpen(real_, name, file.real(), flags, out_flags);
    // Without methods SQLite does not close a file whose open failed.
    handle->pMethods = file.real()->pMethods != nullptr ? &methods_ : nullptr;
    if (code == SQLITE_OK && name != nullptr) {
      const MutexLock lock(mutex_);
      disk_.open(name, made);
      if ((flags & SQLITE_OPEN_MAIN_DB) != 0) shared_memory_ = file.path() + "-shm";
    }
    return code;
  }

  int erase(const char* name, int sync) {
    {
      const MutexLock lock(mutex_);
      if (!power_) return SQLITE_IOERR_DELETE;
      disk_.erase(name);
      if (!change_lasts()) return SQLITE_IOERR_DELETE;
      if (sync != 0) disk_.sync_folder();
    }
    return real_->xDelete(real_, name, 0);
  }

  int write(File& file, const void* bytes, int size, sqlite3_int64 at) {
    errno = EIO;
    if (write_code_ != 0 && writes_left_.fetch_sub(1) <= 1) return write_code_;
    {
      const MutexLock lock(mutex_);
      if (!power_) return SQLITE_IOERR_WRITE;
      const std::string data(static_cast<const char*>(bytes), static_cast<std::size_t>(size));
      disk_.write(file.path(), static_cast<std::size_t>(at), data);
      if (!change_lasts()) return SQLITE_IOERR_WRITE;
    }
    return file.real()->pMethods->xWrite(file.real(), bytes, size, at);
  }

  int cut(File& file, sqlite3_int64 size) {
    {
      const MutexLock lock(mutex_);
      if (!power_) return SQLITE_IOERR_TRUNCATE;
      disk_.cut_file(file.path(), static_cast<std::size_t>(size));
      if (!change_lasts()) return SQLITE_IOERR_TRUNCATE;
    }
    return file.real()->pMethods->xTruncate(file.real(), size);
  }

  int sync(File& file) {
    const MutexLock lock(mutex_);
    if (!change_lasts()) return SQLITE_IOERR_FSYNC;
    if (syncs_fail_) {
      disk_.lose(file.path());
      return SQLITE_IOERR_FSYNC;
    }
    const bool dropped = syncs_ == Syncs::kAsIfOff || (syncs_ == Syncs::kAsIfNormal && file.is_log && !in_checkpoint_);
    if (dropped) return SQLITE_OK;
    disk_.sync(file.path());
    if (std::exchange(file.syncs_folder, false)) disk_.sync_folder();
    return SQLITE_OK;
  }

  int control(File& file, int what, void* argument) {
    if (what == SQLITE_FCNTL_CKPT_START) in_checkpoint_ = true;
    if (what == SQLITE_FCNTL_CKPT_DONE) in_checkpoint_ = false;
    return file.real()->pMethods->xFileControl(file.real(), what, argument);
  }

  void fill_methods() {
    methods_.iVersion = 2;
    methods_.xClose = [](sqlite3_file* f) { return real(f)->pMethods->xClose(real(f)); };
    methods_.xRead = [](sqlite3_file* f, void* out, int size, sqlite3_int64 at) {
      return of(f).vfs->reads_fail_ ? SQLITE_IOERR_READ : real(f)->pMethods->xRead(real(f), out, size, at);
    };
    methods_.xWrite = [](sqlite3_file* f, const void* bytes, int size, sqlite3_int64 at) {
      return of(f).vfs->write(of(f), bytes, size, at);
    };
    methods_.xTruncate = [](sqlite3_file* f, sqlite3_int64 size) { return of(f).vfs->cut(of(f), size); };
    methods_.xSync = [](sqlite3_file* f, int) { return of(f).vfs->sync(of(f)); };
    methods_.xFileSize = [](sqlite3_file* f, sqlite3_int64* size) { return real(f)->pMethods->xFileSize(real(f), size); };
    methods_.xLock = [](sqlite3_file* f, int level) { return real(f)->pMethods->xLock(real(f), level); };
    methods_.xUnlock = [](sqlite3_file* f, int level) { return real(f)->pMethods->xUnlock(real(f), level); };
    methods_.xCheckReservedLock = [](sqlite3_file* f, int* out) { return real(f)->pMethods->xCheckReservedLock(real(f), out); };
    methods_.xFileControl = [](sqlite3_file* f, int what, void* arg) { return of(f).vfs->control(of(f), what, arg); };
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
  std::atomic<bool> reads_fail_{false};
  std::atomic<bool> opens_fail_{false};
  std::atomic<bool> in_checkpoint_{false};
  std::atomic<Syncs> syncs_{Syncs::kDone};
  std::atomic<int> changes_left_{0};
  std::atomic<bool> power_{true};
  Mutex mutex_;
  DiskModel disk_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::string shared_memory_ FOOTNOTE_TSA(guarded_by(mutex_));
};

}  // namespace footnote::sql
