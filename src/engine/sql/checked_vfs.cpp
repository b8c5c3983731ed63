#include "engine/sql/checked_vfs.h"

#include <sqlite3.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <string>

#include "base/crc32c.h"
#include "base/fault_point.h"
#include "base/mutex.h"
#include "engine/sql/log_format.h"

namespace footnote::sql {

namespace {

constexpr std::size_t kPageBytesMax = 65'536;
constexpr std::size_t kHeadBytes = 100;  // Size of a database file's header.
constexpr std::size_t kPageBytesAt = 16;
constexpr std::size_t kReservedAt = 20;

/// Page size and reserved bytes, from the first page.
struct PageForm {
  int bytes = 0;  ///< 0: not known yet.
  bool summed = false;
};

PageForm form_of(std::span<const std::byte> head) {
  const int bytes = std::to_integer<int>(head[kPageBytesAt]) << 8 | std::to_integer<int>(head[kPageBytesAt + 1]);
  return {.bytes = bytes == 1 ? static_cast<int>(kPageBytesMax) : bytes,
          .summed = std::to_integer<int>(head[kReservedAt]) == kPageSumBytes};
}

/// Checksum of a page without its last bytes. It includes the offset, so that a page written to the wrong place is detected.
std::uint32_t sum_of(std::span<const std::byte> page, sqlite3_int64 offset) {
  const std::uint64_t place = static_cast<std::uint64_t>(offset);
  return crc32c(page.first(page.size() - kPageSumBytes), crc32c(std::as_bytes(std::span(&place, 1))));
}

struct File {
  sqlite3_file base{};
  // For a database file.
  bool is_database = false;
  bool reads_only = false;
  bool in_checkpoint = false;
  PageForm form;
  std::unique_ptr<std::byte[]> page;  ///< Buffer for a page being written; allocated on first use.
  // For a WAL: its database file.
  File* database = nullptr;

  sqlite3_file* inner() { return reinterpret_cast<sqlite3_file*>(this + 1); }
  const sqlite3_io_methods& methods() { return *inner()->pMethods; }
};
// SQLite allocates both in one block: the base VFS's file follows ours.
static_assert(sizeof(File) % alignof(sqlite3_int64) == 0);

File& of(sqlite3_file* file) { return *reinterpret_cast<File*>(file); }

int close_file(sqlite3_file* handle) {
  File& file = of(handle);
  const int code = file.methods().xClose(file.inner());
  file.~File();
  return code;
}

bool is_page(const File& file, int size, sqlite3_int64 offset) {
  return file.is_database && file.form.summed && size == file.form.bytes && offset % size == 0;
}

int check_page(std::span<const std::byte> page, sqlite3_int64 offset) {
  std::uint32_t stored = 0;
  std::memcpy(&stored, page.last(kPageSumBytes).data(), sizeof stored);
  return stored == sum_of(page, offset) ? SQLITE_OK : SQLITE_IOERR_DATA;
}

/// Computes a WAL frame's checksum and compares it with the stored one. REQUIRES: `data` was read at `offset`.
int check_frame(File& log, std::span<const std::byte> data, sqlite3_int64 offset) {
  std::array<std::byte, kLogHeaderBytes> head{};
  std::array<std::byte, kLogFrameHeaderBytes> frame{};
  const auto read = [&](std::span<std::byte> out, sqlite3_int64 at) {
    return log.methods().xRead(log.inner(), out.data(), static_cast<int>(out.size()), at);
  };
  if (const int code = read(head, 0); code != SQLITE_OK) return code;
  const auto header = parse_log_header(head);
  if (!header) return SQLITE_IOERR_DATA;
  const sqlite3_int64 frame_at = offset - static_cast<sqlite3_int64>(kLogFrameHeaderBytes);
  if (const int code = read(frame, frame_at); code != SQLITE_OK) return code;
  LogSum before = header->sum;
  if (frame_at > static_cast<sqlite3_int64>(kLogHeaderBytes)) {
    std::array<std::byte, kLogFrameHeaderBytes> last{};
    if (const int code = read(last, frame_at - static_cast<sqlite3_int64>(header->frame_bytes())); code != SQLITE_OK) return code;
    before = parse_log_frame_header(last).sum;
  }
  return log_frame_sum(*header, before, frame, data) == parse_log_frame_header(frame).sum ? SQLITE_OK : SQLITE_IOERR_DATA;
}

/// True for a read of one page from a WAL whose frames are final. A writer's own frames are not until it commits: SQLite overwrites pages
/// and fixes the checksums at the end.
bool is_final_frame(const File& file, int size, sqlite3_int64 offset) {
  if (file.database == nullptr || (!file.database->reads_only && !file.database->in_checkpoint)) return false;
  const sqlite3_int64 place = offset - static_cast<sqlite3_int64>(kLogHeaderBytes + kLogFrameHeaderBytes);
  return size == file.database->form.bytes && place >= 0 && place % (size + static_cast<sqlite3_int64>(kLogFrameHeaderBytes)) == 0;
}

/// SQLite handles a full disk, but not an exceeded quota or file-size limit: report these as a full disk.
int with_full_disk(int code) {
  const bool full = code != SQLITE_OK && (errno == ENOSPC || errno == EDQUOT || errno == EFBIG);
  return full ? SQLITE_FULL : code;
}

int read_file(sqlite3_file* handle, void* out, int size, sqlite3_int64 offset) {
  File& file = of(handle);
  const int code = file.methods().xRead(file.inner(), out, size, offset);
  if (code != SQLITE_OK) return code;
  const std::span<const std::byte> bytes(static_cast<const std::byte*>(out), static_cast<std::size_t>(size));
  if (is_page(file, size, offset)) return check_page(bytes, offset);
  if (is_final_frame(file, size, offset)) return check_frame(file, bytes, offset);
  return SQLITE_OK;
}

int write_file(sqlite3_file* handle, const void* data, int size, sqlite3_int64 offset) {
  File& file = of(handle);
  const std::span<const std::byte> bytes(static_cast<const std::byte*>(data), static_cast<std::size_t>(size));
  if (file.is_database && offset == 0 && bytes.size() >= kHeadBytes) file.form = form_of(bytes);
  if (!is_page(file, size, offset)) return with_full_disk(file.methods().xWrite(file.inner(), data, size, offset));
  // Copy the page, because it still belongs to SQLite.
  if (!file.page) file.page.reset(new (std::nothrow) std::byte[kPageBytesMax]);
  if (!file.page) return SQLITE_IOERR_NOMEM;
  if (file.in_checkpoint) fault_point(FaultPoint::kCheckpointPage);
  const std::uint32_t sum = sum_of(bytes, offset);
  const std::size_t summed = bytes.size() - kPageSumBytes;
  std::memcpy(file.page.get(), bytes.data(), summed);
  std::memcpy(file.page.get() + summed, &sum, sizeof sum);
  return with_full_disk(file.methods().xWrite(file.inner(), file.page.get(), size, offset));
}

int control_file(sqlite3_file* handle, int what, void* argument) {
  File& file = of(handle);
  if (what == SQLITE_FCNTL_CKPT_START) file.in_checkpoint = true;
  if (what == SQLITE_FCNTL_CKPT_DONE) file.in_checkpoint = false;
  return file.methods().xFileControl(file.inner(), what, argument);
}

sqlite3_io_methods make_methods() {
  sqlite3_io_methods methods{};
  methods.iVersion = 2;  // Version 2 has no memory mapping, which would bypass the checks.
  methods.xClose = &close_file;
  methods.xRead = &read_file;
  methods.xWrite = &write_file;
  methods.xFileControl = &control_file;
  methods.xTruncate = [](sqlite3_file* f, sqlite3_int64 size) { return of(f).methods().xTruncate(of(f).inner(), size); };
  methods.xSync = [](sqlite3_file* f, int flags) { return of(f).methods().xSync(of(f).inner(), flags); };
  methods.xFileSize = [](sqlite3_file* f, sqlite3_int64* size) { return of(f).methods().xFileSize(of(f).inner(), size); };
  methods.xLock = [](sqlite3_file* f, int level) { return of(f).methods().xLock(of(f).inner(), level); };
  methods.xUnlock = [](sqlite3_file* f, int level) { return of(f).methods().xUnlock(of(f).inner(), level); };
  methods.xCheckReservedLock = [](sqlite3_file* f, int* out) { return of(f).methods().xCheckReservedLock(of(f).inner(), out); };
  methods.xSectorSize = [](sqlite3_file* f) { return of(f).methods().xSectorSize(of(f).inner()); };
  methods.xDeviceCharacteristics = [](sqlite3_file* f) { return of(f).methods().xDeviceCharacteristics(of(f).inner()); };
  methods.xShmMap = [](sqlite3_file* f, int page, int size, int extend, void volatile** out) {
    return with_full_disk(of(f).methods().xShmMap(of(f).inner(), page, size, extend, out));
  };
  methods.xShmLock = [](sqlite3_file* f, int at, int n, int flags) { return of(f).methods().xShmLock(of(f).inner(), at, n, flags); };
  methods.xShmBarrier = [](sqlite3_file* f) { of(f).methods().xShmBarrier(of(f).inner()); };
  methods.xShmUnmap = [](sqlite3_file* f, int erase) { return of(f).methods().xShmUnmap(of(f).inner(), erase); };
  return methods;
}

const sqlite3_io_methods checked_methods = make_methods();

/// A VFS over one base VFS, which is looked up by name each time because tests register and remove theirs.
struct Layer {
  explicit Layer(const char* base) : base_name(base == nullptr ? "" : base), name("footnote-checked:" + base_name) {
    vfs = *lower();
    vfs.zName = name.c_str();
    vfs.szOsFile = static_cast<int>(sizeof(File)) + lower()->szOsFile;
    vfs.pAppData = this;
    vfs.xOpen = &open;
    vfs.xDelete = [](sqlite3_vfs* v, const char* file, int sync) { return self(v).lower()->xDelete(self(v).lower(), file, sync); };
    vfs.xAccess = [](sqlite3_vfs* v, const char* file, int flags, int* out) {
      return self(v).lower()->xAccess(self(v).lower(), file, flags, out);
    };
    vfs.xFullPathname = [](sqlite3_vfs* v, const char* file, int size, char* out) {
      return self(v).lower()->xFullPathname(self(v).lower(), file, size, out);
    };
    sqlite3_vfs_register(&vfs, 0);
  }
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;

  static Layer& self(sqlite3_vfs* vfs) { return *static_cast<Layer*>(vfs->pAppData); }
  sqlite3_vfs* lower() const { return sqlite3_vfs_find(base_name.empty() ? nullptr : base_name.c_str()); }

  static int open(sqlite3_vfs* vfs, const char* name, sqlite3_file* handle, int flags, int* out_flags) {
    sqlite3_vfs* const lower = self(vfs).lower();
    File& file = *new (handle) File{};
    std::memset(static_cast<void*>(file.inner()), 0, static_cast<std::size_t>(lower->szOsFile));
    const int code = lower->xOpen(lower, name, file.inner(), flags, out_flags);
    // Without methods SQLite does not close a file whose open failed.
    if (file.inner()->pMethods == nullptr) return code;
    handle->pMethods = &checked_methods;
    if (code == SQLITE_OK && (flags & SQLITE_OPEN_MAIN_DB) != 0) begin_database(file, flags);
    if (code == SQLITE_OK && (flags & SQLITE_OPEN_WAL) != 0) file.database = &of(sqlite3_database_file_object(name));
    return code;
  }

  static void begin_database(File& file, int flags) {
    file.is_database = true;
    file.reads_only = (flags & SQLITE_OPEN_READONLY) != 0;
    std::array<std::byte, kHeadBytes> head{};
    const int code = file.methods().xRead(file.inner(), head.data(), static_cast<int>(head.size()), 0);
    if (code == SQLITE_OK) file.form = form_of(head);
  }

  const std::string base_name;
  const std::string name;
  sqlite3_vfs vfs{};
};

}  // namespace

const char* checked_vfs(const char* base) {
  // Process-wide, like SQLite's list of VFSes.
  static Mutex mutex;
  static std::map<std::string, std::unique_ptr<Layer>> layers;
  const MutexLock lock(mutex);
  auto& layer = layers[base == nullptr ? "" : base];
  if (!layer) layer = std::make_unique<Layer>(base);
  return layer->name.c_str();
}

bool has_page_sums(sqlite3_file* file) { return of(file).form.summed; }

}  // namespace footnote::sql
