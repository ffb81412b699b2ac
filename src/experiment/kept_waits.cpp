// SPDX-License-Identifier: Apache-2.0
#include "experiment/kept_waits.h"

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "rules/fairness/dues.h"
#include "table/csv_reader.h"
#include "text/number.h"
#include "trace/job.h"

namespace almanac::experiment {
namespace {

using policy::ReasonKind;

/// Returns the value of `Kind` that files call `name`; none for a word of another version. Asks
/// every value that the type can have, so that kinds added later are known too.
template <typename Kind>
Kind kind_named(std::string_view name) {
  static const std::map<std::string, Kind, std::less<>> kByName = [] {
    std::map<std::string, Kind, std::less<>> made;
    for (int value = 0; value <= std::numeric_limits<std::uint8_t>::max(); ++value) {
      const auto kind = static_cast<Kind>(value);
      if (std::string known = policy::name(kind); !known.empty()) made.emplace(known, kind);
    }
    return made;
  }();
  const auto found = kByName.find(name);
  return found == kByName.end() ? Kind::none : found->second;
}

/// The rows of a table of a run that are of one job.
class RowsOf {
 public:
  static Result<RowsOf> open(const std::string& path, const std::string& job) {
    auto csv = table::CsvReader::open(path);
    if (!csv) return tl::unexpected(csv.error());
    const auto id = csv->find("job_id");
    if (!id) return fail(Code::corrupt, "column job_id is missing", {.file = path});
    return RowsOf(std::move(*csv), *id, job);
  }
  Result<bool> next() {
    for (;;) {
      const auto more = csv_.next();
      if (!more || !*more || csv_[id_] == job_) return more;
    }
  }
  std::string_view operator[](std::string_view column) const {
    const auto at = csv_.find(column);
    return at ? csv_[*at] : std::string_view();
  }
  double number(std::string_view column) const {
    return text::parse_decimal((*this)[column]).value_or(0);
  }
  Time time(std::string_view column) const {
    const auto count = text::parse_decimal((*this)[column]);
    return count ? Time{Duration{std::llround(*count * 1e3)}} : kNoTime;
  }

 private:
  RowsOf(table::CsvReader csv, std::size_t id, std::string job)
      : csv_(std::move(csv)), id_(id), job_(std::move(job)) {}

  table::CsvReader csv_;
  std::size_t id_;
  std::string job_;
};

policy::Reason reason_of(const RowsOf& row) {
  return {.kind = kind_named<ReasonKind>(row["reason"]),
          .slurm = policy::slurm_reason(row["slurm_reason"]),
          .profile = slices::profile_id(row["gpu_profile"]).value_or(slices::kNoProfile),
          .wanted = static_cast<int>(row.number("wanted")),
          .available = static_cast<int>(row.number("available")),
          .precedence = {.term = kind_named<policy::Term>(row["precedence"]),
                         .own = static_cast<float>(row.number("own_value")),
                         .others = static_cast<float>(row.number("other_value"))},
          .stop_gpu_s = static_cast<float>(row.number("stop_gpu_s")),
          .board = slices::find_board(row["board"])};
}

/// Adds the failures of a job, if the run simulated any.
Result<void> add_failures(const std::string& path, KeptJob& kept) {
  auto rows = RowsOf::open(path, kept.id);
  if (!rows && rows.error().code == Code::not_found) return {};
  if (!rows) return tl::unexpected(rows.error());
  const auto span = [&](std::string_view column) {
    return Duration{std::llround(rows->number(column) * 1e3)};
  };
  for (;;) {
    const auto more = rows->next();
    if (!more) return tl::unexpected(more.error());
    if (!*more) return {};
    kept.failures.push_back({.at = rows->time("at_s"),
                             .cause = std::string((*rows)["cause"]),
                             .node = std::string((*rows)["node"]),
                             .gpus = static_cast<int>(rows->number("gpus")),
                             .lost = span("lost_s"),
                             .restart = span("restart_s"),
                             .resumed = rows->time("resumed_s")});
  }
}

}  // namespace

Result<KeptJob> read_kept(const std::string& run, const std::string& policy,
                          const std::string& job) {
  const std::string folder = run + "/" + policy;
  auto waits = RowsOf::open(folder + "/waits.csv.zst", job);
  if (!waits) return tl::unexpected(waits.error());
  auto rows = RowsOf::open(folder + "/jobs.csv", job);
  if (!rows) return tl::unexpected(rows.error());
  const auto found = rows->next();
  if (!found) return tl::unexpected(found.error());
  if (!*found) return fail(Code::usage, fmt::format("the run has no job {}", job), {.file = run});
  KeptJob kept{
      .id = job,
      .policy = policy,
      .gpus = static_cast<int>(rows->number("gpus")),
      .submit = rows->time("submit_s"),
      .start = rows->time("start_s"),
      .end = rows->time("end_s"),
      .waited = Duration{std::llround(rows->number("wait_s") * 1e3)},
      .ran = Duration{std::llround((rows->number("jct_s") - rows->number("wait_s")) * 1e3)},
      .work = Duration{std::llround(rows->number("run_s") * 1e3)},
      .preemptions = static_cast<int>(rows->number("preemptions")),
      .was_pending = (*rows)["state"] == trace::to_string(trace::JobState::pending),
      .vc = std::string((*rows)["vc"]),
      .user = std::string((*rows)["user"])};
  if (const auto added = add_failures(folder + "/failures.csv", kept); !added) {
    return tl::unexpected(added.error());
  }
  for (;;) {
    const auto more = waits->next();
    if (!more) return tl::unexpected(more.error());
    if (!*more) return kept;
    kept.waits.push_back({.from = waits->time("from_s"),
                          .until = waits->time("until_s"),
                          .reason = reason_of(*waits),
                          .other = std::string((*waits)["other_job_id"])});
  }
}

std::string tenant_of(const KeptJob& job, const experiment::Summary& summary) {
  for (const std::string& name : {job.vc, job.user}) {
    for (const experiment::TenantDue& each : summary.tenants) {
      if (each.name != name) continue;
      return fmt::format("tenant {} {} over the whole run", name,
                         fairness::beside_its_due({.used_gpu_s = each.used_gpu_s,
                                                   .fair_share_gpu_s = each.fair_share_gpu_s}));
    }
  }
  return "";
}

}  // namespace almanac::experiment
