// SPDX-License-Identifier: Apache-2.0
#include "stand_in/step.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

namespace almanac::stand_in {
namespace {

using Clock = std::chrono::steady_clock;

/// Between SIGTERM and SIGKILL of tasks that are to end, as KillWait of slurm.conf.
constexpr std::chrono::seconds kGrace{30};

constexpr std::array kPassedOn{SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCONT};

/// Where a task reads or writes; "" = where we do.
struct Files {
  std::string in{};
  std::string out{};
  std::string err{};
};

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

/// Returns the file of an --output; a number means only that task's output.
std::string output_of(const std::string& pattern, int task,
                      const std::vector<std::string>& variables) {
  if (pattern.empty() || pattern == "all") return "";
  if (pattern == "none") return "/dev/null";
  if (is_number(pattern)) return pattern == std::to_string(task) ? "" : "/dev/null";
  return file_of(pattern, task, variables);
}

Files files_of(const Step& step, int number, const std::vector<std::string>& variables) {
  const int task = step.first + number;
  Files made{.out = output_of(step.out, task, variables),
             .err = output_of(step.err.empty() ? step.out : step.err, task, variables)};
  if (step.in.empty() || step.in == "all" || is_number(step.in)) {
    const std::string reads = is_number(step.in) ? step.in : "0";
    if (reads != std::to_string(task)) made.in = "/dev/null";
  } else {
    made.in = step.in == "none" ? "/dev/null" : file_of(step.in, task, variables);
  }
  return made;
}

/// Empties the files that tasks write, which then add to them.
Result<void> empty_files(const Step& step, const std::vector<std::string>& variables) {
  if (step.append) return {};
  for (int task = 0; task < step.tasks; ++task) {
    const Files files = files_of(step, task, variables);
    for (const std::string& each : {files.out, files.err}) {
      if (each.empty() || each == "/dev/null") continue;
      const int file = ::open(each.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
      if (file < 0) {
        return fail(Code::unavailable,
                    fmt::format("cannot write {}: {}", each, std::strerror(errno)));
      }
      ::close(file);
    }
  }
  return {};
}

bool open_as(const std::string& path, int how, int descriptor) {
  if (path.empty()) return true;
  const int file = ::open(path.c_str(), how, 0666);
  if (file < 0) return false;
  ::dup2(file, descriptor);
  ::close(file);
  return true;
}

/// Becomes the command; comes back never.
[[noreturn]] void become(const Step& step, const Files& files, std::vector<std::string> variables) {
  const auto give_up = [](const std::string& what) {
    const int number = errno;
    fmt::print(stderr, "srun: error: {}: {}\n", what, std::strerror(number));
    ::_exit(number == ENOENT ? 2 : 126);
  };
  // The command is looked for where the step runs, as all that it names.
  if (!step.directory.empty() && ::chdir(step.directory.c_str()) != 0) give_up(step.directory);
  constexpr int kAdds = O_WRONLY | O_CREAT | O_APPEND;
  if (!open_as(files.in, O_RDONLY, STDIN_FILENO)) give_up(files.in);
  if (!open_as(files.out, kAdds, STDOUT_FILENO)) give_up(files.out);
  if (!open_as(files.err, kAdds, STDERR_FILENO)) give_up(files.err);
  variables.push_back(fmt::format("SLURM_TASK_PID={}", ::getpid()));
  std::vector<char*> environment;
  for (std::string& each : variables) environment.push_back(each.data());
  environment.push_back(nullptr);
  std::vector<std::string> words = step.command;
  std::vector<char*> argv;
  for (std::string& each : words) argv.push_back(each.data());
  argv.push_back(nullptr);
  environ = environment.data();
  ::execvp(argv[0], argv.data());
  give_up(step.command.front());
  std::abort();
}

/// Sent by what keeps the job, which tells each of its processes itself.
bool is_told_to_all(const signalfd_siginfo& heard) {
  std::ifstream file(fmt::format("/proc/{}/comm", heard.ssi_pid));
  std::string name;
  std::getline(file, name);
  return name.starts_with("almanac-shepher");
}

class Tasks {
 public:
  Tasks(const Step& step, const StepGpus& gpus, const std::vector<std::string>& variables)
      : step_(step), gpus_(gpus), variables_(variables) {}

  Result<int> run() {
    sigset_t before;
    sigset_t heard;
    ::sigemptyset(&heard);
    ::sigaddset(&heard, SIGCHLD);
    for (const int each : kPassedOn) ::sigaddset(&heard, each);
    ::sigprocmask(SIG_BLOCK, &heard, &before);
    signals_ = ::signalfd(-1, &heard, SFD_CLOEXEC | SFD_NONBLOCK);
    for (int number = 0; number < step_.tasks; ++number) {
      if (auto started = start(number, before); !started) {
        for (const Task& each : tasks_) ::kill(-each.process, SIGKILL);
        return tl::unexpected(started.error());
      }
    }
    if (step_.time_limit != kNoDuration) {
      end_at_ = Clock::now() + std::chrono::milliseconds(step_.time_limit.count());
    }
    while (left_ > 0) {
      wait();
      for (Task& each : tasks_) pump(each);
      hear();
      reap();
      keep_time();
    }
    for (Task& each : tasks_) pump(each, true);
    return highest_;
  }

 private:
  struct Task {
    pid_t process = -1;
    std::array<int, 2> pipes{-1, -1};  ///< Of its output and errors, where lines get a label.
    std::array<std::string, 2> rest{};
    bool has_ended = false;
  };

  Result<void> start(int number, const sigset_t& mask) {
    Task task;
    std::array<std::array<int, 2>, 2> ends{{{-1, -1}, {-1, -1}}};
    if (step_.label) {
      for (auto& each : ends) {
        if (::pipe2(each.data(), O_CLOEXEC) != 0) {
          return fail(Code::unavailable, fmt::format("no pipe: {}", std::strerror(errno)));
        }
      }
    }
    const Files files = files_of(step_, number, variables_);
    task.process = ::fork();
    if (task.process < 0) {
      return fail(Code::unavailable, fmt::format("no process: {}", std::strerror(errno)));
    }
    if (task.process == 0) {
      ::setpgid(0, 0);
      ::prctl(PR_SET_PDEATHSIG, SIGTERM);
      ::sigprocmask(SIG_SETMASK, &mask, nullptr);
      if (step_.label) {
        ::dup2(ends[0][1], STDOUT_FILENO);
        ::dup2(ends[1][1], STDERR_FILENO);
      }
      become(step_, files, environment_of(step_, gpus_, number, variables_));
    }
    ::setpgid(task.process, task.process);
    for (std::size_t at = 0; at < ends.size() && step_.label; ++at) {
      ::close(ends[at][1]);
      ::fcntl(ends[at][0], F_SETFL, O_NONBLOCK);
      task.pipes[at] = ends[at][0];
    }
    tasks_.push_back(std::move(task));
    ++left_;
    return {};
  }

  void wait() {
    std::vector<pollfd> news{{signals_, POLLIN, 0}};
    for (const Task& each : tasks_) {
      for (const int pipe : each.pipes) {
        if (pipe >= 0) news.push_back({pipe, POLLIN, 0});
      }
    }
    int timeout = -1;
    for (const auto& each : {end_at_, kill_at_}) {
      if (!each) continue;
      const auto rest = std::chrono::ceil<std::chrono::milliseconds>(*each - Clock::now());
      const int ms = static_cast<int>(std::clamp<std::int64_t>(rest.count(), 0, 60'000));
      timeout = timeout < 0 ? ms : std::min(timeout, ms);
    }
    ::poll(news.data(), news.size(), timeout);
  }

  /// Whole lines, each with the number of its task before it.
  void pump(Task& task, bool is_last = false) {
    const auto number = step_.first + (&task - tasks_.data());
    for (std::size_t at = 0; at < task.pipes.size(); ++at) {
      if (task.pipes[at] < 0) continue;
      std::FILE* const to = at == 0 ? stdout : stderr;
      std::array<char, 1 << 14> block{};
      for (;;) {
        const ssize_t got = ::read(task.pipes[at], block.data(), block.size());
        if (got == 0) ::close(std::exchange(task.pipes[at], -1));
        if (got <= 0) break;
        task.rest[at].append(block.data(), static_cast<std::size_t>(got));
      }
      std::size_t from = 0;
      for (std::size_t end; (end = task.rest[at].find('\n', from)) != std::string::npos;
           from = end + 1) {
        fmt::print(to, "{}: {}\n", number, task.rest[at].substr(from, end - from));
      }
      task.rest[at].erase(0, from);
      if (is_last && !task.rest[at].empty()) fmt::print(to, "{}: {}\n", number, task.rest[at]);
      std::fflush(to);
    }
  }

  void hear() {
    signalfd_siginfo heard{};
    while (::read(signals_, &heard, sizeof heard) == sizeof heard) {
      const int signal = static_cast<int>(heard.ssi_signo);
      if (signal != SIGCHLD && !is_told_to_all(heard)) tell(signal);
    }
  }

  void tell(int signal) {
    for (const Task& each : tasks_) {
      if (!each.has_ended) ::kill(-each.process, signal);
    }
  }

  void reap() {
    int status = 0;
    for (pid_t process; (process = ::waitpid(-1, &status, WNOHANG)) > 0;) {
      const auto found = std::find_if(tasks_.begin(), tasks_.end(),
                                      [&](const Task& each) { return each.process == process; });
      if (found == tasks_.end()) continue;
      found->has_ended = true;
      --left_;
      const int came_to = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      highest_ = std::max(highest_, came_to);
      if (came_to != 0) {
        fmt::print(stderr, "srun: error: task {}: {}\n", step_.first + (found - tasks_.begin()),
                   WIFEXITED(status) ? fmt::format("Exited with exit code {}", came_to)
                                     : std::string(strsignal(WTERMSIG(status))));
      }
      if (left_ == 0 || kill_at_) continue;
      if (came_to != 0 && step_.kill_on_bad_exit) end_all("a task has failed (--kill-on-bad-exit)");
      if (step_.wait != kNoDuration && !waits_) {
        waits_ = true;
        const auto latest = Clock::now() + std::chrono::milliseconds(step_.wait.count());
        end_at_ = end_at_ ? std::min(*end_at_, latest) : latest;
      }
    }
  }

  void end_all(const char* why) {
    fmt::print(stderr, "srun: stopping the other tasks of the step: {}\n", why);
    tell(SIGTERM);
    kill_at_ = Clock::now() + kGrace;
    end_at_.reset();
  }

  void keep_time() {
    if (left_ == 0) return;
    if (end_at_ && Clock::now() >= *end_at_) end_all(waits_ ? "--wait" : "over --time");
    if (kill_at_ && Clock::now() >= *kill_at_) {
      tell(SIGKILL);
      kill_at_ = Clock::now() + std::chrono::seconds(1);
    }
  }

  const Step& step_;
  const StepGpus& gpus_;
  const std::vector<std::string>& variables_;
  std::vector<Task> tasks_;
  int signals_ = -1;
  int left_ = 0;
  int highest_ = 0;
  bool waits_ = false;
  std::optional<Clock::time_point> end_at_;
  std::optional<Clock::time_point> kill_at_;
};

}  // namespace

Result<int> run_step(const Step& step, const StepGpus& gpus,
                     const std::vector<std::string>& variables) {
  if (auto emptied = empty_files(step, variables); !emptied) return tl::unexpected(emptied.error());
  const bool is_alone = step.tasks == 1 && !step.label && step.time_limit == kNoDuration;
  if (is_alone) {
    become(step, files_of(step, 0, variables), environment_of(step, gpus, 0, variables));
  }
  return Tasks(step, gpus, variables).run();
}

}  // namespace almanac::stand_in
