// SPDX-License-Identifier: Apache-2.0
#include "cli/task_requests.h"

#include <algorithm>

#include <fmt/format.h>

#include "cli/inference_options.h"
#include "inference/request_log.h"
#include "text/nearest.h"

namespace almanac::cli {

Result<std::vector<deployment::TaskArrival>> task_requests(
    const std::string& path, const std::string& column_map,
    const std::vector<deployment::TaskService>& services) {
  const auto log = load_requests(path, {}, column_map, true);
  if (!log) return tl::unexpected(log.error());
  std::vector<std::size_t> service_of;
  std::vector<std::string> tasks;
  for (const auto& each : services) tasks.push_back(each.task);
  if (log->models.empty() && services.size() > 1) {
    return fail(Code::invalid, "has no task in its column model", {.file = path});
  }
  for (const std::string& name : log->models) {
    const auto found = std::find(tasks.begin(), tasks.end(), name);
    if (found == tasks.end()) {
      return fail(Code::invalid, fmt::format("no service has task \"{}\"", name), {.file = path},
                  text::meant_or_known(name, tasks));
    }
    const auto service = static_cast<std::size_t>(found - tasks.begin());
    if (services[service].after) {
      return fail(
          Code::invalid,
          fmt::format("has requests for \"{}\", a stage whose requests the answers of \"{}\" "
                      "make",
                      name, services[*services[service].after].task),
          {.file = path}, "leave them out of the log");
    }
    service_of.push_back(service);
  }
  std::vector<deployment::TaskArrival> made;
  for (const inference::Request& each : log->all) {
    made.push_back({each.arrival / 1e3, service_of.empty() ? 0 : service_of[each.model]});
  }
  return made;
}

Result<std::vector<deployment::TaskArrival>> random_requests(
    const std::vector<deployment::TaskService>& services, double seconds, std::uint64_t seed) {
  constexpr double kMost = 1e7;
  double expected = 0;
  for (const auto& each : services) expected += seconds * each.rate;
  if (expected > kMost) {
    return fail(Code::usage,
                fmt::format("too many requests: about {:.4g} in {:g} s, expected at most {:.0f} "
                            "million",
                            expected, seconds, kMost / 1e6),
                {}, "lower the column rate of the services, or --seconds");
  }
  return deployment::poisson_arrivals(services, seconds, seed);
}

}  // namespace almanac::cli
