// SPDX-License-Identifier: Apache-2.0
#include "reproduce/shockwave_runs.h"

#include <algorithm>

#include <fmt/format.h>

#include "gavel/rules.h"
#include "gavel/shockwave.h"
#include "reproduce/read.h"
#include "text/number.h"

namespace almanac::reproduce {
namespace {

/// Of AlloX, which Shockwave's program runs with a fifth of the jobs that wait.
constexpr double kConsidered = 0.2;

int batch_of(const Rows& rows) {
  return rows.text("batch_size").empty() ? 0 : static_cast<int>(rows.whole("batch_size"));
}

/// "16x31 32x10": 16 for 31 epochs, then 32 for 10.
std::vector<int> read_pattern(std::string_view text) {
  std::vector<int> pattern;
  while (!text.empty()) {
    const std::string_view run = text.substr(0, text.find(' '));
    const auto times = run.find('x');
    const auto batch = text::parse_whole(run.substr(0, times));
    const auto epochs = text::parse_whole(run.substr(std::min(times, run.size() - 1) + 1));
    require(batch && epochs && *epochs > 0 && *epochs < 100'000,
            fmt::format("{} is no batch and number of epochs", run));
    pattern.insert(pattern.end(), static_cast<std::size_t>(*epochs), static_cast<int>(*batch));
    text.remove_prefix(std::min(run.size() + 1, text.size()));
  }
  return pattern;
}

/// The paper's settings hang on the size of the cluster; another has those of the nearest below.
timeshare::Window window_of(int gpus) {
  if (gpus >= 256) return {.makespan_worth = 1e5, .power = 5};
  if (gpus >= 128) return {.makespan_worth = 1e-3, .power = 15};
  if (gpus >= 64) return {.makespan_worth = 10, .power = 5};
  return {};
}

std::unique_ptr<gavel::Rule> shockwave_of(const Workload& workload,
                                          const gavel::RegimeTables& tables,
                                          const gavel::Speeds& speeds, int gpus) {
  std::map<int, gavel::EpochProfile> profiles;
  for (const auto& [number, job] : workload.regimes) {
    gavel::EpochProfile& profile = profiles[number];
    profile.samples = gavel::samples_of(job.model);
    for (const int batch : job.profile) {
      const auto kind = tables.kinds.find({job.model, batch, job.gpus});
      require(kind != tables.kinds.end() && speeds.alone[kind->second][0] > 0,
              fmt::format("no speed of {} with batch {} on {} GPUs", job.model, batch, job.gpus));
      profile.batches.push_back(batch);
      profile.seconds.push_back(static_cast<double>(profile.samples) / batch /
                                speeds.alone[kind->second][0]);
    }
    require(!profile.batches.empty(), fmt::format("job {} has no epoch", number));
  }
  std::map<std::size_t, int> batches;
  for (const auto& [told, kind] : tables.kinds) batches[kind] = std::get<1>(told);
  return gavel::make_shockwave(std::move(profiles), std::move(batches), window_of(gpus));
}

}  // namespace

std::string Set::name() const { return fmt::format("{}{}", family, gpus); }

Set set_of(std::string_view text) {
  const auto digit = text.find_first_of("0123456789");
  require(digit != std::string_view::npos, fmt::format("{} tells no number of GPUs", text));
  const auto end = std::min(text.find_first_not_of("0123456789", digit), text.size());
  const auto gpus = text::parse_whole(text.substr(digit, end - digit));
  require(gpus && *gpus > 0 && *gpus < 1'000'000, fmt::format("{} tells no number of GPUs", text));
  std::string family(text.substr(0, digit));
  if (family.ends_with('_')) family.pop_back();
  return {std::move(family), static_cast<int>(*gpus)};
}

void ShockwaveRuns::read_speeds(const File& file) {
  Rows rows(file.path, {"table", "model", "batch_size", "scale_factor", "steps_per_s"});
  auto tables = tables_;
  while (rows.next()) {
    Table& table = tables[std::string(rows.text("table"))];
    table.regimes.kinds[{std::string(rows.text("model")), batch_of(rows),
                         static_cast<int>(rows.whole("scale_factor"))}] = table.speeds.alone.size();
    table.speeds.alone.push_back({rows.number("steps_per_s")});
  }
  tables_ = std::move(tables);
}

void ShockwaveRuns::read_patterns(const File& file) {
  Rows rows(file.path, {"model", "batch_size", "scale_factor", "batch_size_by_epoch_of_760"});
  auto patterns = patterns_;
  while (rows.next()) {
    patterns[{std::string(rows.text("model")), batch_of(rows),
              static_cast<int>(rows.whole("scale_factor"))}] =
        read_pattern(rows.text("batch_size_by_epoch_of_760"));
  }
  patterns_ = std::move(patterns);
}

void ShockwaveRuns::read_traces(const File& file) {
  Rows rows(file.path, {"set", "job", "model", "batch_size", "total_steps", "scale_factor", "mode",
                        "priority", "arrival_s", "exclusive_s", "batch_size_by_epoch"});
  auto workloads = workloads_;
  while (rows.next()) {
    const std::string set(rows.text("set"));
    const std::string_view mode = rows.text("mode");
    rows.require(mode == "static" || mode == "accordion" || mode == "gns",
                 fmt::format("expected static, accordion or gns as mode, found '{}'", mode));
    gavel::RegimeJob regime{.model = std::string(rows.text("model")),
                            .batch = batch_of(rows),
                            .gpus = static_cast<int>(rows.whole("scale_factor")),
                            .mode = mode == "gns"         ? gavel::Mode::gns
                                    : mode == "accordion" ? gavel::Mode::accordion
                                                          : gavel::Mode::fixed,
                            .exclusive_s = rows.number("exclusive_s"),
                            .profile = read_pattern(rows.text("batch_size_by_epoch"))};
    rows.require(gavel::samples_of(regime.model) > 0, "no such model");
    const Table& table = table_of(set_of(set));
    const auto kind = table.regimes.kinds.find({regime.model, regime.batch, regime.gpus});
    rows.require(kind != table.regimes.kinds.end(), "no speed of this model, batch and GPUs");
    const auto number = static_cast<int>(rows.whole("job"));
    Workload& workload = workloads[set];
    workload.jobs.push_back({.number = number,
                             .kind = kind->second,
                             .gpus = regime.gpus,
                             .weight = rows.number("priority"),
                             .steps = rows.number("total_steps"),
                             .arrival_s = rows.number("arrival_s"),
                             .profiled_s = regime.exclusive_s});
    workload.regimes[number] = std::move(regime);
  }
  workloads_ = std::move(workloads);
}

const gavel::Course* ShockwaveRuns::play(const Set& set, const std::string& policy,
                                         double lateness_power) {
  const auto workload = workloads_.find(set.name());
  if (workload == workloads_.end()) return nullptr;
  Table table = table_of(set);
  table.regimes.patterns = patterns_;
  const auto rule =
      policy == "shockwave"
          ? shockwave_of(workload->second, table.regimes, table.speeds, set.gpus)
          : gavel::make_rule(policy, {.considered = kConsidered, .lateness_power = lateness_power});
  if (rule == nullptr) return nullptr;
  const auto [course, is_new] = courses_.try_emplace({set.name(), policy, lateness_power});
  if (!is_new) return &course->second;
  gavel::Regimes regimes(workload->second.regimes, table.regimes);
  course->second = gavel::play({.types = {"v100"}, .gpus = {set.gpus}}, table.speeds,
                               workload->second.jobs, *rule,
                               {.round_s = 120,
                                .reset_s = 1000,
                                .restart_s = 20,
                                .restart_beyond_s = 115,
                                .fails_late = true,
                                .keeps_rounds = true},
                               &regimes);
  return &course->second;
}

const ShockwaveRuns::Table& ShockwaveRuns::table_of(const Set& set) const {
  auto table = tables_.find(set.family);
  if (table == tables_.end()) table = tables_.find("wisr");
  require(table != tables_.end(), fmt::format("no speeds for {}", set.name()));
  return table->second;
}

double static_fairness(double jct_s, double alone_s, std::size_t jobs, int gpus) {
  return jct_s / (alone_s * std::max(1.0, static_cast<double>(jobs) / gpus));
}

}  // namespace almanac::reproduce
