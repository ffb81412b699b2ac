// SPDX-License-Identifier: Apache-2.0

/// \file
/// Reads the deployment logs of Synergy's artifact: no header, five fields per line: id, model,
/// arrival in seconds, iterations, GPUs.
///
/// The log does not contain the time of an iteration. The ten numbers below are from the artifact's
/// profiles, for a proportional share of a server with 8 V100, 24 cores and 500 GB. The run time is
/// that with this share.
///
/// Source   Mohan et al., OSDI'22; github.com/msr-fiddle/synergy (MIT), simulator/deploy_trace and
///          simulator/models/*_1.py.
/// Differs  Unknown models are errors; the artifact reads them as alexnet.
#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "table/lines.h"
#include "text/number.h"
#include "trace/format.h"

namespace almanac::trace {

void register_synergy(Formats& registry);

namespace {

struct Iteration {
  std::string_view model;
  Duration takes;  // of each GPU, however many they are
};
constexpr std::array<Iteration, 10> kIterations{{{"alexnet", 600ms},
                                                 {"deepspeech", 757ms},
                                                 {"gnmt", 120ms},
                                                 {"lstm", 11ms},
                                                 {"m5", 600ms},
                                                 {"mobilenet", 710ms},
                                                 {"res18", 640ms},
                                                 {"res50", 780ms},
                                                 {"shufflenet", 615ms},
                                                 {"transformer", 670ms}}};
constexpr double kShareCpus = 3;  // of a GPU
constexpr double kShareMemoryGb = 62.5;
constexpr std::int64_t kMostIterations = 1'000'000'000'000;
constexpr std::int64_t kMostSynergyGpus = 1'000'000;
constexpr std::int64_t kLatestMs = 1'000'000'000'000'000;

enum SynergyItem { kId, kModel, kArrival, kIterationCount, kGpus, kSynergyItems };
using SynergyItems = std::array<std::string_view, kSynergyItems>;

/// Whether a line has five fields.
bool split(std::string_view line, SynergyItems& items) {
  for (std::size_t item = 0; item < kSynergyItems; ++item) {
    const auto comma = line.find(',');
    if ((comma == std::string_view::npos) != (item + 1 == kSynergyItems)) return false;
    items[item] = line.substr(0, comma);
    if (item + 1 < kSynergyItems) line.remove_prefix(comma + 1);
  }
  return true;
}

const Iteration* iteration_of(std::string_view model) {
  const auto* const found =
      std::find_if(kIterations.begin(), kIterations.end(),
                   [&](const Iteration& each) { return each.model == model; });
  return found == kIterations.end() ? nullptr : found;
}

std::string known_models() {
  std::vector<std::string_view> models;
  for (const Iteration& each : kIterations) models.push_back(each.model);
  return fmt::format("{}", fmt::join(models, ", "));
}

/// Fills `job` from a line; says what is wrong with it, if anything.
std::string take(std::string_view line, Trace& trace, Job& job) {
  SynergyItems items;
  if (!split(line, items)) {
    return fmt::format(
        "a line must have the fields id, model, arrival, iterations, GPUs, found \"{}\"",
        line.substr(0, 60));
  }
  const auto arrival_ms = text::parse_thousandths(items[kArrival]);
  const auto iterations = text::parse_whole(items[kIterationCount]);
  const auto gpus = text::parse_whole(items[kGpus]);
  const Iteration* const iteration = iteration_of(items[kModel]);
  if (items[kId].empty()) return "the id must not be empty";
  if (iteration == nullptr) {
    return fmt::format("the model must be one of {}, found \"{}\"", known_models(),
                       items[kModel].substr(0, 60));
  }
  if (!arrival_ms || *arrival_ms < 0 || *arrival_ms > kLatestMs) {
    return fmt::format("the arrival must be seconds from 0, found \"{}\"",
                       items[kArrival].substr(0, 60));
  }
  if (!iterations || *iterations < 1 || *iterations > kMostIterations) {
    return fmt::format("the iterations must be a whole number of 1 or more, found \"{}\"",
                       items[kIterationCount].substr(0, 60));
  }
  if (!gpus || *gpus < 1 || *gpus > kMostSynergyGpus) {
    return fmt::format("the GPUs must be a whole number of 1 or more, found \"{}\"",
                       items[kGpus].substr(0, 60));
  }
  job.id = trace.key(items[kId]);
  job.request.submit = Time(Duration(*arrival_ms));
  job.request.gpus = static_cast<std::int32_t>(*gpus);
  job.request.model = trace.names.intern(items[kModel]);
  job.request.name = job.request.model;
  job.outcome.run = *iterations * iteration->takes;
  job.outcome.step_s = static_cast<float>(seconds(iteration->takes));
  job.outcome.reference_cpus = static_cast<float>(kShareCpus * static_cast<double>(*gpus));
  job.outcome.reference_memory_gb = static_cast<float>(kShareMemoryGb * static_cast<double>(*gpus));
  return {};
}

Result<void> read_synergy(const std::string& path, Intake& intake) {
  auto lines = table::Lines::open(path);
  if (!lines) return tl::unexpected(std::move(lines.error()));
  for (;;) {
    const auto next = lines->next();
    if (!next) return tl::unexpected(next.error());
    if (*next == nullptr) return {};
    const std::string_view line = *next;
    if (line.empty()) continue;
    Job job;
    std::string message = take(line, intake.trace(), job);
    auto done =
        message.empty()
            ? intake.add(job, lines->line())
            : intake.refuse({Code::invalid, std::move(message), intake.where(lines->line())});
    if (!done) return done;
  }
}

/// Five fields, of which the second is a model and the others begin with a digit.
double synergy_likeness(const Head& head) {
  SynergyItems items;
  if (!split(head.first_line(), items) || iteration_of(items[kModel]) == nullptr) return 0;
  for (const SynergyItem item : {kId, kArrival, kIterationCount, kGpus}) {
    if (items[item].empty() || items[item].front() < '0' || items[item].front() > '9') return 0;
  }
  return 1;
}

}  // namespace

void register_synergy(Formats& registry) {
  Format format;
  format.name = "synergy";
  format.summary = "deployment log of Synergy's artifact (OSDI'22): iterations of known models";
  format.likeness = synergy_likeness;
  format.read = read_synergy;
  registry.add(std::move(format));
}

}  // namespace almanac::trace
