// SPDX-License-Identifier: Apache-2.0
#include "experiment/log_speeds.h"

#include <cmath>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "perf/model_name.h"
#include "predict/type_speeds.h"

namespace almanac::experiment {
namespace {

using predict::TypeSpeeds;

constexpr const char* kSource = "job log";

struct Mean {
  double sum = 0;
  int count = 0;

  double of() const { return std::exp(sum / count); }
};

perf::Board board(const std::string& type, double speed) {
  return {.gpu_type = type,
          .source = kSource,
          .step = {.fixed = 1 / speed, .sample = 0},
          .error = {},
          .sharing = {}};
}

}  // namespace

LogSpeeds speeds_by_log(const trace::Trace& log) {
  TypeSpeeds speeds;
  std::map<std::string, int> jobs_on;  // type
  std::map<NameId, std::set<TypeSpeeds::Alike>> kinds;
  for (const trace::Job& job : log.jobs) {
    speeds.learn(job, log.names);
    if (job.request.gpu_type == kNoName) continue;
    ++jobs_on[std::string(log.names[job.request.gpu_type])];
    const TypeSpeeds::Alike alike = TypeSpeeds::alike(job.request);
    if (alike.name != kNoName) kinds[alike.name].insert(alike);
  }
  LogSpeeds made;
  std::string home;
  int most = 0;
  for (const auto& [type, jobs] : jobs_on) {
    if (jobs <= most) continue;
    most = jobs;
    home = type;
  }
  for (const auto& [type, jobs] : jobs_on) {
    made.catalogue.gpus.push_back(
        {.type = type, .speed = speeds.speed({}, type, home).speed, .speed_error = {}});
  }
  std::map<std::string, perf::Model> models;
  for (const auto& [name, alike] : kinds) {
    std::map<std::string, Mean> means;
    for (const TypeSpeeds::Alike& each : alike) {
      for (const auto& [type, jobs] : jobs_on) {
        const TypeSpeeds::Belief told = speeds.speed(each, type, home);
        if (told.from != TypeSpeeds::From::alike) continue;
        means[type].sum += std::log(told.speed);
        ++means[type].count;
      }
    }
    if (means.empty()) continue;
    const std::string bare = perf::model_name(log.names[name]);
    perf::Model& model = models[bare];
    if (!model.boards.empty()) continue;  // another spelling of it came first
    model.name = bare;
    model.boards.push_back(board(home, 1));
    for (const auto& [type, mean] : means) model.boards.push_back(board(type, mean.of()));
  }
  for (auto& [name, model] : models) made.catalogue.models.push_back(std::move(model));
  made.notes.push_back(
      fmt::format("speeds by GPU type come from this log: of {} combinations of user, job name and "
                  "GPU count it has {} on several types, with {} names; all other jobs are assumed "
                  "to be as fast on every type",
                  speeds.num_kinds(), speeds.num_compared(), made.catalogue.models.size()));
  return made;
}

}  // namespace almanac::experiment
