// SPDX-License-Identifier: Apache-2.0
#include "support/draft.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <ostream>

#include <fmt/format.h>
#include <fmt/ostream.h>

namespace almanac {
namespace {

/// Few distinct numbers, so that ties are common.
rc::Gen<std::int64_t> run_times(std::int64_t shortest) {
  return rc::gen::oneOf(rc::gen::inRange<std::int64_t>(shortest, 12),
                        rc::gen::element<std::int64_t>(10, 20, 30),
                        rc::gen::inRange<std::int64_t>(1, 60));
}

/// Quarters of what a node has.
rc::Gen<int> amounts(const DraftLimits& limits) {
  if (!limits.cores) return rc::gen::just(0);
  return rc::gen::oneOf(rc::gen::inRange(0, 6), rc::gen::inRange(0, 30));
}

rc::Gen<DraftJob> draft_jobs(const DraftLimits& limits) {
  const int most = limits.one_node_jobs ? limits.gpus : limits.nodes * limits.gpus;
  return rc::gen::build<DraftJob>(
      rc::gen::set(&DraftJob::wait, rc::gen::oneOf(rc::gen::just<std::int64_t>(0),
                                                   rc::gen::inRange<std::int64_t>(0, 15))),
      rc::gen::set(&DraftJob::vc, rc::gen::inRange(0, limits.vcs)),
      rc::gen::set(&DraftJob::gpus, limits.parts
                                        ? rc::gen::inRange(1, 4)
                                        : rc::gen::oneOf(rc::gen::inRange(1, limits.gpus + 1),
                                                         rc::gen::inRange(1, most + 1))),
      rc::gen::set(&DraftJob::on_cpus,
                   limits.cores ? rc::gen::map(rc::gen::inRange(0, 3), [](int n) { return n == 0; })
                                : rc::gen::just(false)),
      rc::gen::set(&DraftJob::cores, amounts(limits)),
      rc::gen::set(&DraftJob::memory, amounts(limits)),
      rc::gen::set(&DraftJob::quarters, limits.parts ? rc::gen::inRange(1, 5) : rc::gen::just(4)),
      rc::gen::set(&DraftJob::run, run_times(limits.shortest_run)),
      rc::gen::set(&DraftJob::spare, rc::gen::inRange<std::int64_t>(-20, 40)));
}

/// What all units ask together.
float in_all(int quarters, int units) {
  if (quarters == 0) return std::numeric_limits<float>::quiet_NaN();
  return static_cast<float>(quarters * units) / 4;
}

std::string vc_name(int vc) { return fmt::format("v{}", vc); }

}  // namespace

rc::Gen<Draft> drafts(DraftLimits limits) {
  return rc::gen::build<Draft>(
      rc::gen::set(
          &Draft::vcs,
          rc::gen::mapcat(
              rc::gen::inRange(1, limits.vcs + 1),
              [limits](int count) {
                return rc::gen::container<std::vector<DraftVc>>(
                    static_cast<std::size_t>(count),
                    rc::gen::build<DraftVc>(
                        rc::gen::set(&DraftVc::nodes, rc::gen::inRange(1, limits.nodes + 1)),
                        rc::gen::set(&DraftVc::gpus, rc::gen::inRange(1, limits.gpus + 1)),
                        rc::gen::set(&DraftVc::cores,
                                     limits.cores ? rc::gen::inRange(1, 13) : rc::gen::just(0)),
                        rc::gen::set(&DraftVc::memory,
                                     limits.cores ? rc::gen::inRange(0, 13) : rc::gen::just(0))));
              })),
      rc::gen::set(&Draft::jobs, rc::gen::container<std::vector<DraftJob>>(draft_jobs(limits))));
}

Case to_case(const Draft& draft, const DraftLimits& limits) {
  Case made;
  for (std::size_t vc = 0; vc < draft.vcs.size(); ++vc) {
    made.cluster.add_vc(vc_name(static_cast<int>(vc)));
    const DraftVc& home = draft.vcs[vc];
    made.cluster.add_nodes({.gpus = home.gpus,
                            .cpus = static_cast<double>(home.cores),
                            .memory_gb = static_cast<double>(home.memory)},
                           static_cast<std::uint32_t>(home.nodes));
  }
  std::int64_t now = 0;
  for (std::size_t job = 0; job < draft.jobs.size(); ++job) {
    const DraftJob& drafted = draft.jobs[job];
    const int vc = drafted.vc % static_cast<int>(draft.vcs.size());
    const DraftVc& home = draft.vcs[static_cast<std::size_t>(vc)];
    const int most = limits.one_node_jobs ? home.gpus : home.nodes * home.gpus;
    const int units = 1 + (drafted.gpus - 1) % most;
    const std::int64_t run = std::max(drafted.run, limits.shortest_run);
    const std::int64_t spare = limits.exact ? 0 : drafted.spare;
    now += drafted.wait;
    add_job(made.trace, {.id = fmt::format("J{}", job),
                         .submit = now * 1s,
                         .gpus = drafted.on_cpus ? 0 : units,
                         .run = run * 1s,
                         .vc = vc_name(vc),
                         .user = job % 2 == 0 ? "ann" : "bob",
                         .name = job % 3 == 0 ? "train" : "test",
                         .limit = std::max<std::int64_t>(0, run + spare) * 1s,
                         .predicted = std::max<std::int64_t>(0, run + spare) * 1s,
                         .cpus = in_all(drafted.cores, units),
                         .memory_gb = in_all(drafted.memory, units),
                         .gpu_share = static_cast<float>(drafted.quarters) / 4});
    if (drafted.on_cpus) made.trace.jobs.back().request.nodes = units;
  }
  return made;
}

std::ostream& operator<<(std::ostream& out, const Draft& draft) {
  const Case made = to_case(draft);
  out << "\n# (time limits are only as below where the property says so)\n";
  for (std::size_t vc = 0; vc < draft.vcs.size(); ++vc) {
    fmt::print(out, "vc {} {} x {} gpu", vc_name(static_cast<int>(vc)), draft.vcs[vc].nodes,
               draft.vcs[vc].gpus);
    if (draft.vcs[vc].cores > 0) fmt::print(out, " cpus {}", draft.vcs[vc].cores);
    if (draft.vcs[vc].memory > 0) fmt::print(out, " memory {}", draft.vcs[vc].memory);
    out << '\n';
  }
  for (std::size_t job = 0; job < draft.jobs.size(); ++job) {
    const trace::Job& asked = made.trace.jobs[job];
    fmt::print(
        out, "job J{} submit {}s gpus {} run {}s vc {} limit {}s", job,
        seconds(asked.request.submit), asked.request.gpus, seconds(asked.outcome.run),
        made.trace.names[asked.request.vc],
        std::max(0.0, seconds(asked.outcome.run) + static_cast<double>(draft.jobs[job].spare)));
    if (!std::isnan(asked.request.cpus)) fmt::print(out, " cpus {}", asked.request.cpus);
    if (!std::isnan(asked.request.memory_gb))
      fmt::print(out, " memory {}", asked.request.memory_gb);
    if (asked.request.gpu_share < 1) fmt::print(out, " share {}", asked.request.gpu_share);
    if (asked.request.nodes > 1) fmt::print(out, "  # {} tasks", asked.request.nodes);
    out << '\n';
  }
  return out;
}

std::string runs_text(const Case& input, const std::vector<Run>& runs) {
  std::string text;
  for (std::uint32_t job = 0; job < input.trace.jobs.size(); ++job) {
    text += fmt::format("J{}", job);
    for (Run run : runs) {
      if (run.job != JobId{job}) continue;
      std::sort(run.grants.begin(), run.grants.end(),
                [](const cluster::Grant& a, const cluster::Grant& b) { return a.node < b.node; });
      text += fmt::format("  {}..{} at {}", time_text(run.start), time_text(run.end),
                          placed_text(input.cluster, run.grants));
      for (const cluster::Grant& grant : run.grants) {
        if (grant.cpu_milli == 0 && grant.memory_mb == 0) continue;
        text += fmt::format(" {}m/{}M", grant.cpu_milli, grant.memory_mb);
      }
    }
    text += '\n';
  }
  return text;
}

}  // namespace almanac
