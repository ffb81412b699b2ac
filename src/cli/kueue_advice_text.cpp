// SPDX-License-Identifier: Apache-2.0
#include "cli/kueue_advice_text.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "text/human.h"
#include "text/moment.h"

namespace almanac::cli {
namespace {

using advice::Figures;
using advice::Gain;
using advice::KueueAdvice;
using advice::KueueVariant;
using text::human_time;

/// What was recorded, today's Kueue, or a variant; only the last has gains.
struct KueueRow {
  std::string name{};
  Figures figures{};
  const KueueVariant* variant = nullptr;
};

std::vector<KueueRow> kueue_rows(const KueueAdvice& advice) {
  std::vector<KueueRow> made;
  if (advice.real) made.push_back({.name = "as recorded", .figures = *advice.real});
  made.push_back({.name = "your Kueue (simulated)", .figures = advice.today});
  for (const KueueVariant& each : advice.variants) {
    made.push_back({.name = each.name, .figures = each.figures, .variant = &each});
  }
  return made;
}

/// "1.34x"; no number of times describes that nothing of a wait is left.
std::string times_text(double times) {
  return std::isfinite(times) ? fmt::format("{:.2f}x", times) : "no wait left";
}

std::string times_text(const Gain& gain) {
  if (!gain.sure || !std::isfinite(gain.times)) return times_text(gain.times);
  return fmt::format("{} ({} to {})", times_text(gain.times), times_text(gain.sure->from),
                     times_text(gain.sure->to));
}

std::string losers_text(const KueueVariant& variant) {
  constexpr std::size_t kShown = 5;
  if (variant.losers.empty()) return "";
  std::string made =
      fmt::format("\nUsers and classes of jobs that would wait longer, {}:\n", variant.name);
  for (std::size_t at = 0; at < std::min(kShown, variant.losers.size()); ++at) {
    const advice::Group& loser = variant.losers[at];
    made += fmt::format("  {} ({}): {} instead of {}\n", loser.who,
                        text::counted(static_cast<std::uint64_t>(loser.jobs), "job"),
                        human_time(loser.after_s), human_time(loser.before_s));
  }
  if (variant.losers.size() > kShown) {
    made += fmt::format("  and {} more; -o json lists them\n", variant.losers.size() - kShown);
  }
  return made;
}

std::string never_text(const KueueVariant& variant) {
  std::string made;
  if (variant.never > 0) {
    made +=
        fmt::format("{}: {} that start today would never start, and count in no row.\n",
                    variant.name, text::counted(static_cast<std::uint64_t>(variant.never), "job"));
  }
  if (variant.newly > 0) {
    made += fmt::format("{}: {} that never start today would start.\n", variant.name,
                        text::counted(static_cast<std::uint64_t>(variant.newly), "job"));
  }
  return made;
}

nlohmann::ordered_json figures_json(const Figures& of) {
  return {{"avg_wait_s", of.avg_wait_s},
          {"p90_wait_s", of.p90_wait_s},
          {"p99_wait_s", of.p99_wait_s},
          {"avg_jct_s", of.avg_jct_s},
          {"p99_jct_s", of.p99_jct_s}};
}

nlohmann::ordered_json gain_json(const Gain& of) {
  nlohmann::ordered_json made{{"times", of.times}, {"from", nullptr}, {"to", nullptr}};
  if (of.sure) {
    made["from"] = of.sure->from;
    made["to"] = of.sure->to;
  }
  return made;
}

}  // namespace

figure::Listing kueue_advice_rows(const KueueAdvice& advice) {
  const std::vector<KueueRow> all = kueue_rows(advice);
  figure::Rows rows(all);
  rows.add("policy", "UNDER", &KueueRow::name).left();
  rows.add(
      "avg_wait_s", "MEAN WAIT", [](const KueueRow& of) { return of.figures.avg_wait_s; },
      human_time);
  rows.add(
      "p90_wait_s", "P90 WAIT", [](const KueueRow& of) { return of.figures.p90_wait_s; },
      human_time);
  rows.add(
      "avg_jct_s", "MEAN COMPLETION", [](const KueueRow& of) { return of.figures.avg_jct_s; },
      human_time);
  rows.add(figure::Tier::key, "wait_times", "WAIT SHORTER BY (95 %)", [](const KueueRow& of) {
    return of.variant == nullptr
               ? figure::Cell::nothing("-")
               : figure::Cell(of.variant->wait.times, times_text(of.variant->wait));
  });
  rows.add("losing", "LOSING", [](const KueueRow& of) {
    return of.variant == nullptr ? figure::Cell::nothing("-")
                                 : figure::Cell(of.variant->losers.size());
  });
  const bool any_never = std::any_of(advice.variants.begin(), advice.variants.end(),
                                     [](const KueueVariant& each) { return each.never > 0; });
  rows.add(any_never ? figure::Tier::key : figure::Tier::wide, "never", "NEVER START",
           [](const KueueRow& of) {
             return of.variant == nullptr ? figure::Cell::nothing("-")
                                          : figure::Cell(of.variant->never);
           });
  return rows;
}

std::string kueue_advice_introduction(const KueueAdvice& advice) {
  std::string made;
  if (!advice.reproduces) {
    made =
        "The log does not say when jobs started, so the simulation could not be checked against "
        "your cluster.\n";
  } else if (!*advice.reproduces) {
    made = fmt::format(
        "No recommendation: the simulation does not match your cluster. Mean wait: {} recorded, {} "
        "simulated. The queues may have been others when these jobs ran.\n",
        human_time(advice.real->avg_wait_s), human_time(advice.today.avg_wait_s));
  }
  made += fmt::format("{} of {} to {}, simulated under the queues of your Kueue.\n",
                      text::counted(static_cast<std::uint64_t>(advice.jobs), "job"),
                      text::moment(advice.since), text::moment(advice.until));
  if (advice.never > 0) {
    made += fmt::format("{} can never start under today's quotas, and count in no figure.\n",
                        text::counted(static_cast<std::uint64_t>(advice.never), "job"));
  }
  if (advice.days < advice::kFewestDays) {
    made += fmt::format("The log has {} with jobs: {} are needed to say how certain a gain is.\n",
                        text::counted(static_cast<std::uint64_t>(advice.days), "day"),
                        advice::kFewestDays);
  }
  for (const kueue::Changed& each : advice.changed) {
    made += fmt::format("Change: {}: {} {} -> {}\n", each.owner, each.what, each.from, each.to);
  }
  if (!advice.has_effect) {
    made += "The change has no effect on these jobs: each starts and ends as it does today.\n";
  }
  for (const KueueVariant& each : advice.variants) made += never_text(each);
  return made + "\n";
}

std::string kueue_advice_explanation(const KueueAdvice& advice) {
  std::string made =
      "\n"
      "Almanac's order is what serve --engine kubernetes --order on would write: ranks for the "
      "first "
      "20 jobs of each queue. It reserves nothing for large jobs. Its backfill mode (--backfill) "
      "does, and makes the queues StrictFIFO. \"almanac without Kueue\" is what the same nodes "
      "would give without quotas and queues. It is a comparison, not a bound.\n";
  for (const std::string& each : advice.unsafe) {
    made += fmt::format("No order in queue {}.\n", each);
  }
  for (const KueueVariant& each : advice.variants) {
    if (each.kind != KueueVariant::Kind::free) made += losers_text(each);
  }
  if (!advice.changed.empty() && advice.has_effect && advice.reproduces.value_or(true)) {
    made += "\nTo make the change:\n";
    for (const kueue::Changed& each : advice.changed) {
      made += fmt::format("  kubectl edit {}   # {}: {}\n", each.owner, each.what, each.to);
    }
  }
  return made;
}

std::string kueue_advice_json(const KueueAdvice& advice) {
  nlohmann::ordered_json made{{"since_s", seconds(advice.since)},
                              {"until_s", seconds(advice.until)},
                              {"jobs", advice.jobs},
                              {"days", advice.days},
                              {"jobs_that_never_start", advice.never},
                              {"recorded", nullptr},
                              {"reproduces", nullptr},
                              {"today", figures_json(advice.today)},
                              {"changed", nlohmann::ordered_json::array()},
                              {"change_has_effect", advice.has_effect},
                              {"variants", nlohmann::ordered_json::array()},
                              {"queues_without_order", advice.unsafe},
                              {"notes", advice.notes}};
  if (advice.real) made["recorded"] = figures_json(*advice.real);
  if (advice.reproduces) made["reproduces"] = *advice.reproduces;
  for (const kueue::Changed& each : advice.changed) {
    made["changed"].push_back(
        {{"owner", each.owner}, {"what", each.what}, {"from", each.from}, {"to", each.to}});
  }
  for (const KueueVariant& each : advice.variants) {
    nlohmann::ordered_json one{{"name", each.name},
                               {"jobs_that_would_never_start", each.never},
                               {"jobs_that_would_start_newly", each.newly},
                               {"figures", figures_json(each.figures)},
                               {"wait_shorter", gain_json(each.wait)},
                               {"jct_shorter", gain_json(each.jct)},
                               {"losers", nlohmann::ordered_json::array()}};
    for (const advice::Group& loser : each.losers) {
      one["losers"].push_back({{"who", loser.who},
                               {"jobs", loser.jobs},
                               {"before_s", loser.before_s},
                               {"after_s", loser.after_s}});
    }
    made["variants"].push_back(std::move(one));
  }
  return made.dump(2);
}

}  // namespace almanac::cli
