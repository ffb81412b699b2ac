// SPDX-License-Identifier: Apache-2.0

/// \file
/// Services whose replicas are jobs of a simulation, on the same ledger as all others.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "inference/scaler.h"
#include "inference/service.h"
#include "inference/simulation.h"
#include "policy/contract/contract.h"
#include "trace/trace.h"

namespace almanac::schedule {
class SpeedBook;
}

namespace almanac::sim {

/// A service to run beside jobs.
struct ServiceCase {
  std::string name = "service";
  inference::Service service{};    ///< Its own number of replicas means nothing here.
  inference::Requests requests{};  ///< Arrivals count from the first job's.
  inference::Objective objective{};
  int least = 1;              ///< Replicas.
  int most = 1;               ///< Replicas.
  Duration cold_start = 30s;  ///< From the start of a replica until it takes requests.
  std::string scaler = "reactive";
  double replica_requests_per_s = 0;  ///< For scalers that need it; 0 = not known.
  std::string vc;                     ///< Whose GPUs it has; "" where jobs name none.
  /// Nodes of its own, the last of its virtual cluster, until its requests are over: drained, as
  /// policies see them. Its first replicas are there, as many as each node holds.
  int nodes = 0;
  /// Whether every replica that the scaler asks for starts at once, on GPUs of running jobs if none
  /// are free (policy::IfFull::stop_others). Else only the least replicas are kept, and no job
  /// stops for them.
  bool reclaims = true;
};

/// What became of a service.
struct ServiceOutcome {
  std::vector<inference::Outcome> requests;
  double gpu_s = 0;  ///< Held by replicas, cold starts included, and all of its own nodes.
  std::uint64_t replicas_started = 0;  ///< Once for each time a policy started one.
  std::uint64_t replicas_stopped = 0;  ///< By the policy, for other jobs; their requests began
                                       ///< anew. Never one of the least.
  std::string refused;                 ///< Why a replica can never start; "" = it can.
};

/// The side of a simulation that is about services: which replicas are to come and to go, and what
/// requests see of those that run. A replica that is stopped loses what it computed; its requests
/// go to the others, or wait. One that is to go takes no more requests and answers those that it
/// has.
///
/// Cost: an event of the fleet each; what jobs do costs O(replicas) an event.
class Services {
 public:
  /// Fails as inference::parts() does, with not_found for a scaler that is none, with usage for
  /// nodes of its own that the cluster does not have, or has only for a time.
  static Result<Services> make(const trace::Trace& jobs, const cluster::Cluster& cluster,
                               std::vector<ServiceCase> told);
  Services(Services&&) noexcept;
  Services& operator=(Services&&) noexcept;
  ~Services();

  /// The jobs of the log and behind them the replicas so far.
  const trace::Trace& trace() const { return *trace_; }
  /// As View::services has them.
  const std::vector<policy::Service>& states() const { return states_; }
  /// One a service, for policy::Serving.
  std::vector<std::unique_ptr<inference::Scaler>> scalers() const;
  std::vector<ServiceOutcome> outcomes() const;

  /// Speeds that replicas come into, as they come; they outlive the simulation.
  void tell_speeds(std::vector<schedule::SpeedBook*> speeds) { speeds_ = std::move(speeds); }

  // What the simulation calls.
  void begin(Time at) { began_ = at; }
  /// All that happens to requests until `now`.
  void advance(Time now);
  /// When a replica comes or goes next, as far as that is known; kNever = not.
  Time next() const;
  /// Whether requests or replicas are left.
  bool go_on() const;
  /// Whether requests wait for replicas that will never be.
  bool is_stuck() const;
  void scale(policy::ServiceId service, int replicas, Time now);
  std::vector<JobId> take_gone() { return std::exchange(gone_, {}); }
  std::vector<JobId> take_come();
  /// Nodes that services have for themselves.
  const std::vector<NodeId>& own_nodes() const { return own_nodes_; }
  bool owns(NodeId node) const {
    return std::find(own_nodes_.begin(), own_nodes_.end(), node) != own_nodes_.end();
  }
  /// Those that they need no more.
  std::vector<NodeId> take_given_back() { return std::exchange(given_back_, {}); }
  /// Whether a job is a replica that policy::Keeping keeps: all of a service that reclaims, else
  /// one of the least.
  bool is_kept(JobId job) const;
  /// Whether any service reclaims.
  bool reclaims() const;
  void refused(JobId job, const policy::Reason& reason);
  void started(JobId job, Time begins);
  void stopped(JobId job, Time now);
  /// A policy has ended it for good.
  void ended(JobId job, Time now);
  void finish(Time now);

 private:
  struct Running;
  struct Copy;
  Services();
  Copy& copy_of(JobId job);
  bool all_over() const;
  inference::Micros since_begin(Time at) const;
  void ask(std::size_t service, Time now);
  void let_go(std::size_t service, Time now);
  /// It waits no more, or gives back what it holds.
  void leave(Copy& copy, Time now);
  void leave_gpus(Copy& copy, Time now);
  Result<void> set_aside(std::size_t service, const cluster::Cluster& cluster);
  void give_back_nodes(std::size_t service, Time now);
  /// The same, once its requests are over and none of its replicas is there.
  void give_back_nodes_of(std::size_t service, Time now);

  std::unique_ptr<trace::Trace> trace_;
  std::size_t logged_ = 0;
  Time began_{};
  Time now_{};
  int looks_in_vain_ = 0;
  std::vector<policy::Service> states_;
  std::vector<std::unique_ptr<Running>> services_;
  std::vector<Copy> copies_;  // by JobId behind the log
  std::vector<JobId> gone_, come_;
  std::vector<NodeId> own_nodes_, given_back_;
  std::vector<schedule::SpeedBook*> speeds_;
};

}  // namespace almanac::sim
