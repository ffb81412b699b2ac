// SPDX-License-Identifier: Apache-2.0
#include "support/play.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "experiment/log_speeds.h"
#include "experiment/profile.h"
#include "passes/helios.h"
#include "passes/passes.h"
#include "passes/synergy.h"
#include "perf/catalogue_file.h"
#include "policy/kit/age_cap.h"
#include "policy/registry.h"
#include "schedule/speed_book.h"

namespace almanac {
namespace {

/// A catalogue of models whose speeds can be worked out in the head.
std::string models(const std::string& file) {
  const char* const source = std::getenv("ALMANAC_SOURCE_DIR");
  return std::string(source == nullptr ? "." : source) + "/tests/support/" + file;
}

/// A board of 200 W whose GPU works in proportion to its limit, whatever the model.
energy::PowerModel linear_board() {
  return {.name = "linear",
          .gpus = 4,
          .idle_w = 100,
          .full_w = 900,
          .gpu_type = "linear",
          .gpu_limit_w = 200,
          .gpu_least_limit_w = 20,
          .gpu_curve = {.idle = 0, .full = 1, .bend = 1, .strain = 1}};
}

}  // namespace

void add_job(trace::Trace& trace, const JobSpec& spec) {
  trace::Job job;
  job.id = trace.key(spec.id);
  job.request.submit = Time{spec.submit};
  job.request.gpus = spec.gpus;
  job.request.vc = trace.names.intern(spec.vc);
  job.request.user = trace.names.intern(spec.user);
  job.request.name = trace.names.intern(spec.name);
  job.request.gpu_type = trace.names.intern(spec.gpu_type);
  job.request.time_limit = spec.limit;
  job.request.predicted = spec.predicted;
  job.request.model = trace.names.intern(spec.model);
  job.request.kind = trace.names.intern(spec.kind);
  if (spec.deadline != kNoDuration) job.request.deadline = Time{spec.deadline};
  if (spec.worthless_at != kNoDuration) job.request.worthless_at = Time{spec.worthless_at};
  if (spec.checkpoint != kNoDuration) {
    job.request.checkpoint_s = static_cast<float>(seconds(spec.checkpoint));
  }
  job.request.max_gpus = spec.max_gpus;
  job.request.min_gpus = spec.min_gpus;
  job.request.plan_gpus = spec.plan_gpus;
  job.request.nvlink_gpus = spec.nvlink_gpus;
  job.request.alternatives = trace.names.intern(spec.alternatives);
  job.request.group = trace.names.intern(spec.group);
  job.outcome.metric = trace.names.intern(spec.metric);
  job.request.batch = spec.batch;
  job.request.steps = spec.steps;
  job.request.gpu_share = spec.gpu_share;
  job.request.gpu_profile = trace.names.intern(spec.gpu_profile);
  job.request.gpu_memory_gb = spec.gpu_memory_gb;
  job.outcome.reference_profile = trace.names.intern(spec.reference_profile);
  job.request.cpus = spec.cpus;
  job.request.memory_gb = spec.memory_gb;
  job.outcome.run = spec.run;
  job.outcome.reference_cpus = spec.reference_cpus;
  job.outcome.bandwidth_gbs = spec.bandwidth_gbs;
  job.outcome.step_s = spec.step_s;
  job.outcome.network_s = spec.network_s;
  job.outcome.network_gbps = spec.network_gbps;
  job.request.data_set = trace.names.intern(spec.data_set);
  job.request.data_gb = spec.data_gb;
  job.outcome.read_gbs = spec.read_gbs;
  job.request.qos = trace.names.intern(spec.qos);
  job.request.priority_tier = spec.tier;
  job.request.requeue = spec.requeue;
  trace.jobs.push_back(job);
}

Result<Played> play(const Case& input) {
  passes::install();
  const Result<policy::Composition> composition = policy::registry().compose(input.policy);
  if (!composition) return tl::unexpected(composition.error());
  return play(input, *composition);
}

Result<Played> play(const Case& input, policy::Composition composition) {
  sim::Options options = input.options;
  options.policy = composition.name;
  if (input.quotas) options.quotas = &*input.quotas;
  if (input.incidents) options.incidents = &*input.incidents;
  experiment::PolicyRun run{.composition = std::move(composition), .restart = options.restart};
  if (input.profile == "helios") {
    passes::as_helios(run);
  } else if (input.profile == "synergy") {
    const auto made = passes::as_synergy(run, input.trace);
    if (!made) return tl::unexpected(made.error());
  } else if (const auto set = experiment::apply_profile(input.profile, run); !set) {
    return tl::unexpected(set.error());
  }
  options.restart = run.restart;
  std::optional<schedule::SpeedBook> speeds;
  auto limits = policy::PowerLimits::of_jobs_too(input.cluster, linear_board());
  if (!limits) return tl::unexpected(limits.error());
  if (!input.speed.empty()) {
    auto catalogue =
        perf::read_catalogue(input.speed == "linear" ? models("linear.toml") : input.speed);
    if (!catalogue) return tl::unexpected(catalogue.error());
    speeds.emplace(input.cluster, input.trace, std::move(*catalogue), std::move(*limits));
    options.truth.speeds = &*speeds;
  }
  elastic::Applications applications;
  if (!input.elastic.empty()) {
    auto read = elastic::read_elastic(models(input.elastic));
    if (!read) return tl::unexpected(read.error());
    applications = std::move(*read);
    options.truth.applications = &applications;
  }
  const bool tells_metrics =
      std::any_of(input.trace.jobs.begin(), input.trace.jobs.end(),
                  [](const trace::Job& job) { return job.outcome.metric != kNoName; });
  if (!speeds && (tells_metrics || !applications.empty() ||
                  schedule::tells_traffic(input.trace, input.cluster) ||
                  schedule::tells_sharing(input.trace, input.cluster))) {
    speeds.emplace(input.cluster, input.trace, perf::Catalogue{}, std::move(*limits));
    options.truth.speeds = &*speeds;
  }
  std::optional<schedule::SpeedBook> believed;
  run.learns_types = input.believed == experiment::kLearnedSpeeds;
  if (!input.believed.empty()) {
    auto catalogue =
        run.learns_types ? Result<perf::Catalogue>() : perf::read_catalogue(models(input.believed));
    if (!catalogue) return tl::unexpected(catalogue.error());
    believed.emplace(input.cluster, input.trace, std::move(*catalogue));
    options.believed = &*believed;
  }
  auto made = experiment::make_policy(run, input.trace);
  if (!made) return tl::unexpected(made.error());
  const auto policy = policy::age_capped(*std::move(made), run.composition, input.age_cap);
  Witness witness(*policy);
  Played played;
  played.result = sim::simulate(input.trace, input.cluster, witness, options);
  played.runs = witness.runs();
  if (run.binds) {
    for (Run& each : played.runs) {
      each.begin = std::max(each.start, played.result.jobs[index(each.job)].start);
    }
  }
  played.sleeps = witness.sleeps();
  played.faults = witness.faults();
  played.restart = options.restart;
  return played;
}

std::string placed_text(const cluster::Cluster& cluster, std::span<const cluster::Grant> grants) {
  std::string text;
  for (const cluster::Grant& grant : grants) {
    text += fmt::format("{}{}:{}", text.empty() ? "" : ";", cluster.node_label(grant.node),
                        grant.count());
    if (grant.profile != slices::kNoProfile) {
      text += fmt::format("x{}@{}", slices::profile_name(grant.profile), grant.slice);
    } else if (grant.gpu_milli != cluster::kWholeGpu && grant.gpus != 0) {
      text += fmt::format("x{}", grant.gpu_milli / 1e3);
    }
  }
  return text;
}

std::string placed_on_text(const cluster::Cluster& cluster,
                           std::span<const cluster::Grant> grants) {
  std::string text;
  for (const cluster::Grant& grant : grants) {
    std::string gpus;
    for (cluster::GpuMask rest = grant.gpus; rest != 0; rest &= rest - 1) {
      gpus += fmt::format("{}{}", gpus.empty() ? "" : "+", std::countr_zero(rest));
    }
    text += fmt::format("{}{}:[{}]", text.empty() ? "" : ";", cluster.node_label(grant.node), gpus);
  }
  return text;
}

std::string time_text(Time at) {
  if (at == kNever) return "never";
  return fmt::format("{}s", seconds(at));
}

}  // namespace almanac
