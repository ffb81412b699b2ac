// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac explain: why a job of the service waits, or how it ended, or which change would start it
/// now; for a job of a run, each reason why it waited and for how long, as the run recorded it
/// (sim/wait_log.h).
///
/// With --replay, the run is simulated again with the job watched. Simulations are deterministic,
/// so this shows what happened to the second, as well as the forecast that the job would have
/// received at submission and how fast it ran.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/forecast_text.h"
#include "cli/job_list.h"
#include "cli/program.h"
#include "cli/progress.h"
#include "cli/rerun.h"
#include "cli/service_options.h"
#include "cli/terminal.h"
#include "cli/value_check.h"
#include "experiment/dues.h"
#include "experiment/run_directory.h"
#include "faults/model.h"
#include "forecast/constraints.h"
#include "forecast/score.h"
#include "kueue/logged_jobs.h"
#include "policy/registry.h"
#include "report/kept_job.h"
#include "rules/fairness/dues.h"
#include "serve/what_if.h"
#include "text/duration.h"
#include "text/human.h"
#include "text/moment.h"

namespace almanac::cli {
namespace {

struct ExplainOptions {
  ServiceOptions service;
  std::string run;  ///< Or a job of the service, if `job` is not given.
  std::string job;
  std::string policy;
  std::string output = "table";
  bool replay = false;
  bool what_if = false;
};

/// "2 GPUs"; where cores are simulated "2 GPUs, 8 cores, 64 GB", as the job log says.
std::string asked_by(const trace::Request& request, bool counts_cpus) {
  std::vector<std::string> parts;
  if (request.gpus > 0) {
    parts.push_back(fmt::format("{} GPU{}", request.gpus, request.gpus == 1 ? "" : "s"));
  }
  if (counts_cpus && !std::isnan(request.cpus)) {
    parts.push_back(fmt::format("{:g} core{}", request.cpus, request.cpus == 1 ? "" : "s"));
  }
  if (counts_cpus && !std::isnan(request.memory_gb)) {
    parts.push_back(fmt::format("{:g} GB", request.memory_gb));
  }
  return parts.empty() ? "no GPUs" : fmt::format("{}", fmt::join(parts, ", "));
}

class Explanation {
 public:
  Explanation(const experiment::Prepared& prepared, std::size_t run, JobId job)
      : prepared_(prepared), run_(run), job_(job) {}

  Result<void> look() {
    std::atomic<std::uint32_t> arrived = 0;
    const auto jobs = static_cast<double>(prepared_.trace.jobs.size());
    const ProgressBar bar(fmt::format("simulating {} again", policy()),
                          [&] { return arrived / jobs; });
    auto schedule = experiment::simulate_run(prepared_, run_, nullptr, &arrived, job_);
    if (!schedule) return tl::unexpected(schedule.error());
    schedule_ = std::move(*schedule);
    auto told = forecast::tell(prepared_, run_, {job_}, {.other_gpus = true});
    if (!told) return tl::unexpected(told.error());
    told_ = std::move(*told);
    return {};
  }

  std::string words() const {
    std::string made;
    const trace::Job& job = prepared_.trace.jobs[index(job_)];
    const sim::JobResult& record = schedule_.jobs[index(job_)];
    made += fmt::format("job {} under {}: {}, submitted {}", name(job_), policy(),
                        asked_by(job.request, prepared_.cluster.counts_cpus()),
                        text::moment(job.request.submit));
    for (const auto& [never, reason] : schedule_.never) {
      if (never == job_) return made + fmt::format("; {}\n", policy::to_string(reason, ""));
    }
    if (record.phase == policy::Phase::withdrawn && job.outcome.state == trace::JobState::pending) {
      made += fmt::format(", pending when the log was taken; it would have started {}\n",
                          text::moment(record.end));
    } else if (record.phase == policy::Phase::withdrawn) {
      made += fmt::format(", withdrawn {} without having run\n", text::moment(record.end));
    } else if (record.start == kNoTime) {
      made += ", still pending at the end of the simulation\n";
    } else {
      if (record.joined != kNoTime) {
        made += fmt::format(", in the queue from {}", text::moment(record.joined));
      }
      made += fmt::format(", started {}", text::moment(record.start));
      if (record.end != kNoTime) {
        const Duration waited = record.end - sim::joined(job.request, record) - record.ran;
        made += fmt::format(", ended {}, waited {}", text::moment(record.end),
                            text::format_duration(waited));
      }
      made += fmt::format("{}\n", record.preemptions > 0
                                      ? ", preempted " + text::counted(record.preemptions, "time")
                                      : std::string());
    }
    if (!told_.empty()) {
      made +=
          fmt::format("  forecast at submission: {}\n", in_words(told_[0].forecast, job.request));
      for (const forecast::OtherGpus& other : told_[0].other_gpus) {
        made += fmt::format("    {}\n", in_words(other, job.request));
      }
    }
    std::map<std::string, Duration> totals;
    for (const sim::Wait& wait : waits()) {
      totals[report::waited_for(wait.reason)] += wait.until - wait.from;
      made += fmt::format("  {}  {:>14}  {}\n", text::moment(wait.from),
                          text::format_duration(wait.until - wait.from),
                          policy::to_string(wait.reason, name(wait.reason.other)));
    }
    if (waits().empty()) {
      made += "  it never waited\n";
    } else {
      made += fmt::format("total: {}\n", report::in_all(totals));
    }
    made += report::failures_in_words(failures());
    add_queue(made);
    // Where speeds are simulated, the paces below say why.
    if (record.end != kNoTime && schedule_.paces.empty())
      made += report::longer_run_in_words(record.ran, job.outcome.run);
    add_dues(made);
    add_paces(made);
    return made;
  }

  /// Whose quota it waited for under Kueue.
  void add_queue(std::string& made) const {
    const auto& queues = prepared_.runs[run_].queues;
    const auto at_quota = [](const sim::Wait& wait) {
      return wait.reason.kind == policy::ReasonKind::at_quota;
    };
    if (queues == nullptr || std::none_of(schedule_.waits.begin(), schedule_.waits.end(), at_quota))
      return;
    const trace::Request& request = prepared_.trace.jobs[index(job_)].request;
    const auto found = kueue::queue_of(queues->setup, request, prepared_.trace.names);
    if (!found) return;
    const kueue::ClusterQueue& queue = queues->setup.queues[*found];
    made += fmt::format(
        "its quota: ClusterQueue {}, nominally {}{}\n", queue.name,
        text::counted(static_cast<std::uint64_t>(kueue::nominal_gpus(queue)), "GPU"),
        queue.cohort.empty() ? ", no cohort" : ", and what cohort " + queue.cohort + " lends");
  }

  /// How its tenant fared, where the cluster has tenants.
  void add_dues(std::string& made) const {
    const experiment::Dues dues = experiment::judge(prepared_.trace, prepared_.cluster, schedule_);
    const TenantId tenant = schedule_.jobs[index(job_)].tenant;
    if (!dues.by_tenant || tenant == kNoTenant) return;
    const std::string name = "tenant " + prepared_.cluster.tenants[index(tenant)].name;
    for (const experiment::Owner& owner : dues.owners) {
      if (owner.name == name)
        made += fmt::format("{} {} over the whole run\n", name, fairness::beside_its_due(owner));
    }
  }

  void add_paces(std::string& made) const {
    for (const sim::PaceChange& pace : paces()) {
      made += fmt::format(
          "  {}  {:>14}  {}{}\n", text::moment(pace.at),
          text::format_duration(pace.until - pace.at), sim::to_string(pace),
          prepared_.cluster.counts_cpus() ? fmt::format(" ({:g} cores)", pace.cpus) : "");
    }
    if (paces().empty()) return;
    const sim::MeanPace mean = schedule_.pace_log[index(job_)];
    made += fmt::format("total: {}", sim::in_words(mean));
    if (prepared_.trace.jobs[index(job_)].request.gpus > 0)
      made += fmt::format("; its GPUs computed {} of the time",
                          text::human_share(mean.parts.computing));
    if (mean.throttled_s > 0)
      made += fmt::format("; it held fewer cores than requested for {}",
                          text::human_time(mean.throttled_s));
    made += '\n';
  }

  nlohmann::ordered_json to_json() const {
    nlohmann::ordered_json reasons = nlohmann::ordered_json::array();
    for (const sim::Wait& wait : waits()) {
      nlohmann::ordered_json each = {
          {"from_s", seconds(wait.from)},
          {"until_s", seconds(wait.until)},
          {"reason", policy::name(wait.reason.kind)},
          {"text", policy::to_string(wait.reason, name(wait.reason.other))}};
      if (wait.reason.other != kNoJob) each["other_job_id"] = name(wait.reason.other);
      report::add_terms(each, wait.reason);
      reasons.push_back(std::move(each));
    }
    for (const auto& [never, reason] : schedule_.never) {
      if (never != job_) continue;
      reasons.push_back(
          {{"reason", policy::name(reason.kind)}, {"text", policy::to_string(reason, "")}});
    }
    nlohmann::ordered_json rates = nlohmann::ordered_json::array();
    for (const sim::PaceChange& pace : paces()) {
      nlohmann::ordered_json each = {{"from_s", seconds(pace.at)},
                                     {"until_s", seconds(pace.until)}};
      each.update(factors(pace.rate, pace.parts, pace.bandwidth));
      each["held_cpus"] = pace.cpus;
      rates.push_back(std::move(each));
    }
    nlohmann::ordered_json out = {
        {"job_id", name(job_)}, {"policy", policy()}, {"waits", reasons}, {"paces", rates}};
    if (const auto stopped = failures(); !stopped.empty()) {
      out["failures"] = report::failures_json(stopped);
    }
    if (!told_.empty()) out["forecast"] = told_then();
    if (!rates.empty()) {
      const sim::MeanPace mean = schedule_.pace_log[index(job_)];
      out["mean_pace"] = factors(mean.rate, mean.parts, mean.bandwidth);
      out["mean_pace"]["held_cpus"] = mean.cpus;
      out["mean_pace"]["throttled_s"] = mean.throttled_s;
    }
    return out;
  }

 private:
  static nlohmann::ordered_json factors(double rate, const perf::Parts& parts, double bandwidth) {
    return {{"rate", rate},
            {"gpus", parts.gpus},
            {"type", parts.type},
            {"neighbours", parts.neighbours},
            {"cpus", parts.cpus},
            {"memory", parts.memory},
            {"power", parts.power},
            {"bandwidth", bandwidth},
            {"computing", parts.computing}};
  }
  /// What it was told when it came; null = never.
  nlohmann::ordered_json told_then() const {
    using forecast::kSaid;
    const forecast::Forecast& said = told_[0].forecast;
    const auto when = [](Time at) {
      return at == kNever ? nlohmann::ordered_json() : nlohmann::ordered_json(seconds(at));
    };
    const auto [from, to] = said.start(kSaid);
    nlohmann::ordered_json out = {{"share", kSaid},
                                  {"start_from_s", when(from)},
                                  {"start_to_s", when(to)},
                                  {"end_by_s", when(said.ended_by(kSaid))}};
    const Time deadline = prepared_.trace.jobs[index(job_)].request.deadline;
    if (deadline != kNoTime) out["deadline_probability"] = said.chance_to_end_by(deadline);
    for (const forecast::OtherGpus& other : told_[0].other_gpus) {
      nlohmann::ordered_json with = {{"gpus", other.gpus},
                                     {"end_by_s", when(other.forecast.ended_by(kSaid))}};
      if (deadline != kNoTime)
        with["deadline_probability"] = other.forecast.chance_to_end_by(deadline);
      out["with_other_gpus"].push_back(std::move(with));
    }
    return out;
  }
  std::string name(JobId job) const {
    return job == kNoJob ? "" : prepared_.trace.id(prepared_.trace.jobs[index(job)].id);
  }
  const std::string& policy() const { return prepared_.runs[run_].composition.name; }

  /// Returns the waits that took time. A wait that has not ended ends with the simulation.
  std::vector<sim::Wait> waits() const {
    std::vector<sim::Wait> lasting;
    for (sim::Wait wait : schedule_.waits) {
      if (wait.until == kNever) wait.until = schedule_.finish;
      if (wait.until > wait.from) lasting.push_back(wait);
    }
    return lasting;
  }

  /// What stopped the job, of failures that were drawn.
  std::vector<experiment::KeptFailure> failures() const {
    std::vector<experiment::KeptFailure> made;
    for (const faults::Interruption& each : schedule_.failures.interruptions) {
      if (each.job != job_) continue;
      const NodeId node = each.node;
      made.push_back({.at = each.at,
                      .cause = prepared_.failures->causes[each.cause].name,
                      .node = node == kNoNode ? "" : prepared_.cluster.node_label(node),
                      .gpus = each.gpus,
                      .lost = each.lost,
                      .restart = each.restart,
                      .resumed = each.resumed});
    }
    return made;
  }

  /// The last one ends with the simulation if it has not ended.
  std::vector<sim::PaceChange> paces() const {
    std::vector<sim::PaceChange> lasting = schedule_.paces;
    if (!lasting.empty()) lasting.back().until = std::min(lasting.back().until, schedule_.finish);
    return lasting;
  }

  const experiment::Prepared& prepared_;
  std::size_t run_;
  JobId job_;
  sim::Schedule schedule_;
  std::vector<forecast::Told> told_;  // none = it could never start
};

/// Whether it can be the NAMESPACE/NAME of a workload of Kubernetes.
bool is_workload_name(const std::string& text) {
  std::error_code unreadable;  // such a path is no run directory either
  return std::count(text.begin(), text.end(), '/') == 1 && !text.starts_with('/') &&
         !text.starts_with('.') && !text.ends_with('/') &&
         !std::filesystem::exists(text, unreadable);
}

/// The number that the service has for the newest workload of this name. Errors say that `workload`
/// is no run directory either.
Result<std::string> number_of(Result<serve::Client>& service, const std::string& workload) {
  const auto neither = [&](Error error) {
    error.message = fmt::format("{} is no run directory, and as a workload it cannot be found: {}",
                                workload, error.message);
    return error;
  };
  if (!service) return tl::unexpected(neither(service.error()));
  const auto found = list_jobs(*service, {{"name", workload}});
  if (!found) return tl::unexpected(neither(found.error()));
  if (found->empty()) {
    return fail(Code::not_found,
                fmt::format("{0} is no run directory, and the service has no workload called {0}",
                            workload),
                {}, "almanac queue lists workloads; for a run use almanac explain RUN JOB");
  }
  return found->back().id;
}

using Changes = std::vector<std::vector<std::string>>;

/// "  if job 12 ended (8 GPUs)" for each change or pair.
std::string changes_in_lines(const Changes& changes) {
  std::string made;
  for (const std::vector<std::string>& each : changes) {
    made += fmt::format("  {}\n", fmt::join(each, " and "));
  }
  return made;
}

/// What would start a job of the service now.
Result<int> what_if_now(serve::Client& client, const std::string& number,
                        const ExplainOptions& options) {
  const auto found = serve::find_changes(client, number);
  if (!found) return tl::unexpected(found.error());
  if (options.output == "json") {
    fmt::print("{}\n", nlohmann::ordered_json({{"job_id", number},
                                               {"at_s", seconds(found->at)},
                                               {"starts_now", found->starts_now},
                                               {"changes", found->changes}})
                           .dump(2));
    return kDone;
  }
  std::string made;
  if (found->starts_now) {
    made = fmt::format("job {} starts when the policy decides again\n", number);
  } else if (found->changes.empty()) {
    made = fmt::format("no change that was tried would start job {} now\n", number);
  } else {
    made = fmt::format("job {} would start now\n{}", number, changes_in_lines(found->changes));
  }
  fmt::print("{}", fitted_to_terminal(made));
  return kDone;
}

Result<int> explain_live(const ExplainOptions& options) {
  auto client = options.service.client();
  const Result<std::string> number =
      is_workload_name(options.run) ? number_of(client, options.run) : options.run;
  if (!number) return tl::unexpected(number.error());
  if (!client) return tl::unexpected(client.error());
  if (options.what_if) return what_if_now(*client, *number, options);
  const std::string path = fmt::format("/v1/jobs/{}/explain", *number);
  if (options.output == "json") return relay_answer(*client, path);
  const auto said = client->get(path);
  if (!said) return tl::unexpected(said.error());
  const auto lines = serve::read_explanation(said->body);
  if (!lines) return tl::unexpected(lines.error());
  fmt::print("{}\n", fitted_to_terminal(fmt::format("{}", fmt::join(*lines, "\n"))));
  return kDone;
}

tl::unexpected<Error> no_policy(const ExplainOptions& options,
                                const std::vector<std::string>& known) {
  return fail(Code::usage, fmt::format("the run does not include policy {}", options.policy), {},
              fmt::format("its policies: {}", fmt::join(known, ", ")));
}

/// From what the run keeps.
Result<int> explain_kept(const ExplainOptions& options) {
  const auto summaries = experiment::read_summaries(options.run);
  if (!summaries) return tl::unexpected(summaries.error());
  std::vector<std::string> known;
  bool found = false;
  bool may_lack = false;
  nlohmann::ordered_json explanations = nlohmann::ordered_json::array();
  for (const experiment::Summary& summary : *summaries) {
    if (summary.recorded) continue;
    known.push_back(summary.policy);
    if (!options.policy.empty() && summary.policy != options.policy) continue;
    found = true;
    auto kept = experiment::read_kept(options.run, summary.policy, options.job);
    if (!kept) {
      if (kept.error().code == Code::not_found) {
        kept.error().hint =
            "the run was made by an earlier version and has no reasons; use explain --replay";
      }
      return tl::unexpected(kept.error());
    }
    kept->tenant = experiment::tenant_of(*kept, summary);
    if (options.output == "json") {
      explanations.push_back(report::kept_job_json(*kept));
    } else {
      fmt::print("{}", fitted_to_terminal(report::kept_job_in_words(*kept)));
      may_lack = may_lack || report::may_lack_reasons(*kept);
    }
  }
  if (may_lack) {
    note("reasons shorter than a tenth of the wait until then are not stored; --replay shows all");
  }
  if (!found) return no_policy(options, known);
  if (options.output == "json") fmt::print("{}\n", explanations.dump(2));
  return kDone;
}

/// Fails with usage if the run has no such job, or did not simulate it.
Result<JobId> find_job(const experiment::Prepared& prepared, const ExplainOptions& options) {
  const std::vector<trace::Job>& jobs = prepared.trace.jobs;
  const auto job = std::find_if(jobs.begin(), jobs.end(), [&](const trace::Job& each) {
    return prepared.trace.id(each.id) == options.job;
  });
  if (job == jobs.end()) {
    return fail(Code::usage, fmt::format("the run has no job {}", options.job),
                {.file = options.run});
  }
  if (!sim::is_simulated(job->request, prepared.cluster)) {
    return fail(Code::usage,
                fmt::format("job {} requests no GPU and was not simulated", options.job));
  }
  return JobId{static_cast<std::uint32_t>(job - jobs.begin())};
}

/// What would have started a job when it began to wait.
Result<int> what_if(const ExplainOptions& options) {
  auto prepared = prepare_again(options.run);
  if (!prepared) return tl::unexpected(prepared.error());
  const auto job = find_job(*prepared, options);
  if (!job) return tl::unexpected(job.error());
  std::vector<std::string> known;
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (std::size_t run = 0; run < prepared->runs.size(); ++run) {
    const std::string& policy = prepared->runs[run].composition.name;
    known.push_back(policy);
    if (!options.policy.empty() && policy != options.policy) continue;
    const auto found = forecast::find_constraints(*prepared, run, *job);
    if (!found) return tl::unexpected(found.error());
    const Changes changes = forecast::in_words(*found, prepared->trace, *job, [&](JobId other) {
      return prepared->trace.id(prepared->trace.jobs[index(other)].id);
    });
    all.push_back({{"job_id", options.job}, {"policy", policy}});
    if (found->at != kNoTime) {
      all.back()["at_s"] = seconds(found->at);
      all.back()["starts_now"] = found->starts_now;
      all.back()["changes"] = changes;
    }
    if (found->never) all.back()["never"] = policy::to_string(*found->never, "");
    if (options.output == "json") continue;
    std::string made;
    if (found->never) {
      made += fmt::format("job {} under {}: {}\n", options.job, policy,
                          policy::to_string(*found->never, ""));
    } else if (found->at == kNoTime) {
      made += fmt::format("job {} under {} never waited\n", options.job, policy);
    } else if (found->starts_now) {
      made += fmt::format(
          "job {} under {} began to wait {}, and starts when the policy decides again\n",
          options.job, policy, text::moment(found->at));
    } else if (changes.empty()) {
      made += fmt::format(
          "job {} under {} began to wait {}; no change that was tried would have started it\n",
          options.job, policy, text::moment(found->at));
    } else {
      made += fmt::format("job {} under {} began to wait {}. It would have started then\n{}",
                          options.job, policy, text::moment(found->at), changes_in_lines(changes));
    }
    const bool is_slurm =
        prepared->runs[run].site != nullptr &&
        policy::registry().traits(prepared->runs[run].composition).has(policy::Trait::reads_site);
    if (is_slurm && !found->starts_now) {
      made += fmt::format(
          "  tried: {}; not tried: the limits of Slurm's associations, QOS and partitions\n",
          forecast::kTried);
    }
    fmt::print("{}", fitted_to_terminal(made));
  }
  if (all.empty()) return no_policy(options, known);
  if (options.output == "json") fmt::print("{}\n", all.dump(2));
  return kDone;
}

/// By playing the run again.
Result<int> replay(const ExplainOptions& options) {
  const auto prepared = prepare_again(options.run);
  if (!prepared) return tl::unexpected(prepared.error());
  const auto job = find_job(*prepared, options);
  if (!job) return tl::unexpected(job.error());
  bool found = false;
  nlohmann::ordered_json explanations = nlohmann::ordered_json::array();
  for (std::size_t run = 0; run < prepared->runs.size(); ++run) {
    if (!options.policy.empty() && prepared->runs[run].composition.name != options.policy) continue;
    found = true;
    Explanation explanation(*prepared, run, *job);
    if (const auto looked = explanation.look(); !looked) return tl::unexpected(looked.error());
    if (options.output == "json") {
      explanations.push_back(explanation.to_json());
    } else {
      fmt::print("{}", fitted_to_terminal(explanation.words()));
    }
  }
  if (found && options.output == "json") fmt::print("{}\n", explanations.dump(2));
  if (found) return kDone;
  std::vector<std::string> known;
  for (const auto& run : prepared->runs) known.push_back(run.composition.name);
  return no_policy(options, known);
}

Result<int> explain(const ExplainOptions& options) {
  if (options.job.empty()) {
    if (options.run.find_first_not_of("0123456789_") != std::string::npos &&
        !is_workload_name(options.run)) {
      return fail(Code::usage, fmt::format("no job is given for run {}", options.run), {},
                  "use almanac explain RUN JOB; for a job of the service give its number alone");
    }
    if (options.replay || !options.policy.empty()) {
      return fail(
          Code::usage,
          fmt::format("{} requires a run and its job", options.replay ? "--replay" : "--policy"),
          {}, "use almanac explain RUN JOB");
    }
    return explain_live(options);
  }
  if (options.what_if) return what_if(options);
  return options.replay ? replay(options) : explain_kept(options);
}

}  // namespace

void register_explain(Program& program) {
  CLI::App& command = program.command(
      Purpose::schedule, "explain", "Explain why a job waits, in the queue or in a simulated run");
  const auto options = std::make_shared<ExplainOptions>();
  command
      .add_option("RUN|JOB", options->run,
                  "Run directory, or the number of a job of the service; on Kubernetes also "
                  "NAMESPACE/NAME")
      ->required();
  command.add_option("JOB", options->job, "Job id of the run, as in jobs.csv");
  command.add_option("--policy", options->policy, "Only this policy")->type_name("POLICY");
  command.add_option("-o,--output", options->output, "Output format")
      ->type_name("FORM")
      ->check(one_of({"table", "json"}))
      ->capture_default_str();
  CLI::Option* const replays = command.add_flag(
      "--replay", options->replay,
      "Simulate again for exact reasons, the forecast at submission and speeds; needs the job log");
  command
      .add_flag("--what-if", options->what_if,
                "Name each change, or pair of changes, that would start the job now, or the job of "
                "a run when it began to wait")
      ->excludes(replays);
  options->service.add_to(command);
  add_example(command, "almanac explain 17");
  add_example(command, "almanac explain 17 --what-if");
  add_example(command, "almanac explain team-a/job-train-1a2b3");
  add_example(command, "almanac explain out/run 1492 --policy easy");
  add_example(command, "almanac explain out/run 1492 --what-if");
  program.on(command, [options] { return explain(*options); });
}

}  // namespace almanac::cli
