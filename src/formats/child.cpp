#include "formats/child.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <optional>

#include "base/file.h"
#include "base/text.h"

namespace footnote::formats {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kErrorBytesMax = 4096;
constexpr int kNiceness = 10;

std::optional<std::string> find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return ::access(name.c_str(), X_OK) == 0 ? std::optional(name) : std::nullopt;
  const char* path = std::getenv("PATH");
  for (const std::string_view folder : split(path == nullptr ? "/usr/bin:/bin" : path, ':')) {
    std::string candidate = std::string(folder) + "/" + name;
    if (!folder.empty() && ::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return std::nullopt;
}

/// The input as an in-memory file, positioned at its beginning.
Result<Descriptor> memory_file(std::string_view input) {
  Descriptor file(::memfd_create("document", MFD_CLOEXEC));
  if (file.get() < 0) return fail(ErrorCode::kResourceExhausted, "no memory for a copy of the document");
  for (std::string_view rest = input; !rest.empty();) {
    const ssize_t written = ::write(file.get(), rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return fail(ErrorCode::kResourceExhausted, "no memory for a copy of the document");
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  ::lseek(file.get(), 0, SEEK_SET);
  return file;
}

struct Pipe {
  Descriptor read;
  Descriptor write;
};

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail(ErrorCode::kResourceExhausted, "no file descriptor left for a program's output");
  return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

/// Denies sockets. Everything else is restricted by the resource limits and the user's permissions.
void deny_sockets() {
#if defined(__x86_64__)
  constexpr unsigned kArchitecture = AUDIT_ARCH_X86_64;
#else
  constexpr unsigned kArchitecture = AUDIT_ARCH_AARCH64;
#endif
  std::array<sock_filter, 6> code = {{
      {BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, arch)},
      {BPF_JMP | BPF_JEQ | BPF_K, 0, 3, kArchitecture},
      {BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)},
      {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, __NR_socket},
      {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | EACCES},
      {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW},
  }};
  const sock_fprog program{static_cast<unsigned short>(code.size()), code.data()};
  ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

void limit(int resource, rlim_t most) {
  const rlimit value{most, most};
  ::setrlimit(static_cast<__rlimit_resource_t>(resource), &value);
}

/// Runs between fork and exec of a process with threads, so only async-signal-safe calls are allowed.
[[noreturn]] void become(const char* program, char* const* arguments, int input, int output, int errors, pid_t parent,
                         const ChildLimits& limits) {
  static constexpr std::array<const char*, 3> kEnvironment = {"LC_ALL=C.UTF-8", "PATH=/usr/bin:/bin", nullptr};
  ::dup2(input, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(errors, STDERR_FILENO);
  ::syscall(SYS_close_range, 3U, ~0U, 0U);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);
  ::setpriority(PRIO_PROCESS, 0, kNiceness);
  limit(RLIMIT_AS, limits.memory_bytes);
  limit(RLIMIT_CPU, static_cast<rlim_t>(limits.processor.count()));
  limit(RLIMIT_FSIZE, 0);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_NOFILE, 64);
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  deny_sockets();
  ::execve(program, arguments, const_cast<char* const*>(kEnvironment.data()));
  ::_exit(127);
}

/// Appends the available output, up to `bytes_max` in total. False at the end of the stream.
bool take(const Descriptor& from, std::string& into, std::size_t bytes_max) {
  std::array<char, 65536> piece;
  const ssize_t got = ::read(from.get(), piece.data(), piece.size());
  if (got < 0) return errno == EINTR || errno == EAGAIN;
  const std::size_t room = bytes_max - std::min(bytes_max, into.size());
  into.append(piece.data(), std::min(static_cast<std::size_t>(got), room));
  return got > 0;
}

/// Reads both streams until they end, time runs out, or there is too much output.
ChildOutcome::End collect(Descriptor& output, Descriptor& errors, const ChildLimits& limits, ChildOutcome& out) {
  const auto deadline = Clock::now() + limits.wall;
  while (output.get() >= 0) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return ChildOutcome::End::kTooSlow;
    std::array<pollfd, 2> ready = {{{output.get(), POLLIN, 0}, {errors.get(), POLLIN, 0}}};
    if (::poll(ready.data(), ready.size(), static_cast<int>(left)) < 0 && errno != EINTR) return ChildOutcome::End::kTooSlow;
    if (ready[0].revents != 0 && !take(output, out.output, limits.output_bytes + 1)) output.reset();
    if (ready[1].revents != 0 && !take(errors, out.errors, kErrorBytesMax)) errors.reset();
    if (out.output.size() > limits.output_bytes) return ChildOutcome::End::kTooMuch;
  }
  return ChildOutcome::End::kExited;
}

}  // namespace

Result<ChildOutcome> run_child(const std::vector<std::string>& arguments, std::string_view input, const ChildLimits& limits) {
  const auto program = find_program(arguments[0]);
  if (!program) return fail(ErrorCode::kFailedPrecondition, "the program {} is not installed", arguments[0]);
  FOOTNOTE_TRY(const Descriptor file, memory_file(input));
  FOOTNOTE_TRY(Pipe output, make_pipe());
  FOOTNOTE_TRY(Pipe errors, make_pipe());
  std::vector<char*> pointers;
  pointers.reserve(arguments.size() + 1);
  for (const std::string& argument : arguments) pointers.push_back(const_cast<char*>(argument.c_str()));
  pointers.push_back(nullptr);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) return fail(ErrorCode::kResourceExhausted, "no process left to read the document");
  if (child == 0) become(program->c_str(), pointers.data(), file.get(), output.write.get(), errors.write.get(), parent, limits);
  output.write.reset();
  errors.write.reset();
  ChildOutcome out;
  out.end = collect(output.read, errors.read, limits, out);
  if (out.end != ChildOutcome::End::kExited) ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (out.end == ChildOutcome::End::kExited && !WIFEXITED(status)) out.end = ChildOutcome::End::kKilled;
  if (WIFEXITED(status)) out.exit_code = WEXITSTATUS(status);
  return out;
}

}  // namespace footnote::formats
