// SPDX-License-Identifier: Apache-2.0
#include "cli/job_words.h"

#include <algorithm>
#include <charconv>
#include <chrono>

#include <fmt/format.h>

#include "cli/wall_clock.h"
#include "sim/pace.h"
#include "text/duration.h"
#include "text/human.h"

namespace almanac::cli {
namespace {

using trace::JobState;

/// Without milliseconds.
std::string length_text(Duration length) {
  return text::format_duration(
      std::chrono::floor<std::chrono::seconds>(std::max(length, Duration(0))));
}

std::string number_text(double value) { return fmt::format("{:g}", value); }

std::string limit_text(const store::Submission& asked) {
  return asked.time_limit == kNoDuration ? "" : length_text(asked.time_limit);
}

std::string where_or_why(const serve::ListedJob& job) {
  const store::Job& of = job.view.job;
  if (of.state == JobState::running) return job.nodes;
  if (of.held) return "(Held)";
  if (of.state == JobState::pending) {
    return job.view.why_word.empty() ? "" : "(" + job.view.why_word + ")";
  }
  return of.reason.empty() ? job.nodes : "(" + of.reason + ")";
}

std::string kept_in_words(const live::Expected& expected) {
  if (!expected.kept) return "";
  return fmt::format("; its deadline is kept with {:.0f} %", 100 * *expected.kept);
}

std::string exit_text(const store::Job& job) {
  if (job.signal != 0) return fmt::format("signal {}", job.signal);
  return job.exit_status ? std::to_string(*job.exit_status) : "";
}

std::string optional_text(const std::optional<double>& value) {
  return value ? number_text(*value) : "";
}

/// Seconds for a program.
std::string seconds_text(Time at) { return at == kNoTime ? "" : fmt::format("{}", seconds(at)); }

}  // namespace

std::string short_state(const store::Job& job) {
  switch (job.state) {
    case JobState::pending:
      return "PD";
    case JobState::running:
      return job.reason.empty() ? "R" : "CG";  // it was told to end
    case JobState::completed:
      return "CD";
    case JobState::failed:
      return "F";
    case JobState::cancelled:
      return "CA";
    case JobState::timeout:
      return "TO";
    case JobState::node_fail:
      return "NF";
    case JobState::preempted:
      return "PR";
    case JobState::unknown:
      break;
  }
  return "?";
}

Duration ran(const store::Job& job, Time now) {
  return job.attained + (job.state == JobState::running ? now - job.since : Duration(0));
}

std::string gpus_text(const store::Submission& asked) {
  if (!asked.gpu_profile.empty()) {
    return asked.gpus == 1 ? asked.gpu_profile
                           : fmt::format("{}x{}", asked.gpus, asked.gpu_profile);
  }
  if (asked.gpu_share < 1) return number_text(asked.gpu_share);
  if (asked.max_gpus > asked.gpus) return fmt::format("{}..{}", asked.gpus, asked.max_gpus);
  return std::to_string(asked.gpus);
}

std::string gpus_text(const serve::ListedJob& listed) {
  const store::Job& job = listed.view.job;
  if (job.state != JobState::running || job.asked->max_gpus == 0) return gpus_text(job.asked);
  return std::to_string(listed.num_gpus_held);
}

std::string start_text(const live::JobView& view, Time now) {
  if (view.job.start != kNoTime) return clock_text(view.job.start, now);
  const std::string known = view.expected ? clock_text(view.expected->start_by, now) : "";
  return known.empty() ? "-" : known;
}

std::string end_text(const live::JobView& view, Time now) {
  if (view.job.end != kNoTime) return clock_text(view.job.end, now);
  if (view.job.asked->endless) return "never";
  const std::string known = view.expected ? clock_text(view.expected->end_by, now) : "";
  return known.empty() ? "-" : known;
}

std::string in_words(const live::Expected& expected, Time now) {
  std::string text;
  if (expected.start_to == kNoTime) {
    text = "it is not known when it starts";
  } else if (expected.start_to <= expected.at) {
    text = "starts at once";
  } else {
    text = fmt::format("starts between {} and {} (90 %)", clock_text(expected.start_from, now),
                       clock_text(expected.start_to, now));
  }
  // As sure as of its latest start, so that no end is told before that.
  if (expected.end_to != kNoTime) {
    text += fmt::format(", ends by {} (95 %)", clock_text(expected.end_to, now));
  }
  return text + kept_in_words(expected);
}

std::string in_words(const live::Pace& pace) {
  const sim::PaceChange now{.rate = pace.rate, .parts = pace.parts};
  const double waits = 1 - pace.parts.computing;
  return fmt::format("{} (as {}){}", sim::to_string(now), pace.model,
                     waits < 0.005 ? ""
                                   : fmt::format("; its GPUs wait for data {} of the time",
                                                 text::human_share(waits)));
}

std::string end_in_words(const live::Expected& expected, Time now) {
  if (expected.end_to == kNoTime) return "it is not known when it ends";
  return fmt::format("ends between {} and {} (90 %)", clock_text(expected.end_from, now),
                     clock_text(expected.end_to, now)) +
         kept_in_words(expected);
}

std::string in_words(const live::WithGpus& other, Time now) {
  std::string text = fmt::format("with {} GPU{}: ", other.gpus, other.gpus == 1 ? "" : "s");
  text += other.end_by == kNoTime
              ? "it is not known when it ends"
              : fmt::format("ends by {} with 90 %", clock_text(other.end_by, now));
  if (other.kept) text += fmt::format("; its deadline is kept with {:.0f} %", 100 * *other.kept);
  return text;
}

void print_queue(const std::vector<serve::ListedJob>& jobs, Time now, bool wide) {
  const bool is_slurm = std::any_of(jobs.begin(), jobs.end(), [](const serve::ListedJob& each) {
    return !each.view.job.asked->partition.empty();
  });
  std::vector<Column> columns{{"JOBID", true}, {"NAME"},       {"USER"},
                              {"ST"},          {"TIME", true}, {"GPUS", true},
                              {"START"},       {"END BY"},     {"NODELIST(REASON)"}};
  if (wide) {
    for (const char* each : {"QOS", "CPUS", "MEM_GB", "LIMIT", "SUBMIT", "PLACE", "GPUS_HELD"}) {
      columns.push_back({each});
    }
  }
  if (wide && is_slurm) {
    columns.push_back({"PARTITION"});
    columns.push_back({"ACCOUNT"});
  }
  std::vector<std::vector<std::string>> rows;
  for (const serve::ListedJob& each : jobs) {
    const store::Job& job = each.view.job;
    rows.push_back({each.id, job.asked->name, job.asked->user, short_state(job),
                    length_text(ran(job, now)), gpus_text(each), start_text(each.view, now),
                    end_text(each.view, now), where_or_why(each)});
    if (!wide) continue;
    const std::string place = each.view.place > 0 ? std::to_string(each.view.place) : "";
    for (const std::string& more :
         {job.asked->qos, optional_text(job.asked->cpus), optional_text(job.asked->memory_gb),
          limit_text(job.asked), clock_text(job.submit, now), place, each.gpus_held}) {
      rows.back().push_back(more);
    }
    if (!is_slurm) continue;
    rows.back().push_back(job.asked->partition);
    rows.back().push_back(job.asked->account);
  }
  print_columns(columns, rows);
}

void print_jobs(const std::vector<serve::ListedJob>& jobs, Time now, bool wide) {
  std::vector<Column> columns{{"JOBID", true}, {"NAME"},  {"USER"}, {"ST"},         {"GPUS", true},
                              {"SUBMIT"},      {"START"}, {"END"},  {"TIME", true}, {"EXIT"}};
  if (wide) {
    columns.push_back({"RUNS", true});
    columns.push_back({"REASON"});
  }
  std::vector<std::vector<std::string>> rows;
  for (const serve::ListedJob& each : jobs) {
    const store::Job& job = each.view.job;
    rows.push_back({each.id, job.asked->name, job.asked->user, short_state(job),
                    gpus_text(job.asked), clock_text(job.submit, now), clock_text(job.start, now),
                    clock_text(job.end, now), length_text(ran(job, now)), exit_text(job)});
    if (!wide) continue;
    rows.back().push_back(std::to_string(job.attempts));
    rows.back().push_back(job.reason.empty() ? each.view.why : job.reason);
  }
  print_columns(columns, rows);
}

void print_jobs_csv(const std::vector<serve::ListedJob>& jobs) {
  const std::vector<std::string> header{
      "job_id",         "name",      "user",     "state",   "gpus",       "gpu_share",
      "cpus",           "memory_gb", "submit_s", "start_s", "end_s",      "expected_start_s",
      "expected_end_s", "attempts",  "nodes",    "reason",  "gpu_profile"};
  std::vector<std::vector<std::string>> rows;
  for (const serve::ListedJob& each : jobs) {
    const store::Job& job = each.view.job;
    const auto& expected = each.view.expected;
    rows.push_back(
        {each.id, job.asked->name, job.asked->user, std::string(trace::to_string(job.state)),
         std::to_string(job.asked->gpus), number_text(job.asked->gpu_share),
         optional_text(job.asked->cpus), optional_text(job.asked->memory_gb),
         seconds_text(job.submit), seconds_text(job.start), seconds_text(job.end),
         expected ? seconds_text(expected->start_by) : "",
         expected ? seconds_text(expected->end_by) : "", std::to_string(job.attempts), each.nodes,
         job.reason.empty() ? each.view.why_word : job.reason, job.asked->gpu_profile});
  }
  print_csv(header, rows);
}

}  // namespace almanac::cli
