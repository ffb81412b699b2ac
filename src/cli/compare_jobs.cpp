// SPDX-License-Identifier: Apache-2.0
#include "cli/compare_jobs.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "cli/program.h"
#include "text/human.h"
#include "text/nearest.h"

namespace almanac::cli {
namespace {

using figure::Cell;
using report::Paired;

std::string changed(double change_s) {
  return (change_s < 0 ? "-" : "+") + text::human_time(std::abs(change_s));
}

std::string chance(const std::optional<report::Sure>& sure) {
  if (!sure) return "-";
  return sure->p < 0.001 ? "< 0.001" : fmt::format("{:.3f}", sure->p);
}

std::string between(const std::optional<report::Sure>& sure) {
  return sure ? fmt::format("{} to {}", changed(sure->from_s), changed(sure->to_s)) : "-";
}

figure::Listing rows_of(const std::vector<Paired>& all, const std::string& baseline) {
  figure::Rows rows(all);
  const auto known = [](const Paired& each, double report::Sure::*field) {
    return each.sure ? Cell(*each.sure.*field) : Cell();
  };
  rows.add("policy", &Paired::policy);
  rows.add(figure::Tier::data, "against", [&](const Paired&) { return baseline; });
  rows.add("jobs", [](const Paired& each) {
    return Cell(each.jobs, text::grouped(static_cast<std::int64_t>(each.jobs)));
  });
  rows.add(figure::Tier::data, "unpaired_jobs", &Paired::unpaired);
  rows.add("avg_wait_s", "avg wait", &Paired::avg_wait_s, text::human_time);
  rows.add(figure::Tier::key, "change_s", "against " + baseline, &Paired::change_s, changed);
  rows.add("change_95", "95 % interval", [](const Paired& each) { return between(each.sure); })
      .right()
      .table_only();
  rows.add(figure::Tier::data, "change_from_s",
           [&](const Paired& each) { return known(each, &report::Sure::from_s); });
  rows.add(figure::Tier::data, "change_to_s",
           [&](const Paired& each) { return known(each, &report::Sure::to_s); });
  const auto add_share = [&](const char* name, const char* label, double Paired::*of) {
    rows.add(figure::Tier::detail, name, label, of, text::human_share);
  };
  add_share("jobs_shorter", "wait less", &Paired::shorter);
  add_share("jobs_longer", "wait longer", &Paired::longer);
  rows.add(figure::Tier::data, "blocks", &Paired::blocks);
  rows.add(figure::Tier::data, "days_a_block", &Paired::days_a_block);
  rows.add("p", [&](const Paired& each) {
    return each.sure ? Cell(each.sure->p, chance(each.sure)) : Cell();
  });
  return rows;
}

std::string explanation(const std::vector<Paired>& all, const std::string& baseline) {
  const auto withheld =
      std::any_of(all.begin(), all.end(), [](const Paired& each) { return !each.sure; });
  const auto longest = std::max_element(all.begin(), all.end(), [](const auto& a, const auto& b) {
                         return a.days_a_block < b.days_a_block;
                       })->days_a_block;
  std::string made = fmt::format(
      "Compares each job with itself under {}. The interval and p come from resampling whole days "
      "of submissions{}, because jobs of one day share a queue; p is adjusted for {}. p below 0.05 "
      "means that chance alone hardly explains the difference, in this log and simulation.\n",
      baseline, longest > 1 ? fmt::format(", up to {} days in a row,", longest) : "",
      text::counted(all.size(), "comparison"));
  for (const Paired& each : all) {
    if (each.unpaired == 0) continue;
    made += fmt::format("{} ended under only one of {} and {}, and {} left out.\n",
                        text::counted(each.unpaired, "job"), baseline, each.policy,
                        each.unpaired == 1 ? "is" : "are");
  }
  if (withheld) {
    made +=
        "-: no interval, because the log has fewer than 6 days or its days are not independent "
        "(one long queue counts as one observation). Simulate a longer log.\n";
  }
  return made;
}

}  // namespace

Result<int> compare_jobs(const std::string& baseline,
                         const std::vector<report::PairedPolicy>& policies,
                         const ListOptions& list) {
  std::vector<report::PairedPolicy> others;
  std::vector<std::string> names;
  const report::PairedPolicy* base = nullptr;
  for (const report::PairedPolicy& each : policies) {
    names.push_back(each.name);
    if (each.name == baseline) {
      base = &each;
    } else {
      others.push_back(each);
    }
  }
  if (base == nullptr) {
    return fail(Code::usage, fmt::format("--against: no complete policy is called {}", baseline),
                {}, text::meant_or_known(baseline, names));
  }
  if (others.empty()) {
    return fail(
        Code::usage,
        fmt::format("{} is the only policy, so there is nothing to compare it with", baseline), {},
        "simulate several policies, or name a second run");
  }
  const auto all = report::paired(*base, others);
  if (!all) return tl::unexpected(all.error());
  return list.print(rows_of(*all, baseline), explanation(*all, baseline));
}

}  // namespace almanac::cli
