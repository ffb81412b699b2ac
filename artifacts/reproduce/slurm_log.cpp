// SPDX-License-Identifier: Apache-2.0
#include "reproduce/slurm_log.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reproduce/slurm_sacct.h"
#include "reproduce/slurm_words.h"
#include "slurmctld/backfill/will_run.h"
#include "table/lines.h"
#include "text/datetime.h"
#include "text/host_list.h"
#include "text/number.h"

namespace almanac::reproduce {
namespace {

using slurmctld::Allocation;
using slurmctld::NodeAt;
using slurmctld::NodeBits;
using slurmctld::Seconds;

Seconds at_second(std::string_view text) {
  const auto time = text::parse_datetime(text.substr(0, text.find(',')));
  return time ? static_cast<Seconds>(seconds(*time)) : 0;
}

/// Returns 7 of "7", and 12 of the array task "7_3(12)".
std::uint32_t number_of(std::string_view job) {
  const std::size_t open = job.find('(');
  if (open != std::string_view::npos) job = job.substr(open + 1, job.find(')') - open - 1);
  return static_cast<std::uint32_t>(text::parse_whole(job).value_or(0));
}

/// Returns 7 of "7" and of "7_3(12)": tests of array tasks name the array.
std::uint32_t array_of(std::string_view job) { return number_of(job.substr(0, job.find('_'))); }

class Replay {
 public:
  Replay(const site::Site& site, std::map<std::uint32_t, SacctJob> jobs,
         std::map<std::uint32_t, std::map<NodeAt, int>> cpus)
      : site_(site),
        table_(slurmctld::make_node_table(site)),
        room_(table_),
        jobs_(std::move(jobs)),
        cpus_(std::move(cpus)),
        completing_(table_.size()),
        stale_(table_.size()) {
    for (std::uint32_t at = 0; at < site.partitions.size(); ++at) {
      rules_.push_back(slurmctld::rules_of(site.partitions[at], at));
      room_.watch(rules_.back());
    }
  }

  void read(std::string_view line) {
    if (line.find("Running job scheduler") != std::string_view::npos) return begin_pass();
    if (const auto job = word_after(line, "_slurm_rpc_submit_batch_job: JobId=")) {
      pending_.insert(number_of(*job));
    }
    if (const auto part = word_after(line, "BACKFILL: test for JobId=")) {
      tested_partition_ = word_after(line, "Partition=").value_or("");
    } else if (const auto test = word_after(line, "_dump_job_test: Test JobId=")) {
      predict(*test, line);
    } else if (const auto plan = word_after(line, "_dump_job_sched: JobId=")) {
      compare_plan(*plan, line);
    } else if (const auto start = word_after(line, "sched: Allocate JobId=")) {
      compare_start(*start, *word_after(line, "NodeList="), *word_after(line, "Partition="), false);
    } else if (const auto filled = word_after(line, "_start_job: Started JobId=")) {
      compare_start(*filled, *word_after(line, " on "), *word_after(line, " in "), true);
    } else if (const auto ended = word_after(line, "TRACE_JOBS: deallocate_nodes: JobId=")) {
      end(number_of(*ended));
    } else if (const auto clean = word_after(line, "job_epilog_complete: enter JobId=")) {
      finish_epilog(number_of(*clean));
    } else if (const auto reservation = word_after(line, "Created reservation=")) {
      reserve(*reservation, line);
    }
  }

  LogAgreement result() && { return std::move(agreement_); }

 private:
  struct Held {
    Allocation allocation{};
    std::size_t nodes_with_epilog = 0;
  };
  struct Prediction {
    std::uint32_t job = 0;
    Seconds from = 0;
    std::optional<Seconds> start{};
    NodeBits nodes{};
  };
  struct Reserved {
    std::string name{};
    NodeBits nodes{};
    Seconds start = 0;
    Seconds end = 0;
    bool flex = false;
  };

  /// The main scheduler resets the weights of the nodes that it looks at.
  void begin_pass() {
    for (const std::uint32_t job : pending_) {
      const auto row = jobs_.find(job);
      if (row == jobs_.end()) continue;
      for (std::size_t at = 0; at < site_.partitions.size(); ++at) {
        const std::string& name = site_.partitions[at].name;
        const std::string_view asked = row->second.partition;
        if (asked.find(name) != std::string_view::npos) reset_weights(at);
      }
    }
  }
  void reset_weights(std::size_t partition) {
    nodes_of(partition).each([&](NodeAt node) { stale_[node] = 0; });
  }

  static NodeBits bits_of(const Allocation& allocation, std::size_t size) {
    NodeBits bits(size);
    for (const slurmctld::Share& each : allocation.shares) bits.insert(each.node);
    return bits;
  }
  /// Returns the submission of a job, completed for a partition; null if sacct lacks the job.
  const slurmctld::Submission* submission(std::uint32_t job, std::size_t partition) {
    const auto row = jobs_.find(job);
    if (row == jobs_.end()) return nullptr;
    const auto [at, is_new] = submissions_.try_emplace({job, partition});
    if (is_new) {
      auto parsed = slurmctld::parse_command_line(row->second.submit_line, table_);
      if (!parsed) return nullptr;
      at->second = *std::move(parsed);
      slurmctld::apply_defaults(at->second, site_.partitions[partition], site_.config);
    }
    return &at->second;
  }

  std::optional<std::size_t> partition_called(std::string_view name) const {
    for (std::size_t at = 0; at < site_.partitions.size(); ++at) {
      if (site_.partitions[at].name == name) return at;
    }
    return std::nullopt;
  }

  NodeBits nodes_of(std::size_t partition) const {
    NodeBits bits(table_.size());
    for (const site::NodeIndex node : site_.partitions[partition].nodes) bits.insert(node);
    return bits;
  }

  void predict(std::string_view word, std::string_view line) {
    const Seconds now = at_second(line.substr(1, 19));
    predicted_ = {array_of(word), at_second(*word_after(line, " at "))};
    const auto partition = partition_called(tested_partition_);
    if (!partition) return;
    const slurmctld::Submission* const job = submission(predicted_.job, *partition);
    candidates_[predicted_.job] = nodes_in(table_, *word_after(line, " on "));
    if (job == nullptr) return;
    std::vector<slurmctld::RunningJob> running;
    for (const auto& [id, held] : held_) {
      if (held.nodes_with_epilog > 0) continue;
      const SacctJob& row = jobs_.at(id);
      running.push_back({id, row.start + row.time_limit, &held.allocation, row.time_limit});
    }
    std::sort(running.begin(), running.end());
    slurmctld::Ends ends;
    for (slurmctld::RunningJob& each : running) ends.add(each);
    const slurmctld::Question question{.request = job->request,
                                       .partition = rules_[*partition],
                                       .candidates = candidates_[predicted_.job],
                                       .stale = &stale_};
    slurmctld::FutureFits fits;
    const auto planned =
        slurmctld::will_run(room_, question, fits, {.all = ends, .in_zone = running}, now,
                            {.kill_wait = static_cast<Seconds>(seconds(site_.config.kill_wait))});
    if (!planned) return;
    predicted_.start = planned->start;
    predicted_.nodes = planned->fit->nodes;
    // Backfill starts no job on a node whose last job is still being cleaned up.
    bool is_completing = false;
    predicted_.nodes.each([&](NodeAt node) { is_completing |= completing_[node] > 0; });
    if (planned->start <= now && is_completing) predicted_.start = now + 1;
  }

  void compare_plan(std::string_view word, std::string_view line) {
    if (predicted_.job != array_of(word) || !jobs_.contains(predicted_.job)) return;
    const Seconds planned = at_second(*word_after(line, "to start at "));
    const NodeBits nodes = nodes_in(table_, *word_after(line, "on nodes "));
    const auto& ours = predicted_.start;
    const bool same = ours && std::max(*ours, predicted_.from) == planned;
    const std::string where = fmt::format("{} job {}", line.substr(12, 12), word);
    count(agreement_.planned_starts, same, [&] {
      return fmt::format("{}: start {} in the log, {} here", where, planned,
                         ours ? std::max(*ours, predicted_.from) : 0);
    });
    if (!same) return;
    const NodeBits& mine = predicted_.nodes;
    count(agreement_.planned_nodes, mine == nodes, [&] {
      return fmt::format("{}: nodes {} in the log, {} here", where, names_of(nodes, table_),
                         names_of(mine, table_));
    });
  }

  void compare_start(std::string_view word, std::string_view list, std::string_view name,
                     bool is_backfill) {
    const std::uint32_t id = number_of(word);
    pending_.erase(id);
    const auto partition = partition_called(name);
    if (!partition || !jobs_.contains(id)) return;
    const slurmctld::Submission* const job = submission(id, *partition);
    if (job == nullptr) return;
    reset_weights(*partition);
    NodeBits candidates = nodes_of(*partition);
    for (NodeAt node = 0; node < table_.size(); ++node) {
      if (completing_[node] > 0) candidates.erase(node);
    }
    const auto tested = candidates_.find(array_of(word));
    if (is_backfill && tested != candidates_.end()) candidates &= tested->second;
    if (!is_backfill) apply_reservations(*job, jobs_.at(id), candidates);
    auto ours = slurmctld::choose(room_, {.request = job->request,
                                          .partition = rules_[*partition],
                                          .candidates = candidates,
                                          .stale = &stale_});
    const NodeBits nodes = nodes_in(table_, list);
    const NodeBits mine = ours ? bits_of(*ours, table_.size()) : NodeBits(table_.size());
    count(agreement_.node_lists, mine == nodes, [&] {
      return fmt::format("job {}: nodes {} in the log, {} here; {}", word, names_of(nodes, table_),
                         names_of(mine, table_), jobs_.at(id).submit_line);
    });
    if (!ours || mine != nodes) {
      ours = as_recorded(id, nodes, *job, *partition);
    } else if (const auto recorded = cpus_.find(id); recorded != cpus_.end()) {
      const auto cpus = [](const auto& share) { return std::pair(share.node, share.cpus); };
      std::map<NodeAt, int> chosen;
      for (const auto& share : ours->shares) chosen.insert(cpus(share));
      count(agreement_.cpus_per_node, chosen == recorded->second, [&] {
        return fmt::format("job {}: CPUs {} in the log, {} here", word, recorded->second, chosen);
      });
    }
    room_.take(*ours);
    held_[id] = {*std::move(ours)};
  }

  /// Removes the nodes of reservations that begin before the job's limit, and all others for a job
  /// of a reservation.
  void apply_reservations(const slurmctld::Submission& job, const SacctJob& row,
                          NodeBits& candidates) const {
    for (const Reserved& each : reserved_) {
      if (each.name == job.reservation) {
        if (!each.flex) candidates &= each.nodes;
      } else if (each.end > row.start && each.start < row.start + row.time_limit) {
        candidates -= each.nodes;
      }
    }
  }

  /// Returns what a job held according to the records, where our choice differs.
  Allocation as_recorded(std::uint32_t id, const NodeBits& nodes, const slurmctld::Submission& job,
                         std::size_t partition) {
    // Only the recorded nodes are candidates; should that fail, its total is spread evenly.
    auto chosen = slurmctld::choose(
        room_, {.request = job.request, .partition = rules_[partition], .candidates = nodes});
    if (chosen && bits_of(*chosen, table_.size()) == nodes) return *std::move(chosen);
    Allocation allocation{.partition = static_cast<std::uint32_t>(partition)};
    nodes.each([&](NodeAt node) {
      const int cpus =
          cpus_.contains(id) ? cpus_[id][node] : jobs_.at(id).cpus / static_cast<int>(nodes.size());
      allocation.shares.push_back(
          {.node = node, .cpus = cpus, .memory_mb = cpus * job.request.memory_per_cpu_mb});
    });
    return allocation;
  }

  void end(std::uint32_t id) {
    const auto held = held_.find(id);
    if (held == held_.end() || held->second.nodes_with_epilog > 0) return;
    room_.give_back(held->second.allocation);
    held->second.nodes_with_epilog = held->second.allocation.shares.size();
    for (const auto& share : held->second.allocation.shares) ++completing_[share.node];
  }

  void finish_epilog(std::uint32_t id) {
    const auto held = held_.find(id);
    if (held == held_.end() || held->second.nodes_with_epilog == 0) return;
    if (--held->second.nodes_with_epilog > 0) return;
    for (const auto& share : held->second.allocation.shares) --completing_[share.node];
    held_.erase(held);
  }

  void reserve(std::string_view name, std::string_view line) {
    const auto nodes = word_after(line, " nodes=");
    if (!nodes) return;
    reserved_.push_back(
        {std::string(name), nodes_in(table_, *nodes), at_second(*word_after(line, " start=")),
         at_second(*word_after(line, " end=")), line.find("FLEX") != std::string_view::npos});
  }

  template <typename Describe>
  static void count(Agreement& agreement, bool is_equal, Describe&& describe) {
    ++agreement.all;
    if (is_equal) {
      ++agreement.equal;
    } else {
      agreement.differences.push_back(describe());
    }
  }

  const site::Site& site_;
  slurmctld::NodeTable table_;
  slurmctld::Room room_;
  std::vector<slurmctld::PartitionRules> rules_;
  std::map<std::uint32_t, SacctJob> jobs_;
  std::map<std::uint32_t, std::map<NodeAt, int>> cpus_;  // of jobs whose end the records tell
  std::map<std::pair<std::uint32_t, std::size_t>, slurmctld::Submission> submissions_;
  std::map<std::uint32_t, Held> held_;
  std::set<std::uint32_t> pending_;
  std::map<std::uint32_t, NodeBits> candidates_;  // of the last test of each job
  std::vector<int> completing_;                   // jobs, by node
  slurmctld::StaleWeights stale_;
  std::vector<Reserved> reserved_;
  std::string tested_partition_;
  Prediction predicted_;
  LogAgreement agreement_;
};

/// Reads "Nodes=n[01-02] CPU_IDs=0-3,16" of each job.
Result<std::map<std::uint32_t, std::map<NodeAt, int>>> read_cpus(
    const std::string& path, const slurmctld::NodeTable& table) {
  std::map<std::uint32_t, std::map<NodeAt, int>> cpus;
  auto lines = table::Lines::open(path);
  if (!lines) return tl::unexpected(lines.error());
  std::uint32_t job = 0;
  for (;;) {
    const auto line = lines->next();
    if (!line) return tl::unexpected(line.error());
    if (*line == nullptr) return cpus;
    const std::string_view text(*line);
    if (text.starts_with("JobId=")) job = number_of(*word_after(text, "JobId="));
    const auto ids = word_after(text, " CPU_IDs=");
    const auto nodes = word_after(text, " Nodes=");
    if (!ids || !nodes) continue;
    const auto numbers = text::expand_hosts(fmt::format("c[{}]", *ids));
    const auto names = text::expand_hosts(*nodes);
    if (!numbers || !names) continue;
    for (const std::string& name : *names) {
      if (const auto at = table.find_node(name)) cpus[job][*at] = static_cast<int>(numbers->size());
    }
  }
}

}  // namespace

void Agreement::add_to(Bench& bench, const SlurmScenario& scenario, const std::string& what) const {
  RowTally tally;
  for (int at = 0; at < equal; ++at) tally.count(true, "");
  for (const std::string& each : differences) tally.count(false, each);
  tally.add_to(bench, scenario, what);
}

std::string folder_of(const SlurmScenario& scenario) {
  return scenario.file.path.substr(0, scenario.file.path.rfind('/'));
}

Result<LogAgreement> replay_slurm_log(const std::string& folder, const site::Site& site) {
  auto jobs = read_sacct(folder + "/sacct.txt");
  if (!jobs) return tl::unexpected(jobs.error());
  auto cpus = read_cpus(folder + "/scontrol_jobs.txt", slurmctld::make_node_table(site));
  if (!cpus) return tl::unexpected(cpus.error());
  std::map<std::uint32_t, SacctJob> by_id;
  for (SacctJob& each : *jobs) by_id[each.id] = std::move(each);
  Replay replay(site, std::move(by_id), *std::move(cpus));
  auto lines = table::Lines::open(folder + "/slurmctld.log.gz");
  if (!lines) return tl::unexpected(lines.error());
  for (;;) {
    const auto line = lines->next();
    if (!line) return tl::unexpected(line.error());
    if (*line == nullptr) return std::move(replay).result();
    replay.read(*line);
  }
}

}  // namespace almanac::reproduce
