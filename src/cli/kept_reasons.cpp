// SPDX-License-Identifier: Apache-2.0
#include "cli/kept_reasons.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/moment.h"
#include "cli/program.h"
#include "fairness/dues.h"
#include "table/csv_reader.h"
#include "text/duration.h"
#include "text/number.h"

namespace almanac::cli {
namespace {

using policy::ReasonKind;

/// The one that files call so; none for a word of another version.
ReasonKind kind_named(std::string_view name) {
  for (int kind = 0; kind <= static_cast<int>(ReasonKind::set_aside); ++kind) {
    if (policy::name(static_cast<ReasonKind>(kind)) == name) return static_cast<ReasonKind>(kind);
  }
  return ReasonKind::none;
}

/// The rows of a table of a run that are of one job.
class RowsOf {
 public:
  static Result<RowsOf> open(const std::string& path, const std::string& job) {
    auto csv = table::CsvReader::open(path);
    if (!csv) return tl::unexpected(csv.error());
    const auto id = csv->find("job_id");
    if (!id) return fail(Code::corrupt, "no column job_id", {.file = path});
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

/// What a job waited for, after how long.
const char* for_what(ReasonKind kind) {
  switch (kind) {
    case ReasonKind::short_of_gpus:
      return "for GPUs that others held";
    case ReasonKind::short_of_cores:
      return "for cores or memory that others held";
    case ReasonKind::fragmented:
      return "for free GPUs in the right places";
    case ReasonKind::no_instance:
      return "for an instance that others held, or stood in the way of";
    case ReasonKind::booting:
      return "for nodes to boot";
    case ReasonKind::behind:
      return "for jobs ahead in the queue";
    case ReasonKind::reserved:
      return "so as not to delay a reservation";
    case ReasonKind::next_lease:
      return "for the next lease";
    case ReasonKind::at_quota:
      return "for a quota";
    case ReasonKind::at_limit:
      return "for the limit of its tenant";
    case ReasonKind::passed_over:
      return "as the policy put others first";
    case ReasonKind::oldest:
      return "for GPUs that others held, beyond the age cap";
    case ReasonKind::set_aside:
      return "for a job that had waited beyond the age cap";
    case ReasonKind::awaits_signal:
      return "for cheaper or cleaner power";
    default:
      return "for other reasons";
  }
}

std::string sentence(const KeptWait& wait) { return policy::to_string(wait.reason, wait.other); }

policy::Reason reason_of(const RowsOf& row) {
  return {.kind = kind_named(row["reason"]),
          .wanted = static_cast<int>(row.number("wanted")),
          .available = static_cast<int>(row.number("available")),
          .profile = slices::profile_id(row["gpu_profile"]).value_or(slices::kNoProfile),
          .board = slices::find_board(row["board"])};
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
      .vc = std::string((*rows)["vc"]),
      .user = std::string((*rows)["user"])};
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

std::string tenant_of(const KeptJob& job, const sim::Summary& summary) {
  for (const std::string& name : {job.vc, job.user}) {
    for (const sim::TenantDue& each : summary.tenants) {
      if (each.name != name) continue;
      return fmt::format(
          "tenant {} {} over the whole run", name,
          fairness::beside_its_due({.had_gpu_s = each.had_gpu_s, .due_gpu_s = each.due_gpu_s}));
    }
  }
  return "";
}

void print_longer_run(Duration ran, Duration work) {
  constexpr Duration kRounding = 2s;
  if (ran < work + kRounding) return;
  fmt::print("  ran {} for {} of work: restarts, work lost to a failure, or a slower pace\n",
             text::format_duration(ran), text::format_duration(work));
}

namespace {

void print_reasons(const KeptJob& job) {
  std::map<ReasonKind, Duration> totals;
  for (const KeptWait& wait : job.waits) {
    totals[wait.reason.kind] += wait.until - wait.from;
    fmt::print("  {}  {:>14}  {}\n", moment(wait.from),
               text::format_duration(wait.until - wait.from), sentence(wait));
  }
  Duration told{};
  for (const auto& [kind, total] : totals) told += total;
  if (job.waits.empty() && job.waited <= Duration{0}) return fmt::print("  it never waited\n");
  if (!totals.empty()) fmt::print("in all: {}\n", in_all(totals));
  // A run asks again after a tenth of the wait, a minute at least.
  if (job.waited > told) {
    fmt::print("why it waited for {} more was not kept: --replay tells\n",
               text::format_duration(job.waited - told));
  }
  constexpr Duration kLong = 10min;
  if (job.waited >= kLong) {
    note(
        "a reason that came and went within a tenth of the wait until then was not kept: --replay "
        "has all");
  }
}

}  // namespace

void print_kept(const KeptJob& job) {
  fmt::print("job {} under {}: {} GPU{}, submitted {}", job.id, job.policy, job.gpus,
             job.gpus == 1 ? "" : "s", moment(job.submit));
  for (const KeptWait& wait : job.waits) {
    if (wait.until == kNoTime) return fmt::print("; {}\n", sentence(wait));
  }
  if (job.start == kNoTime && job.end != kNoTime) {
    fmt::print(", withdrawn {} without having run\n", moment(job.end));
  } else if (job.start == kNoTime) {
    fmt::print(", not started when the simulation ended\n");
  } else {
    fmt::print(", started {}", moment(job.start));
    if (job.end != kNoTime) {
      fmt::print(", ended {}, waited {}", moment(job.end), text::format_duration(job.waited));
    }
    if (job.preemptions > 0) fmt::print(", was stopped {} times", job.preemptions);
    fmt::print("\n");
  }
  print_reasons(job);
  if (job.start != kNoTime && job.end != kNoTime) print_longer_run(job.ran, job.work);
  if (!job.tenant.empty()) fmt::print("{}\n", job.tenant);
}

std::string in_all(const std::map<ReasonKind, Duration>& totals) {
  std::vector<std::pair<ReasonKind, Duration>> longest(totals.begin(), totals.end());
  std::stable_sort(longest.begin(), longest.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> parts;
  for (const auto& [kind, total] : longest) {
    parts.push_back(fmt::format("{} {}", text::format_duration(total), for_what(kind)));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

nlohmann::ordered_json to_json(const KeptJob& job) {
  nlohmann::ordered_json waits = nlohmann::ordered_json::array();
  for (const KeptWait& wait : job.waits) {
    nlohmann::ordered_json each;
    if (wait.until != kNoTime) {
      each = {{"from_s", seconds(wait.from)}, {"until_s", seconds(wait.until)}};
    }
    each["reason"] = policy::name(wait.reason.kind);
    each["text"] = sentence(wait);
    if (!wait.other.empty()) each["other_job_id"] = wait.other;
    waits.push_back(std::move(each));
  }
  nlohmann::ordered_json made = {{"job_id", job.id}, {"policy", job.policy}, {"waits", waits}};
  if (!job.tenant.empty()) made["tenant"] = job.tenant;
  return made;
}

}  // namespace almanac::cli
