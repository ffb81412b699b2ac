// SPDX-License-Identifier: Apache-2.0

/// \file
/// What both schedulers of the controller share: jobs, nodes, the queue.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "slurmctld/backfill/known_fits.h"
#include "slurmctld/jobs/job.h"
#include "slurmctld/limits/limits.h"
#include "slurmctld/main_loop/queue.h"
#include "slurmctld/main_loop/reservations.h"
#include "slurmctld/nodes/choose.h"
#include "slurmctld/nodes/zones.h"
#include "slurmctld/priority/priority.h"

namespace almanac::slurmctld {

/// A job that the controller starts.
struct Start {
  JobNumber number = 0;
  JobNumber array = 0;
  int task = -1;
  PartitionAt partition = 0;
  Seconds at = 0;
  Seconds time_limit = 0;
  bool by_backfill = false;
  Allocation allocation{};
};

/// A running job that must make room for another.
struct Preemption {
  JobNumber victim = 0;
  JobNumber preemptor = 0;
  site::PreemptMode mode = site::PreemptMode::cancel;
};

/// Returns what a job holds, or asks, of each TRES of the site.
site::TresCounts held_tres(const site::Site& site, const NodeTable& table,
                           const Allocation& allocation);
site::TresCounts requested_tres(const site::Site& site, const NodeTable& table,
                                const NodeRequest& ask);

class State {
 public:
  /// `site` must outlive it.
  explicit State(const site::Site& site);
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  /// Adds a pending job, which is not in the queue yet.
  Job& add(Job job, Seconds now);
  void forget(JobNumber number);
  Job* find(JobNumber number);
  const Job* find(JobNumber number) const;

  /// Puts a pending job into the queue, or takes it out of it.
  void enqueue(Job& job);
  void dequeue(Job& job);
  /// Files all pending jobs again, after their priorities have changed.
  void refile();
  std::uint32_t priority(const Job& job, PartitionAt partition) const;

  /// Starts a pending job, or the next task of an array, unless the host refuses.
  bool start(Job& job, PartitionAt partition, Allocation allocation, Seconds now, Seconds limit,
             bool by_backfill);
  /// Counts a job that runs already.
  void adopt(Job& job, PartitionAt partition, Allocation allocation, Seconds began);
  /// Frees what a running job holds.
  void finish(Job& job, Seconds now);

  /// Nodes of a partition that are in service and not being cleaned up.
  NodeBits usable(PartitionAt partition) const;
  /// The limit that a job would run with in a partition.
  Seconds limit_in(const Job& job, PartitionAt partition) const;
  /// Checks what the partition demands of its jobs. Returns a reason, or kNone.
  ReasonName check_partition(const Job& job, PartitionAt partition) const;
  /// Checks the limits on what a job would hold. Returns a reason, or kNone.
  ReasonName check_limits(const Job& job, PartitionAt partition, Seconds limit,
                          const Allocation& allocation) const;
  /// The same for what a job requests, as far as it does not depend on nodes.
  ReasonName check_request(const Job& job, PartitionAt partition, Seconds limit) const;
  bool has_licenses(const Job& job) const;
  /// A question without side effects, and one with those of slurmctld.
  Question question(const Job& job, PartitionAt partition, const NodeBits& candidates) const;
  Question real_question(const Job& job, PartitionAt partition, const NodeBits& candidates);
  /// Returns what is known about a question, whose job and partition are these.
  FutureFits& fits(const Job& job, const Question& question);
  /// Takes from a node what others than the controller's jobs hold, or gives it back.
  void occupy(const Share& share);
  void vacate(const Share& share);
  void set_weight(NodeAt node, int weight);
  /// Takes a node out of service, or back.
  void set_up(NodeAt node, bool is_up);
  /// Changes whenever jobs may fit otherwise in a zone than before; never 0.
  std::uint64_t version(ZoneAt zone) const { return known_fits_.version(zone); }
  const std::vector<RunningJob>& running() const { return running_; }
  RunningJobs running_in(PartitionAt partition) const {
    return {ends_, running_by_zone_[zones.of_partition(partition)]};
  }
  /// A start, or a test of the main scheduler, resets the weights of a partition's nodes.
  void reset_weights(PartitionAt partition) {
    partition_nodes[partition].each([&](NodeAt node) { stale[node] = 0; });
  }

  /// sbatch has the controller test whether the job could ever start, which changes weights.
  ///
  /// Source   Slurm 22.05, slurmctld/job_mgr.c (job_allocate), node_scheduler.c
  ///          (_pick_best_nodes with SELECT_MODE_TEST_ONLY).
  void test_submission(const Job& job);
  /// Keeps no weights until the first CPU job comes, as only CPU jobs read them. Call it before any
  /// job comes, and only if each job has one partition and is eligible when it is first submitted.
  /// Then the test of that submission resets all weights that the job could have seen, so schedules
  /// are the same.
  void defer_weights();

  const site::Site& site;
  NodeTable table;
  std::vector<PartitionRules> rules;      // by partition
  std::vector<NodeBits> partition_nodes;  // by partition
  Zones zones;
  Room room;
  NodeBits up;                  // nodes in service
  std::vector<int> completing;  // jobs whose epilog runs, by node
  std::unordered_map<JobNumber, Job> jobs;
  Queue queue;
  Limits limits;
  Reservations reservations;
  std::optional<Priorities> priorities;  // nothing with priority/basic
  StaleWeights stale;
  bool keeps_stale_weights = false;     // until 23.02
  std::vector<Start> starts;            // since they were last taken
  std::vector<Preemption> preemptions;  // likewise
  std::map<std::string, int> free_licenses;
  /// Decisions of the host: whether a job may start at all, and on these nodes. The second
  /// call takes the nodes if it returns true. Empty = always.
  std::function<bool(const Job&)> admits;
  std::function<bool(const Job&, const Allocation&)> takes;

 private:
  Queue::Record record(Job& job, PartitionAt partition) const;
  void run(Job& job, PartitionAt partition, Allocation allocation, Seconds now, Seconds limit);

  site::TresCounts tres_of(const Allocation& allocation, PartitionAt partition) const;
  site::TresCounts with_billing(site::TresCounts held, PartitionAt partition) const;
  PriorityJob priority_job(const Job& job) const;

  /// Calls `act` with each list of running jobs that the job belongs to.
  template <typename Act>
  void each_list(const Job& job, Act&& act);
  std::uint32_t add_shape(const NodeRequest& request);
  void drop_shape(const NodeRequest& request);
  /// Something on the nodes has changed.
  void forget_fits(const Allocation& allocation);

  /// How many jobs ask alike, and their number. Numbers are never used again.
  struct Shape {
    std::uint32_t number = 0;
    std::size_t jobs = 0;
  };
  std::map<NodeRequest, Shape> shapes_;
  std::uint32_t next_shape_ = 0;
  KnownFits known_fits_;
  bool defers_weights_ = false;
  std::vector<std::int64_t> partition_cpus_;                         // by partition
  std::unordered_map<JobNumber, std::vector<Queue::Record>> filed_;  // of pending jobs
  std::unordered_map<JobNumber, std::uint32_t> basic_priority_;
  std::uint32_t next_basic_ = 4'294'901'760;
  std::vector<RunningJob> running_;  // by end, then number
  Ends ends_;                        // the same jobs
  std::vector<std::vector<RunningJob>> running_by_zone_;
  JobNumber next_task_number_ = 0x4000'0000;
};

}  // namespace almanac::slurmctld
