// SPDX-License-Identifier: Apache-2.0
#include "shepherd/run.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <random>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "process/as_user.h"
#include "process/held.h"
#include "process/own_program.h"
#include "shepherd/bounds.h"
#include "shepherd/folder.h"
#include "shepherd/leftovers.h"
#include "shepherd/record.h"
#include "shepherd/remote.h"

namespace almanac::shepherd {
namespace {

namespace fs = std::filesystem;
using process::Descriptor;

/// A shepherd that has just begun needs some milliseconds to say who it is; a busy disk, more.
constexpr int kAdoptTries = 5000;
constexpr std::chrono::milliseconds kAdoptPause{2};

/// How often a lock is looked at whose shepherd is gone: its child dies with it, a moment later.
constexpr int kGoneTries = 500;
constexpr int kLooks = 8;

tl::unexpected<Error> cannot(const std::string& what, int number) {
  return fail(Code::unavailable, fmt::format("cannot {}: {}", what, std::strerror(number)));
}

/// One spelling for each folder: the marker is compared with it.
std::string spelled(const std::string& folder) { return fs::weakly_canonical(folder).string(); }

Result<std::string> shepherd_program() {
  if (const char* const named = std::getenv("ALMANAC_SHEPHERD")) return named;
  const fs::path own = process::own_program().parent_path();
  for (const char* const beside : {".", "../libexec/almanac", "../lib/almanac"}) {
    const std::string program = (own / beside / "almanac-shepherd").lexically_normal().string();
    if (::access(program.c_str(), X_OK) == 0) return program;
  }
  return fail(Code::not_found,
              fmt::format("the program almanac-shepherd is not in {}", own.string()), {},
              "it comes with almanac; ALMANAC_SHEPHERD can give its path");
}

/// Starts the shepherd, with the lock as its descriptor 3 and the signals that are orders blocked:
/// an order that comes before it is ready waits.
Result<pid_t> spawn(const std::string& program, const std::string& folder, const Descriptor& lock) {
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  const std::unique_ptr<posix_spawn_file_actions_t, int (*)(posix_spawn_file_actions_t*)>
      free_files(&files, ::posix_spawn_file_actions_destroy);
  ::posix_spawn_file_actions_adddup2(&files, lock.get(), kLockDescriptor);
  ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDWR, 0);
  ::posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_RDWR, 0);
  posix_spawnattr_t how;
  ::posix_spawnattr_init(&how);
  const std::unique_ptr<posix_spawnattr_t, int (*)(posix_spawnattr_t*)> free_how(
      &how, ::posix_spawnattr_destroy);
  sigset_t orders;
  ::sigemptyset(&orders);
  for (const int signal : {SIGTERM, SIGQUIT, SIGUSR1, SIGUSR2, kMakeRoom, kReallocated}) {
    ::sigaddset(&orders, signal);
  }
  ::posix_spawnattr_setsigmask(&how, &orders);
  ::posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID);
  std::string program_name = "almanac-shepherd";
  std::string argument = folder;
  const std::array<char*, 3> argv{program_name.data(), argument.data(), nullptr};
  pid_t process = -1;
  const int number = ::posix_spawn(&process, program.c_str(), &files, &how, argv.data(), environ);
  if (number != 0) return cannot("start " + program, number);
  return process;
}

/// Whether the shepherd that signed the lock is gone for sure.
bool is_gone(const std::string& folder) {
  const auto signer = read_record<Identity>(folder + kLockFile);
  if (!signer) return false;
  const Descriptor held = process::hold(signer->process);
  if (!held) return errno == ESRCH;
  const auto birth = process::birth_of(signer->process);
  return birth && *birth != signer->birth;
}

/// Without its shepherd what waits there never becomes the command.
bool never_began(const std::string& folder) {
  return is_there(folder + kStartedFile) == There::absent;
}

std::string new_nonce() {
  std::random_device draw;
  return fmt::format("{:08x}{:08x}", draw(), draw());
}

}  // namespace

tl::expected<Run, NotStarted> Run::start(const std::string& folder, const Spec& spec) {
  ALMANAC_CHECK(!spec.argv.empty() || !spec.script.empty(), "run {} has no command", spec.id);
  using For = NotStarted::For;
  const auto not_for = [](For how_long, Error why) {
    return tl::unexpected(NotStarted{std::move(why), how_long});
  };
  auto program = shepherd_program();
  if (!program) return not_for(For::now, program.error());
  auto text = to_json(spec);
  if (!text) return not_for(For::good, text.error());  // it is not UTF-8

  Run run;
  run.folder_ = spelled(folder);
  // Its user must come through to the script; no other has to read what else there is.
  if (::mkdir(run.folder_.c_str(), 0711) != 0 || ::chmod(run.folder_.c_str(), 0711) != 0) {
    const int number = errno;
    return not_for(number == EEXIST ? For::job : For::now,
                   cannot("create the folder " + run.folder_, number).value());
  }
  const auto begin = [&]() -> Result<pid_t> {
    const Descriptor lock(
        ::open((run.folder_ + kLockFile).c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    // The folder is new: what holds the lock only looks, and lets go at once.
    if (!lock || ::flock(lock.get(), LOCK_EX) != 0) {
      return cannot("lock " + run.folder_, errno);
    }
    if (const auto written = write_file(run.folder_ + kSpecFile, *text); !written) {
      return tl::unexpected(written.error());
    }
    if (!spec.allocation.empty()) {
      const auto told = write_public_file(run.folder_ + kAllocationFile, spec.allocation);
      if (!told) return tl::unexpected(told.error());
    }
    return spawn(*program, run.folder_, lock);
  };
  const auto shepherd = begin();
  if (!shepherd) {
    std::error_code ignored;
    fs::remove_all(run.folder_, ignored);
    return not_for(For::now, shepherd.error());
  }
  run.shepherd_ = *shepherd;
  // The process has not been waited for, so its number is still its own. It runs, whether or not a
  // descriptor is available now.
  run.news_ = process::hold(run.shepherd_);
  return run;
}

tl::expected<Run, NotStarted> Run::start_on_boxes(const std::string& folder,
                                                  const std::vector<Part>& parts) {
  using For = NotStarted::For;
  const auto not_for = [](For how_long, Error why) {
    return tl::unexpected(NotStarted{std::move(why), how_long});
  };
  const Spec& first = parts.front().spec;
  if (first.terminal) {
    return not_for(For::good, {Code::unsupported,
                               "a job with a terminal cannot run on a box that joined",
                               {},
                               "submit it without a terminal"});
  }
  std::vector<std::string> specs;
  for (const Part& each : parts) {
    auto text = to_json(each.spec);
    if (!text) return not_for(For::good, text.error());
    specs.push_back(*std::move(text));
  }
  Run run;
  run.is_remote_ = true;
  run.folder_ = spelled(folder);
  if (::mkdir(run.folder_.c_str(), 0711) != 0) {
    const int number = errno;
    return not_for(number == EEXIST ? For::job : For::now,
                   cannot("create the folder " + run.folder_, number).value());
  }
  const auto begin = [&]() -> Result<void> {
    for (std::size_t task = 0; task < specs.size(); ++task) {
      auto file = NewFile::create(run.folder_ + spec_file(task));
      if (!file) return tl::unexpected(file.error());
      if (auto written = file->commit(specs[task]); !written) return written;
    }
    if (!first.allocation.empty()) {
      auto told = write_public_file(run.folder_ + kAllocationFile, first.allocation);
      if (!told) return told;
    }
    if (::mkfifo((run.folder_ + kNewsFile).c_str(), 0600) != 0) {
      return cannot("create " + run.folder_ + kNewsFile, errno);
    }
    if (!run.take_hold_remote()) return cannot("open " + run.folder_ + kNewsFile, errno);
    RemoteRun made{.nonce = new_nonce()};
    for (const Part& each : parts) made.tasks.push_back({.box = each.box});
    return write_remote(run.folder_, made).and_then([&] {
      return sync_folder(fs::path(run.folder_).parent_path());
    });
  };
  if (const auto begun = begin(); !begun) {
    // Its file first: a box that has not seen it never will.
    ::unlink((run.folder_ + kTasksFile).c_str());
    std::error_code ignored;
    fs::remove_all(run.folder_, ignored);
    return not_for(For::now, begun.error());
  }
  return run;
}

bool Run::take_hold_remote() {
  news_ = Descriptor(::open((folder_ + kNewsFile).c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  return static_cast<bool>(news_);
}

std::int64_t lost_output(const std::string& folder) {
  const auto said = read_file(folder + kLostFile);
  return said ? std::strtoll(said->c_str(), nullptr, 10) : 0;
}

Outcome Run::exited_remote() const {
  const auto run = read_remote(folder_);
  if (run && !run->has_ended()) return {};
  if (run) {
    Outcome made = outcome_of(*run);
    // What boxes could not keep, and what the head could not write.
    if (made.exit) made.exit->log_dropped += lost_output(folder_);
    return made;
  }
  using Kind = Outcome::Kind;
  const Code code = run.error().code;
  const Kind kind = code == Code::not_found ? Kind::lost
                    : code == Code::corrupt ? Kind::corrupt
                                            : Kind::unreadable;
  return {.kind = kind, .why = to_string(run.error())};
}

Run::Found Run::look(const std::string& folder) {
  switch (is_there(folder + kTasksFile)) {
    case There::present: {
      const auto run = read_remote(folder);
      if (!run && run.error().code != Code::corrupt) return Found::unreadable;
      return !run || run->has_ended() ? Found::ended : Found::lives;
    }
    case There::unreadable:
      return Found::unreadable;
    case There::absent:
      break;
  }
  const There ended = is_there(folder + kExitFile);
  if (ended == There::present) return Found::ended;
  if (ended == There::unreadable) return Found::unreadable;
  const Descriptor lock(::open((folder + kLockFile).c_str(), O_RDONLY | O_CLOEXEC));
  if (!lock) return errno == ENOENT ? Found::never_started : Found::unreadable;
  if (::flock(lock.get(), LOCK_SH | LOCK_NB) != 0) {
    return errno == EWOULDBLOCK ? Found::lives : Found::unreadable;
  }
  // The run may have ended between the first check and the lock.
  switch (is_there(folder + kExitFile)) {
    case There::present:
      return Found::ended;
    case There::unreadable:
      return Found::unreadable;
    case There::absent:
      break;
  }
  switch (is_there(folder + kStartedFile)) {
    case There::present:
      return Found::lost;
    case There::absent:
      return Found::never_started;
    case There::unreadable:
      break;
  }
  return Found::unreadable;
}

Result<Run> Run::adopt(const std::string& folder) {
  Run run;
  run.folder_ = spelled(folder);
  run.is_remote_ = is_there(run.folder_ + kTasksFile) != There::absent;
  if (run.is_remote_) {
    // Opened before the look, so that no end is missed in between.
    const bool is_open = run.take_hold_remote();
    if (!is_open || look(run.folder_) == Found::ended) {
      run.news_ = Descriptor(::eventfd(1, EFD_CLOEXEC));
    }
    return run;
  }
  for (int tries = 0; tries < kAdoptTries; ++tries) {
    switch (look(run.folder_)) {
      case Found::never_started:
        return fail(Code::not_found,
                    fmt::format("{}: nothing of this run was ever started", folder));
      case Found::unreadable:
        return run;
      case Found::ended:
      case Found::lost:
        run.news_ = Descriptor(::eventfd(1, EFD_CLOEXEC));
        return run;
      case Found::lives:
        break;
    }
    if (run.take_hold()) return run;
    if (tries >= kGoneTries && is_gone(run.folder_) && never_began(run.folder_)) {
      run.news_ = Descriptor(::eventfd(1, EFD_CLOEXEC));
      return run;
    }
    std::this_thread::sleep_for(kAdoptPause);
  }
  return fail(Code::unavailable, fmt::format("{} is locked, but not by a shepherd", folder), {},
              "check whether another program has its file lock open");
}

bool Run::take_hold() {
  // Our own child, which was not waited for.
  if (shepherd_ >= 0) {
    news_ = process::hold(shepherd_);
    return static_cast<bool>(news_);
  }
  const auto holder = read_record<Identity>(folder_ + kLockFile);
  if (!holder) return false;
  Descriptor held = process::hold(holder->process);
  if (!held || process::birth_of(holder->process) != holder->birth) return false;
  shepherd_ = holder->process;
  news_ = std::move(held);
  return true;
}

std::optional<Duration> Run::begun() const {
  const auto ticks = shepherd_ < 0 ? std::nullopt : process::birth_of(shepherd_);
  if (!ticks) return std::nullopt;
  return Duration{*ticks * 1000 / ::sysconf(_SC_CLK_TCK)};
}

bool Run::has_news() const {
  pollfd wait{news_.get(), POLLIN, 0};
  return news_ && ::poll(&wait, 1, 0) > 0;
}

Outcome Run::exited() {
  if (is_remote_) return exited_remote();
  using Kind = Outcome::Kind;
  const auto unreadable = [&] {
    return Outcome{.kind = Kind::unreadable,
                   .why = folder_ + ": the outcome of this run cannot be read"};
  };
  if (news_) {
    if (!has_news()) {
      // A shepherd that was killed, and sits in the kernel, does nothing any more.
      if (!is_killed_ || kill_left(folder_) != 0) return {};
      return {.kind = Kind::lost,
              .why = folder_ +
                     ": the shepherd was stuck on a file that does not answer, and was killed"};
    }
    if (shepherd_ >= 0) process::bury(news_);
  }
  // A folder that was taken away does not say that nothing was started.
  if (is_there(folder_) == There::absent) {
    return {.kind = Kind::lost, .why = folder_ + ": the folder of the run is gone"};
  }
  switch (look(folder_)) {
    case Found::lives:  // or its child does, which has not become the command and never will
      // The process dies with the shepherd, unless it is blocked in the kernel.
      if (news_ && never_began(folder_) && ++looks_ > kLooks) {
        return {.kind = Kind::lost,
                .why = folder_ + ": it was stuck before it began, on a file that does not answer"};
      }
      return news_ || take_hold() ? Outcome{} : unreadable();
    case Found::unreadable:
      return unreadable();
    case Found::ended: {
      auto exit = read_record<Exit>(folder_ + kExitFile);
      if (exit && exit->cause == Cause::account) {
        return {.kind = Kind::never_started, .is_account = true, .why = exit->message};
      }
      if (exit) return {.kind = Kind::ended, .exit = std::move(*exit)};
      if (exit.error().code == Code::corrupt) {
        return {.kind = Kind::corrupt,
                .why = fmt::format("the run has ended, but its outcome is unknown: {}",
                                   to_string(exit.error()))};
      }
      return unreadable();
    }
    case Found::never_started:
      return {.kind = Kind::never_started,
              .why = folder_ +
                     ": the shepherd ended before it started anything (check whether the disk is "
                     "full; see the service's log)"};
    case Found::lost:
      break;
  }
  const std::optional<int> left = end_leftovers(folder_);
  if (!left) return unreadable();
  // Dying takes a moment, and they may have started others meanwhile.
  if (*left > 0 && ++looks_ <= kLooks) return {};
  return {.kind = Kind::lost,
          .why = fmt::format(
              "{}: the shepherd was killed without a message{}", folder_,
              *left == 0 ? "" : fmt::format("; {} processes could not be killed", *left))};
}

void Run::end() { order(SIGTERM); }

void Run::make_room() { order(kMakeRoom); }

void Run::end_now() { order(SIGQUIT); }

void Run::kill() {
  if (is_remote_) {
    order(SIGKILL);
    return;
  }
  is_killed_ = order(SIGKILL);
  // The processes die with the shepherd, but its log's file system may block the shepherd in the
  // kernel.
  if (is_killed_) kill_left(folder_);
}

void Run::end_for_memory() { order(SIGUSR2); }

Result<void> Run::resize(const std::vector<int>& cores, std::optional<double> cpus,
                         std::optional<double> memory_gb, Duration time_limit) {
  const Limits limits{
      .cores = cores, .limits = {.cpus = cpus, .memory_gb = memory_gb}, .time_limit = time_limit};
  const auto written = write_file(folder_ + kLimitsFile, to_json(limits));
  if (written) order(SIGUSR1);
  return written;
}

Result<void> Run::reallocate(const std::string& allocation) {
  const auto written = write_public_file(folder_ + kAllocationFile, allocation);
  if (written) order(kReallocated);
  return written;
}

std::optional<std::string> Run::allocation() const {
  auto text = read_file(folder_ + kAllocationFile);
  return text ? std::optional(std::move(*text)) : std::nullopt;
}

pid_t Run::process() const {
  const auto started = read_record<Started>(folder_ + kStartedFile);
  return started ? started->command.process : -1;
}

process::Usage Run::usage() const {
  return shepherd_ < 0 ? process::Usage{} : process::usage_of(shepherd_);
}

bool Run::order(int signal) {
  if (is_remote_) {
    // A box reads new limits whenever it reports.
    if (signal == SIGUSR1) return true;
    return order_remote(folder_, order_word(signal)).has_value();
  }
  if (!news_) take_hold();
  return shepherd_ >= 0 && news_ && process::send_signal(news_, signal);
}

Run::~Run() {
  if (shepherd_ >= 0 && news_) process::bury(news_);
}

std::string slurm_commands() {
  const auto shepherd = shepherd_program();
  if (!shepherd) return "";
  const fs::path folder = fs::path(*shepherd).parent_path() / "slurm";
  return ::access((folder / "srun").c_str(), X_OK) == 0 ? folder.string() : "";
}

Means means() {
  Spec all{.id = "means"};
  all.cpus = all.memory_gb = all.io_mbs = 1;
  all.gpus.emplace();
  return Bounds(all).means();
}

Result<void> try_group() {
  const std::string name = fmt::format("almanac-try-{}", ::getpid());
  return process::Cgroup::create(process::cgroup_tree(), name, {}).map([](const auto&) {});
}

std::optional<Means> means_of(const std::string& folder) {
  const auto started = read_record<Started>(folder + kStartedFile);
  return started ? std::optional(started->means) : std::nullopt;
}

std::string to_string(const Means& means) {
  std::vector<std::string> parts;
  if (!means.cpus.empty()) parts.push_back("cores: " + means.cpus);
  if (!means.memory.empty()) parts.push_back("memory: " + means.memory);
  if (!means.io.empty()) parts.push_back("disks: " + means.io);
  if (!means.gpus.empty()) parts.push_back("GPUs: " + means.gpus);
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace almanac::shepherd
