// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac cluster defrag: which running jobs to move so that waiting jobs can start, what that
/// frees and what it costs; for the service, or for a moment of a run.
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/job_list.h"
#include "cli/program.h"
#include "cli/rerun.h"
#include "cli/service_options.h"
#include "cli/trace_options.h"
#include "experiment/experiment.h"
#include "serve/view_json.h"
#include "sim/compactions.h"
#include "text/datetime.h"
#include "text/human.h"

namespace almanac::cli {

void register_cluster_defrag(Program& program);

namespace {

struct DefragOptions {
  std::string run;
  std::string policy;
  std::string at;
  std::string output = "table";
  ServiceOptions service;
};

/// Records the schedule at the first instant from `at` on. Without `at` it keeps the instant at
/// which the most GPUs are free in virtual clusters whose waiting jobs request as many.
class Lookout final : public sim::Listener {
 public:
  Lookout(const experiment::Prepared& prepared, std::optional<Time> at)
      : prepared_(prepared), at_(at) {}

  void hear(Time, std::span<const policy::Event>, const schedule::Round&,
            const policy::Telemetry*) override {}
  void decided(Time now, const schedule::Round& round,
               const policy::Telemetry* telemetry) override {
    if (at_ ? now < *at_ || done_ : !has_more_in_vain(round)) return;
    seen_ = sim::present_of(round, prepared_.cluster, prepared_.trace.jobs.size(), telemetry, now);
    done_ = at_.has_value();
  }

  const std::optional<sim::Present>& seen() const { return seen_; }
  const std::atomic<bool>& done() const { return done_; }

 private:
  bool has_more_in_vain(const schedule::Round& round) {
    const std::int64_t free = round.ledger().total_gpus() - round.ledger().busy_gpus();
    if (std::min(free, round.load().gpus_waiting) <= most_) return false;
    std::vector<std::int64_t> asked(prepared_.cluster.vcs.size());
    for (std::uint32_t at = 0; at < prepared_.trace.jobs.size(); ++at) {
      const policy::Progress& state = round.progress(JobId{at});
      if (state.phase != policy::Phase::waiting) continue;
      asked[index(state.vc)] += prepared_.trace.jobs[at].request.gpus;
    }
    std::int64_t in_vain = 0;
    for (std::uint32_t vc = 0; vc < asked.size(); ++vc) {
      in_vain += std::min<std::int64_t>(asked[vc], round.ledger().free_gpus(VcId{vc}));
    }
    if (in_vain <= most_) return false;
    most_ = in_vain;
    return true;
  }

  const experiment::Prepared& prepared_;
  std::optional<Time> at_;
  std::int64_t most_ = 0;
  std::optional<sim::Present> seen_;
  std::atomic<bool> done_ = false;
};

/// The run of the policy that is named, or the first.
Result<std::size_t> find_run(const experiment::Prepared& prepared, const std::string& policy) {
  std::vector<std::string> known;
  for (const auto& run : prepared.runs) known.push_back(run.composition.name);
  for (std::size_t at = 0; at < known.size(); ++at) {
    if (policy.empty() || known[at] == policy) return at;
  }
  return fail(Code::usage, fmt::format("the run does not include policy {}", policy), {},
              fmt::format("its policies: {}", fmt::join(known, ", ")));
}

Result<sim::Compactions> advise_of_run(const DefragOptions& options) {
  std::optional<Time> at;
  if (!options.at.empty()) {
    const auto read = parse_time_option("--at", options.at);
    if (!read) return tl::unexpected(read.error());
    at = *read;
  }
  const auto prepared = prepare_again(options.run);
  if (!prepared) return tl::unexpected(prepared.error());
  const auto run = find_run(*prepared, options.policy);
  if (!run) return tl::unexpected(run.error());
  auto policy = experiment::make_policy(prepared->runs[*run], prepared->trace, prepared->model);
  if (!policy) return tl::unexpected(policy.error());
  Lookout lookout(*prepared, at);
  sim::Options playing = experiment::options_of(*prepared, *run);
  playing.watch.listener = &lookout;
  playing.watch.stop = &lookout.done();
  sim::simulate(prepared->trace, prepared->cluster, **policy, playing);
  if (!lookout.seen()) {
    return at ? fail(Code::usage, fmt::format("the run has no event at {} or later", options.at))
              : fail(Code::usage, "no GPU of the run is ever free while a job waits for one");
  }
  const auto loses = [&](const sim::Present::Job& job) -> std::optional<Duration> {
    const trace::Request& request = prepared->trace.jobs[index(job.job)].request;
    return prepared->experiment.restart.of(request, job.worked, job.held, {});
  };
  return sim::advise_moves(prepared->trace, prepared->cluster, *lookout.seen(), loses);
}

std::string places_in_words(const std::vector<sim::GpusAt>& places) {
  std::vector<std::string> words;
  for (const sim::GpusAt& each : places) {
    words.push_back(each.gpus > 0 ? fmt::format("{}:{:g}", each.node, each.gpus) : each.node);
  }
  return fmt::format("{}", fmt::join(words, ";"));
}

std::string gpus_of(double count) {
  return fmt::format("{:g} GPU{}", count, count == 1 ? "" : "s");
}

std::string jobs_of(std::int64_t count) {
  return text::counted(static_cast<std::uint64_t>(count), "job");
}

std::string way_of(const sim::AdvisedMove& move) {
  if (move.from == move.to) return fmt::format("to other GPUs of {}", places_in_words(move.from));
  return fmt::format("from {} to {}", places_in_words(move.from), places_in_words(move.to));
}

void say(const sim::AdvisedStep& step, std::size_t number) {
  fmt::print(
      "{:>3}. job {}{} needs {} and fits on {} after {} moved\n", number, step.job,
      step.vc.empty() ? "" : " of " + step.vc, gpus_of(step.gpus), places_in_words(step.place),
      step.moves.size() == 1 ? "one job has" : fmt::format("{} jobs have", step.moves.size()));
  fmt::print("     cost: {} of GPU time, {} for each GPU that becomes usable{}\n",
             text::human_time(step.lost_gpu_s), text::human_time(step.lost_gpu_s / step.gpus),
             step.is_proven ? "; no moves cost less" : "; cheaper moves may exist");
  for (const sim::AdvisedMove& each : step.moves) {
    fmt::print("       move job {} {} (cost {})\n", each.job, way_of(each),
               text::human_time(each.lost_gpu_s));
  }
}

void say(const sim::Compactions& advice) {
  fmt::print("{}: {} free, {} running, {} waiting for GPUs\n", text::format_datetime(advice.at),
             gpus_of(advice.free_gpus), jobs_of(advice.running), jobs_of(advice.waiting));
  if (advice.staying > 0) {
    fmt::print("cannot be moved: {}\n", jobs_of(advice.staying));
  }
  if (advice.left_out > 0) {
    fmt::print("ignored jobs, whose GPUs count as free: {}\n", jobs_of(advice.left_out));
  }
  if (advice.left_alone > 0) {
    fmt::print("jobs on MIG instances or with a memory request per GPU share, not moved: {}\n",
               jobs_of(advice.left_alone));
  }
  double gpus = 0;
  double lost = 0;
  std::size_t number = 0;
  for (const sim::AdvisedStep& step : advice.steps) {
    say(step, ++number);
    gpus += step.gpus;
    lost += step.lost_gpu_s;
  }
  if (advice.steps.empty()) {
    fmt::print("no moves make room for a pending job\n");
  } else {
    fmt::print("total: {} usable, cost {} of GPU time\n", gpus_of(gpus), text::human_time(lost));
  }
  if (!advice.fit.empty()) {
    fmt::print("would fit now, and wait for other reasons: {}\n", fmt::join(advice.fit, ", "));
  }
  if (!advice.given_up.empty()) {
    fmt::print("not examined before the search stopped: {}\n", fmt::join(advice.given_up, ", "));
  }
}

Result<int> defrag(const DefragOptions& options) {
  if (options.run.empty()) {
    auto client = options.service.client();
    if (!client) return tl::unexpected(client.error());
    if (options.output == "json") return relay_answer(*client, "/v1/defrag");
    const auto said = client->get("/v1/defrag");
    if (!said) return tl::unexpected(said.error());
    const auto advice = serve::read_compactions(said->body);
    if (!advice) return tl::unexpected(advice.error());
    say(*advice);
    return kDone;
  }
  const auto advice = advise_of_run(options);
  if (!advice) return tl::unexpected(advice.error());
  if (options.output == "json") {
    fmt::print("{}\n", serve::to_json(*advice));
  } else {
    say(*advice);
  }
  return kDone;
}

}  // namespace

void register_cluster_defrag(Program& program) {
  CLI::App& command =
      *program.noun(Purpose::understand, "cluster", "Inspect, infer and rearrange clusters")
           .add_subcommand(
               "defrag",
               "Find running jobs to move so that pending jobs fit, with the cost of each move");
  const auto options = std::make_shared<DefragOptions>();
  command.add_option("RUN", options->run, "Run directory (default: ask the service)");
  command.add_option("--policy", options->policy, "Policy of the run (default: its first)")
      ->type_name("POLICY");
  command
      .add_option("--at", options->at,
                  "Time in the run: a date, a date with time, or seconds (default: when most free "
                  "GPUs are unusable for pending jobs)")
      ->type_name("TIME");
  add_output(command, options->output, {"table", "json"});
  options->service.add_to(command);
  add_example(command, "almanac cluster defrag out/run --policy fifo --at \"2020-05-30 12:00:00\"");
  program.on(command, [options] { return defrag(*options); });
}

}  // namespace almanac::cli
