// SPDX-License-Identifier: Apache-2.0
#include "reproduce/slurm_starts.h"

#include <algorithm>
#include <map>
#include <optional>
#include <queue>
#include <set>

#include <fmt/format.h>

#include "reproduce/slurm_sacct.h"
#include "reproduce/slurm_words.h"
#include "slurmctld/main_loop/controller.h"
#include "table/csv_reader.h"
#include "table/lines.h"
#include "text/datetime.h"
#include "text/host_list.h"
#include "text/number.h"

namespace almanac::reproduce {
namespace {

using slurmctld::JobNumber;
using slurmctld::NodeAt;
using slurmctld::NodeBits;
using slurmctld::Seconds;

/// Milliseconds since 1970.
using Moment = std::int64_t;

Seconds second_of(Moment at) { return at / 1000; }

/// A job, or a task of an array, as logs name it: "7" is {7, -1}, "7_3(12)" is {7, 3}.
using RunKey = std::pair<JobNumber, int>;

RunKey key_of(std::string_view name) {
  const auto number = [](std::string_view text) { return text::parse_whole(text).value_or(0); };
  const std::size_t under = name.find('_');
  if (under == std::string_view::npos) return {static_cast<JobNumber>(number(name)), -1};
  const std::string_view task = name.substr(under + 1);
  return {static_cast<JobNumber>(number(name.substr(0, under))),
          static_cast<int>(number(task.substr(0, task.find('('))))};
}

std::string name_of(RunKey key) {
  return key.second < 0 ? fmt::format("{}", key.first)
                        : fmt::format("{}_{}", key.first, key.second);
}

enum class What : std::uint8_t { submit, command, default_pass, full_pass, cycle, decay };

struct Happening {
  Moment at = 0;
  What what{};
  JobNumber job = 0;
  std::string command{};
};

struct RecordedStart {
  RunKey job{};
  Moment at = 0;
  std::string nodes{};
  bool by_backfill = false;
};

/// What the log of a scenario says.
struct Record {
  std::vector<Happening> happenings{};
  std::vector<RecordedStart> starts{};
  std::map<RunKey, std::vector<Moment>> lengths{};  // of each run of a job
  std::map<RunKey, std::vector<Moment>> epilogs{};  // length of the epilog after it
  std::map<RunKey, std::vector<Moment>> asked{};    // `sleep` of runs that were cut short, else 0
  std::map<JobNumber, SacctJob> jobs{};
};

Result<void> read_log(const std::string& folder, Record& record) {
  auto lines = table::Lines::open(folder + "/slurmctld.log.gz");
  if (!lines) return tl::unexpected(lines.error());
  std::map<RunKey, Moment> started;
  std::map<RunKey, Moment> ended;
  for (;;) {
    const auto next = lines->next();
    if (!next) return tl::unexpected(next.error());
    if (*next == nullptr) return {};
    const std::string_view line(*next);
    if (!line.starts_with('[')) continue;
    const auto stamp = text::parse_datetime(line.substr(1, line.find(']') - 1));
    if (!stamp) continue;
    const Moment at = stamp->time_since_epoch().count();
    const auto add = [&](What what, JobNumber job = 0) {
      record.happenings.push_back({at, what, job});
    };
    const auto start = [&](std::string_view word, std::string_view nodes, bool by_backfill) {
      started[key_of(word)] = at;
      record.starts.push_back({key_of(word), at, std::string(nodes), by_backfill});
    };
    if (const auto job = word_after(line, "_slurm_rpc_submit_batch_job: JobId=")) {
      add(What::submit, key_of(*job).first);
    } else if (line.find("Running job scheduler for full") != std::string_view::npos) {
      add(What::full_pass);
    } else if (line.find("Running job scheduler for default") != std::string_view::npos) {
      add(What::default_pass);
    } else if (line.find("_attempt_backfill: beginning") != std::string_view::npos) {
      add(What::cycle);
    } else if (const auto by_main = word_after(line, "sched: Allocate JobId=")) {
      const std::string_view rest = line.substr(line.find("NodeList=") + 9);
      start(*by_main, rest.substr(0, rest.find(' ')), false);
    } else if (const auto filled = word_after(line, "_start_job: Started JobId=")) {
      start(*filled, line.substr(line.find(" on ") + 4), true);
    } else if (const auto end = word_after(line, "TRACE_JOBS: deallocate_nodes: JobId=")) {
      const RunKey key = key_of(*end);
      if (started.contains(key)) record.lengths[key].push_back(at - started[key]);
      ended[key] = at;
    } else if (const auto clean = word_after(line, "TRACE_JOBS: cleanup_completing: JobId=")) {
      const RunKey key = key_of(*clean);
      if (ended.contains(key)) record.epilogs[key].push_back(at - ended[key]);
    }
  }
}

Result<void> read_csv(const std::string& path, std::string_view time_column,
                      std::string_view text_column, What what, Record& record) {
  auto lines = table::Lines::open(path);
  if (!lines) return tl::unexpected(lines.error());
  std::vector<std::string> columns;
  bool seen_any = false;
  for (;;) {
    const auto next = lines->next();
    if (!next) return tl::unexpected(next.error());
    if (*next == nullptr) return {};
    // Fields may have quotes; commands have no line breaks before their own column ends.
    std::vector<std::string> cells(1);
    bool quoted = false;
    for (const char each : std::string_view(*next)) {
      if (each == '"') {
        quoted = !quoted;
      } else if (each == ',' && !quoted) {
        cells.emplace_back();
      } else {
        cells.back().push_back(each);
      }
    }
    if (columns.empty()) {
      columns = cells;
      continue;
    }
    const auto cell = [&](std::string_view name) -> std::string {
      const auto at = std::find(columns.begin(), columns.end(), name);
      const auto position = static_cast<std::size_t>(at - columns.begin());
      return position < cells.size() ? cells[position] : "";
    };
    const auto epoch = text::parse_decimal(cell(time_column));
    if (!epoch || (what == What::command && cell("rc") != "0")) continue;
    const std::string text = text_column.empty() ? "" : cell(text_column);
    // The first pass that is recorded followed another one, which had nothing to decay.
    const auto since = text::parse_decimal(cell("seconds"));
    if (what == What::decay && since && !std::exchange(seen_any, true)) {
      record.happenings.push_back({static_cast<Moment>((*epoch - *since) * 1000), what});
    }
    if (text.starts_with("sbatch")) continue;
    record.happenings.push_back({static_cast<Moment>(*epoch * 1000), what, 0, text});
  }
}

class Play {
 public:
  Play(site::Site site, Record record)
      : site_(std::move(site)),
        record_(std::move(record)),
        controller_(site_, {}, true),
        table_(controller_.state().table) {}

  ScenarioAgreement run() {
    std::stable_sort(
        record_.happenings.begin(), record_.happenings.end(),
        [](const Happening& one, const Happening& other) { return one.at < other.at; });
    for (const Happening& each : record_.happenings) {
      finish_until(each.at);
      happen(each);
      collect(each.at);
    }
    return compare();
  }

 private:
  struct Ending {
    Moment at = 0;
    JobNumber number = 0;
    Seconds began = 0;  // of the run that ends
    bool is_epilog = false;
    RunKey key{};
    std::vector<NodeAt> nodes{};

    bool operator>(const Ending& other) const { return at > other.at; }
  };
  struct OurStart {
    RunKey job{};
    Moment at = 0;
    NodeBits nodes{};
    bool by_backfill = false;
  };

  void happen(const Happening& each) {
    const Seconds now = second_of(each.at);
    switch (each.what) {
      case What::submit:
        submit(each.job, now);
        break;
      case What::command:
        command(each.command, now);
        break;
      case What::default_pass:
        controller_.pass(now, false);
        break;
      case What::full_pass:
        controller_.pass(now, true);
        break;
      case What::cycle:
        controller_.cycle(now);
        break;
      case What::decay:
        if (site_.config.priority.type == site::PriorityType::multifactor) controller_.decay(now);
        break;
    }
  }

  void submit(JobNumber number, Seconds now, Seconds delay = 0) {
    const auto row = record_.jobs.find(number);
    if (row == record_.jobs.end()) return;
    auto parsed = slurmctld::parse_command_line(row->second.submit_line, table_);
    if (!parsed) return;
    slurmctld::Job job{.number = number, .ask = *std::move(parsed)};
    job.ask.user = row->second.user;
    job.ask.account = row->second.account;
    job.ask.qos = row->second.qos;
    if (delay > 0) job.ask.begin_delay = delay;
    if (delay > 0) job.ask.held = false;
    for (std::uint32_t at = 0; at < site_.partitions.size(); ++at) {
      const site::Partition& partition = site_.partitions[at];
      const auto& asked = job.ask.partitions;
      const bool is_asked =
          asked.empty() ? partition.is_default
                        : std::find(asked.begin(), asked.end(), partition.name) != asked.end();
      if (is_asked) job.partitions.push_back(at);
    }
    if (job.partitions.empty()) return;
    for (std::uint32_t at = 0; at < site_.qos.size(); ++at) {
      if (site_.qos[at].name == job.ask.qos) job.qos = at;
    }
    const auto association = site_.find_association(job.ask.account, job.ask.user,
                                                    site_.partitions[job.partitions.front()].name);
    if (association >= 0) job.association = static_cast<std::uint32_t>(association);
    slurmctld::apply_defaults(job.ask, site_.partitions[job.partitions.front()], site_.config);
    controller_.submit(std::move(job), now);
  }

  /// Carries out what an operator typed.
  void command(const std::string& text, Seconds now) {
    const auto value = [&](std::string_view key) {
      return std::string(word_after(text, key, " ,").value_or(""));
    };
    if (text.starts_with("scontrol update nodename=")) {
      const bool up = value("state=") == "resume";
      if (const auto node = table_.find_node(value("nodename=")))
        controller_.set_up(*node, up, now);
    } else if (text.starts_with("scontrol release")) {
      each_named(value("-n "), [&](const slurmctld::Job& job) {
        if (job.is_held) controller_.release(job.number, now);
      });
    } else if (text.starts_with("scontrol requeue")) {
      each_named(value("-n "), [&](const slurmctld::Job& job) {
        if (!job.is_running) return;
        begin_epilog(job, {job.array, job.task}, now * 1000);
        requeue(job.number, job.array, now);
      });
    } else if (text.starts_with("scontrol create reservation")) {
      reserve(text, now);
    } else if (text.starts_with("sacctmgr -i modify account")) {
      change_limit(text, value("GrpTRES=cpu="), value("account "), now);
    } else if (text.starts_with("sacctmgr -i modify qos")) {
      for (site::Qos& qos : site_.qos) {
        const auto jobs = text::parse_whole(value("GrpJobs="));
        if (qos.name == value("qos ") && jobs) qos.group.jobs = *jobs;
      }
    }
  }

  template <typename Act>
  void each_named(const std::string& name, Act&& act) {
    std::vector<JobNumber> numbers;
    for (const auto& [number, job] : controller_.state().jobs) {
      if (job.ask.name == name) numbers.push_back(number);
    }
    std::sort(numbers.begin(), numbers.end());
    for (const JobNumber number : numbers) act(*controller_.state().find(number));
  }

  void change_limit(const std::string&, const std::string& cpus, const std::string& account,
                    Seconds) {
    const auto count = text::parse_whole(cpus);
    for (site::Association& each : site_.associations) {
      if (each.account != account || !each.is_account() || !count) continue;
      for (site::TresCount& limit : each.group.tres) {
        if (limit.tres == site::kCpu) limit.count = *count;
      }
    }
  }

  void reserve(const std::string& text, Seconds now) {
    const auto value = [&](std::string_view key) {
      return std::string(word_after(text, key, " ,").value_or(""));
    };
    const auto number = [&](std::string_view key) {
      return text::parse_whole(value(key)).value_or(0);
    };
    slurmctld::ReservedNodes made{.name = value("reservationname="),
                                  .nodes = NodeBits(table_.size()),
                                  .start = now + number("starttime=now+"),
                                  .flex = text.find("flex") != std::string::npos,
                                  .maintenance = text.find("maint,") != std::string::npos};
    made.end = made.start + number("duration=") * 60;
    if (const auto names = text::expand_hosts(value(" nodes=")); names && !names->empty()) {
      for (const std::string& each : *names) {
        if (const auto node = table_.find_node(each)) made.nodes.insert(*node);
      }
    } else {
      // As many nodes of the partition as asked, the first ones.
      auto left = number("nodecnt=");
      for (const site::Partition& partition : site_.partitions) {
        if (partition.name != value("partition=")) continue;
        for (const site::NodeIndex node : partition.nodes) {
          if (left-- > 0) made.nodes.insert(node);
        }
      }
    }
    controller_.reserve(std::move(made), now);
  }

  void requeue(JobNumber number, JobNumber array, Seconds now) {
    controller_.end(number, now, true);
    submit(array, now, site_.config.cred_expire.count() / 1000 + 1);
  }

  /// Ends the jobs that end before `at`, in order.
  void finish_until(Moment at) {
    while (!endings_.empty() && endings_.top().at <= at) {
      const Ending each = endings_.top();
      endings_.pop();
      const Seconds now = second_of(each.at);
      slurmctld::State& state = controller_.state();
      if (each.is_epilog) {
        for (const NodeAt node : each.nodes) --state.completing[node];
        continue;
      }
      const slurmctld::Job* const job = state.find(each.number);
      if (job == nullptr || !job->is_running || job->start != each.began) continue;
      begin_epilog(*job, each.key, each.at);
      controller_.end(each.number, now, fails(each.key.first));
    }
  }

  void begin_epilog(const slurmctld::Job& job, RunKey key, Moment at) {
    Ending epilog{
        at + take(record_.epilogs, key).value_or(0), job.number, job.start, true, key, {}};
    for (const auto& share : job.allocation.shares) {
      epilog.nodes.push_back(share.node);
      ++controller_.state().completing[share.node];
    }
    endings_.push(std::move(epilog));
  }

  bool fails(JobNumber number) const {
    const auto row = record_.jobs.find(number);
    return row != record_.jobs.end() && row->second.state.starts_with("FAILED");
  }

  static std::optional<Moment> take(std::map<RunKey, std::vector<Moment>>& from, RunKey key) {
    const auto found = from.find(key);
    if (found == from.end() || found->second.empty()) return std::nullopt;
    const Moment first = found->second.front();
    if (found->second.size() > 1) found->second.erase(found->second.begin());
    return first;
  }

  /// Notes what has started, and lets it end when its recorded run time is over.
  void collect(Moment at) {
    for (const slurmctld::Preemption& each : controller_.take_preemptions()) {
      preempt(each, at);
    }
    for (const slurmctld::Start& each : controller_.take_starts()) {
      NodeBits nodes(table_.size());
      for (const auto& share : each.allocation.shares) nodes.insert(share.node);
      const RunKey key{each.array, each.task};
      ours_.push_back({key, at, std::move(nodes), each.by_backfill});
      // Slurm writes a start some milliseconds after its pass has begun.
      const Moment began = recorded_near(key, at);
      auto length = take(record_.lengths, key);
      const Moment asked = take(record_.asked, key).value_or(0);
      if (asked > 0) length = asked;
      if (length) endings_.push({began + *length, each.number, each.at, false, key, {}});
    }
  }

  /// Returns the recorded moment of a start that we make at `at`, if there is one right after.
  Moment recorded_near(RunKey key, Moment at) const {
    constexpr Moment kPass = 500;
    for (const RecordedStart& each : record_.starts) {
      if (each.job == key && each.at >= at && each.at < at + kPass) return each.at;
    }
    return at;
  }

  void preempt(const slurmctld::Preemption& each, Moment at) {
    const slurmctld::Job* const victim = controller_.state().find(each.victim);
    if (victim == nullptr || !victim->is_running) return;
    begin_epilog(*victim, {victim->array, victim->task}, at);
    if (each.mode == site::PreemptMode::requeue) {
      requeue(each.victim, victim->array, second_of(at));
    } else {
      controller_.end(each.victim, second_of(at), true);
    }
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

  ScenarioAgreement compare() const {
    ScenarioAgreement result;
    const Moment interval = std::max<Moment>(1000, site_.config.scheduler.bf_interval.count());
    std::map<RunKey, std::vector<const OurStart*>> by_job;
    for (const OurStart& each : ours_) by_job[each.job].push_back(&each);
    std::map<RunKey, std::size_t> runs;
    for (std::size_t at = 0; at < record_.starts.size(); ++at) {
      const RecordedStart& theirs = record_.starts[at];
      count(result.order, at < ours_.size() && ours_[at].job == theirs.job, [&] {
        return fmt::format("start {}: job {} in the log, {} here", at + 1, name_of(theirs.job),
                           at < ours_.size() ? name_of(ours_[at].job) : "none");
      });
      const auto& mine = by_job[theirs.job];
      const std::size_t run = runs[theirs.job]++;
      const OurStart* const own = run < mine.size() ? mine[run] : nullptr;
      const std::string name = name_of(theirs.job);
      count(result.times, own != nullptr && std::abs(own->at - theirs.at) <= interval, [&] {
        return own == nullptr ? fmt::format("job {}: no start here", name)
                              : fmt::format("job {}: {} ms later here", name, own->at - theirs.at);
      });
      if (own == nullptr) continue;
      const NodeBits nodes = nodes_in(table_, theirs.nodes);
      count(result.nodes, own->nodes == nodes, [&] {
        return fmt::format("job {}: nodes {} in the log, {} here", name, names_of(nodes, table_),
                           names_of(own->nodes, table_));
      });
      count(result.starters, own->by_backfill == theirs.by_backfill, [&] {
        return fmt::format("job {}: started by {} in the log", name,
                           theirs.by_backfill ? "backfill" : "the main scheduler");
      });
    }
    return result;
  }

  site::Site site_;
  Record record_;
  slurmctld::Controller controller_;
  const slurmctld::NodeTable& table_;
  std::priority_queue<Ending, std::vector<Ending>, std::greater<>> endings_;
  std::vector<OurStart> ours_;
};

}  // namespace

Result<ScenarioAgreement> play_slurm_scenario(const std::string& folder, site::Site site) {
  Record record;
  auto jobs = read_sacct(folder + "/sacct.txt");
  if (!jobs) return tl::unexpected(jobs.error());
  for (SacctJob& each : *jobs) {
    const bool is_cut = each.state == "PREEMPTED" || each.state == "REQUEUED";
    const auto sleep = word_after(each.submit_line, "sleep ", " ,");
    const Moment asked = is_cut && sleep ? text::parse_whole(*sleep).value_or(0) * 1000 : 0;
    if (each.start > 0) record.asked[{each.array, each.task}].push_back(asked);
    record.jobs.try_emplace(each.array, each);
    record.jobs.try_emplace(each.id, each);
  }
  for (const auto& read :
       {read_log(folder, record),
        read_csv(folder + "/commands.csv", "epoch", "command", What::command, record),
        read_csv(folder + "/decay_passes.csv", "epoch", "", What::decay, record)}) {
    if (!read) return tl::unexpected(read.error());
  }
  return Play(std::move(site), std::move(record)).run();
}

}  // namespace almanac::reproduce
