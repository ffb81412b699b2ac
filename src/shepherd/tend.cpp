// SPDX-License-Identifier: Apache-2.0
#include "shepherd/tend.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/wall_clock.h"
#include "process/below.h"
#include "process/tree.h"
#include "shepherd/bounds.h"
#include "shepherd/folder.h"
#include "shepherd/launch.h"
#include "shepherd/record.h"

namespace almanac::shepherd {
namespace {

using process::Descriptor;

/// How often memory is looked at that no control group holds.
constexpr Duration kWatch = 1s;
/// Between two looks at those that may not have heard SIGTERM, or two SIGKILL to what does not die
/// (it sits in the kernel): at first, and at most.
constexpr Duration kAgain = 10ms;
constexpr Duration kAgainAtMost = 1s;
/// Room for exit.json, kept free for the day when the disk is full.
constexpr std::size_t kExitSize = 4096;

/// How long the order to end may come behind a SIGTERM that the command died of, if it comes: what
/// ends all processes (a machine that is switched off) asks some before others.
constexpr Duration kLastOrder = 500ms;

constexpr Duration kForever = Duration::max();

Duration later(Duration at, Duration by) { return by < kForever - at ? at + by : kForever; }

/// Blocks the signals that are orders and gives them as a descriptor; ignores what is not for us.
Descriptor orders() {
  for (const int signal : {SIGINT, SIGHUP, SIGPIPE, SIGXFSZ}) {
    ::signal(signal, SIG_IGN);
  }
  ::signal(SIGCHLD, SIG_DFL);
  sigset_t signals;
  ::sigemptyset(&signals);
  for (const int signal : {SIGCHLD, SIGTERM, SIGQUIT, SIGUSR1, SIGUSR2, kMakeRoom, kReallocated}) {
    ::sigaddset(&signals, signal);
  }
  ::sigprocmask(SIG_SETMASK, &signals, nullptr);
  return Descriptor(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
}

class Shepherd {
 public:
  Shepherd(std::string folder, const Spec& spec, Launched launched, Bounds bounds,
           Descriptor signals)
      : folder_(std::move(folder)),
        spec_(spec),
        command_(launched.process),
        logs_(std::move(launched.logs)),
        terminal_(std::move(launched.terminal)),
        started_(std::move(launched.started)),
        bounds_(std::move(bounds)),
        signals_(std::move(signals)),
        timer_(::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC)) {
    set_limit(spec.time_limit);
    watch_at_ = started_.since_boot;
  }

  /// Runs until the run has no process left.
  Exit run() {
    for (;;) {
      wait();
      for (Log& log : logs_) log.pump();
      if (terminal_) terminal_->pump(logs_.front());
      note_lost();
      // Heard before we look what has ended: the news of an end (SIGCHLD) is never dropped unseen.
      const Orders orders = hear();
      // Followed after that: what has ended by itself was not ended by what came at the same
      // moment.
      bool some_ended = false;
      const bool some_left = process::reap([&](pid_t process, int status) {
        some_ended = true;
        if (process == command_) ending_ = process::ending_from(status);
      });
      told_ = told_ || orders.end || orders.end_now || orders.make_room;
      if (!some_left && !may_still_be_told()) return finish();
      if (ending_) end(Cause::by_itself, spec_.grace);
      const bool look_again = asking_.unsure() && since_boot() >= ask_at_;
      if (end_begun_ && asks_ && (some_ended || look_again)) ask_again();
      follow(orders);
      keep_time();
    }
  }

 private:
  struct Orders {
    bool end = false;
    bool end_now = false;
    bool make_room = false;
    bool limits = false;
    bool reallocated = false;
    bool too_much_memory = false;
  };

  /// By whomever: it is what a shell says of a program that it ran, too.
  bool died_of_sigterm() const {
    return ending_ && (ending_->signal == SIGTERM || ending_->status == 128 + SIGTERM);
  }

  /// Whether the end of a command without processes may be due to an order that has not reached the
  /// shepherd yet.
  bool may_still_be_told() {
    if (told_ || cause_ != Cause::by_itself || !died_of_sigterm()) return false;
    if (give_up_at_ == kForever) give_up_at_ = since_boot() + kLastOrder;
    return since_boot() < give_up_at_;
  }

  /// Sleeps until there is something to do.
  void wait() {
    const Duration next = std::min(
        {end_begun_ ? kForever : limit_at_, end_begun_ ? kForever : warn_at_, kill_at_, give_up_at_,
         asking_.unsure() ? ask_at_ : kForever, bounds_.watches() ? watch_at_ : kForever,
         dropped() == lost_noted_ ? kForever : note_lost_at_});
    itimerspec when{};
    if (next != kForever) {
      // A time of zero would switch the timer off.
      const std::int64_t at = std::max<std::int64_t>(next.count(), 1);
      when.it_value = {at / 1000, at % 1000 * 1'000'000};
    }
    ::timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &when, nullptr);
    std::vector<pollfd> news{{signals_.get(), POLLIN, 0}, {timer_.get(), POLLIN, 0}};
    for (const Log& log : logs_) news.push_back({log.news(), POLLIN, 0});
    if (terminal_) terminal_->add_to(news);
    ::poll(news.data(), news.size(), -1);
  }

  /// Writes how much output is lost, if it is more than before; at most once per kWatch.
  void note_lost() {
    const std::int64_t lost = dropped();
    if (lost == lost_noted_ || since_boot() < note_lost_at_) return;
    note_lost_at_ = since_boot() + kWatch;
    if (write_file(folder_ + kLostFile, std::to_string(lost))) lost_noted_ = lost;
  }

  std::int64_t dropped() const {
    std::int64_t bytes = 0;
    for (const Log& log : logs_) bytes += log.dropped();
    return bytes;
  }

  Orders hear() {
    Orders orders;
    signalfd_siginfo heard;
    while (::read(signals_.get(), &heard, sizeof heard) == sizeof heard) {
      if (heard.ssi_signo == SIGTERM) orders.end = true;
      if (heard.ssi_signo == SIGQUIT) orders.end_now = true;
      if (heard.ssi_signo == static_cast<std::uint32_t>(kMakeRoom)) orders.make_room = true;
      if (heard.ssi_signo == static_cast<std::uint32_t>(kReallocated)) orders.reallocated = true;
      if (heard.ssi_signo == SIGUSR1) orders.limits = true;
      if (heard.ssi_signo == SIGUSR2) orders.too_much_memory = true;
    }
    return orders;
  }

  void follow(const Orders& orders) {
    if (orders.too_much_memory) end_for_memory();
    if (orders.make_room) make_room();
    if (orders.end) end(Cause::told, spec_.grace);
    if (orders.end_now) end(Cause::told, Duration{0});
    if (orders.reallocated && !end_begun_ && !ending_) ::kill(command_, SIGUSR2);
    if (!orders.limits) return;
    const auto limits = read_record<Limits>(folder_ + kLimitsFile);
    if (!limits) return;
    bounds_.set(*limits);
    set_limit(limits->time_limit);
  }

  void set_limit(Duration time_limit) {
    limit_at_ = time_limit == kNoDuration ? kForever : later(started_.since_boot, time_limit);
    const bool warns = spec_.signal != 0 && limit_at_ != kForever && !warned_;
    warn_at_ = warns ? limit_at_ - spec_.signal_before : kForever;
  }

  /// Says by its own signal what is to come.
  void warn() {
    warned_ = true;
    warn_at_ = kForever;
    if (spec_.signal_shell) {
      ::kill(command_, spec_.signal);
      return;
    }
    for (const pid_t each : process::descendants(::getpid())) {
      if (each != command_ || spec_.script.empty()) ::kill(each, spec_.signal);
    }
  }

  /// Ends the run as end() does, with the job's own signal.
  void make_room() {
    kill_at_ = std::min(kill_at_, later(since_boot(), spec_.grace));
    if (std::exchange(end_begun_, true)) return;
    cause_ = Cause::told;
    warn();
  }

  void keep_time() {
    const Duration now = since_boot();
    if (now >= warn_at_ && !end_begun_) warn();
    if (now >= limit_at_) end(Cause::time_limit, spec_.grace);
    if (bounds_.watches() && now >= watch_at_) {
      watch_at_ = now + kWatch;
      if (bounds_.too_much()) end_for_memory();
    }
    if (since_boot() >= kill_at_) {
      bounds_.kill();
      process::kill_all_below();
      kill_at_ = since_boot() + kill_again_;
      kill_again_ = std::min(2 * kill_again_, kAgainAtMost);
    }
  }

  void ask_again() {
    asking_.orphans();
    ask_at_ = since_boot() + ask_again_;
    ask_again_ = std::min(2 * ask_again_, kAgainAtMost);
  }

  /// Begins to end all that is left; the first cause is the cause, the shortest grace holds.
  void end(Cause cause, Duration grace) {
    kill_at_ = std::min(kill_at_, later(since_boot(), grace));
    if (!std::exchange(end_begun_, true)) cause_ = cause;
    if (std::exchange(asks_, true)) return;
    if (grace > Duration{0}) asking_.all();
    // A shell at a terminal does not heed SIGTERM; that its terminal goes it does.
    if (grace > Duration{0} && terminal_ && !ending_) ::kill(command_, SIGHUP);
    ask_at_ = since_boot() + ask_again_;
  }

  void end_for_memory() {
    // Grace would cost others their memory.
    end(Cause::memory, Duration{0});
  }

  Exit finish() {
    Exit exit{.ending = ending_.value_or(process::Ending{}),
              .cause = cause_,
              .start = started_.start,
              .end = wall_clock(),
              .ran = since_boot() - started_.since_boot,
              .usage = process::usage_of(::getpid())};
    if (cause_ == Cause::by_itself && !exit.ending.good() && bounds_.ran_out()) {
      exit.cause = Cause::memory;
    }
    // The command received the order before the shepherd.
    if (exit.cause == Cause::by_itself && told_ && died_of_sigterm()) exit.cause = Cause::told;
    rusage ended{};
    ::getrusage(RUSAGE_CHILDREN, &ended);
    const double largest_gb = static_cast<double>(ended.ru_maxrss) / (1024.0 * 1024);
    exit.usage.memory_gb = std::max(bounds_.peak_memory_gb(), largest_gb);
    if (terminal_) terminal_->close(logs_.front());
    for (Log& log : logs_) log.close();
    exit.log_dropped = dropped();
    return exit;
  }

  std::string folder_;
  const Spec& spec_;
  pid_t command_;
  std::vector<Log> logs_;
  std::optional<Terminal> terminal_;
  Started started_;
  Bounds bounds_;
  Descriptor signals_;
  Descriptor timer_;
  std::optional<process::Ending> ending_;
  bool end_begun_ = false;
  bool told_ = false;
  bool asks_ = false;  // those that are left, with SIGTERM
  bool warned_ = false;
  process::Asking asking_;
  Cause cause_ = Cause::by_itself;
  Duration limit_at_ = kForever;
  Duration warn_at_ = kForever;
  Duration watch_at_{};
  Duration kill_at_ = kForever;
  Duration kill_again_ = kAgain;
  Duration ask_at_ = kForever;
  Duration ask_again_ = kAgain;
  Duration give_up_at_ = kForever;
  std::int64_t lost_noted_ = 0;
  Duration note_lost_at_{};
};

Exit never_ran(const Error& why, Cause cause = Cause::cannot_start) {
  const Time now = wall_clock();
  return {.ending = {.status = 127},
          .cause = cause,
          .message = to_string(why),
          .start = now,
          .end = now};
}

/// Nothing when the machine is short of something, and nothing of the command has run.
std::optional<Exit> run(const std::string& folder, Descriptor signals) {
  const auto give_up = [](const Error& why) -> std::optional<Exit> {
    std::fprintf(stderr, "almanac-shepherd: %s\n", to_string(why).c_str());
    return std::nullopt;
  };
  const auto spec = read_record<Spec>(folder + kSpecFile);
  if (!spec && spec.error().code == Code::unavailable) return give_up(spec.error());
  if (!spec) return never_ran(spec.error());
  Bounds bounds(*spec);
  auto launched = launch(folder, *spec, bounds);
  using Fault = NotLaunched::Fault;
  if (!launched && launched.error().fault == Fault::machine) return give_up(launched.error().why);
  // A program that waits for the end of the starter's output must not wait for the shepherd.
  ::dup2(STDOUT_FILENO, STDERR_FILENO);
  if (!launched) {
    const bool is_job = launched.error().fault == Fault::job;
    return never_ran(launched.error().why, is_job ? Cause::cannot_start : Cause::account);
  }
  return Shepherd(folder, *spec, std::move(*launched), std::move(bounds), std::move(signals)).run();
}

/// Writes into the lock which process holds it, for one that adopts the run.
Result<void> sign_lock() {
  const pid_t own = ::getpid();
  const std::string identity = to_json(Identity{own, process::birth_of(own).value_or(0)});
  if (::pwrite(kLockDescriptor, identity.data(), identity.size(), 0) !=
      static_cast<ssize_t>(identity.size())) {
    return fail(Code::unavailable, fmt::format("cannot write a lock: {}", std::strerror(errno)));
  }
  return {};
}

}  // namespace

int tend(const std::string& folder) {
  ::setsid();
  ::fcntl(kLockDescriptor, F_SETFD, FD_CLOEXEC);
  ::close_range(kLockDescriptor + 1, ~0U, 0);
  static_cast<void>(::chdir("/"));
  ::umask(077);
  Descriptor signals = orders();
  process::become_reaper();
  auto last_word = NewFile::create(folder + kExitFile, kExitSize);
  if (const auto here = last_word.and_then([](NewFile&) { return sign_lock(); }); !here) {
    std::fprintf(stderr, "almanac-shepherd: %s\n", to_string(here.error()).c_str());
    return 1;
  }
  const std::optional<Exit> exit = run(folder, std::move(signals));
  if (!exit) return 1;
  // A word that cannot be said now (the disk) is said later; without a folder there is none to
  // hear.
  while (!last_word->commit(to_json(*exit)) && is_there(folder) != There::absent &&
         is_there(folder + kExitFile) != There::present) {
    ::sleep(1);
  }
  return 0;
}

}  // namespace almanac::shepherd
