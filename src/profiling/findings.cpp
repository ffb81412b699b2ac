// SPDX-License-Identifier: Apache-2.0
#include "profiling/findings.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "perf/fit_parts.h"
#include "perf/model_name.h"
#include "text/human.h"

namespace almanac::profiling {
namespace {

/// Fraction of a GPU's throughput with unlimited batches above which a larger batch hardly helps.
constexpr double kSaturated = 0.9;
/// Faster by more than this, one more core would have helped.
constexpr double kHelps = 1.02;

bool whole_machine(const Condition& at, const Condition& home) {
  return at.cpus == home.cpus && at.memory_gb == 0 && !at.beside;
}

/// Batches and GPUs: all else as it is.
bool of_the_step(const Measured& run, const Condition& home) {
  return run.throughput > 0 && whole_machine(run.condition, home);
}

void find_batches(const Survey& survey, Findings& found) {
  std::vector<perf::Measurement> rows;
  for (const Measured& run : survey.runs) {
    if (!of_the_step(run, survey.home) || run.condition.gpus > 1) continue;
    rows.push_back({.model = "job", .batch = run.condition.batch, .throughput = run.throughput});
    const double batch = run.condition.batch;
    found.least_batch = found.least_batch == 0 ? batch : std::min(found.least_batch, batch);
    found.most_batch = std::max(found.most_batch, batch);
  }
  if (rows.size() < 2) return;
  const perf::StepTime step = perf::fit_board(rows).step;
  found.share_at_most = step.sample * found.most_batch / step.compute(found.most_batch);
  if (step.sample > 0) found.saturation = kSaturated / (1 - kSaturated) * step.fixed / step.sample;
}

}  // namespace

Findings findings_of(const Survey& survey) {
  Findings found;
  const Measured* const home = survey.find(survey.home);
  if (home == nullptr || home->throughput == 0) return found;
  find_batches(survey, found);
  found.cores = survey.enough_cpus;
  if (found.cores == survey.home.cpus) {
    Condition fewer = survey.home;
    --fewer.cpus;
    const Measured* const before = survey.find(fewer);
    found.wants_more_cores = before != nullptr && home->throughput > kHelps * before->throughput;
  }
  for (const Measured& run : survey.runs) {
    const double relative = run.throughput / home->throughput;
    if (of_the_step(run, survey.home) && run.condition.gpus > 1) {
      found.more_gpus.emplace_back(run.condition.gpus, relative);
    }
    if (run.condition.memory_gb > 0) found.memories.emplace_back(run.condition.memory_gb, relative);
    if (!run.condition.beside) continue;
    Condition alone = run.condition;
    alone.beside = false;
    if (const Measured* const other = survey.find(alone)) {
      found.beside = run.throughput / other->throughput;
      found.beside_shares_cores = 2 * run.condition.cpus > survey.home.cpus;
    }
  }
  std::sort(found.more_gpus.begin(), found.more_gpus.end());
  return found;
}

std::vector<std::string> sentences(const Findings& found) {
  std::vector<std::string> said;
  if (found.cores) {
    said.push_back(fmt::format(
        "needs {} core{} per GPU{}", *found.cores, *found.cores == 1 ? "" : "s",
        found.wants_more_cores ? ", and may need more: it used all available cores" : ""));
  }
  if (found.saturation && *found.saturation <= found.least_batch) {
    said.push_back(fmt::format("saturates at batch {:.4g} or below", found.least_batch));
  } else if (found.saturation && *found.saturation <= found.most_batch) {
    said.push_back(fmt::format(
        "saturates at batch {:.3g}: a GPU then reaches 90 % of its peak rate", *found.saturation));
  } else if (found.most_batch > found.least_batch && found.share_at_most < 0.005) {
    said.push_back(fmt::format("does not saturate: its rate grows with the batch, up to {:.4g}",
                               found.most_batch));
  } else if (found.most_batch > found.least_batch) {
    said.push_back(
        fmt::format("does not saturate up to batch {:.4g}: a GPU then reaches {} of its peak rate",
                    found.most_batch, text::human_share(found.share_at_most)));
  }
  for (const auto& [gpus, times] : found.more_gpus) {
    said.push_back(times > 0 ? fmt::format("{} GPUs give {:.2f}x", gpus, times)
                             : fmt::format("does not run on {} GPUs", gpus));
  }
  for (const auto& [gb, part] : found.memories) {
    said.push_back(
        part > 0 ? fmt::format("with {:.4g} GB of memory runs at {}", gb, text::human_share(part))
                 : fmt::format("does not run with {:.4g} GB of memory", gb));
  }
  if (found.beside) {
    said.push_back(fmt::format("next to a neighbor runs at {}{}", text::human_share(*found.beside),
                               found.beside_shares_cores ? ", on the same cores" : ""));
  }
  return said;
}

perf::Profile profile_of(const Survey& survey, const Labels& labels) {
  perf::Profile profile{.source = labels.model, .rows = {}};
  const std::string name = perf::model_name(labels.model);
  const bool memory_varied =
      std::any_of(survey.runs.begin(), survey.runs.end(),
                  [](const Measured& run) { return run.condition.memory_gb > 0; });
  for (const Measured& run : survey.runs) {
    const Condition& at = run.condition;
    perf::Measurement row{.model = name,
                          .batch = at.batch,
                          .gpu_type = labels.gpu_type,
                          .gpus = at.gpus,
                          .nodes = 1,
                          .throughput = run.throughput,
                          .low = run.throughput > 0 ? run.low : perf::kNotSaid,
                          .high = run.throughput > 0 ? run.high : perf::kNotSaid};
    if (at.beside) {
      const bool same = labels.neighbour.empty();
      row.neighbour = same ? name : perf::model_name(labels.neighbour);
      row.neighbour_batch = same ? at.batch : 1;
    }
    if (at.beside || whole_machine(at, survey.home)) profile.rows.push_back(row);
    if (labels.batch_stays && whole_machine(at, survey.home)) {
      profile.rows.push_back(row);
      profile.rows.back().task = perf::Measurement::Task::training;
    }
    const bool of_input = !at.beside && at.gpus == 1 && at.batch == survey.home.batch;
    if (!of_input || (!survey.enough_cpus && !memory_varied)) continue;
    row.cpus_per_gpu = at.cpus;
    if (memory_varied)
      row.memory_gb_per_gpu = at.memory_gb > 0 ? at.memory_gb : labels.machine_memory_gb;
    profile.rows.push_back(row);
  }
  return profile;
}

}  // namespace almanac::profiling
