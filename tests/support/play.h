// SPDX-License-Identifier: Apache-2.0

/// \file
/// A simulation in a few lines: jobs, a cluster and a policy in; what happened, twice told, out.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "policy/composition.h"
#include "sim/simulation.h"
#include "support/witness.h"

namespace almanac {

/// Everything that a simulation depends on. Moves, does not copy, since a trace does not.
struct Case {
  trace::Trace trace{};
  cluster::Cluster cluster{};
  std::string policy = "fifo";  ///< What registry().compose() takes.
  std::string profile{};        ///< "helios", "synergy", or what experiment::apply_profile() takes.
  std::string speed{};     ///< "linear": by tests/support/linear.toml; "": as recorded; else what
                           ///< perf::read_catalogue() takes.
  std::string believed{};  ///< What the policy believes of that, a file of tests/support;
                           ///< "learned": what it sees of types of GPUs; "": the truth.
  std::string elastic{};   ///< What elastic jobs do, a file of tests/support; "": none is.
  Duration age_cap = kNoDuration;  ///< As policy::age_capped() takes it.
  sim::Options options{};          ///< But for the quotas and the incidents.
  std::optional<policy::Quotas> quotas{};
  std::optional<cluster::Incidents> incidents{};
};

/// A job as tests write it.
struct JobSpec {
  std::string_view id{};
  Duration submit{};
  int gpus = 1;
  Duration run{};
  std::string_view vc{};
  std::string_view user{};
  std::string_view name{};
  std::string_view gpu_type{};
  Duration limit = kNoDuration;
  Duration predicted = kNoDuration;
  std::string_view model{};
  std::string_view kind{};
  Duration deadline = kNoDuration;  ///< Since the beginning, as `submit`.
  Duration worthless_at = kNoDuration;
  Duration checkpoint = kNoDuration;
  int max_gpus = 0;
  int plan_gpus = 0;
  int nvlink_gpus = 0;
  int min_gpus = 0;
  std::string_view alternatives{};
  std::string_view group{};
  std::string_view metric{};
  int batch = 0;
  int steps = 0;
  float cpus = std::numeric_limits<float>::quiet_NaN();
  float memory_gb = std::numeric_limits<float>::quiet_NaN();
  float reference_cpus = std::numeric_limits<float>::quiet_NaN();
  float bandwidth_gbs = std::numeric_limits<float>::quiet_NaN();
  float step_s = std::numeric_limits<float>::quiet_NaN();
  float network_s = std::numeric_limits<float>::quiet_NaN();
  float network_gbps = std::numeric_limits<float>::quiet_NaN();
  std::string_view data_set{};
  float data_gb = std::numeric_limits<float>::quiet_NaN();
  float read_gbs = std::numeric_limits<float>::quiet_NaN();
  float gpu_share = 1;
  std::string_view gpu_profile{};
  std::string_view reference_profile{};
  float gpu_memory_gb = std::numeric_limits<float>::quiet_NaN();
  std::string_view qos{};
  int tier = 0;
  trace::Requeue requeue = trace::Requeue::unsaid;
};

/// What happened, as the engine tells it and as the witness saw it.
struct Played {
  sim::Schedule result{};
  std::vector<Run> runs{};
  std::vector<Sleep> sleeps{};
  std::vector<std::string> faults{};  ///< See Witness::faults.
  schedule::RestartCost restart{};    ///< What restarts cost, the profile applied.
};

/// Adds a job to a trace; the caller adds them in order of submission.
void add_job(trace::Trace& trace, const JobSpec& spec);

/// Plays a case. Fails as compose(), apply_profile() and make_policy() do.
Result<Played> play(const Case& input);
/// Plays a case under a composition that has no name.
Result<Played> play(const Case& input, policy::Composition composition);

/// "0:4;1:2": GPUs on each node, nodes as their virtual cluster calls them; "0:2x0.5" half of each,
/// "0:1x2g.20gb@4" an instance that begins at slice 4.
std::string placed_text(const cluster::Cluster& cluster, std::span<const cluster::Grant> grants);
/// "0:[0+3];1:[2]": which GPUs of each node.
std::string placed_on_text(const cluster::Cluster& cluster, std::span<const cluster::Grant> grants);

/// "90s", "1.5s": a point of time as scenarios write it.
std::string time_text(Time at);

}  // namespace almanac
