// SPDX-License-Identifier: Apache-2.0

/// \file
/// A real Slurm for a test: slurmctld, slurmd of nodes with fake GPUs, alone in namespaces of their
/// own. Skips, saying why, where it cannot be.
///
///   TEST(Something, OfARealSlurm) {
///     SKIP_WITHOUT_SLURM();
///     TestCluster cluster({.nodes = 8});
///     const std::uint32_t job = cluster.submit("-G 4 --wrap 'sleep 600'");
///     EXPECT_TRUE(cluster.becomes(job, "RUNNING"));
///   }
///
/// Cost     0.5 s for 8 nodes, 12 s more with accounting; a scheduling pass comes after at most 3
/// s.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <sys/types.h>

#include "process/descriptor.h"

/// With what is missing for this cluster (as TestCluster takes it) the test ends here, skipped.
#define SKIP_WITHOUT_SLURM(...)                                                   \
  if (const auto missing = ::almanac::slurm::TestCluster::missing({__VA_ARGS__}); \
      missing.has_value())                                                        \
  GTEST_SKIP() << "no Slurm to test with: it needs " << *missing

namespace almanac::slurm {

struct TestPlan {
  int nodes = 8;            ///< n001, n002 ...; each 8 GPUs "a100", 48 cores, 376,000 MB.
  bool power = false;       ///< With programs that power nodes down and up.
  int boot_s = 1;           ///< How long a node boots that is powered up.
  bool cgroups = false;     ///< Jobs in control groups; nodes have the CPUs of this machine.
  bool switches = false;    ///< s1 has the first half of the nodes, s2 the second.
  int shards = 0;           ///< Of each node, for jobs that share GPUs.
  std::string gres{};       ///< Of each node instead of those GPUs: "gpu:1g.10gb:4".
  bool accounting = false;  ///< With slurmdbd and MariaDB; jobs need "-A science".
  std::string more{};       ///< Lines of slurm.conf, in place of the fixture's where both say it.
};

/// What a command said, and its exit status.
struct Said {
  int status = 0;
  std::string out{};  ///< And err.
};

/// Partitions: all (the default), vc1 and vc2 (the halves). As long as it lives the thread that
/// made it, and what that starts, is in its network, with SLURM_CONF set. One at a time.
class TestCluster {
 public:
  /// What is missing here to boot it; nothing when all is there.
  static std::optional<std::string> missing(const TestPlan& plan = {});
  /// Throws, with the logs, when it does not come up.
  explicit TestCluster(const TestPlan& plan = {});
  TestCluster(const TestCluster&) = delete;
  TestCluster& operator=(const TestCluster&) = delete;
  ~TestCluster();

  /// Differs between test programs, because one machine steers one cluster of a name.
  static std::string name();
  /// Where etc/, log/, run/ and state/ are; gone with the cluster.
  const std::string& folder() const { return folder_; }
  /// Runs a line of shell as a client of the cluster would.
  Said run(const std::string& command) const;
  /// The same, but fails the test that asked unless the command succeeds; gives what it said.
  std::string must(const std::string& command) const;
  /// Among the processes of the cluster: their numbers are those of its files in run/.
  Said within(const std::string& command) const;

  /// sbatch with these arguments; gives the number of the job.
  std::uint32_t submit(const std::string& arguments) const;
  /// A field as `squeue -O` has it: state, reason, priority ... "" = Slurm does not know the job
  /// any more.
  std::string of_job(std::uint32_t job, const std::string& field) const;
  /// Whether the job comes to that state, waited for patiently.
  bool becomes(std::uint32_t job, const std::string& state) const;
  /// "idle", "alloc", "idle~" ...
  std::string state_of(const std::string& node) const;

  /// By signal: "TERM", which saves all it knows; "KILL", which may lose the last seconds.
  void end_controller(const std::string& signal) const;
  /// A new one over the state that the old one has saved.
  void start_controller() const;

 private:
  std::string folder_;            ///< The cluster itself removes it, also when we are killed.
  process::Descriptor lifeline_;  ///< The cluster lives until this closes.
  process::Descriptor our_network_;
  pid_t cluster_ = -1;
  pid_t inside_ = -1;  ///< The first process of its namespaces.
};

/// Asks until it is true; false after `at_most_s`, which a machine with other work to do may need.
/// For what a test would wait for in any case.
bool eventually(const std::function<bool()>& condition, int at_most_s = 180);

}  // namespace almanac::slurm
