// SPDX-License-Identifier: Apache-2.0
#include "reproduce/slurm_scenario.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "reproduce/read.h"
#include "reproduce/slurm_changes.h"
#include "site/read.h"
#include "table/csv_reader.h"
#include "table/stream.h"
#include "text/datetime.h"
#include "text/number.h"

namespace almanac::reproduce {
namespace {

using std::string_view;

/// Returns the value of an option in a command line: "-p main", "-pmain", "--partition=main".
std::optional<std::string> option(string_view line, string_view brief, string_view full) {
  const std::vector<string_view> words = parts_of(line, ' ');
  for (std::size_t at = 0; at < words.size(); ++at) {
    const string_view word = words[at];
    if (word == "--wrap") break;
    if (word.starts_with(full) && word.substr(full.size()).starts_with('=')) {
      return std::string(word.substr(full.size() + 1));
    }
    if (!brief.empty() && word.starts_with(brief) && !word.starts_with("--")) {
      if (word.size() > brief.size()) return std::string(word.substr(brief.size()));
      if (at + 1 < words.size()) return std::string(words[at + 1]);
    }
  }
  return std::nullopt;
}

bool has_word(string_view line, string_view wanted) {
  for (const string_view word : parts_of(line, ' ')) {
    if (word == "--wrap") return false;
    if (word == wanted) return true;
  }
  return false;
}

std::optional<Time> moment(string_view text) {
  return text.starts_with("2") ? text::parse_datetime(text) : std::nullopt;
}

std::optional<std::uint32_t> parse_limit(string_view text) {
  if (text == "UNLIMITED") return 0xffff'ffff;
  const auto minutes = text::parse_whole(text);
  if (!minutes) return std::nullopt;
  return static_cast<std::uint32_t>(*minutes);
}

std::int64_t nice_of(string_view line) {
  if (const auto value = option(line, "", "--nice")) {
    return text::parse_whole(*value).value_or(0);
  }
  return has_word(line, "--nice") ? 100 : 0;
}

std::vector<SlurmRun> read_runs(const File& file, const site::Site& site) {
  table::CsvReader rows = value_or_throw(table::CsvReader::open_any(file.path));
  const auto column = [&](string_view name) {
    const auto at = rows.find(name);
    require(at.has_value(), fmt::format("there is no column {}", name));
    return *at;
  };
  std::vector<SlurmRun> runs;
  while (value_or_throw(rows.next())) {
    const auto cell = [&](string_view name) { return rows[column(name)]; };
    const auto submit = moment(cell("Submit"));
    const auto number = text::parse_whole(cell("JobIDRaw"));
    if (!submit || !number) continue;
    SlurmRun run{.number = static_cast<std::uint32_t>(*number),
                 .id = std::string(cell("JobID")),
                 .name = std::string(cell("JobName")),
                 .user = std::string(cell("User")),
                 .account = std::string(cell("Account")),
                 .qos = std::string(cell("QOS")),
                 .state = std::string(cell("State")),
                 .partition = std::string(cell("Partition")),
                 .submit = *submit,
                 .eligible = moment(cell("Eligible")),
                 .start = moment(cell("Start")),
                 .end = moment(cell("End")),
                 .limit_min = parse_limit(cell("TimelimitRaw")),
                 .priority = text::parse_whole(cell("Priority")).value_or(0),
                 .requested = parse_tres(cell("ReqTRES"), site),
                 .held = parse_tres(cell("AllocTRES"), site),
                 .nodes = std::string(cell("NodeList")),
                 .submit_line = std::string(cell("SubmitLine"))};
    run.nice = nice_of(run.submit_line);
    const auto asked = option(run.submit_line, "-p", "--partition");
    for (const string_view each : parts_of(asked ? *asked : run.partition, ',')) {
      run.partitions.emplace_back(each);
    }
    runs.push_back(std::move(run));
  }
  return runs;
}

std::vector<SlurmCommand> read_commands(const File& file) {
  Rows rows(file.path, {"epoch", "command", "rc", "output"});
  std::vector<SlurmCommand> commands;
  while (rows.next()) {
    commands.push_back({.at = parse_epoch(rows.text("epoch")),
                        .text = std::string(rows.text("command")),
                        .output = std::string(rows.text("output")),
                        .is_refused = rows.text("rc") != "0"});
  }
  return commands;
}

/// Returns 52 of "JobId=52" and of "JobId=51_1(52)".
std::optional<std::uint32_t> job_number(string_view line) {
  constexpr string_view kKey = "JobId=";
  const auto at = line.find(kKey);
  if (at == string_view::npos) return std::nullopt;
  line.remove_prefix(at + kKey.size());
  const auto end = line.find_first_not_of("0123456789_");
  if (end != string_view::npos && line[end] == '(') line.remove_prefix(end + 1);
  line = line.substr(0, line.find_first_not_of("0123456789"));
  const auto number = text::parse_whole(line);
  if (!number) return std::nullopt;
  return static_cast<std::uint32_t>(*number);
}

/// "... Normalized usage for user u1 off bio(bio) ...".
std::optional<std::pair<std::string, std::string>> judged_user(string_view line) {
  constexpr string_view kKey = "Normalized usage for user ";
  const auto at = line.find(kKey);
  if (at == string_view::npos) return std::nullopt;
  const std::vector<string_view> words = parts_of(line.substr(at + kKey.size()), ' ');
  if (words.size() < 3) return std::nullopt;
  return std::pair(std::string(words[2].substr(0, words[2].find('('))), std::string(words[0]));
}

SlurmLog read_log(const File& file) {
  SlurmLog log;
  const std::string text = value_or_throw(table::read_text_file(file.path));
  for (const string_view line : parts_of(text, '\n')) {
    if (!line.starts_with('[')) continue;
    const auto at = text::parse_datetime(line.substr(1, line.find(']') - 1));
    if (!at) continue;
    if (line.find("sched: Running job scheduler") != string_view::npos ||
        line.find("_attempt_backfill: beginning") != string_view::npos) {
      log.queues.push_back(*at);
    } else if (line.find("deallocate_nodes: JobId=") != string_view::npos) {
      if (const auto number = job_number(line)) log.ended.emplace(*number, *at);
    } else if (line.find("sched: Allocate JobId=") != string_view::npos ||
               line.find("_start_job: Started JobId=") != string_view::npos) {
      if (const auto number = job_number(line)) log.started.emplace(*number, *at);
    } else if (line.find("_slurm_rpc_submit_batch_job: JobId=") != string_view::npos) {
      if (const auto number = job_number(line)) log.submitted.emplace(*number, *at);
    } else if (auto user = judged_user(line)) {
      log.judged.emplace_back(*at, std::move(*user));
    }
  }
  return log;
}

}  // namespace

bool SlurmRun::is_held_at_submission() const {
  return has_word(submit_line, "-H") || has_word(submit_line, "--hold");
}

bool SlurmRun::is_exclusive() const { return has_word(submit_line, "--exclusive"); }

std::optional<Time> SlurmLog::find(const Instants& instants, std::uint32_t number, Time second) {
  const auto [first, last] = instants.equal_range(number);
  for (auto at = first; at != last; ++at) {
    if (at->second >= second && at->second < second + 1s) return at->second;
  }
  return std::nullopt;
}

Time parse_epoch(string_view text) {
  const auto epoch = text::parse_thousandths(text);
  require(epoch.has_value(), fmt::format("expected seconds since 1970, found '{}'", text));
  return Time(Duration(*epoch));
}

site::TresCounts parse_tres(string_view text, const site::Site& site) {
  site::TresCounts counts;
  for (const string_view each : parts_of(text, ',')) {
    const auto equals = each.find('=');
    if (equals == string_view::npos) continue;
    const auto tres = site.find_tres(each.substr(0, equals));
    if (!tres) continue;
    string_view amount = each.substr(equals + 1);
    double unit = 1;
    if (*tres == site::kMemory && !amount.empty()) {
      constexpr string_view kUnits = "KMGTP";
      const auto at = kUnits.find(amount.back());
      if (at != string_view::npos) {
        amount.remove_suffix(1);
        unit = 1.0 / 1024;
        for (std::size_t step = 0; step < at; ++step) unit *= 1024;
      }
    }
    const auto value = text::parse_decimal(amount);
    require(value.has_value(), fmt::format("expected an amount, found '{}'", each));
    counts.push_back({*tres, static_cast<std::int64_t>(*value * unit)});
  }
  std::sort(counts.begin(), counts.end(),
            [](const auto& a, const auto& b) { return a.tres < b.tres; });
  return counts;
}

SlurmScenario read_slurm_scenario(const Bench& bench, const File& file) {
  SlurmScenario scenario;
  scenario.file = file;
  const std::filesystem::path folder = std::filesystem::path(file.path).parent_path();
  scenario.name = folder.filename().string();
  scenario.site = value_or_throw(site::read_site(folder.string()));
  for (const Json& each : read_json(file).value("sacctmgr", Json::array())) {
    apply_sacctmgr(each.get<std::string>(), scenario.site);
  }
  scenario.runs = read_runs(bench.beside(file, "sacct.txt"), scenario.site);
  scenario.commands = read_commands(bench.beside(file, "commands.csv"));
  const std::filesystem::path name(file.name);
  if (const auto log = bench.find((name.parent_path() / "slurmctld.log").string())) {
    scenario.log = read_log(*log);
  }
  return scenario;
}

void RowTally::count(bool is_right, const std::string& what) {
  ++rows_;
  if (is_right) {
    ++right_;
  } else if (first_wrong_.empty()) {
    first_wrong_ = what;
  }
}

void RowTally::add_to(Bench& bench, const SlurmScenario& scenario, const std::string& what,
                      const std::string& undecided_because) const {
  if (rows_ == 0 && undecided_ == 0) return;
  std::string remark;
  if (!first_wrong_.empty()) remark = "first wrong: " + first_wrong_;
  if (undecided_ != 0) {
    remark += fmt::format("{}{} more undecided: {}", remark.empty() ? "" : "; ", undecided_,
                          undecided_because);
  }
  bench.add({.what = fmt::format("{}: {}", scenario.name, what),
             .published = static_cast<double>(rows_),
             .ours = static_cast<double>(right_),
             .unit = "rows",
             .remark = remark});
}

}  // namespace almanac::reproduce
