// SPDX-License-Identifier: Apache-2.0
#include "shepherd/launch.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/wall_clock.h"
#include "process/become.h"
#include "process/oom_score.h"
#include "process/open_files.h"
#include "process/pipe.h"
#include "process/resource_limits.h"
#include "shepherd/folder.h"
#include "shepherd/report.h"

namespace almanac::shepherd {
namespace {

using process::Descriptor;
using process::Step;
using Fault = NotLaunched::Fault;

constexpr const char* kMarker = "ALMANAC_RUN=";
constexpr int kOomScore = 500;

/// In the place of the log that cannot be opened: the terminal.
constexpr int kNoTerminal = -2;

/// Opens the log as the current user. Does not wait for the reader of a FIFO.
Descriptor open_log(const std::string& path, bool append) {
  return Descriptor(::open(
      path.empty() ? "/dev/null" : path.c_str(),
      O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | (append ? 0 : O_TRUNC),
      0666));
}

/// From now on quotas of disks, and what they keep for root, hold for us too: what we write is the
/// users' output.
void respect_quotas() {
  __user_cap_header_struct head{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> held{};
  if (::syscall(SYS_capget, &head, held.data()) != 0) return;
  held[CAP_TO_INDEX(CAP_SYS_RESOURCE)].effective &= ~CAP_TO_MASK(CAP_SYS_RESOURCE);
  ::syscall(SYS_capset, &head, held.data());
}

/// What a child needs, made before there is one.
struct Plan {
  process::Start start{};
  std::vector<std::string> files{};
  bool append = false;
  bool terminal = false;
  std::optional<std::uint64_t> open_files{};
  std::optional<std::uint64_t> processes{};
  std::vector<process::ResourceLimit> limits{};
  mode_t umask = 022;
  pid_t shepherd = -1;
};

/// The child: gets ready, waits for the word, becomes the command.
[[noreturn]] void child(const Plan& plan, int socket) {
  const auto give_up = [&](Report report) {
    report.number = errno;
    send_report(socket, report, {});
    ::_exit(127);
  };
  ::umask(plan.umask);
  // Where memory is short the kernel ends jobs before it ends what looks after them.
  process::set_oom_score(kOomScore);
  if (plan.open_files) process::limit_open_files(*plan.open_files);
  if (plan.processes) process::limit_processes(*plan.processes);
  if (const Step failed = process::prepare(plan.start); failed != Step::none) {
    give_up({.failed = failed});
  }
  // After the change of user, which would undo it, and before the user's files, which may keep us.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != plan.shepherd) ::_exit(127);
  if (const Step failed = process::enter(plan.start); failed != Step::none) {
    give_up({.failed = failed});
  }
  std::vector<Descriptor> files;
  for (std::size_t at = 0; at < plan.files.size(); ++at) {
    files.push_back(open_log(plan.files[at], plan.append));
    if (!files.back()) give_up({.log = static_cast<int>(at)});
  }
  process::Start start = plan.start;
  if (plan.terminal) {
    files.push_back(enter_terminal());
    if (!files.back()) give_up({.log = kNoTerminal});
    start.out = start.err = STDIN_FILENO;
  }
  char word = 0;
  if (!send_report(socket, {}, files) || ::recv(socket, &word, 1, 0) != 1) ::_exit(127);
  // The last thing before its command: these are the user's choice, and must keep none of our own
  // steps from working.
  process::limit_resources(plan.limits);
  process::execute(start);
  give_up({.failed = Step::exec});
  ::_exit(127);
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> made;
  for (std::string& text : texts) made.push_back(text.data());
  made.push_back(nullptr);
  return made;
}

/// Whose fault it is that one of our own steps failed.
Fault fault_of(int number) {
  // Quotas do not bind root: only giving a file to its user runs into the user's.
  if (number == EDQUOT) return Fault::account;
  constexpr std::array kShort{EAGAIN, ENOMEM, ENOSPC, EMFILE, ENFILE, EIO};
  const bool is_short = std::find(kShort.begin(), kShort.end(), number) != kShort.end();
  return is_short ? Fault::machine : Fault::job;
}

tl::unexpected<NotLaunched> not_launched(Error why, Fault fault) {
  return tl::unexpected(NotLaunched{std::move(why), fault});
}

/// The user of a command with its groups. A user who had a name at submission must be known now:
/// without its groups it would be another.
tl::expected<process::User, NotLaunched> user_of(const Spec& spec) {
  process::User user{spec.uid.value_or(::geteuid()), spec.gid.value_or(::getegid())};
  if (user.uid != 0 && user.uid == ::geteuid()) return user;  // its groups are ours
  auto groups = process::groups_of(user);
  if (groups) {
    user.groups = *std::move(groups);
  } else if (spec.user_has_name) {
    return not_launched(groups.error(), Fault::account);
  }
  return user;
}

/// A file that belongs to the user; for others it is not to read.
tl::expected<void, NotLaunched> write_users_file(const std::string& path, const std::string& text,
                                                 mode_t mode, const Spec& spec) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
  const auto size = static_cast<ssize_t>(text.size());
  if (!file || ::write(file.get(), text.data(), text.size()) != size ||
      ::fchmod(file.get(), mode) != 0 ||
      (spec.uid && ::fchown(file.get(), *spec.uid, spec.gid.value_or(::getegid())) != 0)) {
    const int number = errno;
    return not_launched({Code::unavailable,
                         fmt::format("cannot write {}: {}", path, std::strerror(number)),
                         {},
                         {}},
                        fault_of(number));
  }
  return {};
}

Error words(const Report& report, const Plan& plan, const Spec& spec) {
  if (report.log == kNoTerminal) {
    return {Code::unavailable,
            fmt::format("cannot open a terminal: {}", std::strerror(report.number)),
            {},
            {}};
  }
  if (report.log < 0) {
    return process::step_error(report.failed, report.number, plan.start.argv[0], spec.directory);
  }
  return {
      Code::unavailable,
      fmt::format("cannot open the log {}: {}", plan.files[static_cast<std::size_t>(report.log)],
                  std::strerror(report.number)),
      {},
      report.number == ENOENT ? "create its folder first" : ""};
}

/// "NAME=value" of the spec, and the marker by which what a killed shepherd leaves is found.
std::vector<std::string> environment_of(const std::string& folder, const Spec& spec) {
  std::vector<std::string> made = spec.environment;
  std::erase_if(made, [](const std::string& entry) { return entry.starts_with(kMarker); });
  made.push_back(kMarker + folder);
  return made;
}

Started now_started(pid_t child, const Bounds& bounds) {
  const pid_t own = ::getpid();
  return {.command = {child, process::birth_of(child).value_or(0)},
          .shepherd = {own, process::birth_of(own).value_or(0)},
          .boot = boot_id(),
          .start = wall_clock(),
          .since_boot = since_boot(),
          .cgroup = bounds.group() == nullptr ? "" : bounds.group()->path(),
          .means = bounds.means()};
}

/// Records on disk, so that it survives a power failure, that the command may have run.
Result<void> make_known(const std::string& folder, const Started& started) {
  return write_file(folder + kStartedFile, to_json(started))
      .and_then([&] { return sync_folder(folder); })
      .and_then([&] { return sync_folder(std::filesystem::path(folder).parent_path()); });
}

}  // namespace

tl::expected<Launched, NotLaunched> launch(const std::string& folder, const Spec& spec,
                                           const Bounds& bounds) {
  const process::Cgroup* const group = bounds.group();
  std::vector<std::string> argv = spec.argv;
  if (!spec.script.empty()) {
    argv.insert(argv.begin(), folder + kScriptFile);
    if (const auto written = write_users_file(argv.front(), spec.script, 0700, spec); !written) {
      return tl::unexpected(written.error());
    }
  }
  if (const auto made = write_users_file(folder + kProgressFile, "", 0600, spec); !made) {
    return tl::unexpected(made.error());
  }
  std::vector<std::string> environment = environment_of(folder, spec);
  const std::vector<char*> argv_pointers = pointers(argv);
  const std::vector<char*> environment_pointers = pointers(environment);
  const auto user = user_of(spec);
  if (!user) return tl::unexpected(user.error());

  auto limits = process::read_resource_limits(spec.resource_limits);
  if (!limits) return not_launched(limits.error(), Fault::job);
  Plan plan{.append = spec.append,
            .terminal = spec.terminal,
            .open_files = spec.open_files,
            .processes = spec.processes,
            .limits = *std::move(limits),
            .umask = static_cast<mode_t>(spec.umask),
            .shepherd = ::getpid()};
  plan.files.push_back(spec.out);
  if (!spec.terminal && !spec.err.empty() && spec.err != spec.out) plan.files.push_back(spec.err);
  std::vector<process::Pipe> pipes;
  for (std::size_t at = 0; at < plan.files.size() && !spec.terminal; ++at) {
    auto pipe = process::Pipe::create();
    if (!pipe) return not_launched(pipe.error(), Fault::machine);
    pipes.push_back(std::move(*pipe));
  }
  plan.start = {.argv = argv_pointers.data(),
                .environment = environment_pointers.data(),
                .directory = spec.directory.empty() ? nullptr : spec.directory.c_str(),
                .cpus = spec.cores.data(),
                .cpu_count = static_cast<int>(spec.cores.size()),
                .out = pipes.empty() ? -1 : pipes.front().write.get(),
                .err = pipes.empty() ? -1 : pipes.back().write.get(),
                .cgroup_procs = group == nullptr ? -1 : group->procs(),
                .user = spec.uid || spec.gid ? &*user : nullptr};

  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return not_launched(process::step_error(Step::fork, errno, "", ""), Fault::machine);
  }
  const Descriptor ours(ends[0]);
  Descriptor theirs(ends[1]);
  const pid_t process = ::fork();
  if (process < 0) {
    return not_launched(process::step_error(Step::fork, errno, "", ""), Fault::machine);
  }
  if (process == 0) {
    ::close(ends[0]);
    child(plan, ends[1]);
  }
  theirs.close();
  respect_quotas();

  Report report{.failed = Step::fork, .number = ECHILD};
  std::vector<Descriptor> files;
  if (!receive_report(ours.get(), report, files) || report.number != 0) {
    ::waitpid(process, nullptr, 0);
    const bool is_ours =
        report.log < 0 && (report.failed == Step::cgroup || report.failed == Step::user);
    return not_launched(words(report, plan, spec), is_ours ? fault_of(report.number) : Fault::job);
  }
  Launched launched{.process = process, .started = now_started(process, bounds)};
  Result<void> known;
  if (spec.terminal) {
    known = Terminal::open(folder, std::move(files.back()), user->uid, user->gid)
                .map([&](Terminal&& made) { launched.terminal.emplace(std::move(made)); });
  }
  if (known) known = make_known(folder, launched.started);
  if (!known) {
    ::kill(process, SIGKILL);
    ::waitpid(process, nullptr, 0);
    // What stays says that the command may have run.
    ::unlink((folder + kStartedFile).c_str());
    return not_launched(known.error(), Fault::machine);
  }
  ::send(ours.get(), "!", 1, MSG_NOSIGNAL);
  if (receive_report(ours.get(), report, files)) {
    ::waitpid(process, nullptr, 0);
    return not_launched(words(report, plan, spec), Fault::job);
  }
  if (spec.terminal)
    launched.logs.emplace_back(Descriptor(), std::move(files[0]), spec.log_limit_gb);
  for (std::size_t at = 0; at < pipes.size(); ++at) {
    launched.logs.emplace_back(std::move(pipes[at].read), std::move(files[at]), spec.log_limit_gb);
  }
  return launched;
}

}  // namespace almanac::shepherd
