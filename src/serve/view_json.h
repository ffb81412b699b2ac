// SPDX-License-Identifier: Apache-2.0

/// \file
/// What the service reports, as JSON, and the forms in which a client reads it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cluster/cluster.h"
#include "service/job.h"
#include "service/service.h"
#include "sim/compactions.h"
#include "store/store.h"

namespace almanac::serve {

using service::job_id;

/// A job without what is its user's business: environment and text of the script stay out.
std::string to_json(const service::JobView& view, const cluster::Cluster& cluster);
/// {"revision", "jobs": [...]}, with "next" when there are more.
std::string to_json(const std::vector<service::JobView>& views, const cluster::Cluster& cluster,
                    std::uint64_t revision, bool has_more);
std::string to_json(const service::Overview& overview);
std::string to_json(const std::vector<service::NodeView>& nodes);
std::string to_json(const service::Expected& expected);
std::string to_json(const service::ChangedForecasts& changed);
std::string to_json(const service::StartsIf& changes);
std::string to_json(const service::Manager& manager);
std::string to_json(const service::Tenancy& tenancy);
std::string to_json(const sim::Compactions& compactions);
std::string shadow_json(const std::string& policy, const std::optional<service::Comparison>& last);
std::string to_json(const std::vector<store::Note>& notes, const std::vector<store::Told>& told);
std::string to_json(const std::vector<store::Moment>& moments);
std::string to_json(const std::vector<store::SweepCount>& sweeps);

/// A trial of a sweep, and all that it has reported.
struct Trial {
  service::JobView view{};
  std::vector<store::Report> reports{};  ///< In order of the step.
  /// The best of them, the first one if several are; nothing if none reported.
  std::optional<store::Report> best{};
};
/// {"name", "smaller_is_better", "trials": [{"job", "best", "best_step", "reports"}]}, in the order
/// given.
std::string to_json(const std::string& sweep, const std::vector<Trial>& trials,
                    const cluster::Cluster& cluster);

/// A job as clients see it; its allocation is in words.
struct ListedJob {
  service::JobView view{};
  std::string id{};
  std::string nodes{};      ///< "box", "box[0-1]".
  std::string gpus_held{};  ///< "box:0,1".
  bool is_script = false;   ///< A batch script, so argv has its arguments; not set in lists.
  int num_gpus_held = 0;    ///< GPUs, or instances, that it holds in whole or in part.
};

/// A trial as clients see it.
struct ListedTrial {
  ListedJob job{};
  std::optional<double> best{}, best_step{};
  std::vector<std::vector<double>> reports{};  ///< Pairs of step and metric.
};

/// A tuning run from GET /v1/sweeps/{name}: the best trial first.
struct ListedTuning {
  std::string name{};
  bool smaller_is_better = false;
  std::vector<ListedTrial> trials{};
};

struct JobList {
  std::vector<ListedJob> jobs{};
  /// Set if there are more: request those after it.
  std::optional<store::JobNumber> next{};
};

Result<ListedJob> read_job(std::string_view text);
Result<JobList> read_jobs(std::string_view text);
Result<ListedTuning> read_tuning(std::string_view text);
Result<service::Overview> read_overview(std::string_view text);
Result<std::vector<service::NodeView>> read_nodes(std::string_view text);
Result<service::Tenancy> read_tenancy(std::string_view text);
Result<sim::Compactions> read_compactions(std::string_view text);
Result<std::vector<std::string>> read_explanation(std::string_view text);
/// Reads GET /v1/policy and /v1/shadow.
Result<std::string> read_policy(std::string_view text);
Result<service::Expected> read_expected(std::string_view text);
Result<service::ChangedForecasts> read_changed_forecasts(std::string_view text);
Result<service::StartsIf> read_starts_if(std::string_view text);

/// The body of POST /v1/forecast/if: {"if": ["cancel 17", ...]}. Fails with invalid.
std::string changes_json(const std::vector<std::string>& changes);
Result<std::vector<std::string>> read_changes(std::string_view text);

}  // namespace almanac::serve
