// SPDX-License-Identifier: Apache-2.0

/// \file
/// The definition of a run: everything needed to repeat it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cluster/cluster.h"
#include "energy/power.h"
#include "experiment/profile.h"
#include "experiment/summary.h"
#include "policy/composition.h"
#include "predict/estimator.h"
#include "rules/elastic/application_file.h"
#include "script/introduction.h"
#include "sim/simulation.h"
#include "trace/read.h"
#include "trace/trace.h"

namespace almanac::schedule {
class SpeedBook;
}
namespace almanac::faults {
struct Model;
}

namespace almanac::experiment {

/// As the user gave it.
struct Experiment {
  std::string trace;
  trace::ReadOptions reading{};
  std::string cluster;  ///< See read_cluster(); "" to infer it from the trace.
  std::string queues;   ///< See kueue::read_objects(); "" for none.
  /// See Registry::compose(). "all" alone: every named policy that can use the log and the run.
  /// "quick" alone: quick_policies(). "-": the policy of `guest`.
  std::vector<std::string> policies;
  std::string profile;
  std::string power = "dgx1";  ///< See energy::read_power().
  std::string speed;           ///< See perf::read_catalogue(); "": every job runs as recorded.
  std::string elastic;         ///< See elastic::read_elastic(); "": no elastic jobs.
  std::string believed_speed;  ///< Speeds that policies believe in, likewise; "" for the true ones.
  /// File of `predict train` that learned estimates start with; "" for none.
  std::string model;
  std::string incidents;               ///< See cluster::read_incidents(); "" for none.
  std::vector<std::string> signals{};  ///< See cluster::add_signals().
  std::string failures{};              ///< See faults::read_model(); "" for none.
  schedule::RestartCost restart{};
  std::uint64_t seed = 0;
  double load = 1;      ///< Jobs arrive this many times as fast.
  Duration warm_up{0};  ///< Time after the first arrival that averages and utilization leave out.
  Duration timeline_interval{0};
  std::optional<script::Guest> guest{};  ///< Decides for policy "-"; nothing if there is no such
                                         ///< policy.
};

/// A run, ready to start. `experiment` is its source, with the names of the policies for "all".
struct Prepared {
  Experiment experiment;
  trace::Trace trace;
  cluster::Cluster cluster;
  std::shared_ptr<const cluster::Incidents> incidents;  ///< Null for none.
  std::shared_ptr<const faults::Model> failures{};      ///< Null for none.
  energy::PowerModel power;
  using Run = PolicyRun;
  std::vector<Run> runs;
  std::shared_ptr<const schedule::SpeedBook> speeds;    ///< Null: every job runs as recorded.
  std::shared_ptr<const schedule::SpeedBook> believed;  ///< Null: same as speeds.
  elastic::Applications applications;                 ///< Of elastic jobs; empty if there are none.
  std::string elastic_digest;                         ///< Hash of their file; "" for none.
  std::string catalogue;                              ///< Hash of the speed catalogue; "" for none.
  std::shared_ptr<const predict::StoredModel> model;  ///< Null for none.
  /// Policies that "all" leaves out, with reasons; sentences that are also in the notes.
  std::vector<std::string> left_out;
  std::vector<std::string> notes;  ///< On trace, cluster and run; for the user.
};

/// Reads and checks everything, so that a mistake shows before anything is simulated.
Result<Prepared> prepare(const Experiment& experiment);

/// Same for a given trace and cluster; those of the experiment are only names. `site` is the Slurm
/// site that the cluster was made from (site::cluster_of()); null for none.
Result<Prepared> prepare(const Experiment& experiment, trace::Trace trace, cluster::Cluster cluster,
                         std::shared_ptr<const site::Site> site = nullptr);

/// Splits at commas.
std::vector<std::string> parse_policies(const std::string& text);

/// Returns the policies to compare by default: first come first served, backfill, preemption, and
/// an oracle.
std::vector<std::string> quick_policies();

/// Names of all policies of the registry; what the others are compared with comes first.
std::vector<std::string> all_policies();

/// Makes jobs arrive `load` times as fast, from the first arrival on. Drops recorded starts and
/// ends, which belong to another load.
void scale_load(trace::Trace& trace, double load);

/// Returns the options for run number `run`.
sim::Options options_of(const Prepared& prepared, std::size_t run);

/// Simulates run number `run`; records why all jobs waited, if requested. Thread-safe for different
/// runs.
Result<sim::Schedule> simulate_run(const Prepared& prepared, std::size_t run,
                                   const std::atomic<bool>* stop = nullptr,
                                   std::atomic<std::uint32_t>* arrived = nullptr,
                                   JobId watched = kNoJob, bool log_waits = false);

}  // namespace almanac::experiment
