// SPDX-License-Identifier: Apache-2.0
#include "energy/job_log.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <deque>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>

#include "base/names.h"
#include "table/csv_reader.h"
#include "text/number.h"

namespace almanac::energy {
namespace {

constexpr std::size_t kRunsOfUser = 100;
constexpr std::size_t kRunsOfSize = 2000;
// So many runs of the size weigh as one run of the user's own would.
constexpr double kPrior = 5;
constexpr double kGpusOfNode = 8;

/// Run times that ended lately, of a user or of a size.
class Runs {
 public:
  explicit Runs(std::size_t most) : most_(most) {}

  void add(double run_s) {
    const auto place = std::lower_bound(sorted_.begin(), sorted_.end(), run_s);
    sorted_.insert(place, run_s);
    order_.push_back(run_s);
    if (order_.size() <= most_) return;
    sorted_.erase(std::lower_bound(sorted_.begin(), sorted_.end(), order_.front()));
    order_.pop_front();
  }
  /// How many lasted longer than `run_s`.
  double longer_than(double run_s) const {
    return static_cast<double>(sorted_.end() -
                               std::upper_bound(sorted_.begin(), sorted_.end(), run_s));
  }

 private:
  std::size_t most_;
  std::vector<double> sorted_;
  std::deque<double> order_;
};

/// Believes when running jobs end, from those that have ended.
class Ends {
 public:
  void learn(const LoggedJob& job) {
    const double run_s = seconds(job.end - job.start);
    of_user(job.user).add(run_s);
    of_size(job).add(run_s);
  }
  /// The probability that `job`, which runs at `now`, has ended `ahead` later.
  double ended(const LoggedJob& job, Time now, Duration ahead) {
    const double age = seconds(now - job.start);
    const double then = age + seconds(ahead);
    const Runs& size = of_size(job);
    const double alike = size.longer_than(age);
    const double prior = alike > 0 ? 1 - size.longer_than(then) / alike : 0.2;
    const Runs& user = of_user(job.user);
    const double own = user.longer_than(age);
    return (own - user.longer_than(then) + kPrior * prior) / (own + kPrior);
  }

 private:
  Runs& of_user(std::uint32_t user) { return users_.try_emplace(user, kRunsOfUser).first->second; }
  Runs& of_size(const LoggedJob& job) {
    const auto bits = std::bit_width(static_cast<std::uint32_t>(std::max(job.gpus, 1)));
    return sizes_.try_emplace(bits, kRunsOfSize).first->second;
  }

  std::unordered_map<std::uint32_t, Runs> users_;
  std::unordered_map<int, Runs> sizes_;
};

/// Jobs and nodes over the time of the log.
class Replay {
 public:
  Replay(const std::vector<LoggedJob>& jobs, Duration step, Duration ahead)
      : jobs_(jobs), step_(step), ahead_(ahead) {
    for (std::uint32_t at = 0; at < jobs.size(); ++at) {
      // Ends before starts, so that a node handed over counts once.
      events_.push_back({jobs[at].end, 0, at});
      events_.push_back({jobs[at].start, 1, at});
      events_.push_back({jobs[at].submit, 2, at});
    }
    std::sort(events_.begin(), events_.end());
    on_node_.resize(node_count(jobs));
  }

  /// With or without the outlook.
  JobDemand run(bool look_out) {
    JobDemand demand;
    demand.outlook.width = kOutlookValues;
    demand.nodes.step = step_;
    demand.nodes.columns.resize(1);
    if (events_.empty()) return demand;
    const auto since = events_.front().at.time_since_epoch();
    demand.nodes.start = Time(since - since % step_);
    std::size_t next = 0;
    for (Time now = demand.nodes.start + step_; next < events_.size(); now += step_) {
      int most = used_;
      while (next < events_.size() && events_[next].at < now) {
        tell(events_[next++]);
        most = std::max(most, used_);
      }
      demand.nodes.columns[0].push_back(most);
      if (look_out) demand.outlook.add(outlook(now, most));
    }
    return demand;
  }

 private:
  struct Event {
    Time at{};
    int kind = 0;  // 0 = ends, 1 = starts, 2 = is submitted
    std::uint32_t job = 0;
    auto operator<=>(const Event&) const = default;
  };

  void tell(const Event& event) {
    const LoggedJob& job = jobs_[event.job];
    if (event.kind == 2) {
      if (job.start > job.submit) waiting_ += job.gpus;
      asked_.emplace_back(event.at, job.gpus);
      return;
    }
    if (job.end <= job.start) return;  // took no time
    const bool starts = event.kind == 1;
    busy_ += starts ? job.gpus : -job.gpus;
    if (starts && job.start > job.submit) waiting_ -= job.gpus;
    if (!starts) ends_.learn(job);
    for (const std::uint32_t node : job.nodes) {
      std::vector<std::uint32_t>& held = on_node_[node];
      if (starts) {
        if (held.empty()) ++used_;
        held.push_back(event.job);
      } else {
        std::erase(held, event.job);
        if (held.empty()) --used_;
      }
    }
  }

  std::array<double, kOutlookValues> outlook(Time now, int most) {
    double nodes_left = 0;
    std::unordered_map<std::uint32_t, double> ended;
    double gpus_freed = 0;
    for (const auto& held : on_node_) {
      if (held.empty()) continue;
      double all_ended = 1;
      for (const std::uint32_t at : held) {
        const auto [found, first] = ended.try_emplace(at, 0.0);
        if (first) {
          found->second = ends_.ended(jobs_[at], now, ahead_);
          gpus_freed += found->second * jobs_[at].gpus;
        }
        all_ended *= found->second;
      }
      nodes_left += 1 - all_ended;
    }
    while (!asked_.empty() && asked_.front().first < now - 3h) asked_.pop_front();
    double hour = 0;
    double three_hours = 0;
    for (const auto& [at, gpus] : asked_) {
      three_hours += gpus;
      if (at >= now - 1h) hour += gpus;
    }
    return {nodes_left - most,  gpus_freed / kGpusOfNode,  waiting_ / kGpusOfNode,
            hour / kGpusOfNode, three_hours / kGpusOfNode, busy_ / kGpusOfNode - most};
  }

  const std::vector<LoggedJob>& jobs_;
  Duration step_;
  Duration ahead_;
  std::vector<Event> events_;
  std::vector<std::vector<std::uint32_t>> on_node_;  // jobs that run there
  std::deque<std::pair<Time, std::int32_t>> asked_;
  Ends ends_;
  int used_ = 0;
  double waiting_ = 0;
  double busy_ = 0;
};

Result<std::vector<std::uint32_t>> parse_nodes(const table::CsvReader& csv, std::size_t column,
                                               std::string_view vc, Names& names) {
  std::vector<std::uint32_t> nodes;
  for (std::string_view rest = csv[column]; !rest.empty();) {
    const std::string_view item = rest.substr(0, rest.find(';'));
    rest.remove_prefix(std::min(rest.size(), item.size() + 1));
    const std::size_t colon = item.rfind(':');
    if (colon == std::string_view::npos) {
      return fail(Code::invalid, fmt::format("expected node:gpus in nodes, found \"{}\"", item),
                  csv.where());
    }
    // A node without a name is known by its number within its virtual cluster.
    const std::string label = fmt::format("{}/{}", vc, item.substr(0, colon));
    nodes.push_back(static_cast<std::uint32_t>(index(names.intern(label))));
  }
  return nodes;
}

}  // namespace

Result<bool> is_job_log(const std::string& path) {
  const auto csv = table::CsvReader::open(path);
  if (!csv) return tl::unexpected(csv.error());
  return csv->find("submit_s") && csv->find("start_s") && csv->find("end_s") && csv->find("nodes");
}

Result<std::vector<LoggedJob>> read_job_log(const std::string& path) {
  auto csv = table::CsvReader::open(path);
  if (!csv) return tl::unexpected(csv.error());
  std::array<std::size_t, 7> columns{};
  constexpr std::array<std::string_view, 7> kColumns = {"submit_s", "start_s", "end_s", "gpus",
                                                        "user",     "vc",      "nodes"};
  for (std::size_t at = 0; at < columns.size(); ++at) {
    const auto found = csv->find(kColumns[at]);
    if (!found) {
      return fail(Code::invalid, fmt::format("column {} is missing", kColumns[at]), {.file = path},
                  "expected jobs.csv of a run");
    }
    columns[at] = *found;
  }
  // A job that was held or depended on another waits only from then.
  if (const auto eligible = csv->find("eligible_s")) columns[0] = *eligible;
  Names users;
  Names nodes;
  std::vector<LoggedJob> jobs;
  while (true) {
    const Result<bool> more = csv->next();
    if (!more) return tl::unexpected(more.error());
    if (!*more) break;
    if ((*csv)[columns[1]].empty() || (*csv)[columns[2]].empty())
      continue;  // never ran, or not out
    std::array<std::int64_t, 4> numbers{};
    for (std::size_t at = 0; at < numbers.size(); ++at) {
      const auto number = text::parse_thousandths((*csv)[columns[at]]);
      if (!number) {
        return fail(
            Code::invalid,
            fmt::format("{} is \"{}\", which is not a number", kColumns[at], (*csv)[columns[at]]),
            csv->where());
      }
      numbers[at] = *number;
    }
    auto held = parse_nodes(*csv, columns[6], (*csv)[columns[5]], nodes);
    if (!held) return tl::unexpected(held.error());
    jobs.push_back({.submit = Time(Duration(numbers[0])),
                    .start = Time(Duration(numbers[1])),
                    .end = Time(Duration(numbers[2])),
                    .gpus = static_cast<std::int32_t>(numbers[3] / 1000),
                    .user = static_cast<std::uint32_t>(index(users.intern((*csv)[columns[4]]))),
                    .nodes = std::move(*held)});
  }
  if (jobs.empty()) return fail(Code::invalid, "has no job that ran", {.file = path});
  return jobs;
}

JobDemand job_demand(const std::vector<LoggedJob>& jobs, Duration step, std::size_t horizon) {
  return Replay(jobs, step, step * static_cast<std::int64_t>(horizon)).run(true);
}

Series node_demand(const std::vector<LoggedJob>& jobs, Duration step) {
  return Replay(jobs, step, step).run(false).nodes;
}

std::size_t node_count(const std::vector<LoggedJob>& jobs) {
  std::size_t nodes = 0;
  for (const LoggedJob& job : jobs) {
    for (const std::uint32_t node : job.nodes) nodes = std::max<std::size_t>(nodes, node + 1);
  }
  return nodes;
}

}  // namespace almanac::energy
