// SPDX-License-Identifier: Apache-2.0
#include "profiling/measure.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "gpu/visible.h"
#include "process/cgroup.h"
#include "profiling/watch.h"

namespace almanac::profiling {
namespace {

/// Less is no run: programs need a while to begin.
constexpr double kLeastRun_s = 1;

std::string last_words(const RunResult& run) {
  if (run.last_lines.empty()) return "it printed nothing";
  return fmt::format("its last lines:\n  {}", fmt::join(run.last_lines, "\n  "));
}

}  // namespace

process::Command Bencher::command_for(const Condition& condition, bool neighbour) const {
  const Machine& machine = *bench_.machine;
  const bool own_words = neighbour && !bench_.neighbour.empty();
  process::Command command{.argv = own_words ? bench_.neighbour : bench_.command.fill(condition),
                           .environment = CommandLine::environment(condition)};
  // Python holds back what it prints into a pipe until 8 KB have come together.
  command.environment.emplace_back("PYTHONUNBUFFERED", "1");
  if (!machine.gpus.empty()) {
    command.environment.emplace_back("CUDA_DEVICE_ORDER", "PCI_BUS_ID");
    command.environment.emplace_back(machine.visible_variable,
                                     gpu::cuda_visible_devices(machine.gpus, condition.gpus));
  }
  const auto cpus =
      std::min<std::size_t>(machine.cpus.size(), static_cast<std::size_t>(condition.cpus));
  // Cores of its own for a neighbor, where there are enough for both.
  const std::size_t from = neighbour && 2 * cpus <= machine.cpus.size() ? cpus : 0;
  const auto begin = machine.cpus.begin() + static_cast<std::ptrdiff_t>(from);
  command.cpus.assign(begin, begin + static_cast<std::ptrdiff_t>(cpus));
  return command;
}

tl::unexpected<Error> Bencher::budget_spent() const {
  return fail(Code::unavailable, fmt::format("the budget of {:.0f} s is used up", bench_.budget_s),
              {}, "--budget allows more");
}

Result<Measured> Bencher::operator()(const Condition& condition) {
  const double left_s = bench_.budget_s - spent_s_;
  if (left_s < kLeastRun_s) return budget_spent();
  std::optional<process::Cgroup> group;
  process::Command command = command_for(condition, false);
  if (condition.memory_gb > 0) {
    auto made = process::Cgroup::create(bench_.machine->cgroups,
                                        fmt::format("almanac-profile-{}-{}", ::getpid(), runs_),
                                        {.cpus = std::nullopt, .memory_gb = condition.memory_gb});
    if (!made) return tl::unexpected(made.error());
    group.emplace(std::move(*made));
    command.cgroup = &*group;
  }
  Watch how{.batch = condition.batch,
            .most_s = std::min(bench_.run_s, left_s),
            .patience_s = bench_.patience_s,
            .reader = bench_.reader,
            .driver = bench_.machine->driver.get(),
            .interrupted = bench_.interrupted};
  for (int at = 0; at < condition.gpus && at < static_cast<int>(bench_.machine->gpus.size());
       ++at) {
    const auto& gpu = bench_.machine->gpus[static_cast<std::size_t>(at)].gpu;
    if (gpu) how.gpus.push_back(*gpu);
  }
  std::optional<process::Command> neighbour;
  if (condition.beside) neighbour = command_for(condition, true);
  ++runs_;
  const Result<RunResult> run = watch(std::move(command), std::move(neighbour), how);
  if (!run) return tl::unexpected(run.error());
  spent_s_ += run->wall_s;
  if (run->left > 0) {
    bench_.note(fmt::format("{} processes of the command could not be stopped", run->left));
  }
  return judge(condition, *run, group && group->out_of_memory() > 0);
}

Result<Measured> Bencher::judge(const Condition& condition, const RunResult& run,
                                bool out_of_memory) {
  Measured made{.condition = condition, .seconds = run.wall_s, .use = run.use};
  const std::string at = to_string(condition);
  const std::string ending = process::to_string(run.ending);
  switch (run.end) {
    case RunEnd::interrupted:
      return fail(Code::unavailable, "interrupted");
    case RunEnd::crashed:
      made.said = fmt::format("the command failed with {}: {}{}; {}", at, ending,
                              out_of_memory ? ", out of memory" : "", last_words(run));
      return made;
    case RunEnd::hung:
      if (run.progress_lines > 0) {
        made.said = fmt::format("the command hung with {}: no progress for {:.0f} s; {}", at,
                                bench_.patience_s, last_words(run));
        return made;
      }
      break;
    case RunEnd::alone:
      made.said = fmt::format("the neighbor ended first with {}; {}", at, last_words(run));
      return made;
    case RunEnd::known:
    case RunEnd::time_up:
    case RunEnd::ended:
      break;
  }
  if (run.progress_lines == 0) {
    return fail(
        Code::invalid,
        fmt::format(
            "found no known progress line in what the command printed within {:.0f} s with {}; {}",
            run.wall_s, at, last_words(run)),
        {}, "describe the lines with --progress 'step (?P<step>[0-9]+)'");
  }
  read_as_ = run.read_as;
  if (!run.rate && run.end == RunEnd::time_up && bench_.budget_s - spent_s_ < kLeastRun_s) {
    return budget_spent();
  }
  if (!run.rate) {
    made.said = fmt::format("too few steps to measure a rate in {:.0f} s with {}; {}", run.wall_s,
                            at, last_words(run));
    return made;
  }
  const StepRate& rate = *run.rate;
  made.throughput = condition.batch / rate.step_s;
  made.low = made.throughput / (1 + rate.half_width);
  made.high = rate.half_width < 1 ? made.throughput / (1 - rate.half_width) : 1e12;
  made.steps = rate.steps;
  if (run.end != RunEnd::known) {
    bench_.note(fmt::format("measured only to {:.1f} % with {}: {}", 100 * rate.half_width, at,
                            run.end == RunEnd::ended ? "the command ended by itself"
                                                     : "the time limit of a run was reached"));
  }
  return made;
}

}  // namespace almanac::profiling
