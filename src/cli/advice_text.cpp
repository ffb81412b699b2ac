// SPDX-License-Identifier: Apache-2.0
#include "cli/advice_text.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "advice/document.h"
#include "advice/words.h"
#include "text/human.h"
#include "text/moment.h"

namespace almanac::cli {
namespace {

using advice::Advice;
using advice::Change;
using advice::Figures;
using advice::Fit;
using advice::Gain;
using advice::Outcome;
using figure::Cell;
using text::human_share;
using text::human_time;

constexpr std::size_t kLosersShown = 5;
constexpr std::size_t kMissedShown = 3;

std::string counted(std::int64_t count, const std::string& one) {
  return text::counted(static_cast<std::uint64_t>(count), one);
}

std::string spelled(const Gain& gain) {
  return gain.sure
             ? fmt::format("{:.2f} ({:.2f} .. {:.2f})", gain.times, gain.sure->from, gain.sure->to)
             : fmt::format("{:.2f}", gain.times);
}

/// What was recorded, Slurm, a policy or a change; only the last two have gains.
struct Compared {
  std::string name;
  Figures figures;
  const Gain* wait = nullptr;
  const Gain* jct = nullptr;
  std::int64_t users_losing = 0;
};

std::int64_t users_in(const std::vector<advice::Group>& losers) {
  return std::count_if(losers.begin(), losers.end(),
                       [](const advice::Group& each) { return each.is_user(); });
}

std::vector<Compared> compared(const Advice& advice) {
  std::vector<Compared> all;
  if (advice.real) all.push_back({.name = "as recorded", .figures = *advice.real});
  all.push_back({.name = slurm_in_words(advice) + " (simulated)", .figures = advice.stock});
  if (advice.what_if) {
    const Change& change = *advice.what_if;
    const bool has_gains = change.jobs > 0;
    all.push_back({"with the change", change.after, has_gains ? &change.wait : nullptr,
                   has_gains ? &change.jct : nullptr, users_in(change.losers)});
  }
  for (const Outcome& each : advice.outcomes) {
    all.push_back({each.policy, each.figures, &each.wait, &each.jct, each.users_losing});
  }
  return all;
}

/// A table of waits by groups of jobs.
std::string table_of_groups(const std::vector<advice::Group>& groups) {
  std::vector<advice::Group> shown;
  std::copy_if(groups.begin(), groups.end(), std::back_inserter(shown),
               [](const advice::Group& each) { return !each.is_user(); });
  figure::Rows rows(shown);
  rows.add("jobs_of", "JOBS", &advice::Group::who).left();
  rows.add("jobs", "NUMBER", &advice::Group::jobs);
  rows.add("today_s", "WAIT TODAY", &advice::Group::before_s, human_time);
  rows.add("after_s", "AFTER", &advice::Group::after_s, human_time);
  return rows.table();
}

std::string losers_in_words(const std::string& under, const std::vector<advice::Group>& losers) {
  if (losers.empty()) return "";
  std::string made = fmt::format("\nUsers and classes of jobs that would wait longer {}:\n", under);
  for (std::size_t at = 0; at < std::min(kLosersShown, losers.size()); ++at) {
    const advice::Group& loser = losers[at];
    made += fmt::format("  {} ({}): {} instead of {}\n", loser.who, counted(loser.jobs, "job"),
                        human_time(loser.after_s), human_time(loser.before_s));
  }
  if (losers.size() > kLosersShown) {
    made += fmt::format("  and {} more; -o json lists them\n", losers.size() - kLosersShown);
  }
  return made;
}

std::string lines_of(const Change& change, std::string_view indent) {
  std::string made;
  for (const std::string& line : lines_in_words(change))
    made += fmt::format("{}{}\n", indent, line);
  return made;
}

std::string change_in_words(const Change& change) {
  if (change.is_today) return "";
  std::string made = change.groups.empty() ? "" : "\n" + table_of_groups(change.groups);
  made += losers_in_words("with the change", change.losers);
  made += "\nTo make the change (scontrol reconfigure reads slurm.conf again):\n";
  return made + lines_of(change, "  ");
}

std::string knobs_in_words(const Advice& advice) {
  const advice::KnobSearch& search = *advice.knobs;
  if (search.changes.empty()) return "\n" + search_in_words(advice) + "\n";
  std::string made =
      fmt::format("\nSettings of your Slurm that matter ({}):\n", search_in_words(advice));
  for (std::size_t at = 0; at < search.changes.size(); ++at) {
    const Change& change = search.changes[at];
    const std::string worth = worth_in_words(change);
    made += fmt::format("  {}. {}: {}{}{}\n", at + 1, in_words(change), effect_in_words(change),
                        worth.empty() ? "" : " ", worth);
    made += lines_of(change, "     ");
  }
  const std::string together = together_in_words(search);
  return together.empty() ? made : made + together + "\n";
}

std::string reproduction_in_detail(const advice::Reproduction& reproduction) {
  std::vector<Fit> fits = reproduction.partitions;
  fits.insert(fits.end(), reproduction.sizes.begin(), reproduction.sizes.end());
  std::string made = "\nWaits as recorded and as simulated today:\n";
  figure::Rows rows(fits);
  rows.add("jobs_of", "JOBS", &Fit::who).left();
  rows.add("jobs", "NUMBER", &Fit::jobs);
  rows.add("near", "WITHIN 10 MIN", &Fit::near, human_share).right();
  rows.add("tenth", "WITHIN 10 %", &Fit::tenth, human_share).right();
  rows.add("recorded_s", "RECORDED", &Fit::recorded_s, human_time).right();
  rows.add("simulated_s", "SIMULATED", &Fit::simulated_s, human_time).right();
  made += rows.table();
  const std::string causes = causes_in_words(reproduction);
  if (!causes.empty()) made += causes + "\n";
  for (std::size_t at = 0; at < std::min(kMissedShown, reproduction.most.size()); ++at) {
    const advice::Missed& job = reproduction.most[at];
    made +=
        fmt::format("  job {}: {} recorded, {} simulated ({})\n", job.job,
                    human_time(job.recorded_s), human_time(job.simulated_s), to_string(job.cause));
  }
  return made;
}

/// Says how to run the policy next to Slurm.
std::string switch_in_words(const std::string& policy, bool is_recommended) {
  const auto commands = advice::commands_for(policy, is_recommended);
  std::size_t width = 0;
  for (const auto& [command, what] : commands) width = std::max(width, command.size());
  std::string made =
      fmt::format("\nTo {} {} on your Slurm cluster:\n", is_recommended ? "run" : "watch", policy);
  for (const auto& [command, what] : commands) {
    made += fmt::format("  {:{}}  {}\n", command, width, what);
  }
  return made;
}

}  // namespace

figure::Listing advice_rows(const Advice& advice) {
  const std::vector<Compared> all = compared(advice);
  figure::Rows rows(all);
  const auto add_time = [&](const char* name, const char* label, double Figures::*of) -> auto& {
    return rows.add(
        name, label, [of](const Compared& each) { return each.figures.*of; }, human_time);
  };
  const auto add_gain = [&](const char* name, const char* label, const Gain* Compared::*of) {
    rows.add(name, label, [of](const Compared& each) {
      const Gain* const gain = each.*of;
      return gain == nullptr ? Cell::nothing("") : Cell(gain->times, spelled(*gain));
    });
  };
  rows.add("policy", "POLICY", &Compared::name);
  add_time("avg_wait_s", "WAIT", &Figures::avg_wait_s).key();
  auto& p90 = add_time("p90_wait_s", "WAIT P90", &Figures::p90_wait_s);
  if (!advice.what_if) p90.detail();
  add_time("p99_wait_s", "WAIT P99", &Figures::p99_wait_s).detail();
  add_time("avg_jct_s", "JCT", &Figures::avg_jct_s);
  add_time("p99_jct_s", "JCT P99", &Figures::p99_jct_s).detail();
  add_gain("wait_shorter", "WAIT SPEEDUP (95 %)", &Compared::wait);
  add_gain("jct_shorter", "JCT SPEEDUP (95 %)", &Compared::jct);
  rows.add("users_losing", "USERS WAITING LONGER", [](const Compared& each) {
    return each.wait == nullptr ? Cell::nothing("") : Cell(each.users_losing);
  });
  return rows;
}

std::string advice_introduction(const Advice& advice) {
  std::string made = reproduction_in_words(advice) + "\n\n";
  made += fmt::format("{}\n\n", advice.recommendation);
  made += fmt::format("Compared on {} that ran{}, submitted from {} to {}\n",
                      counted(advice.jobs, "job"),
                      advice.users > 0 ? " of " + counted(advice.users, "user") : "",
                      text::moment(advice.since), text::moment(advice.until));
  if (advice.quotas) {
    made += fmt::format("Simulated GPU quotas, as they are today: {}\n", *advice.quotas);
  }
  return made + "\n";
}

std::string advice_explanation(const Advice& advice) {
  std::string made;
  if (advice.what_if) made += change_in_words(*advice.what_if);
  if (advice.knobs) made += knobs_in_words(advice);
  std::size_t width = 0;
  for (const Outcome& outcome : advice.outcomes) width = std::max(width, outcome.policy.size());
  if (!advice.outcomes.empty()) made += "\nPolicies:\n";
  for (const Outcome& outcome : advice.outcomes) {
    made += fmt::format("  {:{}}  {}\n", outcome.policy, width, outcome.summary);
  }
  if (advice.best) {
    const Outcome& best = advice.outcomes[*advice.best];
    made += losers_in_words("under " + best.policy, best.losers);
  }
  if (advice.reproduction) made += reproduction_in_detail(*advice.reproduction);
  made += "\n";
  for (const std::string& caution : advice.cautions) made += fmt::format("Note: {}.\n", caution);
  made += fmt::format("Assumptions: {}.\n", fmt::join(advice.assumptions, "; "));
  if (advice.best) {
    made += switch_in_words(advice.outcomes[*advice.best].policy, advice.reproduces);
  }
  return made;
}

}  // namespace almanac::cli
