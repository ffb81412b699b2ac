// SPDX-License-Identifier: Apache-2.0
#include "experiment/deadlines.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "perf/speed_models.h"

namespace almanac::experiment {
namespace {

/// A model in training or in inference.
struct Task {
  NameId model;
  NameId kind;
  const perf::Genie* genie;
};

class Drawer {
 public:
  Drawer(trace::Trace& trace, const perf::Catalogue& catalogue, const DeadlineOptions& options)
      : trace_(trace),
        catalogue_(catalogue),
        options_(options),
        models_(catalogue),
        deadlines_(options.mix, trace.names),
        inference_(trace.names.intern("inference")) {
    const NameId training = trace.names.intern("training");
    for (const perf::Model& model : catalogue.models) {
      const NameId name = trace.names.intern(model.name);
      if (model.training) tasks_.push_back({name, training, &*model.training});
      if (model.inference) tasks_.push_back({name, inference_, &*model.inference});
    }
  }

  bool knows_any() const { return !tasks_.empty(); }

  DrawnDeadlines run() {
    DrawnDeadlines done;
    for (std::size_t at = 0; at < trace_.jobs.size(); ++at) {
      trace::Job& job = trace_.jobs[at];
      if (job.request.gpus == 0) continue;
      ++done.jobs;
      Rng rng(options_.seed, at);
      const perf::Genie* genie = known(job.request);
      if (genie == nullptr) {
        const Task& task = tasks_[rng.below(tasks_.size())];
        job.request.model = task.model;
        job.request.kind = task.kind;
        genie = task.genie;
        ++done.drawn;
      }
      give(job, *genie, rng);
    }
    return done;
  }

 private:
  /// What the catalogue knows of the job by its model, or by its name; null if nothing.
  const perf::Genie* known(const trace::Request& request) {
    const NameId name = request.model != kNoName ? request.model : request.name;
    const auto [found, is_new] = known_.try_emplace({name, request.kind}, nullptr);
    if (!is_new || name == kNoName) return found->second;
    const perf::Found answer = models_.find({.name = trace_.names[name]});
    const perf::Model* const model = answer.model.empty() ? nullptr : catalogue_.find(answer.model);
    if (model == nullptr) return nullptr;
    const auto& task = request.kind == inference_ ? model->inference : model->training;
    if (task) found->second = &*task;
    return found->second;
  }

  void give(trace::Job& job, const perf::Genie& genie, Rng& rng) const {
    trace::Request& request = job.request;
    if (request.batch == 0) request.batch = draw_batch(request.gpus, genie.most_batch, rng);
    const int fewest = (request.gpus + options_.node_gpus - 1) / options_.node_gpus;
    const double nodes = request.nodes > 0 ? request.nodes : fewest;
    const perf::Shape recorded{.nodes = nodes, .gpus_per_node = request.gpus / nodes};
    perf::GenieTask task{.rate = &genie.rate,
                         .batch = static_cast<double>(request.batch),
                         .steps = 1,
                         .startup_s = catalogue_.startup_s};
    const double run_s = seconds(job.outcome.run);
    if (request.steps == 0) {
      const double steps = (run_s - task.startup_s) * task.samples_per_s(recorded) / task.batch;
      request.steps = std::max<std::int64_t>(1, std::llround(steps));
    }
    task.steps = static_cast<double>(request.steps);
    if (request.max_gpus == 0) {
      const std::int64_t most = std::min<std::int64_t>(request.batch, options_.most_gpus);
      request.max_gpus = std::max(request.gpus, static_cast<std::int32_t>(most));
    }
    const double alone_s = run_s * task.latency_s({}) / task.latency_s(recorded);
    deadlines_.draw(Duration(std::llround(1000 * alone_s)), rng, request);
  }

  static std::int32_t draw_batch(std::int32_t gpus, double most_batch, Rng& rng) {
    const auto least = std::bit_ceil(static_cast<std::uint32_t>(gpus));
    const auto most = std::max(least, std::bit_floor(static_cast<std::uint32_t>(most_batch)));
    const auto choices = static_cast<std::uint64_t>(std::bit_width(most) - std::bit_width(least));
    return static_cast<std::int32_t>(least << rng.below(choices + 1));
  }

  trace::Trace& trace_;
  const perf::Catalogue& catalogue_;
  const DeadlineOptions& options_;
  perf::SpeedModels models_;
  trace::DeadlineLottery deadlines_;
  NameId inference_;
  std::vector<Task> tasks_;
  std::map<std::pair<NameId, NameId>, const perf::Genie*> known_;
};

}  // namespace

Result<DrawnDeadlines> draw_deadlines(trace::Trace& trace, const perf::Catalogue& catalogue,
                                      const DeadlineOptions& options) {
  if (!options.mix.any()) return fail(Code::usage, "at least one class must have a weight above 0");
  Drawer drawer(trace, catalogue, options);
  if (!drawer.knows_any()) {
    return fail(Code::usage, "the speed models contain no training or inference model", {},
                "use --speed genie");
  }
  return drawer.run();
}

}  // namespace almanac::experiment
