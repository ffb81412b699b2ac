// SPDX-License-Identifier: Apache-2.0

/// \file
/// Inference services whose replicas are jobs of a simulation, on the same ledger as all other
/// jobs.
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

/// A service that runs next to the jobs.
struct ServiceCase {
  std::string name = "service";
  inference::Service service{};    ///< Its own number of replicas is ignored.
  inference::Requests requests{};  ///< Arrivals count from the first job's arrival.
  inference::Objective objective{};
  int least = 1;              ///< Replicas.
  int most = 1;               ///< Replicas.
  Duration cold_start = 30s;  ///< From the start of a replica until it accepts requests.
  std::string scaler = "reactive";
  double replica_requests_per_s = 0;  ///< For scalers that need it; 0 if unknown.
  std::string vc;                     ///< Virtual cluster that it uses; "" if jobs name none.
  /// Nodes of its own, the last of its virtual cluster, until its requests are over. Policies see
  /// them as drained. Its first replicas run there, as many as fit.
  int nodes = 0;
  /// Whether every replica that the scaler requests starts at once, on GPUs of running jobs if none
  /// are free (policy::IfFull::stop_others). If not, only the minimum number of replicas is
  /// protected, and no job is stopped for them.
  bool reclaims = true;
  /// Whether replicas that reclaim empty whole nodes with few stops (policy::IfFull::empty_nodes).
  bool empties_nodes = false;
};

/// Results of a service.
struct ServiceOutcome {
  std::vector<inference::Outcome> requests;
  double gpu_s = 0;  ///< Held by replicas, including cold starts, plus all of its own nodes.
  double own_nodes_gpu_s = 0;  ///< Part of gpu_s: all GPUs of its own nodes.
  /// Longest time from the request of a replica, or from its stop, to its start.
  Duration longest_wait{0};
  std::uint64_t replicas_started = 0;  ///< Counts each start by a policy.
  /// Stopped by the policy for other jobs; their requests started over. Never one of the minimum.
  std::uint64_t replicas_stopped = 0;
  std::string refused;  ///< Why a replica can never start; "" if it can.
};

/// The services of a simulation: starts and stops replicas, and runs requests on those that are up.
/// A replica that is stopped loses what it computed; its requests move to other replicas, or wait.
/// A replica that drains accepts no more requests and finishes the ones it has.
///
/// Cost: an event per event of the fleet; changes to jobs cost O(replicas) per event.
class Services {
 public:
  /// Fails like inference::parts(), with `not_found` for an unknown scaler or virtual cluster, and
  /// with `usage` if the virtual cluster is not named where there are several, and for own nodes
  /// that the cluster does not have all the time.
  static Result<Services> make(const trace::Trace& jobs, const cluster::Cluster& cluster,
                               std::vector<ServiceCase> told);
  Services(Services&&) noexcept;
  Services& operator=(Services&&) noexcept;
  ~Services();

  /// The jobs of the log, followed by the replicas so far.
  const trace::Trace& trace() const { return *trace_; }
  /// In the form of View::services.
  const std::vector<policy::Service>& states() const { return states_; }
  /// One for each service, for policy::Serving.
  std::vector<std::unique_ptr<inference::Scaler>> scalers() const;
  std::vector<ServiceOutcome> outcomes() const;

  /// Registers replicas with these speeds as they appear. The speeds must outlive the simulation.
  void tell_speeds(std::vector<schedule::SpeedBook*> speeds) { speeds_ = std::move(speeds); }

  // Called by the simulation:
  void begin(Time at) { began_ = at; }
  /// Processes all requests until `now`.
  void advance(Time now);
  /// Returns when the next replica comes or goes, if known; otherwise kNever.
  Time next() const;
  /// Whether any requests or replicas are left.
  bool go_on() const;
  /// Whether requests wait for replicas that will never exist.
  bool is_stuck() const;
  void scale(policy::ServiceId service, int replicas, Time now);
  std::vector<JobId> take_gone() { return std::exchange(gone_, {}); }
  std::vector<JobId> take_come();
  /// Nodes that belong to services alone.
  const std::vector<NodeId>& own_nodes() const { return own_nodes_; }
  bool owns(NodeId node) const {
    return std::find(own_nodes_.begin(), own_nodes_.end(), node) != own_nodes_.end();
  }
  /// Returns the nodes that services no longer need, once.
  std::vector<NodeId> take_given_back() { return std::exchange(given_back_, {}); }
  /// Whether a job is a replica that policy::Keeping protects: any replica of a service that
  /// reclaims, otherwise only those of the minimum.
  bool is_kept(JobId job) const;
  /// Whether any service reclaims, and whether any then empties whole nodes.
  bool reclaims() const;
  bool empties_nodes() const;
  void refused(JobId job, const policy::Reason& reason);
  void started(JobId job, Time begins);
  void stopped(JobId job, Time now);
  /// A policy has ended the job for good.
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
  /// The replica stops waiting, or returns what it holds.
  void leave(Copy& copy, Time now);
  void leave_gpus(Copy& copy, Time now);
  /// The replica waited for GPUs until then.
  void note_wait(const Copy& copy, Time until);
  Result<void> set_aside(std::size_t service, const cluster::Cluster& cluster);
  void give_back_nodes(std::size_t service, Time now);
  /// Returns the service's own nodes, once its requests are over and no replica is left.
  void give_back_nodes_of(std::size_t service, Time now);

  std::unique_ptr<trace::Trace> trace_;
  std::size_t logged_ = 0;
  Time began_{};
  Time now_{};
  int looks_in_vain_ = 0;
  std::vector<policy::Service> states_;
  std::vector<std::unique_ptr<Running>> services_;
  std::vector<Copy> copies_;  // by JobId after those of the log
  std::vector<JobId> gone_, come_;
  std::vector<NodeId> own_nodes_, given_back_;
  std::vector<schedule::SpeedBook*> speeds_;
};

}  // namespace almanac::sim
