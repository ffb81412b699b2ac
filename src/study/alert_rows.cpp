// SPDX-License-Identifier: Apache-2.0
#include "study/alert_rows.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace almanac::study {
namespace {

/// The ids of the jobs, "+" for the rest.
std::string ids_of(const Alert& alert, std::size_t most) {
  std::vector<std::string> ids;
  for (std::size_t at = 0; at < std::min(most, alert.jobs.size()); ++at) {
    ids.push_back(alert.jobs[at]->id);
  }
  return fmt::format("{}{}", fmt::join(ids, ","), alert.jobs.size() > most ? "+" : "");
}

}  // namespace

figure::Listing alert_rows(const std::vector<Alert>& alerts, const Norms& norms) {
  figure::Rows rows(alerts);
  rows.add("alert", [](const Alert& alert) { return to_string(alert.kind); });
  rows.add(figure::Tier::key, "user", "user", &Alert::user);
  rows.add("jobs", [](const Alert& alert) { return alert.jobs.size(); });
  rows.add("gpu_hours", "GPU-hours", &Alert::gpu_hours, figure::Decimals{1});
  rows.add("largest", "largest job",
           [](const Alert& alert) { return breach_in_words(alert.kind, *alert.jobs.front()); });
  rows.add("job_ids", "jobs (most GPU-hours first)", [](const Alert& alert) {
    constexpr std::size_t kShown = 3;
    return figure::Cell(ids_of(alert, alert.jobs.size()), ids_of(alert, kShown));
  });
  rows.add(figure::Tier::data, "norm", "norm",
           [&](const Alert& alert) { return norm_in_words(alert.kind, norms); });
  rows.add(figure::Tier::data, "advice", "advice",
           [](const Alert& alert) { return remedy(alert.kind); });
  return rows;
}

std::string norms_in_words(const std::vector<Alert>& alerts, const Norms& norms) {
  std::string made;
  for (const AlertKind kind : kAlertKinds) {
    const bool is_there = std::any_of(alerts.begin(), alerts.end(),
                                      [&](const Alert& alert) { return alert.kind == kind; });
    if (is_there) made += fmt::format("{}: {}.\n", to_string(kind), norm_in_words(kind, norms));
  }
  return made +
         fmt::format(
             "Jobs of {:g} minutes or longer, users with {:g} GPU-hours or more per alert; for "
             "time limits, those\nreserved and not used. Sources and settings: almanac help "
             "norms.\n",
             norms.shortest_min, norms.gpu_hours);
}

}  // namespace almanac::study
