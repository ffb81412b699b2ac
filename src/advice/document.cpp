// SPDX-License-Identifier: Apache-2.0
#include "advice/document.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "advice/words.h"
#include "report/shown_command.h"
#include "stats/quantile.h"
#include "table/digest.h"
#include "text/human.h"
#include "text/moment.h"

namespace almanac::advice {
namespace {

using figure::Column;
using figure::Figure;
using figure::Unit;
using text::human_share;
using text::human_time;

std::string capitalized(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 32);
  return text;
}

/// What the pictures compare with today: the change that was asked for, the recommended policy, the
/// setting that helps most, or else the policy with the shortest waits.
struct Proposal {
  std::string name{};
  std::vector<Group> groups{};
  const std::vector<Group>* losers = nullptr;
};

Proposal of_change(const Change& change) {
  return {in_words(change), change.groups, &change.losers};
}

std::optional<Proposal> proposal(const Advice& advice) {
  if (advice.what_if) return of_change(*advice.what_if);
  const auto of_outcome = [](const Outcome& outcome) {
    return Proposal{outcome.policy, outcome.sizes, &outcome.losers};
  };
  if (advice.best) return of_outcome(advice.outcomes[*advice.best]);
  if (advice.knobs && !advice.knobs->changes.empty()) {
    return of_change(advice.knobs->changes.front());
  }
  const auto least = std::min_element(advice.outcomes.begin(), advice.outcomes.end(),
                                      [](const Outcome& a, const Outcome& b) {
                                        return a.figures.avg_wait_s < b.figures.avg_wait_s;
                                      });
  if (least == advice.outcomes.end()) return std::nullopt;
  return of_outcome(*least);
}

Figure waits_by_size(const Advice& advice, const Proposal& proposal) {
  Figure made{.id = "advice_sizes", .title = "Mean wait by size of the job"};
  Column& size = made.text("size", "Jobs");
  Column& jobs = made.number("jobs", "Jobs that count", Unit::jobs);
  Column& before = made.number("today_s", "Today, simulated", Unit::seconds);
  Column& after = made.number("after_s", "With " + proposal.name, Unit::seconds);
  for (const Group& group : proposal.groups) {
    if (group.kind != GroupKind::size) continue;
    size.add(capitalized(group.who));
    jobs.add(static_cast<double>(group.jobs));
    before.add(group.before_s);
    after.add(group.after_s);
  }
  made.caption =
      fmt::format("{} are simulated twice: under {} as it is, and with {}.",
                  capitalized(counted(advice.jobs, "job")), slurm_in_words(advice), proposal.name);
  made.n = advice.jobs;
  made.charts.push_back({.kind = "bar", .x = "size", .y = {"today_s", "after_s"}});
  return made;
}

Figure policies(const Advice& advice) {
  Figure made{.id = "advice_policies", .title = "Policies: mean wait and users who lose"};
  Column& policy = made.text("policy", "Policy");
  Column& wait = made.number("avg_wait_s", "Mean wait", Unit::seconds);
  Column& users = made.number("users_losing", "Users who wait longer", Unit::users);
  Column& gain = made.number("wait_shorter", "Wait speedup", Unit::ratio);
  Column& from = made.number("from", "95 % CI from", Unit::ratio);
  Column& to = made.number("to", "95 % CI to", Unit::ratio);
  Column& summary = made.text("summary", "What it does");
  wait.better = users.better = "less";
  gain.better = "more";
  summary.detail = true;
  const auto add = [&](const std::string& name, double wait_s, double losing, const Gain& of,
                       const std::string& what) {
    policy.add(name);
    wait.add(wait_s);
    users.add(losing);
    gain.add(of.times);
    from.add(of.sure ? of.sure->from : stats::kNaN);
    to.add(of.sure ? of.sure->to : stats::kNaN);
    summary.add(what);
  };
  add("Slurm today", advice.stock.avg_wait_s, 0, {}, "today's Slurm, simulated");
  for (const Outcome& each : advice.outcomes) {
    add(each.policy, each.figures.avg_wait_s, static_cast<double>(each.users_losing), each.wait,
        each.summary);
  }
  made.compared = "policy";
  made.caption =
      "Each point is one policy on the same jobs. Left is better for everybody, low is better for "
      "those who lose. A user loses whose mean wait grows by a quarter and by ten minutes.";
  made.n = advice.jobs;
  made.charts.push_back(
      {.kind = "points", .x = "avg_wait_s", .y = {"users_losing"}, .labels = "policy"});
  return made;
}

Figure losers(const Proposal& proposal) {
  Figure made{.id = "advice_losers", .title = "Who would wait longer with " + proposal.name};
  Column& who = made.text("who", "Who");
  Column& jobs = made.number("jobs", "Jobs", Unit::jobs);
  Column& before = made.number("today_s", "Mean wait today", Unit::seconds);
  Column& after = made.number("after_s", "After", Unit::seconds);
  for (const Group& each : *proposal.losers) {
    who.add(capitalized(each.who));
    jobs.add(static_cast<double>(each.jobs));
    before.add(each.before_s);
    after.add(each.after_s);
  }
  made.caption =
      "Users and classes with at least ten jobs whose mean wait grows by a quarter and by ten "
      "minutes. Empty: there are none.";
  return made;
}

Figure settings(const KnobSearch& search) {
  Figure made{.id = "advice_settings", .title = "Settings of your Slurm that matter"};
  Column& setting = made.text("setting", "Setting");
  Column& today = made.text("today", "Today");
  Column& value = made.text("value", "Better");
  Column& gain = made.number("users_wait_shorter", "Users' wait shorter by", Unit::ratio);
  Column& from = made.number("from", "95 % CI from", Unit::ratio);
  Column& to = made.number("to", "95 % CI to", Unit::ratio);
  Column& wait = made.number("avg_wait_s", "Mean wait", Unit::seconds);
  Column& nodes = made.number("nodes_needed", "Nodes for this wait with today's settings");
  Column& losing = made.number("losing", "Users and classes who lose");
  Column& line = made.text("line", "Line");
  gain.better = "more";
  for (const Change& each : search.changes) {
    setting.add(name_of(each.settings.front()));
    today.add(each.today.front());
    value.add(each.settings.front().value);
    gain.add(each.users.times);
    from.add(each.users.sure ? each.users.sure->from : stats::kNaN);
    to.add(each.users.sure ? each.users.sure->to : stats::kNaN);
    wait.add(each.after.avg_wait_s);
    nodes.add(each.worth && each.worth->needed ? *each.worth->needed : stats::kNaN);
    losing.add(static_cast<double>(each.losers.size()));
    line.add(fmt::format("{}", fmt::join(lines_in_words(each), "; ")));
  }
  made.caption =
      "Ranked by how much shorter users wait: each user counts once, with the root mean square of "
      "the user's waits. Each setting is changed alone. No number of nodes: twice today's do not "
      "suffice.";
  return made;
}

void add_fit(const Fit& fit, std::initializer_list<Column*> columns) {
  auto column = columns.begin();
  (*column++)->add(capitalized(fit.who));
  for (const double value :
       {static_cast<double>(fit.jobs), fit.near, fit.tenth, fit.recorded_s, fit.simulated_s}) {
    (*column++)->add(value);
  }
}

Figure fits(const Reproduction& reproduction) {
  Figure made{.id = "advice_reproduction", .title = "Waits as recorded and as simulated"};
  Column& who = made.text("jobs_of", "Jobs");
  Column& jobs = made.number("jobs", "Number", Unit::jobs);
  Column& near = made.number("near", "Within 10 minutes", Unit::fraction);
  Column& tenth = made.number("tenth", "Within 10 %", Unit::fraction);
  Column& recorded = made.number("recorded_s", "Recorded mean wait", Unit::seconds);
  Column& simulated = made.number("simulated_s", "Simulated mean wait", Unit::seconds);
  const auto columns = {&who, &jobs, &near, &tenth, &recorded, &simulated};
  add_fit(reproduction.all, columns);
  for (const Fit& each : reproduction.partitions) add_fit(each, columns);
  for (const Fit& each : reproduction.sizes) add_fit(each, columns);
  made.caption =
      "The fraction of the jobs whose simulated wait is within 10 minutes, and within 10 % or a "
      "minute, of the recorded one.";
  made.n = reproduction.all.jobs;
  made.charts.push_back({.kind = "bar", .x = "jobs_of", .y = {"near", "tenth"}});
  made.charts.push_back({.kind = "bar", .x = "jobs_of", .y = {"recorded_s", "simulated_s"}});
  return made;
}

Figure missed(const Reproduction& reproduction) {
  Figure made{.id = "advice_missed", .title = "Waits that differ most"};
  Column& job = made.text("job", "Job");
  Column& recorded = made.number("recorded_s", "Recorded", Unit::seconds);
  Column& simulated = made.number("simulated_s", "Simulated", Unit::seconds);
  Column& cause = made.text("cause", "Likely cause");
  for (const Missed& each : reproduction.most) {
    job.add(each.job);
    recorded.add(each.recorded_s);
    simulated.add(each.simulated_s);
    cause.add(std::string(to_string(each.cause)));
  }
  made.caption = causes_in_words(reproduction);
  return made;
}

figure::Finding finding_of(const std::string& text, std::string figure) {
  const auto end = text.find(": ");
  if (end == std::string::npos) return {.headline = text, .figure = std::move(figure)};
  return {.headline = text.substr(0, end) + ".",
          .detail = capitalized(text.substr(end + 2)),
          .figure = std::move(figure)};
}

/// All settings that matter, as a number of nodes.
void add_worth_tile(const KnobSearch& search, figure::Document& made) {
  if (search.changes.empty()) return;
  const Change& change = search.together ? *search.together : search.changes.front();
  if (!change.worth) return;
  const int today = change.worth->nodes;
  const int needed = change.worth->needed.value_or(2 * today);
  const bool is_known = change.worth->needed.has_value();
  made.tiles.push_back(
      {.label = search.together ? "These settings together are worth" : "This setting is worth",
       .value = (is_known ? "" : "over ") + counted(needed - today, "node"),
       .detail =
           fmt::format("Today's settings need {}{} instead of {} for the same mean wait ({}).",
                       is_known ? "" : "over ", counted(needed, "node"), today,
                       human_time(change.after.avg_wait_s))});
}

void add_tiles(const Advice& advice, figure::Document& made) {
  if (advice.what_if) {
    const Change& change = *advice.what_if;
    std::string detail = fmt::format("Today {}.", human_time(change.before.avg_wait_s));
    if (change.never > 0) {
      detail += fmt::format(" {} would never start.", counted(change.never, "job"));
    }
    if (!advice.reproduces) detail += " In doubt: the simulation does not match the log.";
    made.tiles.push_back({.label = "Mean wait with the change",
                          .value = human_time(change.after.avg_wait_s),
                          .detail = std::move(detail)});
  } else if (!advice.outcomes.empty()) {
    const bool is_sound = advice.best && advice.reproduces;
    made.tiles.push_back(
        {.label = "Recommended policy",
         .value = is_sound            ? advice.outcomes[*advice.best].policy
                  : advice.reproduces ? "keep today's"
                                      : "none",
         .detail = is_sound
                       ? fmt::format("Mean wait {} instead of {}.",
                                     human_time(advice.outcomes[*advice.best].figures.avg_wait_s),
                                     human_time(advice.stock.avg_wait_s))
                   : advice.reproduces
                       ? "No policy is certain to shorten the waits."
                       : "The simulation does not match the cluster, or cannot be checked."});
  }
  if (advice.knobs) {
    figure::Tile tile{
        .label = "Setting that matters most", .value = "none", .detail = search_in_words(advice)};
    if (!advice.knobs->changes.empty()) {
      const Change& first = advice.knobs->changes.front();
      tile.value = fmt::format("{} -> {}", first.today.front(), first.settings.front().value);
      tile.detail =
          fmt::format("{}: mean wait {} instead of {}.", name_of(first.settings.front()),
                      human_time(first.after.avg_wait_s), human_time(first.before.avg_wait_s));
    }
    made.tiles.push_back(std::move(tile));
    add_worth_tile(*advice.knobs, made);
  }
  if (advice.reproduction) {
    made.tiles.push_back({.label = "Waits reproduced within 10 minutes",
                          .value = human_share(advice.reproduction->all.near),
                          .detail = fmt::format("{} within 10 %, of {}.",
                                                human_share(advice.reproduction->all.tenth),
                                                counted(advice.reproduction->all.jobs, "job"))});
  }
}

void add_findings(const Advice& advice, figure::Document& made) {
  made.findings.push_back(finding_of(advice.recommendation, "advice_sizes"));
  if (advice.what_if && !advice.what_if->is_today) {
    made.findings.back().advice =
        fmt::format("{}", fmt::join(lines_in_words(*advice.what_if), "; "));
  }
  if (advice.knobs) {
    for (const Change& each : advice.knobs->changes) {
      made.findings.push_back(
          {.headline = in_words(each) + ".",
           .detail = capitalized(effect_in_words(each)) + " " + worth_in_words(each),
           .figure = "advice_settings",
           .advice = fmt::format("{}", fmt::join(lines_in_words(each), "; "))});
    }
  }
  made.findings.push_back(
      {.headline = reproduction_in_words(advice),
       .detail = advice.reproduction ? causes_in_words(*advice.reproduction) : std::string{},
       .figure = advice.reproduction ? "advice_reproduction" : ""});
}

/// The digest of what the report shows.
std::string hash_of(const Advice& advice) {
  std::string all = advice.recommendation;
  for (const Outcome& each : advice.outcomes) {
    all += fmt::format("|{}:{}:{}", each.policy, each.figures.avg_wait_s, each.users_losing);
  }
  if (advice.knobs) {
    for (const Change& each : advice.knobs->changes) {
      all += fmt::format("|{}:{}", in_words(each), each.users.times);
    }
  }
  return table::sha256(all).substr(0, 16);
}

}  // namespace

std::vector<std::pair<std::string, std::string>> commands_for(const std::string& policy,
                                                              bool is_recommended) {
  std::vector<std::pair<std::string, std::string>> made = {
      {"almanac slurm doctor", "checks what works here, and what to change"},
      {"almanac serve --engine slurm --policy " + policy,
       "shadow mode: shows decisions, changes nothing"}};
  if (is_recommended) {
    made.emplace_back("almanac slurm levers order on", "queue order follows the policy");
    made.emplace_back("almanac slurm undo", "restores everything");
  }
  return made;
}

figure::Document document(const Advice& advice, const Origin& origin) {
  figure::Document made{.kind = "advice"};
  made.title = std::filesystem::path(origin.log).filename().string();
  made.subtitle = fmt::format("{} to {}", text::moment(advice.since), text::moment(advice.until));
  made.facts = {{"jobs that count", text::grouped(advice.jobs)},
                {"users", text::grouped(advice.users)},
                {"days", text::grouped(advice.days)}};
  if (advice.knobs) {
    made.facts.emplace_back("settings tried",
                            text::grouped(static_cast<std::int64_t>(advice.knobs->knobs)));
  }
  add_tiles(advice, made);
  add_findings(advice, made);
  const auto proposed = proposal(advice);
  figure::Section first{.id = "waits", .title = "Before and after", .leads = true};
  if (proposed) first.figures.push_back(waits_by_size(advice, *proposed));
  if (!advice.outcomes.empty()) first.figures.push_back(policies(advice));
  if (!first.figures.empty()) made.sections.push_back(std::move(first));
  if (proposed) {
    figure::Section section{.id = "losers", .title = "Who loses"};
    section.figures.push_back(losers(*proposed));
    made.sections.push_back(std::move(section));
  }
  if (advice.knobs) {
    figure::Section section{.id = "settings", .title = "Settings", .text = search_in_words(advice)};
    if (!advice.knobs->changes.empty()) {
      section.text += ".\n\n" + together_in_words(*advice.knobs);
      section.figures.push_back(settings(*advice.knobs));
    }
    made.sections.push_back(std::move(section));
  }
  if (advice.reproduction) {
    figure::Section section{.id = "reproduction", .title = "How well the simulation matches"};
    section.figures.push_back(fits(*advice.reproduction));
    if (!advice.reproduction->most.empty()) {
      section.figures.push_back(missed(*advice.reproduction));
    }
    made.sections.push_back(std::move(section));
  }
  if (advice.best) {
    figure::Section section{.id = "commands", .title = "Commands"};
    for (const auto& [command, what] :
         commands_for(advice.outcomes[*advice.best].policy, advice.reproduces)) {
      section.text += fmt::format("{}: {}.\n\n", command, what);
    }
    made.sections.push_back(std::move(section));
  }
  for (const std::string& caution : advice.cautions)
    made.notes.push_back(capitalized(caution) + ".");
  for (const std::string& each : advice.assumptions) made.notes.push_back(capitalized(each) + ".");
  made.provenance = {.trace = origin.log,
                     .sha256 = origin.sha256,
                     .jobs = advice.jobs,
                     .hash = hash_of(advice),
                     .version = ALMANAC_VERSION,
                     .command = report::shown_command(origin.command)};
  return made;
}

}  // namespace almanac::advice
