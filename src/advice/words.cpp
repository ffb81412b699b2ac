// SPDX-License-Identifier: Apache-2.0
#include "advice/words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "experiment/recorded_waits.h"
#include "text/human.h"

namespace almanac::advice {
namespace {

using text::human_share;
using text::human_time;

constexpr double kNoDifference = 1.005;  ///< Would be shown as 1.00 times.

/// "3.10 times shorter (95 % CI 2.40 to 4.00)" of waits.
std::string in_words(const Gain& gain) {
  const bool is_longer = gain.times < 1;
  const double times = is_longer ? 1 / gain.times : gain.times;
  std::string made = fmt::format("{:.2f} times {}", times, is_longer ? "longer" : "shorter");
  if (times < kNoDifference) made = "as long as today";
  if (!gain.sure) return made + " (how certain that is, this log does not show)";
  if (times < kNoDifference && gain.sure->from > 1 / kNoDifference &&
      gain.sure->to < kNoDifference) {
    return made;
  }
  const double from = is_longer ? 1 / gain.sure->to : gain.sure->from;
  const double to = is_longer ? 1 / gain.sure->from : gain.sure->to;
  return made + fmt::format(" (95 % CI {:.2f} to {:.2f})", from, to);
}

std::string losers_in_words(const Change& change) {
  if (change.losers.empty()) return "No user and no class of jobs would wait noticeably longer.";
  const Group& worst = change.losers.front();
  return fmt::format(
      "{} would wait noticeably longer, most of all {}: {} instead of {}.",
      text::counted(change.losers.size(), "user or class of jobs", "users and classes of jobs"),
      worst.who, human_time(worst.after_s), human_time(worst.before_s));
}

}  // namespace

std::string counted(std::int64_t count, const std::string& one) {
  return text::counted(static_cast<std::uint64_t>(count), one);
}

std::string slurm_in_words(const Advice& advice) {
  return advice.knows_site ? "your Slurm" : "stock Slurm";
}

std::string reproduction_in_words(const Advice& advice) {
  if (!advice.reproduction) {
    return "The log does not say when jobs started, so the simulation could not be checked against "
           "it.";
  }
  const Fit& all = advice.reproduction->all;
  std::string made = fmt::format(
      "Simulated with {}, the waits of {} of {} are within 10 minutes of the recorded ones, and of "
      "{} within 10 % (or a minute). Mean wait: {} recorded, {} simulated.",
      advice.knows_site ? "the settings of your site" : "stock Slurm's default settings",
      human_share(all.near), counted(all.jobs, "job"), human_share(all.tenth),
      human_time(all.recorded_s), human_time(all.simulated_s));
  const std::optional<PhaseEffect>& phase = advice.reproduction->phase;
  if (phase && phase->changed > 0) {
    made += fmt::format(
        " No log says at which seconds the controller's passes and cycles fall: {:g} s later, the "
        "waits of {} of the jobs change by more than 10 minutes, and the mean wait is {}.",
        phase->shift_s, human_share(phase->changed), human_time(phase->simulated_s));
  }
  // Hardly a wait can be off by 10 minutes then.
  return made + experiment::little_evidence(all.waited, all.jobs);
}

std::string causes_in_words(const Reproduction& reproduction) {
  std::int64_t missed = 0;
  std::vector<std::string> causes;
  for (const auto& [cause, jobs] : reproduction.causes) {
    missed += jobs;
    causes.push_back(fmt::format("{} {}", to_string(cause), text::grouped(jobs)));
  }
  if (missed == 0) return "";
  return fmt::format(
      "{} off by more than 10 minutes. Likely cause, as far as the log shows it: {}.",
      text::counted(static_cast<std::uint64_t>(missed), "wait is", "waits are"),
      fmt::join(causes, ", "));
}

std::string effect_in_words(const Change& change) {
  std::string made;
  if (change.never > 0) {
    made += fmt::format("{} that {} today would never start. ", counted(change.never, "job"),
                        change.never == 1 ? "starts" : "start");
  }
  if (change.newly > 0) {
    made += fmt::format("{} that never {} today would start. ", counted(change.newly, "job"),
                        change.newly == 1 ? "starts" : "start");
  }
  if (change.jobs == 0) return made + "No job is left to compare.";
  if (!made.empty()) made += fmt::format("Of the other {}, the ", counted(change.jobs, "job"));
  made += fmt::format(
      "mean wait {} instead of {} (p90 {} instead of {}). With each user counted "
      "equally (quadratic mean), waits are {}. {}",
      human_time(change.after.avg_wait_s), human_time(change.before.avg_wait_s),
      human_time(change.after.p90_wait_s), human_time(change.before.p90_wait_s),
      in_words(change.users), losers_in_words(change));
  for (const std::string& remark : change.remarks) made += " " + remark;
  return made;
}

std::string worth_in_words(const Change& change) {
  if (!change.worth) return "";
  const Worth& worth = *change.worth;
  const auto nodes = static_cast<std::uint64_t>(worth.nodes);
  if (!worth.needed) {
    return fmt::format("Today's settings would not reach this mean wait with twice the {}.",
                       text::counted(nodes, "node"));
  }
  return fmt::format(
      "Worth about {}: today's settings would need about {} instead of {} for this mean wait.",
      text::counted(static_cast<std::uint64_t>(*worth.needed) - nodes, "node"), *worth.needed,
      nodes);
}

std::string together_in_words(const KnobSearch& search) {
  std::string made;
  if (search.together) {
    made = fmt::format("All of them together: {} {}", effect_in_words(*search.together),
                       worth_in_words(*search.together));
  }
  if (search.changes.size() < KnobSearch::kMost && search.knobs > search.changes.size()) {
    if (!made.empty()) made += " ";
    made += fmt::format(
        "No other setting tried on the whole log shortens the waits of users by {:.0f} % or more "
        "so "
        "that a gain is certain (95 %) and every job still starts.",
        100 * (KnobSearch::kWorth - 1));
  }
  return made;
}

std::string doubt_in_words(const Advice& advice) {
  if (advice.reproduces || !advice.reproduction) return "";
  const Fit& all = advice.reproduction->all;
  return fmt::format(
      "This is in doubt: the simulation does not match the log (mean wait {} recorded, {} "
      "simulated today).",
      human_time(all.recorded_s), human_time(all.simulated_s));
}

std::vector<std::string> lines_in_words(const Change& change) {
  std::vector<std::string> made;
  for (const Line& line : change.lines) made.push_back(line.where + ": " + line.text);
  return made;
}

std::string search_in_words(const Advice& advice) {
  const KnobSearch& search = *advice.knobs;
  std::string tried =
      fmt::format("{} of {} tried in {} of {} in all", text::counted(search.candidates, "value"),
                  text::counted(search.knobs, "setting"),
                  text::counted(search.simulations, "simulation"), counted(search.jobs, "job"));
  if (!advice.reproduces) tried += "; the simulation does not match the log, so try them with care";
  if (!search.changes.empty()) return tried + "; the best of many look better than they are";
  return fmt::format(
      "None of the values tried on the whole log shortens the waits of users by {:.0f} % or more "
      "so "
      "that a gain is certain (95 %) and every job still starts ({}).",
      100 * (KnobSearch::kWorth - 1), tried);
}

}  // namespace almanac::advice
