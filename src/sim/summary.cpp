// SPDX-License-Identifier: Apache-2.0
#include "sim/summary.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "sim/signature.h"
#include "stats/quantile.h"

namespace almanac::sim {
namespace {

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

/// Means by user or virtual cluster.
class Groups {
 public:
  void add(NameId group, double value) {
    if (sums_.size() <= index(group)) sums_.resize(index(group) + 1);
    sums_[index(group)].total += value;
    ++sums_[index(group)].count;
  }
  double worst_mean() const {
    double worst = kNothing;
    for (const Sum& sum : sums_) {
      if (sum.count > 0 && !(sum.mean() <= worst)) worst = sum.mean();
    }
    return worst;
  }
  /// (sum x)^2 / (n sum x^2) of the means. Jain, Chiu, Hawe, DEC-TR-301, 1984.
  double jain_index() const {
    double total = 0;
    double squares = 0;
    double groups = 0;
    for (const Sum& sum : sums_) {
      if (sum.count == 0) continue;
      total += sum.mean();
      squares += sum.mean() * sum.mean();
      ++groups;
    }
    return groups > 0 ? total * total / (groups * squares) : kNothing;
  }

 private:
  struct Sum {
    double total = 0;
    double count = 0;
    double mean() const { return total / count; }
  };
  std::vector<Sum> sums_;
};

double mean(const std::vector<double>& values) {
  double total = 0;
  for (const double value : values) total += value;
  return values.empty() ? kNothing : total / static_cast<double>(values.size());
}

/// A field of CSV, in quotes where RFC 4180 asks for them.
std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + '"';
}

}  // namespace

Summary summarize(const std::string& policy, const trace::Trace& trace, const Schedule& schedule) {
  Summary made;
  made.policy = policy;
  made.never_startable = schedule.never.size();
  made.events = schedule.events;
  made.engine_wall_s = schedule.wall_s;
  made.signature = signature(trace, schedule);
  std::vector<double> jct;
  std::vector<double> wait;
  Groups user_slowdown;
  Groups user_wait;
  Groups vc_wait;
  double slowdown_total = 0;
  Time last_end = schedule.begin;
  for (std::size_t job = 0; job < schedule.jobs.size(); ++job) {
    const JobResult& record = schedule.jobs[job];
    if (record.phase == policy::Phase::unknown) continue;
    ++made.jobs;
    made.preemptions += record.preemptions;
    if (record.phase != policy::Phase::ended) continue;
    const trace::Request& request = trace.jobs[job].request;
    const Duration completion = record.end - request.submit;
    const Duration waited = completion - record.ran;
    jct.push_back(seconds(completion));
    wait.push_back(seconds(waited));
    if (waited > Duration{0}) ++made.queued_jobs;
    const double run = std::max(10.0, seconds(trace.jobs[job].outcome.run));
    const double slowdown = std::max(1.0, seconds(completion) / run);
    slowdown_total += slowdown;
    user_slowdown.add(request.user, slowdown);
    user_wait.add(request.user, seconds(waited));
    vc_wait.add(request.vc, seconds(waited));
    last_end = std::max(last_end, record.end);
  }
  made.finished = jct.size();
  made.avg_jct_s = mean(jct);
  made.avg_wait_s = mean(wait);
  made.p50_jct_s = stats::quantile(jct, 0.5);
  made.p90_jct_s = stats::quantile(jct, 0.9);
  made.p99_jct_s = stats::quantile(jct, 0.99);
  made.p99_wait_s = stats::quantile(wait, 0.99);
  made.makespan_s = seconds(last_end - schedule.begin);
  made.gpu_occupancy =
      schedule.total_gpu_s > 0 ? schedule.busy_gpu_s / schedule.total_gpu_s : kNothing;
  made.avg_bounded_slowdown =
      made.finished > 0 ? slowdown_total / static_cast<double>(made.finished) : kNothing;
  made.jain_user_slowdown = user_slowdown.jain_index();
  made.worst_user_avg_wait_s = user_wait.worst_mean();
  made.worst_vc_avg_wait_s = vc_wait.worst_mean();
  return made;
}

std::string summary_csv_header() {
  return "policy,jobs,finished,avg_jct_s,p50_jct_s,p90_jct_s,p99_jct_s,avg_wait_s,p99_wait_s,"
         "queued_jobs,makespan_s,gpu_occupancy,avg_bounded_slowdown,preemptions,signature";
}

std::string to_csv_row(const Summary& s) {
  const auto number = [](double value) {
    return std::isfinite(value) ? fmt::format("{}", value) : std::string();
  };
  return fmt::format(
      "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{:016x}", csv_field(s.policy), s.jobs, s.finished,
      number(s.avg_jct_s), number(s.p50_jct_s), number(s.p90_jct_s), number(s.p99_jct_s),
      number(s.avg_wait_s), number(s.p99_wait_s), s.queued_jobs, number(s.makespan_s),
      number(s.gpu_occupancy), number(s.avg_bounded_slowdown), s.preemptions, s.signature);
}

}  // namespace almanac::sim
