// SPDX-License-Identifier: Apache-2.0

/// \file
/// An agent's work on control groups v2 of the kernel's own, in folders as slurmd makes them:
/// system.slice/NODE_slurmstepd.scope/job_12/step_0/user/task_0. It needs root, and a cgroup2 whose
/// root offers the controllers; elsewhere the tests say what is missing.
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/group_file.h"
#include "agent/job_groups.h"
#include "agent/limits.h"
#include "agent/look.h"
#include "support/temporary_folder.h"

namespace almanac::agent {
namespace {

namespace fs = std::filesystem;
using manager::JobNumber;
using testing::ElementsAre;

constexpr JobNumber kUnifiedJob{12};

bool lists(const std::string& words, const std::string& word) {
  std::istringstream all(words);
  for (std::string each; all >> each;) {
    if (each == word) return true;
  }
  return false;
}

/// The groups of a job of a node that is there for the test only, with a process in the last that
/// would use all it can get. When it goes, all is as it was.
class UnifiedJob {
 public:
  explicit UnifiedJob(const std::vector<std::string>& controllers) {
    const std::string root = find_mounts().unified;
    if (root.empty()) {
      missing_ = "cgroup v2 is not mounted";
      return;
    }
    std::string folder = root;
    for (const std::string& part :
         {std::string("system.slice"), node() + "_slurmstepd.scope", std::string("job_12"),
          std::string("step_0"), std::string("user"), std::string("task_0")}) {
      for (const std::string& each : controllers) {
        if (!share_out(folder, each)) return;
      }
      folder += "/" + part;
      if (part == "job_12") job_ = folder;
      if (::mkdir(folder.c_str(), 0755) == 0) {
        made_.push_back(folder);
      } else if (errno != EEXIST) {
        missing_ = fmt::format("{}: {}", folder, std::strerror(errno));
        return;
      }
    }
    process_ = ::fork();
    if (process_ == 0) {
      for (volatile unsigned turn = 0;;) turn = turn + 1;
    }
    if (!write_file(folder + "/cgroup.procs", std::to_string(process_))) {
      missing_ = fmt::format("{}: {}", folder, std::strerror(errno));
    }
  }
  ~UnifiedJob() {
    if (process_ > 0) {
      ::kill(process_, SIGKILL);
      ::waitpid(process_, nullptr, 0);
    }
    for (auto each = made_.rbegin(); each != made_.rend(); ++each) {
      // A process that was killed leaves a moment later.
      for (int tries = 0; ::rmdir(each->c_str()) != 0 && errno == EBUSY && tries < 1000; ++tries) {
        ::usleep(10'000);
      }
    }
    for (auto each = shared_out_.rbegin(); each != shared_out_.rend(); ++each) {
      write_file(each->first, "-" + each->second);  // what went with its folder cannot be opened
    }
  }
  UnifiedJob(const UnifiedJob&) = delete;
  UnifiedJob& operator=(const UnifiedJob&) = delete;

  /// Why it cannot be had here; "" = it is there.
  const std::string& missing() const { return missing_; }
  static std::string node() { return fmt::format("almanac-test-{}", ::getpid()); }
  std::vector<JobGroups> find() const { return find_jobs(find_mounts(), node()); }
  pid_t process() const { return process_; }
  std::string file(const std::string& name) const { return job_ + "/" + name; }
  std::string read(const std::string& name) const { return read_file(file(name)).value_or(""); }
  /// In how many periods it was held.
  int times_held() const {
    std::istringstream text(read("cpu.stat"));
    std::string word;
    for (long value = 0; text >> word >> value;) {
      if (word == "nr_throttled") return static_cast<int>(value);
    }
    return 0;
  }
  bool is_held_often() const {
    constexpr int kEnough = 3;
    for (int tries = 0; tries < 6000 && times_held() < kEnough; ++tries) ::usleep(10'000);
    return times_held() >= kEnough;
  }

 private:
  bool share_out(const std::string& folder, const std::string& controller) {
    const std::string file = folder + "/cgroup.subtree_control";
    if (lists(read_file(file).value_or(""), controller)) return true;
    if (write_file(file, "+" + controller)) {
      shared_out_.emplace_back(file, controller);
      return true;
    }
    missing_ =
        fmt::format("{} does not share out {}: {}", folder, controller, std::strerror(errno));
    return false;
  }

  std::string missing_;
  std::string job_;
  std::vector<std::string> made_;                                // folders
  std::vector<std::pair<std::string, std::string>> shared_out_;  // file, controller
  pid_t process_ = -1;
};

#define SKIP_WITHOUT(job) \
  if (!(job).missing().empty()) GTEST_SKIP() << "no such control groups here: " << (job).missing()

class UnifiedTest : public testing::Test {
 protected:
  Limits open() {
    auto opened = Limits::open(folder_ / "memory");
    EXPECT_TRUE(opened) << to_string(opened.error());
    return std::move(*opened);
  }

  TemporaryFolder folder_;
};

TEST_F(UnifiedTest, TheJobIsFoundWithItsProcesses) {
  const UnifiedJob job({"cpu"});
  SKIP_WITHOUT(job);
  const auto found = job.find();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.front().job, kUnifiedJob);
  EXPECT_EQ(found.front().unified + "/cpu.max", job.file("cpu.max"));
  EXPECT_THAT(processes_of(found.front()), ElementsAre(job.process()));
}

TEST_F(UnifiedTest, ItIsHeldByItsTimeAndLetGo) {
  const UnifiedJob job({"cpu"});
  SKIP_WITHOUT(job);
  Limits limits = open();
  ASSERT_TRUE(limits.hold({{kUnifiedJob, 0.1}}, job.find()).empty());
  EXPECT_EQ(job.read("cpu.max"), "10000 100000");
  EXPECT_TRUE(job.is_held_often());
  limits.lift_all();
  EXPECT_EQ(job.read("cpu.max"), "max 100000");
}

TEST_F(UnifiedTest, ItIsLetGoByTheNextAgent) {
  const UnifiedJob job({"cpu"});
  SKIP_WITHOUT(job);
  {
    Limits killed = open();
    ASSERT_TRUE(killed.hold({{kUnifiedJob, 0.5}}, job.find()).empty());
  }
  ASSERT_EQ(job.read("cpu.max"), "50000 100000");
  open();
  EXPECT_EQ(job.read("cpu.max"), "max 100000");
}

TEST_F(UnifiedTest, ItIsMeasured) {
  const UnifiedJob job({"cpu"});
  SKIP_WITHOUT(job);
  Look look({}, UnifiedJob::node());
  const Limits limits = open();
  look.look(Time{} + 1s, job.find(), limits);
  ::usleep(200'000);
  const Report report = look.look(Time{} + 2s, job.find(), limits);
  ASSERT_EQ(report.jobs.size(), 1U);
  ASSERT_TRUE(report.jobs.front().cores);
  EXPECT_GT(*report.jobs.front().cores, 0) << "it has run meanwhile";
}

TEST_F(UnifiedTest, ItIsHeldByItsProcessorsWhereItsTimeIsNotShared) {
  const UnifiedJob job({"cpuset"});
  SKIP_WITHOUT(job);
  if (!job.read("cpu.max").empty()) GTEST_SKIP() << "the cpu controller is shared out already";
  const std::string all = job.read("cpuset.cpus.effective");
  if (all.find_first_of(",-") == std::string::npos) GTEST_SKIP() << "one processor only";
  // As slurmd writes it with ConstrainCores=yes.
  ASSERT_TRUE(write_file(job.file("cpuset.cpus"), all));
  Limits limits = open();
  ASSERT_TRUE(limits.hold({{kUnifiedJob, 1}}, job.find()).empty());
  const auto bound = [&](const std::string& group) {
    return job.read(group + "cpuset.cpus.effective");
  };
  EXPECT_EQ(bound("").find_first_of(",-"), std::string::npos) << bound("");
  EXPECT_EQ(bound("step_0/user/task_0/"), bound(""));
  limits.lift_all();
  EXPECT_EQ(job.read("cpuset.cpus"), all);
  EXPECT_EQ(bound("step_0/user/task_0/"), all);
}

}  // namespace
}  // namespace almanac::agent
