// SPDX-License-Identifier: Apache-2.0
#include "cli/job_words.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <functional>
#include <utility>

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
  if (of.state == JobState::running) {
    return of.lost_output == 0 ? job.nodes : job.nodes + " (output lost)";
  }
  if (of.held) return "(Held)";
  if (of.state == JobState::pending) {
    return job.view.why_word.empty() ? "" : "(" + job.view.why_word + ")";
  }
  return of.reason.empty() ? job.nodes : "(" + of.reason + ")";
}

std::string history_in_words(const service::Expected& expected) {
  return expected.has_little_history() ? ", based on little history" : "";
}

std::string kept_in_words(const service::Expected& expected) {
  if (!expected.kept) return "";
  return fmt::format("; meets its deadline with {:.0f} % probability", 100 * *expected.kept);
}

std::string exit_text(const store::Job& job) {
  if (job.signal != 0) return fmt::format("signal {}", job.signal);
  return job.exit_status ? std::to_string(*job.exit_status) : "";
}

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

std::string lost_text(std::int64_t bytes) {
  return bytes == 0 ? "" : text::grouped(bytes) + " bytes lost, the log lacks them";
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

std::string start_text(const service::JobView& view, Time now) {
  // A job that was stopped waits for its next start.
  const bool waits = view.job.state == JobState::pending;
  if (view.job.start != kNoTime && !waits) return clock_text(view.job.start, now);
  const std::string known = view.expected ? clock_text(view.expected->start_by, now) : "";
  return known.empty() ? "-" : known;
}

std::string end_text(const service::JobView& view, Time now) {
  if (view.job.end != kNoTime) return clock_text(view.job.end, now);
  if (view.job.asked->endless) return "never";
  const std::string known = view.expected ? clock_text(view.expected->end_by, now) : "";
  return known.empty() ? "-" : known;
}

std::string in_words(const service::Expected& expected, Time now) {
  std::string text;
  if (expected.start_to == kNoTime) {
    text = "start unknown";
  } else if (expected.start_to <= expected.at) {
    text = "starts immediately";
  } else {
    text = fmt::format("starts between {} and {} (90 %)", clock_text(expected.start_from, now),
                       clock_text(expected.start_to, now));
  }
  // The same probability as for the latest start, so that no end is before that.
  if (expected.end_to != kNoTime) {
    text += fmt::format(", ends by {} (95 %){}", clock_text(expected.end_to, now),
                        history_in_words(expected));
  }
  return text + kept_in_words(expected);
}

std::string in_words(const service::Pace& pace) {
  const sim::PaceChange now{.rate = pace.rate, .parts = pace.parts};
  const double waits = 1 - pace.parts.computing;
  return fmt::format("{} (as {}){}", sim::to_string(now), pace.model,
                     waits < 0.005 ? ""
                                   : fmt::format("; its GPUs wait for data {} of the time",
                                                 text::human_share(waits)));
}

std::string end_in_words(const service::Expected& expected, Time now) {
  if (expected.end_to == kNoTime) return "end unknown";
  // The forecast may be some seconds old, and the job still runs.
  const Time from = std::max(expected.end_from, now);
  return fmt::format("ends between {} and {} (90 %){}", clock_text(from, now),
                     clock_text(std::max(expected.end_to, from), now), history_in_words(expected)) +
         kept_in_words(expected);
}

std::string in_words(const service::WithGpus& other, Time now) {
  std::string text = fmt::format("with {} GPU{}: ", other.gpus, other.gpus == 1 ? "" : "s");
  text += other.end_by == kNoTime ? "end unknown"
                                  : fmt::format("ends by {} (90 %)", clock_text(other.end_by, now));
  if (other.kept)
    text += fmt::format("; meets its deadline with {:.0f} % probability", 100 * *other.kept);
  return text;
}

figure::Listing job_rows(const std::vector<serve::ListedJob>& jobs, Time now, JobList list) {
  using figure::Cell;
  using figure::Tier;
  const bool is_queue = list == JobList::queue;
  const Tier only_past = is_queue ? Tier::data : Tier::wide;
  const bool is_slurm = std::any_of(jobs.begin(), jobs.end(), [](const serve::ListedJob& each) {
    return !each.view.job.asked->partition.empty();
  });
  figure::Rows rows(jobs);
  const auto add_job = [&](const char* name, const char* label, const auto& get) -> auto& {
    return rows.add(name, label,
                    [&](const serve::ListedJob& each) { return Cell(get(each.view.job)); });
  };
  const auto add_asked = [&](const char* name, const char* label, const auto& get) -> auto& {
    return rows.add(name, label, [&](const serve::ListedJob& each) {
      return Cell(std::invoke(get, *each.view.job.asked.operator->()));
    });
  };
  using store::Job;
  using store::Submission;
  rows.add("job_id", "JOBID", &serve::ListedJob::id).right();
  add_asked("name", "NAME", &Submission::name);
  add_asked("user", "USER", &Submission::user).detail();
  add_job("state", "ST",
          [](const Job& job) { return Cell(trace::to_string(job.state), short_state(job)); });
  add_job("elapsed_s", "TIME", [&](const Job& job) {
    const Duration elapsed = ran(job, now);
    return Cell(elapsed, length_text(elapsed));
  }).table_only();
  rows.add("gpus", "GPUS", [&](const serve::ListedJob& each) {
    const Submission& asked = each.view.job.asked;
    return Cell(asked.gpus, is_queue ? gpus_text(each) : gpus_text(asked));
  });
  add_asked("gpu_share", "GPU_SHARE", &Submission::gpu_share).data();
  add_asked("cpus", "CPUS", &Submission::cpus).wide();
  add_asked("memory_gb", "MEM_GB", &Submission::memory_gb).wide();
  const auto time_of = [&](Time at) { return Cell(at, clock_text(at, now)); };
  add_job("submit_s", "SUBMIT", [&](const Job& job) {
    return time_of(job.submit);
  }).in(is_queue ? Tier::wide : Tier::detail);
  rows.add("start_s", "START", [&](const serve::ListedJob& each) {
    return is_queue ? Cell(each.view.job.start, start_text(each.view, now))
                    : time_of(each.view.job.start);
  });
  rows.add("end_s", is_queue ? "END BY" : "END", [&](const serve::ListedJob& each) {
    return is_queue ? Cell(each.view.job.end, end_text(each.view, now))
                    : time_of(each.view.job.end);
  });
  const auto add_expected = [&](const char* name, Time service::Expected::*at) {
    rows.add(Tier::data, name, [&](const serve::ListedJob& each) {
      return each.view.expected ? Cell(*each.view.expected.*at) : Cell();
    });
  };
  add_expected("expected_start_s", &service::Expected::start_by);
  add_expected("expected_end_s", &service::Expected::end_by);
  add_job("exit", "EXIT", exit_text).in(is_queue ? Tier::data : Tier::usual).left().table_only();
  add_job("attempts", "RUNS", [](const Job& job) { return job.attempts; }).in(only_past);
  rows.add(is_queue ? Tier::usual : Tier::wide, "nodes", is_queue ? "NODELIST(REASON)" : "NODES",
           [&](const serve::ListedJob& each) {
             return is_queue ? Cell(each.nodes, where_or_why(each)) : Cell(each.nodes);
           });
  rows.add(only_past, "reason", "REASON", [](const serve::ListedJob& each) {
    const std::string& reason = each.view.job.reason;
    if (reason.empty() && each.view.job.lost_output > 0) return Cell("output lost");
    return reason.empty() ? Cell(each.view.why_word, each.view.why) : Cell(reason);
  });
  add_asked("gpu_profile", "GPU_PROFILE", &Submission::gpu_profile).data();
  add_asked("time_limit_s", "LIMIT",
            [](const Submission& asked) { return Cell(asked.time_limit, limit_text(asked)); })
      .wide()
      .table_only();
  add_asked("qos", "QOS", &Submission::qos).wide().table_only();
  rows.add(is_queue ? Tier::wide : Tier::data, "place", "PLACE",
           [](const serve::ListedJob& each) {
             return each.view.place > 0 ? Cell(each.view.place) : Cell();
           })
      .table_only();
  rows.add(is_queue ? Tier::wide : Tier::data, "gpus_held", "GPUS_HELD",
           &serve::ListedJob::gpus_held)
      .table_only();
  const Tier only_slurm = is_slurm ? Tier::wide : Tier::data;
  add_asked("partition", "PARTITION", &Submission::partition).in(only_slurm).table_only();
  add_asked("account", "ACCOUNT", &Submission::account).in(only_slurm).table_only();
  return rows;
}

}  // namespace almanac::cli
