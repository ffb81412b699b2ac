// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac advise: would another policy serve a site better? Simulates its last weeks under each
/// policy that can run on Slurm, and compares them with what happened and with stock Slurm.
#include "advice/advise.h"

#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "advice/candidates.h"
#include "advice/site.h"
#include "base/keep_memory.h"
#include "cli/interrupt.h"
#include "cli/list_options.h"
#include "cli/option_group.h"
#include "cli/program.h"
#include "cli/progress.h"
#include "cli/trace_options.h"
#include "cli/value_check.h"
#include "cli/vc_option.h"
#include "cli/wall_clock.h"
#include "experiment/impossible_jobs.h"
#include "experiment/infer_cluster.h"
#include "experiment/shares_of_cluster.h"
#include "site/cluster.h"
#include "slurm/connect.h"
#include "slurm/quotas.h"
#include "steer/settings.h"
#include "store/log.h"
#include "store/store.h"
#include "text/human.h"
#include "text/moment.h"

namespace almanac::cli {
namespace {

using advice::Advice;
using advice::Figures;
using advice::Gain;
using advice::Outcome;
using figure::Cell;
using text::human_time;

constexpr std::size_t kLosersShown = 5;

struct AdviseOptions {
  TraceOptions log;
  std::string history;
  std::string slurm;
  std::string vc = "partition";
  std::string cluster;
  int weeks = 4;
  std::string policies = "all";
  std::uint64_t seed = 0;
  ListOptions list;
};

struct Subject {
  trace::Trace log;
  cluster::Cluster cluster;
  std::optional<experiment::SiteQuotas> quotas;
  std::unordered_set<trace::JobKey> kept{};
};

/// Those that the site enforces; nothing where the way to it does not tell them.
Result<std::optional<slurm::Limits>> limits_of(slurm::Link& link, const slurm::News& news) {
  if (!news.limits) return std::nullopt;
  const auto site = link.site();
  if (!site) return tl::unexpected(site.error());
  return slurm::enforces_limits(*site) ? *news.limits : slurm::Limits{};
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
                              limits->value_or(slurm::Limits{}));
  if (!past) return tl::unexpected(past.error());
  Subject subject;
  subject.log = std::move(past->log);
  subject.cluster =
      vc == accounting::VcFrom::partition ? std::move(*cluster) : cluster::merged(*cluster);
  if (*limits) subject.quotas = std::move(past->quotas);
  return subject;
}

Result<Subject> load(const AdviseOptions& options) {
  const int sources = static_cast<int>(!options.log.path.empty()) +
                      static_cast<int>(!options.history.empty()) +
                      static_cast<int>(!options.slurm.empty());
  if (sources != 1) {
    return fail(Code::usage,
                "give one past to learn from: a job log, --history DIR or --slurm WAY");
  }
  Subject subject;
  std::optional<cluster::Cluster> known;
  if (!options.slurm.empty()) {
    auto made = load_slurm(options);
    if (!made) return tl::unexpected(made.error());
    subject = std::move(*made);
    known = std::move(subject.cluster);
  } else if (!options.history.empty()) {
    const auto store = store::Store::open(options.history + "/almanac.db");
    if (!store) return tl::unexpected(store.error());
    const auto jobs = store->ended(Time{});
    if (!jobs) return tl::unexpected(jobs.error());
    subject.log = store::log_of(*jobs, options.history + "/almanac.db");
    for (std::size_t at = 0; at < jobs->size(); ++at) {
      if ((*jobs)[at].asked->kept) subject.kept.insert(subject.log.jobs[at].id);
    }
  } else {
    auto log = options.log.load();
    if (!log) return tl::unexpected(log.error());
    subject.log = std::move(*log);
  }
  if (!options.cluster.empty()) {
    auto cluster = site::read_cluster(options.cluster);
    if (!cluster) return tl::unexpected(cluster.error());
    known = std::move(*cluster);
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
  return subject;
}

std::string spelled(const Gain& gain) {
  return gain.sure
             ? fmt::format("{:.2f} ({:.2f} .. {:.2f})", gain.times, gain.sure->from, gain.sure->to)
             : fmt::format("{:.2f}", gain.times);
}

/// What was recorded, stock Slurm or a policy, which alone has an outcome.
struct Compared {
  std::string name;
  Figures figures;
  const Outcome* outcome = nullptr;
};

figure::Listing rows_of(const Advice& advice) {
  std::vector<Compared> all;
  if (advice.real) all.push_back({"as recorded", *advice.real});
  all.push_back({"stock Slurm (simulated)", advice.stock});
  for (const Outcome& each : advice.outcomes) all.push_back({each.policy, each.figures, &each});
  figure::Rows rows(all);
  const auto add_time = [&](const char* name, const char* label, double Figures::*of) -> auto& {
    return rows.add(
        name, label, [of](const Compared& each) { return each.figures.*of; }, text::human_time);
  };
  const auto add_gain = [&](const char* name, const char* label, Gain Outcome::*of) {
    rows.add(name, label, [of](const Compared& each) {
      if (each.outcome == nullptr) return Cell::nothing("");
      const Gain& gain = each.outcome->*of;
      return Cell(gain.times, spelled(gain));
    });
  };
  rows.add("policy", "POLICY", &Compared::name);
  add_time("avg_wait_s", "WAIT", &Figures::avg_wait_s).key();
  add_time("p99_wait_s", "WAIT P99", &Figures::p99_wait_s).detail();
  add_time("avg_jct_s", "JCT", &Figures::avg_jct_s);
  add_time("p99_jct_s", "JCT P99", &Figures::p99_jct_s).detail();
  add_gain("wait_shorter", "WAIT SPEEDUP (95 %)", &Outcome::wait);
  add_gain("jct_shorter", "JCT SPEEDUP (95 %)", &Outcome::jct);
  rows.add("users_losing", "USERS WAITING LONGER", [](const Compared& each) {
    return each.outcome == nullptr ? Cell::nothing("") : Cell(each.outcome->users_losing);
  });
  return rows;
}

/// Says how to run the policy next to Slurm, beginning with what changes nothing. A policy that
/// is not recommended is only to be watched.
std::string switch_in_words(const std::string& policy, bool is_recommended) {
  const std::string shadow = "almanac serve --engine slurm --policy " + policy;
  std::vector<std::pair<std::string_view, std::string_view>> steps = {
      {"almanac slurm doctor", "checks what works here, and what to change"},
      {shadow, "shadow mode: shows what it would do, changes nothing"}};
  if (is_recommended) {
    steps.emplace_back("almanac slurm levers order on", "queue order follows the policy");
    steps.emplace_back("almanac slurm undo", "restores everything");
  }
  std::string made =
      fmt::format("\nTo {} {} on your Slurm cluster:\n", is_recommended ? "run" : "watch", policy);
  for (const auto& [command, what] : steps) {
    made += fmt::format("  {:{}}  {}\n", command, shadow.size(), what);
  }
  return made;
}

/// The recommendation, and what the rows are of.
std::string introduction(const Advice& advice) {
  std::string made = fmt::format("{}\n\n", advice.recommendation);
  made += fmt::format("Compared on {} that ran{}, submitted from {} to {}\n",
                      text::counted(static_cast<std::uint64_t>(advice.jobs), "job"),
                      advice.users > 0
                          ? " of " + text::counted(static_cast<std::uint64_t>(advice.users), "user")
                          : "",
                      text::moment(advice.since), text::moment(advice.until));
  if (advice.quotas)
    made += fmt::format("Simulated GPU quotas, as they are today: {}\n", *advice.quotas);
  made += "\n";
  return made;
}

/// Who would lose, what was assumed, and what to do.
std::string explanation(const Advice& advice) {
  std::string made;
  std::size_t width = 0;
  for (const Outcome& outcome : advice.outcomes) width = std::max(width, outcome.policy.size());
  made += "\nPolicies:\n";
  for (const Outcome& outcome : advice.outcomes) {
    made += fmt::format("  {:{}}  {}\n", outcome.policy, width, outcome.summary);
  }
  if (advice.best) {
    const Outcome& best = advice.outcomes[*advice.best];
    if (!best.losers.empty()) {
      made += fmt::format("\nUsers and classes of jobs that would wait longer under {}:\n",
                          best.policy);
      for (std::size_t at = 0; at < std::min(kLosersShown, best.losers.size()); ++at) {
        const advice::Loser& loser = best.losers[at];
        made += fmt::format("  {} ({}): {} instead of {}\n", loser.who,
                            text::counted(static_cast<std::uint64_t>(loser.jobs), "job"),
                            human_time(loser.after_s), human_time(loser.before_s));
      }
      if (best.losers.size() > kLosersShown) {
        made +=
            fmt::format("  and {} more; -o json lists them\n", best.losers.size() - kLosersShown);
      }
    }
  }
  made += "\n";
  for (const std::string& caution : advice.cautions) made += fmt::format("Note: {}.\n", caution);
  made += fmt::format("Assumptions: {}.\n", fmt::join(advice.assumptions, "; "));
  if (advice.best) {
    made += switch_in_words(advice.outcomes[*advice.best].policy, advice.reproduces);
  }
  return made;
}

using Json = nlohmann::ordered_json;

Json as_json(const Figures& figures) {
  return {{"avg_wait_s", figures.avg_wait_s},
          {"p99_wait_s", figures.p99_wait_s},
          {"avg_jct_s", figures.avg_jct_s},
          {"p99_jct_s", figures.p99_jct_s}};
}

Json as_json(const Gain& gain) {
  return {{"times", gain.times},
          {"from", gain.sure ? Json(gain.sure->from) : Json()},
          {"to", gain.sure ? Json(gain.sure->to) : Json()}};
}

Json as_json(const advice::Loser& loser) {
  return {{"who", loser.who},
          {"jobs", loser.jobs},
          {"before_s", loser.before_s},
          {"after_s", loser.after_s}};
}

Json as_json(const Advice& advice) {
  Json document{{"since_s", seconds(advice.since)},
                {"until_s", seconds(advice.until)},
                {"jobs", advice.jobs},
                {"users", advice.users},
                {"days", advice.days},
                {"jobs_left_out", advice.never},
                {"jobs_never_ran", advice.never_ran},
                {"waits_from", advice.knows_eligible ? "eligible" : "submission"},
                {"reproduces", advice.reproduces},
                {"quotas_played", advice.quotas ? Json(*advice.quotas) : Json()}};
  document["real"] = advice.real ? as_json(*advice.real) : Json();
  document["stock"] = as_json(advice.stock);
  document["policies"] = Json::array();
  for (const Outcome& outcome : advice.outcomes) {
    Json made = as_json(outcome.figures);
    made["policy"] = outcome.policy;
    made["wait_shorter"] = as_json(outcome.wait);
    made["jct_shorter"] = as_json(outcome.jct);
    made["summary"] = outcome.summary;
    made["hardest_hit"] = outcome.hardest_hit ? as_json(*outcome.hardest_hit) : Json();
    made["losers"] = Json::array();
    for (const advice::Loser& loser : outcome.losers) made["losers"].push_back(as_json(loser));
    document["policies"].push_back(std::move(made));
  }
  document["best"] = advice.best ? Json(advice.outcomes[*advice.best].policy) : Json();
  document["recommendation"] = advice.recommendation;
  document["assumptions"] = advice.assumptions;
  document["cautions"] = advice.cautions;
  return document;
}

Result<int> advise(const AdviseOptions& options) {
  keep_memory();  // from one run to the next
  auto policies = advice::candidates(options.policies);
  if (!policies) return tl::unexpected(policies.error());
  auto subject = load(options);
  if (!subject) return tl::unexpected(subject.error());
  advice::Progress progress(policies->size() + 1);
  const advice::Question question{.weeks = 24h * 7 * options.weeks,
                                  .policies = std::move(*policies),
                                  .quotas = std::move(subject->quotas),
                                  .kept = std::move(subject->kept),
                                  .age_cap = steer::OrderSettings{}.age_cap,
                                  .seed = options.seed,
                                  .stop = &interrupted(),
                                  .progress = &progress};
  Result<Advice> made = tl::unexpected(Error{});
  {
    const ProgressBar bar("simulating policies", [&] { return progress.done(); });
    made = advice::advise(std::move(subject->log), subject->cluster, question);
  }
  if (!made) return interrupted() ? Result<int>(kInterrupted) : tl::unexpected(made.error());
  if (options.list.wants_document()) {
    fmt::print("{}\n", as_json(*made).dump(2));
    return kDone;
  }
  if (options.list.explains()) fmt::print("{}", introduction(*made));
  return options.list.print(rows_of(*made), explanation(*made));
}

}  // namespace

void register_advise(Program& program) {
  CLI::App& command = program.command(Purpose::schedule, "advise",
                                      "Recommend a scheduling policy from your cluster's job log");
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
  command
      .add_option("--cluster", options->cluster,
                  "Cluster: a TOML or CSV file, slurm.conf, a folder of a Slurm site, or NxG for N "
                  "nodes of G GPUs (default: Slurm's, else inferred from the log)")
      ->option_text("FILE|NxG")
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
  command.add_option("--seed", options->seed, "Random seed")
      ->check(seed_number())
      ->type_name("N")
      ->capture_default_str()
      ->group(heading(Group::simulation));
  options->list.add_to(command);
  add_example(command, "almanac advise --slurm gateway --weeks 6");
  add_example(command, "almanac advise --slurm commands --vc account");
  add_example(command, "almanac advise --history past --cluster cluster.toml");
  add_example(command, "almanac advise venus.csv.zst --policy qssf,sjf+easy:1 -o json");
  program.on(command, [options] { return advise(*options); });
}

}  // namespace almanac::cli
