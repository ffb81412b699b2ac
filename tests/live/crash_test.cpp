// SPDX-License-Identifier: Apache-2.0

/// \file
/// A service that is killed at any moment, and begun again: what it acknowledged runs exactly once.
///
/// This program is also that service: `live_crash_test serve FOLDER POLICY` takes a job a line on
/// its input, "GPUS LIMIT_S COMMAND" or "1..GPUS LIMIT_S COMMAND", and answers once it is
/// acknowledged; "cancel NUMBER" likewise. "state NUMBER" is how a job stands, "left" how many have
/// not ended.
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/rng.h"
#include "machine/local_service.h"
#include "process/descriptor.h"

namespace almanac::machine {
namespace {

namespace fs = std::filesystem;

constexpr int kGpus = 16;

Machine made_up() {
  Machine made;
  made.cluster = cluster::uniform(1, kGpus);
  made.gpu_names.emplace_back();
  for (int gpu = 0; gpu < kGpus; ++gpu) made.gpu_names.back().push_back(std::to_string(gpu));
  return made;
}

int serve(const fs::path& folder, const std::string& policy) {
  auto service = open_local_service({.state = (folder / "state").string(),
                                     .machine = made_up(),
                                     .policy = policy,
                                     .policy_is_told = true,
                                     .futures = 0,
                                     .measuring = {.every = 50ms}});
  if (!service) {
    std::cerr << to_string(service.error()) << std::endl;
    return 1;
  }
  std::atomic<bool> stop = false;
  std::thread deciding([&] { (*service)->run(stop); });
  std::cout << "ready" << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    if (line == "left") {
      std::cout << static_cast<service::Service&>(**service).jobs()->size() << std::endl;
      continue;
    }
    if (line.starts_with("cancel ")) {
      const store::JobNumber number{std::stoll(line.substr(line.find(' ')))};
      const auto done = (*service)->cancel({number}, {.uid = ::geteuid(), .may_all = true}, false);
      std::cout << (done ? "ok" : to_string(done.error())) << std::endl;
      continue;
    }
    if (line.starts_with("state ")) {
      const store::JobNumber number{std::stoll(line.substr(line.find(' ')))};
      const auto view = (*service)->job(number);
      std::cout << (view ? to_string(view->job.state) : to_string(view.error())) << std::endl;
      continue;
    }
    store::Submission asked{.name = "job", .user = "me"};
    asked.uid = ::geteuid();
    asked.gid = ::getegid();
    std::istringstream words(line);
    int limit_s = 0;
    words >> asked.gpus;
    if (words.peek() == '.') {
      words.ignore(2) >> asked.max_gpus;
      asked.batch = 64;
      asked.steps = 1'000'000;
    }
    words >> limit_s;
    asked.time_limit = limit_s * 1s;
    std::string command;
    std::getline(words, command);
    asked.grace = asked.max_gpus > 0 ? 20s : 1s;
    asked.argv = {"sh", "-c", command};
    asked.directory = folder.string();
    asked.environment = {"PATH=/usr/bin:/bin"};
    asked.out = "/dev/null";
    const auto numbers = (*service)->submit(asked);
    if (numbers) std::cout << "ok" << std::endl;
    if (!numbers) std::cout << to_string(numbers.error()) << std::endl;
  }
  stop = true;
  (*service)->wake();
  deciding.join();
  return 0;
}

/// A service in a process of its own.
class Process {
 public:
  Process(const fs::path& folder, const std::string& policy,
          const std::vector<std::string>& environment) {
    int in[2];
    int out[2];
    EXPECT_EQ(::pipe2(in, O_CLOEXEC), 0);
    EXPECT_EQ(::pipe2(out, O_CLOEXEC), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(in[0], STDIN_FILENO);
      ::dup2(out[1], STDOUT_FILENO);
      for (const std::string& each : environment) ::putenv(const_cast<char*>(each.c_str()));
      ::execl("/proc/self/exe", "live_crash_test", "serve", folder.c_str(), policy.c_str(),
              nullptr);
      ::_exit(127);
    }
    ::close(in[0]);
    ::close(out[1]);
    to_ = process::Descriptor(in[1]);
    from_ = process::Descriptor(out[0]);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process() { kill(); }

  /// Whether it may hear that; false = it was dead before.
  bool tell(const std::string& line) {
    const std::string whole = line + "\n";
    return ::write(to_.get(), whole.data(), whole.size()) >= 0;
  }
  /// Its answer; "" = it is dead.
  std::string ask(const std::string& line) { return tell(line) ? read_line() : ""; }
  std::string read_line() {
    std::string line;
    for (char each = 0; ::read(from_.get(), &each, 1) == 1;) {
      if (each == '\n') return line;
      line += each;
    }
    return "";
  }
  void kill() {
    if (pid_ < 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  pid_t pid_ = -1;
  process::Descriptor to_;
  process::Descriptor from_;
};

class Killed : public testing::Test {
 protected:
  void SetUp() override {
    ::signal(SIGPIPE, SIG_IGN);
    std::string pattern = (fs::temp_directory_path() / "almanac-crash-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::unique_ptr<Process> begin(const std::vector<std::string>& environment = {}) {
    return std::make_unique<Process>(folder_, policy_, environment);
  }
  /// Submits a job that writes its name in its first run; whether that was acknowledged.
  bool submit(Process& service, const std::string& name, const std::string& sleep) {
    return service.ask("1 1000 [ $ALMANAC_ATTEMPT = 1 ] && echo " + name + " >> ran; sleep " +
                       sleep) == "ok";
  }
  bool runs_empty(Process& service) {
    for (int tries = 0; tries < 3000; ++tries) {
      const std::string left = service.ask("left");
      if (left == "0") return true;
      if (left.empty()) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return false;
  }
  /// The same, and lets the shepherds go on that jobs have stopped.
  bool runs_empty_of_sleepers(Process& service) {
    for (int tries = 0; tries < 3000; ++tries) {
      const std::string left = service.ask("left");
      if (left == "0") return true;
      if (left.empty()) return false;
      if (const auto sleeper = sleeper_now()) ::kill(sleeper->shepherd, SIGCONT);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return false;
  }
  /// A job that has told the ids of its shepherd and of itself, and has stopped the shepherd.
  struct Sleeper {
    pid_t shepherd = -1;
    pid_t command = -1;
    bool command_has_ended() const { return state(command) == 'Z' || state(command) == 0; }

   private:
    /// The letter of /proc/PID/stat; 0 = there is no such process.
    static char state(pid_t process) {
      std::ifstream file("/proc/" + std::to_string(process) + "/stat");
      std::string line;
      std::getline(file, line);
      const auto name_ends = line.rfind(") ");
      return name_ends == std::string::npos ? '\0' : line[name_ends + 2];
    }
  };
  std::optional<Sleeper> sleeper_now() const {
    Sleeper made;
    std::ifstream file(folder_ / "sleeper");
    if (file >> made.shepherd >> made.command) return made;
    return std::nullopt;
  }
  std::map<std::string, int> ran() const {
    std::map<std::string, int> counts;
    std::ifstream file(folder_ / "ran");
    for (std::string line; std::getline(file, line);) ++counts[line];
    return counts;
  }
  /// Every acknowledged job ran once; of the others none ran twice.
  void check(const std::set<std::string>& acknowledged) const {
    const auto counts = ran();
    for (const std::string& name : acknowledged) {
      EXPECT_TRUE(counts.contains(name)) << name << " was acknowledged and never ran";
    }
    for (const auto& [name, times] : counts) EXPECT_EQ(times, 1) << name;
  }

  fs::path folder_;
  std::string policy_ = "qssf";
};

/// A number that the environment may give.
int told(const char* name, int otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoi(text);
}

// Jobs on any number of GPUs come and go, each says which it uses, and the service dies again and
// again. A GPU in use is a file with the id of its job's shell, which the shell itself makes and
// only where there is none. A job that is asked to end is asked with all its processes, so that an
// `rm` may die of it; it looks whether the file is still its own, and tries again.
TEST_F(Killed, NoGpuIsUsedTwiceAsJobsMove) {
  policy_ = "ffdl:1";
  const std::string use =
      "set -C; IFS=,; ended=; trap ended=1 TERM; "
      "each() { for gpu in $CUDA_VISIBLE_DEVICES; do $1 gpu-$gpu; done; }; "
      "take() { echo $$ > $1; } 2>> twice; "
      "leave() { while read owner < $1 && [ $owner = $$ ]; do rm $1; done; } 2> /dev/null; ";
  const std::string elastic =
      "1..16 1000 " + use +
      "up() { each take; printf 'gpus %s\\nstep_s 0.%d\\n' \"$CUDA_VISIBLE_DEVICES\" "
      "$((64 / ALMANAC_GPUS)) >> $ALMANAC_PROGRESS; changed=; }; "
      "trap changed=1 USR2; up; "
      "while [ ! -e stop ] && [ ! $ended ]; do sleep 0.02; [ $changed ] || continue; "
      "each leave; . $ALMANAC_ALLOCATION; up; echo >> moved; done; each leave";
  const std::string rigid = "4 1000 " + use + "each take; sleep 0.3; each leave";
  Rng rng(7);
  auto service = begin();
  service->read_line();
  for (int job = 0; job < 3; ++job) ASSERT_EQ(service->ask(elastic), "ok");
  const int kills = told("ALMANAC_CRASH_MOVES", 10);
  for (int kill = 0; kill < kills; ++kill) {
    static_cast<void>(service->ask(rigid));
    std::this_thread::sleep_for(std::chrono::milliseconds(300 + rng.below(1200)));
    service->kill();
    service = begin();
    ASSERT_EQ(service->read_line(), "ready");
  }
  std::ofstream(folder_ / "stop").flush();
  ASSERT_TRUE(runs_empty(*service));
  EXPECT_FALSE(fs::exists(folder_ / "twice") && fs::file_size(folder_ / "twice") > 0)
      << std::ifstream(folder_ / "twice").rdbuf();
  EXPECT_TRUE(fs::exists(folder_ / "moved")) << "no job was told of other GPUs";
}

// Three jobs, then the service dies at its n-th step; for every n, or one in so many.
TEST_F(Killed, AtEveryStep) {
  const std::string preload = std::string("LD_PRELOAD=") + CRASH_HERE;
  int steps = 1;
  int died = 0;
  const int every = told("ALMANAC_CRASH_EVERY", 5);
  for (int at = 0; at <= steps; at += every) {
    SCOPED_TRACE("step " + std::to_string(at));
    fs::remove_all(folder_ / "state");
    fs::remove(folder_ / "ran");
    std::set<std::string> acknowledged;
    const std::string count = (folder_ / "count").string();
    {
      // The first time it does not die: how many steps are there?
      const auto service =
          begin({preload, at == 0 ? "CRASH_COUNT=" + count : "CRASH_AT=" + std::to_string(at)});
      service->read_line();
      bool lives = true;
      for (int job = 0; job < 3 && lives; ++job) {
        const std::string name = "job" + std::to_string(job);
        lives = submit(*service, name, "0.01");
        if (lives) acknowledged.insert(name);
      }
      lives = lives && runs_empty(*service);
      died += lives ? 0 : 1;
    }
    if (at == 0) {
      std::ifstream(count) >> steps;
      EXPECT_EQ(acknowledged.size(), 3U);
      EXPECT_GT(steps, 20);
    }
    const auto again = begin();
    ASSERT_EQ(again->read_line(), "ready");
    ASSERT_TRUE(runs_empty(*again));
    check(acknowledged);
  }
  EXPECT_GT(died, steps / every / 2);
}

// A long job, and a short one that needs its GPUs; a third that is cancelled while it runs. The one
// that was preempted runs again to its end, and the one that was cancelled does not. A service that
// dies before it answers a cancellation may have kept it or not: then the job is cancelled or runs,
// never both.
TEST_F(Killed, AtEveryStepOfAPreemptionAndACancellation) {
  policy_ = "srtf+limit";
  const std::string preload = std::string("LD_PRELOAD=") + CRASH_HERE;
  int steps = 1;
  const int every = told("ALMANAC_CRASH_EVERY", 5);
  for (int at = 0; at <= steps; at += every) {
    SCOPED_TRACE("step " + std::to_string(at));
    fs::remove_all(folder_ / "state");
    fs::remove(folder_ / "ran");
    const std::string count = (folder_ / "count").string();
    std::set<std::string> acknowledged;
    bool heard = false;
    std::string answer;
    {
      const auto service =
          begin({preload, at == 0 ? "CRASH_COUNT=" + count : "CRASH_AT=" + std::to_string(at)});
      service->read_line();
      const auto give = [&](const std::string& name, const std::string& line) {
        if (service->ask(line) == "ok") acknowledged.insert(name);
      };
      give("long", "16 1000 sleep 0.3; echo long >> ran");
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      give("short", "16 500 sleep 0.05; echo short >> ran");
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      give("unwanted", "16 100 sleep 0.6; echo unwanted >> ran");
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      heard = service->tell("cancel 3");
      if (heard) answer = service->read_line();
      if (at == 0) {
        EXPECT_TRUE(runs_empty(*service));
      }
    }
    if (at == 0) {
      std::ifstream(count) >> steps;
      EXPECT_GT(steps, 20);
    }
    const auto again = begin();
    ASSERT_EQ(again->read_line(), "ready");
    ASSERT_TRUE(runs_empty(*again));
    const bool died_over_it = heard && answer.empty();
    if (answer == "ok" || (died_over_it && again->ask("state 3") == "CANCELLED")) {
      EXPECT_FALSE(ran().contains("unwanted"));
      acknowledged.erase("unwanted");
    }
    check(acknowledged);
  }
}

// A job that ends by itself as it is preempted, which its shepherd is slow to tell; its successor
// is cancelled, so the policy starts it again. Whenever the service dies over this: it has run.
TEST_F(Killed, AtEveryStepOfARestartOfWhoHadEndedByItself) {
  policy_ = "srtf+limit";
  const std::string preload = std::string("LD_PRELOAD=") + CRASH_HERE;
  int steps = 1;
  const int every = told("ALMANAC_CRASH_EVERY", 5);
  for (int at = 0; at <= steps; at += every) {
    SCOPED_TRACE("step " + std::to_string(at));
    for (const char* const name : {"state", "ran", "sleeper"}) fs::remove_all(folder_ / name);
    const std::string count = (folder_ / "count").string();
    std::set<std::string> acknowledged;
    const auto service =
        begin({preload, at == 0 ? "CRASH_COUNT=" + count : "CRASH_AT=" + std::to_string(at)});
    service->read_line();
    const std::string answer = service->ask(
        "16 1000 echo early >> ran; echo $PPID $$ > it; mv it sleeper; kill -STOP $PPID");
    if (answer == "ok") acknowledged.insert("early");
    bool lives = answer == "ok";
    const auto has_ended = [&] {
      const auto sleeper = sleeper_now();
      return sleeper && sleeper->command_has_ended();
    };
    while (lives && !has_ended()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      lives = !service->ask("left").empty();
    }
    if (lives) {
      service->ask("16 500 true");
      service->ask("cancel 2");
      // Its refusal comes a step later: what the policy did then is on the disk.
      const std::string refused = service->ask("cancel 99");
      if (at == 0) {
        EXPECT_EQ(refused, "there is no job 99");
        // PENDING once it is to start again: it has no process yet then.
        EXPECT_THAT(service->ask("state 1"), testing::AnyOf("RUNNING", "PENDING"));
        EXPECT_FALSE(fs::exists(folder_ / "state/runs/1.1/exit.json"));
      }
    }
    service->kill();
    if (at == 0) {
      std::ifstream(count) >> steps;
      EXPECT_GT(steps, 20);
    }
    if (has_ended()) {
      ::kill(sleeper_now()->shepherd, SIGCONT);
      while (!fs::exists(folder_ / "state/runs/1.1/exit.json")) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
    }
    const auto again = begin();
    ASSERT_EQ(again->read_line(), "ready");
    ASSERT_TRUE(runs_empty_of_sleepers(*again));
    check(acknowledged);
  }
}

// Many jobs, and kill -9 at random.
TEST_F(Killed, AtRandomAmongManyJobs) {
  const int jobs = told("ALMANAC_CRASH_JOBS", 300);
  Rng rng(7);
  std::set<std::string> acknowledged;
  auto service = begin();
  ASSERT_EQ(service->read_line(), "ready");
  int kills = 0;
  for (int job = 0; job < jobs; ++job) {
    const std::string name = "job" + std::to_string(job);
    if (submit(*service, name, "0.0" + std::to_string(rng.below(10)))) acknowledged.insert(name);
    if (rng.below(20 + static_cast<std::uint64_t>(jobs) / 50) != 0) continue;
    service->kill();
    service = begin();
    ASSERT_EQ(service->read_line(), "ready");
    ++kills;
  }
  ASSERT_TRUE(runs_empty(*service));
  EXPECT_GT(kills, 3);
  EXPECT_EQ(acknowledged.size(), static_cast<std::size_t>(jobs));
  check(acknowledged);
}

}  // namespace
}  // namespace almanac::machine

int main(int argc, char** argv) {
  if (argc == 4 && std::string(argv[1]) == "serve")
    return almanac::machine::serve(argv[2], argv[3]);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
