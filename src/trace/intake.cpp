// SPDX-License-Identifier: Apache-2.0
#include "trace/intake.h"

#include <algorithm>
#include <bit>
#include <utility>

#include <fmt/format.h>

#include "trace/eligible.h"
#include "trace/runaway.h"
#include "trace/select.h"
#include "trace/shares.h"

namespace almanac::trace {
namespace {

constexpr const char* kLenientHint = "use --lenient to drop such rows";

/// What was expected, without what was found: equal for rows with the same fault.
std::string reason(const Error& error) {
  return error.message.substr(0,
                              std::min(error.message.find(": "), error.message.find(", found ")));
}

/// A hash set of the ids of jobs, by their positions: 4 bytes a slot, at most half full.
class IdSet {
 public:
  explicit IdSet(const std::vector<Job>& jobs)
      : jobs_(jobs), slots_(std::bit_ceil(2 * jobs.size() + 2), 0) {}

  /// The position of the job that has the id of job `position` already, or `position` itself.
  std::size_t insert(std::size_t position) {
    const auto id = static_cast<std::uint64_t>(jobs_[position].id);
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t at = (id * 0x9e3779b97f4a7c15ULL >> 20) & mask;; at = (at + 1) & mask) {
      if (slots_[at] == 0) {
        slots_[at] = static_cast<std::uint32_t>(position + 1);
        return position;
      }
      if (jobs_[slots_[at] - 1].id == jobs_[position].id) return slots_[at] - 1;
    }
  }

 private:
  const std::vector<Job>& jobs_;
  std::vector<std::uint32_t> slots_;  // position + 1; 0 = free
};

/// What a job says against itself; "" if nothing.
std::string contradiction(const Job& job, std::string_view id) {
  const Request& request = job.request;
  if (job.outcome.metric != kNoName && request.steps == 0) {
    return fmt::format("metric requires steps of 1 or more: job {} has none", id);
  }
  if (request.worthless_at != kNoTime && request.deadline == kNoTime) {
    return fmt::format("worthless_at_s requires a deadline_s: job {} has none", id);
  }
  if (request.worthless_at != kNoTime && request.worthless_at < request.deadline) {
    return fmt::format("worthless_at_s must not come before deadline_s: job {} is {} s before", id,
                       seconds(request.deadline - request.worthless_at));
  }
  if (request.max_gpus > 0 && request.gpus == 0) {
    return fmt::format("max_gpus requires gpus of 1 or more: job {} requests none", id);
  }
  if (request.max_gpus > 0 && request.max_gpus < request.gpus) {
    return fmt::format("max_gpus must not be below gpus: job {} requests {} and at most {}", id,
                       request.gpus, request.max_gpus);
  }
  if (request.min_gpus > 0 && (request.max_gpus == 0 || request.min_gpus > request.gpus)) {
    return fmt::format(
        "min_gpus requires max_gpus, and must not be above gpus: job {} requests {}, at least {} "
        "and at most {}",
        id, request.gpus, request.min_gpus, request.max_gpus);
  }
  const int plan = request.plan_gpus;
  if (plan > 0 && (request.gpus == 0 || request.gpus % plan != 0)) {
    return fmt::format(
        "gpus must be a multiple of plan_gpus, the GPUs of one copy of the model: job {} requests "
        "{}, and a copy needs {}",
        id, request.gpus, plan);
  }
  const int linked = request.nvlink_gpus;
  if (linked > 0 && (request.gpus == 0 || request.gpus % linked != 0)) {
    return fmt::format(
        "gpus must be a multiple of nvlink_gpus, the GPUs that share an NVLink domain: job {} "
        "requests {} in groups of {}",
        id, request.gpus, linked);
  }
  if (linked > 0 && request.gpu_profile != kNoName) {
    return fmt::format("nvlink_gpus and gpu_profile exclude each other: job {} has both", id);
  }
  if (linked > 0 && request.alternatives != kNoName) {
    return fmt::format("nvlink_gpus and alternatives exclude each other: job {} has both", id);
  }
  if (plan > 0 && request.alternatives != kNoName) {
    return fmt::format("plan_gpus and alternatives exclude each other: job {} has both", id);
  }
  if (request.max_gpus > 0 && request.alternatives != kNoName) {
    return fmt::format("max_gpus and alternatives exclude each other: job {} has both", id);
  }
  return {};
}

}  // namespace

Result<void> Intake::add(const Job& job, std::int64_t line) {
  const Outcome& outcome = job.outcome;
  constexpr Duration kMostChange = 2h;
  const bool is_clock = expects_clock_changes_ && outcome.run > Duration::zero() &&
                        outcome.start != kNoTime && outcome.end >= outcome.start - kMostChange;
  if (outcome.start != kNoTime && outcome.end != kNoTime && outcome.end < outcome.start &&
      !is_clock) {
    return refuse(
        Error{Code::invalid,
              fmt::format("the end must not come before the start: job {} ends {} s before",
                          trace_->id(job.id), seconds(outcome.start - outcome.end)),
              where(line)});
  }
  if (outcome.run < Duration::zero()) {
    return refuse(Error{Code::invalid,
                        fmt::format("the run time must be 0 s or more: job {} ran {} s",
                                    trace_->id(job.id), seconds(outcome.run)),
                        where(line)});
  }
  const Request& request = job.request;
  if (request.submit < Time{}) {
    return refuse(Error{Code::invalid,
                        fmt::format("the submission must be at 0 s or later: job {} is submitted "
                                    "at {} s",
                                    trace_->id(job.id), seconds(request.submit)),
                        where(line)});
  }
  if (request.worthless_at != kNoTime || request.max_gpus > 0 || request.min_gpus > 0 ||
      request.plan_gpus > 0 || request.nvlink_gpus > 0 || outcome.metric != kNoName) {
    std::string message = contradiction(job, trace_->id(job.id));
    if (!message.empty()) return refuse(Error{Code::invalid, std::move(message), where(line)});
  }
  trace_->jobs.push_back(job);
  lines_.push_back(line);
  ++trace_->rows;
  return {};
}

Result<void> Intake::refuse(Error error) {
  if (error.code != Code::invalid) return tl::unexpected(std::move(error));
  if (!lenient_) {
    if (error.hint.empty()) error.hint = kLenientHint;
    return tl::unexpected(std::move(error));
  }
  ++trace_->rows;
  ++trace_->dropped;
  auto& [count, line] = dropped_[reason(error)];
  if (count++ == 0) line = error.where.line;
  return {};
}

void Intake::leave_out(const std::vector<bool>& gone) {
  std::vector<std::uint32_t> kept;
  std::vector<std::int64_t> lines;
  for (std::size_t i = 0; i < gone.size(); ++i) {
    if (gone[i]) continue;
    kept.push_back(static_cast<std::uint32_t>(i));
    lines.push_back(lines_[i]);
  }
  select_jobs(*trace_, kept);
  lines_ = std::move(lines);
}

Result<void> Intake::finish() {
  bool ids_rise = true;
  bool in_order = true;  // of joining the queue
  const auto submitted = [](const Request& of) {
    return of.submitted != kNoTime ? of.submitted : of.submit;
  };
  for (std::size_t i = 1; i < trace_->jobs.size(); ++i) {
    const Job& before = trace_->jobs[i - 1];
    const Job& job = trace_->jobs[i];
    ids_rise = ids_rise && job.id > before.id;
    in_order = in_order && job.request.submit >= before.request.submit;
    if (submitted(job.request) < submitted(before.request)) ++moved_;
  }
  if (!ids_rise) {
    if (auto unique = check_ids(); !unique) return unique;
  }
  const bool joined_later = find_dependencies(*trace_);
  if (!in_order || joined_later || !doubled_.empty()) reorder();
  share_gpus(*trace_);
  // Our own files hold what somebody has judged already, and read back as they were written.
  const bool is_own = trace_->format == "almanac";
  if (const std::int64_t left = is_own ? 0 : leave_out_runaways(*trace_); left > 0) {
    // These jobs are among those in the remark on running jobs.
    for (auto& [text, count] : remarks_) {
      if (text.starts_with("jobs still running")) count = std::max<std::int64_t>(0, count - left);
    }
    std::erase_if(remarks_, [](const auto& each) { return each.second == 0; });
  }
  write_notes();
  if (trace_->jobs.empty()) {
    return fail(Code::invalid,
                trace_->dropped > 0
                    ? fmt::format("no job is left: all {} rows were dropped", trace_->dropped)
                    : std::string("the file has no jobs"),
                {trace_->path}, trace_->dropped > 0 ? trace_->notes.front() : std::string());
  }
  return {};
}

Result<void> Intake::check_ids() {
  const auto& jobs = trace_->jobs;
  IdSet seen(jobs);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const std::size_t first = seen.insert(i);
    if (first == i) continue;
    --trace_->rows;  // refuse() counts it again
    auto dropped = refuse(Error{Code::invalid,
                                fmt::format("a job id must be unique: \"{}\" is already in line {}",
                                            trace_->id(jobs[i].id), lines_[first]),
                                where(lines_[i])});
    if (!dropped) {
      ++trace_->rows;
      return dropped;
    }
    doubled_.resize(jobs.size());
    doubled_[i] = true;
  }
  return {};
}

/// Leaves out doubled jobs and sorts the rest.
void Intake::reorder() {
  const auto& jobs = trace_->jobs;
  std::vector<std::uint32_t> order;
  order.reserve(jobs.size());
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (doubled_.empty() || !doubled_[i]) order.push_back(static_cast<std::uint32_t>(i));
  }
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return jobs[a].request.submit < jobs[b].request.submit;
  });
  select_jobs(*trace_, order);
}

void Intake::write_notes() {
  auto& notes = trace_->notes;
  if (trace_->dropped > 0) {
    std::string why;
    for (const auto& [text, place] : dropped_) {
      why += fmt::format("{}{} x {} (first in line {})", why.empty() ? "" : "; ", place.first, text,
                         place.second);
    }
    notes.push_back(fmt::format("dropped {} of {} rows: {}", trace_->dropped, trace_->rows, why));
  }
  if (moved_ > 0) {
    notes.push_back(fmt::format(
        "the rows were not in order of submission and have been sorted (out of order: {})",
        moved_));
  }
  for (const auto& [text, count] : remarks_) notes.push_back(fmt::format("{}: {}", text, count));
}

}  // namespace almanac::trace
