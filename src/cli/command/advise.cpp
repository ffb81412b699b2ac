// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac advise: would another policy, or other settings of Slurm, serve a site better? Simulates
/// its last weeks under each, and compares them with what happened and with today's Slurm.
#include "advice/advise.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "advice/candidates.h"
#include "advice/document.h"
#include "advice/knobs.h"
#include "advice/kueue.h"
#include "advice/site.h"
#include "base/keep_memory.h"
#include "cli/advice_text.h"
#include "cli/cluster_option.h"
#include "cli/interrupt.h"
#include "cli/kube_options.h"
#include "cli/kueue_advice_text.h"
#include "cli/list_options.h"
#include "cli/option_group.h"
#include "cli/program.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "cli/trace_options.h"
#include "cli/value_check.h"
#include "cli/vc_option.h"
#include "cli/wall_clock.h"
#include "cluster/read_toml.h"
#include "experiment/impossible_jobs.h"
#include "experiment/infer_cluster.h"
#include "experiment/shares_of_cluster.h"
#include "experiment/site_of_log.h"
#include "kube/picture.h"
#include "kube/pod_groups.h"
#include "kube/snapshot.h"
#include "kueue/read.h"
#include "report/document_directory.h"
#include "report/page.h"
#include "slurm/connect.h"
#include "steer/settings.h"
#include "store/log.h"
#include "store/store.h"

namespace almanac::cli {
namespace {

using advice::Advice;

constexpr const char* kAdviceKind = "advice";
constexpr const char* kAll = "all";

struct AdviseOptions {
  TraceOptions log;
  std::string history;
  std::string slurm;
  std::string vc = "partition";
  std::string cluster;
  std::string queues;
  bool from_kube = false;
  KubeOptions kube;
  bool is_fair = false;
  int weeks = 4;
  std::string policies = kAll;
  std::string what_if;
  std::string out;
  std::uint64_t seed = 0;
  ListOptions list;
};

struct Subject {
  trace::Trace log;
  cluster::Cluster cluster;
  std::shared_ptr<const site::Site> site{};  ///< Null if the settings of Slurm are unknown.
  std::optional<experiment::SiteQuotas> quotas;
  std::unordered_set<trace::JobKey> kept{};
  std::optional<kueue::Objects> queues{};  ///< Of Kueue.
};

/// Returns the limits that the site enforces; nothing if the connection does not report them.
Result<std::optional<manager::Limits>> limits_of(manager::Link& link, const manager::News& news) {
  if (!news.limits) return std::nullopt;
  const auto site = link.site();
  if (!site) return tl::unexpected(site.error());
  return site->facts.enforces_limits ? *news.limits : manager::Limits{};
}

/// Its nodes and its past.
Result<Subject> load_slurm(const AdviseOptions& options) {
  const auto vc = vc_from(options.vc);
  const auto link = slurm::connect(options.slurm);
  if (!link) return tl::unexpected(link.error());
  const auto news = (*link)->news();
  if (!news) return tl::unexpected(news.error());
  auto cluster = advice::cluster_of(*news);
  if (!cluster) return tl::unexpected(cluster.error());
  const auto limits = limits_of(**link, *news);
  if (!limits) return tl::unexpected(limits.error());
  const Time now = wall_clock();
  auto past = advice::past_of(**link, now - 24h * 7 * options.weeks - advice::kLooksBack, now, vc,
                              limits->value_or(manager::Limits{}));
  if (!past) return tl::unexpected(past.error());
  Subject subject;
  subject.log = std::move(past->log);
  subject.cluster =
      vc == accounting::VcFrom::partition ? std::move(*cluster) : cluster::merged(*cluster);
  if (*limits) subject.quotas = std::move(past->quotas);
  return subject;
}

/// Queues and nodes of the cluster, and as a log the workloads that it still has.
Result<Subject> load_kube(const AdviseOptions& options, std::optional<cluster::Cluster>& known) {
  auto client = options.kube.client();
  if (!client) return tl::unexpected(client.error());
  auto picture = kube::take_picture_of_any(*client);
  if (!picture) return tl::unexpected(picture.error());
  if (options.is_fair && picture->objects_json.empty()) {
    return fail(Code::usage,
                fmt::format("--fair is Kueue's fair sharing, and this cluster has {} instead",
                            picture->scheduler));
  }
  say_notes(*picture);
  Subject subject;
  subject.log = kube::log_of(*picture);
  if (const std::string nodes = kube::cluster_toml(*picture); !nodes.empty()) {
    auto cluster = cluster::parse_toml(nodes, "the nodes of the cluster");
    if (!cluster) return tl::unexpected(cluster.error());
    known = std::move(*cluster);
  }
  if (!picture->objects_json.empty()) subject.queues = std::move(picture->objects);
  return subject;
}

Result<Subject> load(const AdviseOptions& options) {
  const int sources = static_cast<int>(!options.log.path.empty()) +
                      static_cast<int>(!options.history.empty()) +
                      static_cast<int>(!options.slurm.empty());
  if (sources > 1 || (sources == 0 && !options.from_kube)) {
    return fail(Code::usage,
                "give one past to learn from: a job log, --history DIR, --slurm WAY or --kube");
  }
  Subject subject;
  std::optional<cluster::Cluster> known;
  if (options.from_kube) {
    auto made = load_kube(options, known);
    if (!made) return tl::unexpected(made.error());
    subject = std::move(*made);
  }
  if (!options.slurm.empty()) {
    auto made = load_slurm(options);
    if (!made) return tl::unexpected(made.error());
    subject = std::move(*made);
    known = std::move(subject.cluster);
  } else if (!options.history.empty()) {
    // Opening a store that is not there would make one.
    if (!std::filesystem::exists(options.history + "/almanac.db")) {
      return fail(Code::not_found, "is no state directory: it has no almanac.db",
                  {.file = options.history},
                  "give the --state of a service or of almanac slurm import");
    }
    const auto store = store::Store::open(options.history + "/almanac.db");
    if (!store) return tl::unexpected(store.error());
    const auto jobs = store->ended(Time{});
    if (!jobs) return tl::unexpected(jobs.error());
    subject.log = store::log_of(*jobs, options.history + "/almanac.db");
    for (std::size_t at = 0; at < jobs->size(); ++at) {
      if ((*jobs)[at].asked->kept) subject.kept.insert(subject.log.jobs[at].id);
    }
  } else if (!options.log.path.empty()) {
    auto log = options.log.load();
    if (!log) return tl::unexpected(log.error());
    subject.log = std::move(*log);
  } else {
    for (const std::string& text : subject.log.notes) note(text);
    if (subject.log.jobs.empty()) {
      return fail(Code::not_found, "the cluster has no workloads to learn from", {},
                  "record runs with almanac kube record, and give its LOG");
    }
  }
  if (!options.cluster.empty()) {
    auto cluster = experiment::read_cluster_of(subject.log, options.cluster, &subject.site);
    if (!cluster) return tl::unexpected(cluster.error());
    known = std::move(*cluster);
    // Files of machines alone say nothing of how Slurm schedules.
    if (subject.site != nullptr && subject.site->config.all.empty()) subject.site.reset();
  }
  if (!known) {
    auto cluster = experiment::infer_cluster(subject.log);
    if (!cluster) return tl::unexpected(cluster.error());
    known = std::move(*cluster);
  }
  subject.cluster = std::move(*known);
  experiment::share_gpus_by(subject.cluster, subject.log);
  experiment::note_impossible_jobs(subject.cluster, subject.log);
  for (const std::string& text : subject.cluster.notes) note(text);
  if (subject.site != nullptr) {
    for (const std::string& text : subject.site->unknown) note(text);
  }
  return subject;
}

/// What to compare; takes the subject's conditions.
Result<advice::Question> question_of(const AdviseOptions& options, Subject& subject,
                                     std::vector<policy::Composition> policies) {
  advice::Question made{.weeks = 24h * 7 * options.weeks};
  if (!options.what_if.empty()) {
    if (subject.site == nullptr) {
      return fail(Code::usage, "--what-if changes the settings of a Slurm site, which is not known",
                  {},
                  "give its files: --cluster slurm.conf, or the folder that almanac slurm "
                  "snapshot writes");
    }
    auto settings = advice::parse_settings(options.what_if, *subject.site);
    if (!settings) return tl::unexpected(settings.error());
    made.what_if = std::move(*settings);
  }
  // One change alone is quick; policies are compared with it only on request.
  if (made.what_if.empty() || options.policies != kAll) made.policies = std::move(policies);
  made.search_knobs = subject.site != nullptr && made.what_if.empty();
  made.conditions = {.quotas = std::move(subject.quotas),
                     .kept = std::move(subject.kept),
                     .age_cap = steer::OrderSettings{}.age_cap,
                     .site = subject.site,
                     .seed = options.seed,
                     .stop = &interrupted()};
  return made;
}

/// How many simulations answer it.
std::size_t simulations(const advice::Question& question, const Subject& subject) {
  const std::size_t knobs =
      question.search_knobs ? advice::knobs_of(*subject.site, subject.log).size() : 0;
  return 1 + question.policies.size() + knobs + (question.what_if.empty() ? 0 : 1);
}

/// Fails with usage for options that advice on Kueue does not take.
Result<void> check_kueue_options(const AdviseOptions& options) {
  if (options.policies != kAll || !options.slurm.empty() || !options.out.empty()) {
    return fail(Code::usage,
                fmt::format("{} compares quotas and an order, not policies",
                            options.from_kube ? "--kube" : "--queues"),
                {}, "leave out --policy, --slurm and --out; see almanac simulate for policies");
  }
  return {};
}

/// For a cluster that uses Kueue: quotas, and an order by Almanac.
Result<int> advise_under_kueue(const AdviseOptions& options, Subject subject,
                               kueue::Objects queues) {
  constexpr std::size_t kMostSimulations = 5;
  advice::Progress progress(kMostSimulations);
  const advice::KueueQuestion question{
      .weeks = 24h * 7 * options.weeks,
      .what_if = options.what_if,
      .shares = options.is_fair,
      .conditions = {.queues = std::make_shared<const kueue::Objects>(std::move(queues)),
                     .seed = options.seed,
                     .stop = &interrupted(),
                     .progress = &progress}};
  Result<advice::KueueAdvice> made = tl::unexpected(Error{});
  {
    const ProgressBar bar("simulating Kueue", [&] { return progress.done(); });
    made = advice::advise_kueue(std::move(subject.log), subject.cluster, question);
  }
  if (!made) return interrupted() ? Result<int>(kInterrupted) : tl::unexpected(made.error());
  if (options.list.wants_document()) {
    fmt::print("{}\n", kueue_advice_json(*made));
    return kDone;
  }
  for (const std::string& each : made->notes) note(each);
  if (options.list.explains()) fmt::print("{}", kueue_advice_introduction(*made));
  return options.list.print(kueue_advice_rows(*made), kueue_advice_explanation(*made));
}

Result<int> advise(const AdviseOptions& options, const std::vector<std::string>& command) {
  keep_memory();  // from one run to the next
  if (options.is_fair && !options.from_kube && options.queues.empty()) {
    return fail(Code::usage, "--fair requires --queues or --kube");
  }
  std::optional<kueue::Objects> queues;
  if (!options.queues.empty()) {
    if (auto fits = check_kueue_options(options); !fits) return tl::unexpected(fits.error());
    auto read = kueue::read_objects(options.queues);
    if (!read) return tl::unexpected(read.error());
    queues = std::move(*read);
  }
  auto policies = advice::candidates(options.policies);
  if (!policies) return tl::unexpected(policies.error());
  auto subject = load(options);
  if (!subject) return tl::unexpected(subject.error());
  if (subject->queues) {
    if (auto fits = check_kueue_options(options); !fits) return tl::unexpected(fits.error());
    queues = std::exchange(subject->queues, std::nullopt);
  }
  if (queues) return advise_under_kueue(options, std::move(*subject), *std::move(queues));
  auto question = question_of(options, *subject, std::move(*policies));
  if (!question) return tl::unexpected(question.error());
  if (!options.out.empty()) {
    auto opened = report::open_document_directory(options.out, kAdviceKind);
    if (!opened) return tl::unexpected(opened.error());
  }
  advice::Progress progress(simulations(*question, *subject));
  question->conditions.progress = &progress;
  const advice::Origin origin{
      .log = subject->log.path, .sha256 = subject->log.sha256, .command = command};
  Result<Advice> made = tl::unexpected(Error{});
  {
    const ProgressBar bar("simulating policies", [&] { return progress.done(); });
    made = advice::advise(std::move(subject->log), subject->cluster, *question);
  }
  if (!made) return interrupted() ? Result<int>(kInterrupted) : tl::unexpected(made.error());
  if (!options.out.empty()) {
    const auto written = report::write_document(options.out, advice::document(*made, origin));
    if (!written) return tl::unexpected(written.error());
    note(report::has_page() ? fmt::format("report: {}/report.html", options.out)
                            : std::string(report::kNoPage));
  }
  if (options.list.wants_document()) {
    fmt::print("{}\n", advice_json(*made));
    return kDone;
  }
  if (options.list.explains()) fmt::print("{}", fitted_to_terminal(advice_introduction(*made)));
  return options.list.print(advice_rows(*made), advice_explanation(*made));
}

}  // namespace

void register_advise(Program& program) {
  CLI::App& command = program.command(
      Purpose::schedule, "advise",
      "Recommend a scheduling policy, and settings of your Slurm, from your job log");
  const auto options = std::make_shared<AdviseOptions>();
  options->log.add_to(command, "LOG");
  command.get_option("LOG")->required(false);
  command
      .add_option("--history", options->history,
                  "State directory of a service or of almanac slurm import, instead of LOG")
      ->type_name("DIR")
      ->group(heading(Group::input));
  command
      .add_option("--slurm", options->slurm,
                  "Accounting and nodes of this Slurm cluster, instead of LOG: gateway (the only "
                  "one with quotas), commands, or unix:/path or http://host:port of slurmrestd")
      ->type_name("WAY")
      ->group(heading(Group::input));
  add_vc_option(command, options->vc)->needs("--slurm");
  CLI::Option* const kube =
      command
          .add_flag("--kube", options->from_kube,
                    "Queues and nodes of this Kubernetes cluster, and without LOG its workloads: "
                    "compare quotas and an order by Almanac there, instead of policies")
          ->group(heading(Group::input));
  options->kube.add_to(command);
  for (const char* const each : {"--kubeconfig", "--context", "--server"}) {
    command.get_option(each)->needs(kube);
  }
  add_cluster_option(command, options->cluster, "Slurm's, else inferred from the log");
  command
      .add_option("--queues", options->queues,
                  "Queues of Kueue: compare quotas and an order by Almanac there, instead of "
                  "policies (output of kubectl get clusterqueues,cohorts,resourceflavors -o "
                  "json, or queues.json of almanac kube snapshot)")
      ->type_name("FILE")
      ->excludes(kube)
      ->group(heading(Group::cluster));
  command
      .add_flag("--fair", options->is_fair,
                "Kueue's configuration has fairSharing on, which no object shows")
      ->group(heading(Group::cluster));
  command.add_option("--weeks", options->weeks, "Number of weeks, up to the last submission")
      ->type_name("N")
      ->check(whole_number(1, 520))
      ->capture_default_str()
      ->group(heading(Group::input));
  command
      .add_option("-p,--policy", options->policies,
                  "Policies, separated by commas; all is every policy that can run on Slurm")
      ->type_name("LIST")
      ->capture_default_str()
      ->group(heading(Group::policies));
  command
      .add_option("--what-if", options->what_if,
                  "Settings of the site of --cluster to change together, instead of comparing "
                  "policies: keys of slurm.conf, words of SchedulerParameters, qos.NAME.LIMIT and "
                  "partition.NAME.LIMIT, each =VALUE; with --queues or --kube QUEUE.FIELD=VALUE")
      ->type_name("LIST")
      ->group(heading(Group::policies));
  command
      .add_option("--out", options->out, "Directory for a report: one HTML page and its numbers")
      ->type_name("DIR")
      ->group(heading(Group::output));
  command.add_option("--seed", options->seed, "Random seed")
      ->check(seed_number())
      ->type_name("N")
      ->capture_default_str()
      ->group(heading(Group::simulation));
  options->list.add_to(command);
  add_example(command, "almanac advise --slurm gateway --weeks 6");
  add_example(command, "almanac advise --slurm commands --vc account");
  add_example(command, "almanac advise --history past --cluster cluster.toml");
  add_example(command, "almanac advise sacct.txt --cluster site --out advice");
  add_example(
      command,
      "almanac advise sacct.txt --cluster site --what-if PriorityWeightAge=5000,bf_continue");
  add_example(command,
              "almanac advise jobs.csv --queues queues.json --what-if team-a.nominalQuota=16");
  add_example(command, "almanac advise jobs.csv --kube --what-if team-a.nominalQuota=16");
  add_example(command, "almanac advise venus.csv.zst --policy qssf,sjf+easy:1 -o json");
  program.on(command, [options, &program] { return advise(*options, program.command_line); });
}

}  // namespace almanac::cli
