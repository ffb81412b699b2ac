// SPDX-License-Identifier: Apache-2.0

/// \file
/// What a run is made of: all that has to be known to repeat it.
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

namespace almanac::experiment {

/// As the user gave it.
struct Experiment {
  std::string trace;
  trace::ReadOptions reading{};
  std::string cluster;  ///< As read_cluster() takes it; "" = inferred from the trace.
  /// As Registry::compose() takes them; "all" alone = every named one to which the log and the run
  /// give something to do, "quick" alone = quick_policies(). "-" = what `guest` decides.
  std::vector<std::string> policies;
  std::string profile;
  std::string power = "dgx1";  ///< As energy::read_power() takes it.
  std::string speed;    ///< As perf::read_catalogue() takes it; "" = every job runs as recorded.
  std::string elastic;  ///< As elastic::read_elastic() takes it; "" = no job is elastic.
  std::string believed_speed;  ///< What policies believe of that, likewise; "" = the truth.
  std::string model;  ///< A file of `predict train` that learned estimates begin with; "" = none.
  std::string incidents;  ///< As cluster::read_incidents() takes it; "" = nothing happens.
  schedule::RestartCost restart{};
  std::uint64_t seed = 0;
  double load = 1;      ///< Jobs arrive this many times as fast.
  Duration warm_up{0};  ///< From the first arrival on, left out of averages and utilisation.
  Duration timeline_interval{0};
  std::optional<script::Guest> guest{};  ///< Decides policy "-"; none = nothing does.
};

/// As it will run. `experiment` is what it came from, with the names of the policies for "all".
struct Prepared {
  Experiment experiment;
  trace::Trace trace;
  cluster::Cluster cluster;
  std::shared_ptr<const cluster::Incidents> incidents;  ///< Null = nothing happens.
  energy::PowerModel power;
  using Run = PolicyRun;
  std::vector<Run> runs;
  std::shared_ptr<const schedule::SpeedBook> speeds;    ///< Null = every job runs as recorded.
  std::shared_ptr<const schedule::SpeedBook> believed;  ///< Null = as speeds.
  elastic::Applications applications;                   ///< Of elastic jobs; none = there are none.
  std::string elastic_digest;                           ///< Of them: their file, hashed; "" = none.
  std::string catalogue;  ///< Of speeds: its content, hashed; "" = none.
  std::shared_ptr<const predict::StoredModel> model;  ///< Null = none.
  /// Which policies "all" does not have, and why; sentences, which are among the notes too.
  std::vector<std::string> left_out;
  std::vector<std::string> notes;  ///< Of trace, cluster and run; for the user.
};

/// Reads and checks everything, so that a mistake shows before anything is simulated.
Result<Prepared> prepare(const Experiment& experiment);

/// The same for a trace and a cluster that are at hand; the experiment's own are only names.
Result<Prepared> prepare(const Experiment& experiment, trace::Trace trace,
                         cluster::Cluster cluster);

/// Splits at commas.
std::vector<std::string> parse_policies(const std::string& text);

/// What is shown first, in seconds: nothing clever, backfill, jobs that are stopped, and a bound.
std::vector<std::string> quick_policies();

/// Names of all policies of the registry; what the others are compared with comes first.
std::vector<std::string> all_policies();

/// Makes jobs arrive `load` times as fast, from the first arrival on. What was recorded of their
/// starts and ends is of another load then, and goes.
void scale_load(trace::Trace& trace, double load);

/// What run number `run` is simulated with.
sim::Options options_of(const Prepared& prepared, std::size_t run);

/// Simulates run number `run`, and keeps why all jobs waited if asked to. Thread-safe for different
/// runs.
Result<sim::Schedule> simulate_run(const Prepared& prepared, std::size_t run,
                                   const std::atomic<bool>* stop = nullptr,
                                   std::atomic<std::uint32_t>* arrived = nullptr,
                                   JobId watched = kNoJob, bool log_waits = false);

}  // namespace almanac::experiment
