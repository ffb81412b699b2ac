// SPDX-License-Identifier: Apache-2.0
#include "cli/changed_forecasts.h"

#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/program.h"
#include "cli/wall_clock.h"
#include "serve/what_if.h"
#include "text/human.h"

namespace almanac::cli {
namespace {

using figure::Cell;
using service::ChangedForecast;

/// A shorter time is not worth a word.
constexpr double kNoWord_s = 1;

bool is_known(Time at) { return at != kNoTime && at != kNever; }

std::string gain_in_words(double gain_s) {
  if (std::abs(gain_s) < kNoWord_s) return "as before";
  return fmt::format("{} {}", text::human_time(std::abs(gain_s)), gain_s > 0 ? "earlier" : "later");
}

/// How the start of a waiting job changes, or the end of a running one.
std::string shift_in_words(const ChangedForecast& job) {
  if (job.cancelled) return "cancelled";
  const Time before = job.runs ? job.end_before : job.start_before;
  const Time after = job.runs ? job.end_after : job.start_after;
  if (!is_known(after)) return is_known(before) ? "never" : "";
  if (!is_known(before)) return "was never";
  const std::string gain = gain_in_words(seconds(before - after));
  return job.runs ? "ends " + gain : gain;
}

std::string in_words(const service::ChangedForecasts& changed,
                     const std::vector<std::string>& changes) {
  std::uint64_t earlier = 0;
  std::uint64_t later = 0;
  std::uint64_t cancelled = 0;
  double gain_s = 0;
  std::uint64_t compared = 0;
  for (const ChangedForecast& each : changed.jobs) {
    if (each.runs) continue;
    if (each.cancelled) {
      ++cancelled;
    } else if (is_known(each.start_before) && is_known(each.start_after)) {
      const double gain = seconds(each.start_before - each.start_after);
      gain_s += gain;
      ++compared;
      earlier += gain >= kNoWord_s ? 1 : 0;
      later += gain <= -kNoWord_s ? 1 : 0;
    } else {
      earlier += is_known(each.start_after) ? 1 : 0;
      later += is_known(each.start_before) ? 1 : 0;
    }
  }
  const std::uint64_t waiting = static_cast<std::uint64_t>(changed.waiting) - cancelled;
  std::string said = fmt::format("After {}: ", fmt::join(changes, ", "));
  if (waiting == 0) return said + "no job waits.\n";
  said += fmt::format("start earlier {}, later {}, as before {} of {}", earlier, later,
                      waiting - earlier - later, text::counted(waiting, "waiting job"));
  if (compared > 0) {
    said += "; mean start " + gain_in_words(gain_s / static_cast<double>(compared));
    if (compared < waiting) said += fmt::format(" for the {} that start in both", compared);
  }
  said += ".\n";
  return said +
         "Times are met with 90 % probability, if no later jobs arrive. Both columns have the same "
         "run times.\n";
}

}  // namespace

Result<int> print_changed(const service::ChangedForecasts& changed,
                          const std::vector<std::string>& changes, const ListOptions& list,
                          const std::function<std::string(Time)>& clock) {
  const auto shown = [&](Time at) {
    return Cell(at, at == kNoTime ? "-" : at == kNever ? "never" : clock(at));
  };
  figure::Rows rows(changed.jobs);
  rows.add(figure::Tier::key, "job_id", "JOBID", &ChangedForecast::id);
  rows.add("user", "USER", &ChangedForecast::user).detail();
  rows.add("name", "NAME", &ChangedForecast::name).in(figure::Tier::wide);
  rows.add("gpus", "GPUS", &ChangedForecast::gpus);
  rows.add("running", &ChangedForecast::runs).in(figure::Tier::data);
  rows.add("cancelled", &ChangedForecast::cancelled).in(figure::Tier::data);
  rows.add(figure::Tier::key, "start_by_before_s", "START BEFORE",
           [&](const ChangedForecast& job) { return shown(job.start_before); });
  rows.add(figure::Tier::key, "start_by_after_s", "START AFTER",
           [&](const ChangedForecast& job) { return shown(job.start_after); });
  rows.add(figure::Tier::key, "change", "CHANGE", shift_in_words).table_only();
  rows.add(figure::Tier::detail, "end_by_before_s", "END BEFORE",
           [&](const ChangedForecast& job) { return shown(job.end_before); });
  rows.add(figure::Tier::detail, "end_by_after_s", "END AFTER",
           [&](const ChangedForecast& job) { return shown(job.end_after); });
  return list.print(rows, in_words(changed, changes));
}

Result<int> forecast_if(const ServiceOptions& service, const std::vector<std::string>& changes,
                        const ListOptions& list) {
  auto client = service.client();
  if (!client) return tl::unexpected(client.error());
  const auto changed = serve::foresee(*client, changes);
  if (!changed) return tl::unexpected(changed.error());
  const Time now = wall_clock();
  return print_changed(*changed, changes, list, [&](Time at) {
    return at <= changed->at ? "immediately" : clock_text(at, now);
  });
}

}  // namespace almanac::cli
