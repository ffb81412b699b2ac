// SPDX-License-Identifier: Apache-2.0
#include "report/run_tiles.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/run_findings.h"
#include "report/run_losers.h"
#include "text/human.h"

namespace almanac::report {
namespace {

using experiment::Summary;
using figure::Tile;
using text::human_share;
using text::human_time;
using Policies = std::vector<PolicyDigest>;

/// Returns the fraction of a mean that is saved; 0 if no job waits before.
double saved(double before_s, double after_s) { return before_s > 0 ? 1 - after_s / before_s : 0; }

std::string times_of(const Summary& summary) {
  return fmt::format("Mean wait {}, mean completion time {}.", human_time(summary.avg_wait_s),
                     human_time(summary.avg_jct_s));
}

/// What the best oracle reaches, where that is better than `chosen`; "" otherwise.
std::string best_oracle_words(const Policies& policies, const Summary& chosen) {
  const Summary* best = nullptr;
  for (const PolicyDigest& each : policies) {
    const Summary& summary = each.summary;
    if (!summary.bound || !(summary.avg_jct_s < chosen.avg_jct_s)) continue;
    if (best == nullptr || summary.avg_jct_s < best->avg_jct_s) best = &summary;
  }
  if (best == nullptr) return {};
  return fmt::format(" The best oracle, {}, reaches a mean wait of {}.", best->policy,
                     human_time(best->avg_wait_s));
}

/// What a policy reaches that preempts any job, where that is better than `chosen`.
std::string checkpoint_words(const Policies& policies, const Summary& chosen) {
  const Summary* const faster = faster_with_checkpoints(summary_rows(policies), chosen);
  if (faster == nullptr) return {};
  return fmt::format(" If every job can resume from a checkpoint, {} reaches a mean wait of {}.",
                     faster->policy, human_time(faster->avg_wait_s));
}

std::string interval_words(const PolicyDigest& before, const PolicyDigest& after) {
  const auto interval = gain_interval(before.days, after.days);
  if (!interval) {
    return "No confidence interval: the log has too few independent days.";
  }
  const auto percent = [](double part) { return fmt::format("{:.0f} %", 100 * part); };
  return fmt::format("95 % CI of the reduction: {} to {}.", percent(interval->from),
                     percent(interval->to));
}

Tile gain_tile(const PolicyDigest& before, const PolicyDigest& after) {
  const Summary& first = before.summary;
  const Summary& best = after.summary;
  Tile tile{.label = fmt::format("Gain over {}", first.policy)};
  if (!are_comparable(first, best)) {
    tile.value = "not comparable";
    tile.detail = fmt::format(
        "The means cover {} under {}, but {} under {}. Mean wait {} instead of {}.",
        text::counted(best.finished, "job"), best.policy, text::counted(first.finished, "job"),
        first.policy, human_time(best.avg_wait_s), human_time(first.avg_wait_s));
    return tile;
  }
  // Without waits, jobs may still run faster.
  constexpr double kNotable = 0.005;
  if (saved(first.avg_wait_s, best.avg_wait_s) >= kNotable) {
    tile.value =
        fmt::format("{} shorter wait", human_share(saved(first.avg_wait_s, best.avg_wait_s)));
    tile.detail = fmt::format(
        "Mean wait {} instead of {}. {} Mean completion time {} instead of {}.",
        human_time(best.avg_wait_s), human_time(first.avg_wait_s), interval_words(before, after),
        human_time(best.avg_jct_s), human_time(first.avg_jct_s));
  } else {
    tile.value = fmt::format("{} shorter completion time",
                             human_share(saved(first.avg_jct_s, best.avg_jct_s)));
    tile.detail = fmt::format("Mean completion time {} instead of {}. Mean wait {} instead of {}.",
                              human_time(best.avg_jct_s), human_time(first.avg_jct_s),
                              human_time(best.avg_wait_s), human_time(first.avg_wait_s));
  }
  return tile;
}

/// "user ann: 1h 40m instead of 2m 05s"
std::string waits_of(const Loser& loser) {
  return fmt::format("{}: {} instead of {}", loser.what, human_time(loser.after_s),
                     human_time(loser.before_s));
}

Tile losers_tile(const RunInput& input, const Policies& policies, std::size_t best) {
  constexpr const char* kLoss = "a mean wait longer by more than a minute and 5 %";
  Tile tile{.label = "Who loses"};
  const LosingUsers users = losing_users(input, policies, best);
  const Losers groups = find_losers(input, policies, best);
  if (users.losing > 0) {
    tile.value = fmt::format("{} of {} users", users.losing, users.users);
    tile.detail = fmt::format(
        "They have {}. The largest loss is that of user {} ({}).", kLoss, waits_of(*users.worst),
        text::counted(static_cast<std::uint64_t>(users.worst->finished), "job"));
  } else if (!groups.worst.empty()) {
    tile.value = groups.worst.front().what;
    tile.detail = fmt::format("Mean wait of {}.", waits_of(groups.worst.front()));
    if (users.users > 0) tile.detail += fmt::format(" No user has {}.", kLoss);
  } else if (users.users > 0) {
    tile.value = "no user";
    tile.detail = fmt::format("None of {} users has {}. Single jobs may still wait longer.",
                              users.users, kLoss);
  } else {
    tile.value = "no group of jobs";
    tile.detail =
        fmt::format("No size or length of jobs has {}. Single jobs may still wait longer.", kLoss);
  }
  return tile;
}

}  // namespace

std::vector<Tile> run_tiles(const RunInput& input, const Policies& all) {
  const Policies policies = complete_policies(all);
  if (policies.empty()) return {};
  const std::size_t at = best_policy(policies);
  const Summary& first = policies.front().summary;
  const Summary& best = policies[at].summary;
  if (best.finished == 0 || first.finished == 0) return {};
  if (policies.size() == 1) {
    return {{first.bound ? "Policy (oracle)" : "Policy", first.policy, times_of(first)},
            {"Gain", "not known",
             "Only one policy was simulated. Add others to compare: --policy " + first.policy +
                 ",easy,las."},
            {"Who loses", "not known", "That takes a second policy."}};
  }
  if (best.bound) {
    return {{"Recommended policy", "none",
             "Every policy of this run is an oracle: it uses true run times, which no real cluster "
             "knows. Add one that does not, such as qssf."},
            {"Best oracle", best.policy, times_of(best)},
            {"Who loses", "not known", "No deployable policy was simulated."}};
  }
  const std::string better = checkpoint_words(policies, best) + best_oracle_words(policies, best);
  const char* const kind = needs_checkpoints(best) ? "" : " without preemption";
  if (at == 0 || (are_comparable(first, best) && !(best.avg_jct_s < first.avg_jct_s))) {
    const std::string than =
        at == 0 ? "the baseline" : fmt::format("{}, an oracle and the baseline", first.policy);
    return {{"Recommended policy", best.policy,
             at == 0 ? "This is the baseline. " + times_of(best) : times_of(best)},
            {"Gain", "none",
             fmt::format("No deployable policy{} in this run has a shorter mean completion time "
                         "than {}.{}",
                         kind, than, better)},
            {"Who loses", "nobody", "Keep the current policy, and nothing changes."}};
  }
  const std::string needs =
      best.needs.empty() ? "" : fmt::format(" Requires {}.", fmt::join(best.needs, ", "));
  return {{"Recommended policy", best.policy,
           fmt::format("Shortest mean completion time of the deployable policies{}: {}.{}{}", kind,
                       human_time(best.avg_jct_s), needs, better)},
          gain_tile(policies.front(), policies[at]),
          losers_tile(input, policies, at)};
}

}  // namespace almanac::report
