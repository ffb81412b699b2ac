// SPDX-License-Identifier: Apache-2.0
#include "slurm/command_link.h"

#include <algorithm>
#include <chrono>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include "base/wall_clock.h"
#include "process/capture.h"
#include "slurm/change_each.h"
#include "slurm/ended.h"
#include "slurm/facts.h"
#include "slurm/own_priority.h"
#include "slurm/read_json.h"
#include "slurm/read_text.h"
#include "slurm/refusals.h"
#include "slurm/skew.h"
#include "text/host_list.h"
#include "text/number.h"

namespace almanac::slurm {
namespace {

constexpr Duration kPatience = 60s;
constexpr Duration kAccountingPatience = 10min;
/// First release of which scontrol prints nodes as JSON; before, sinfo did.
constexpr int kScontrolHasJson = 23;
/// One argument has to stay below 128 KiB (MAX_ARG_STRLEN of Linux).
constexpr std::size_t kNodesAtOnce = 500;
/// All states in which a job, or a run of it, has ended.
constexpr const char* kEndedStates = "BF,CA,CD,DL,F,NF,OOM,PR,RQ,TO";

std::string first_line(std::string_view text) {
  return std::string(text.substr(0, text.find('\n')));
}

std::string last_line(std::string_view text) {
  text = text.substr(0, text.find_last_not_of(" \n") + 1);
  return std::string(text.substr(text.rfind('\n') + 1));
}

std::string number_of(JobNumber job) { return fmt::format("{}", static_cast<std::uint32_t>(job)); }

/// 22 of "22.05.8".
int year_of(const std::string& release) {
  return static_cast<int>(
      text::parse_whole(std::string_view(release).substr(0, release.find('.'))).value_or(0));
}

/// "Configuration data as of 1795317361": the controller's clock.
Duration skew_in(const std::string& config, Time asked, Time answered) {
  const std::string line = first_line(config);
  const auto at = line.rfind(' ');
  const auto clock =
      at == std::string::npos ? std::nullopt : text::parse_whole(line.substr(at + 1));
  if (!clock || *clock <= 0 || *clock > 1'000'000'000'000) return kNoDuration;
  return skew_of(*clock, asked, answered);
}

/// The jobs of sprio's lines (number, priority, its factors) with a priority and no factor but 0.
/// Priority 1 is that of a job whose factors are all 0.
std::set<JobNumber> own_priorities_in(const std::string& printed) {
  std::set<JobNumber> made;
  std::istringstream lines(printed);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::uint32_t job = 0;
    std::uint32_t priority = 0;
    bool has_factor = false;
    words >> job >> priority;
    for (std::string word; words >> word;) has_factor = has_factor || word != "0";
    if (!has_factor && priority > 1) made.insert(JobNumber{job});
  }
  return made;
}

/// "root(0)" names a user and says the number.
bool is_user(const std::string& told, std::uint32_t uid) {
  return told.find(fmt::format("({})", uid)) != std::string::npos;
}

}  // namespace

Result<Printed> run_slurm(const std::vector<std::string>& argv, Duration patience) {
  // By these variables a user tells the commands how to answer a human, or which jobs to leave out.
  auto captured =
      process::capture({.argv = argv,
                        .environment = {{"SLURM_TIME_FORMAT", "%s"}, {"LC_ALL", "C"}},
                        .hidden = {"SQUEUE_", "SINFO_", "SACCT_", "SCONTROL_", "SCANCEL_"}},
                       patience);
  if (!captured) return tl::unexpected(captured.error());
  const int status = captured->ending.good() ? 0 : std::max(1, captured->ending.status);
  return Printed{
      .out = std::move(captured->out), .err = std::move(captured->err), .status = status};
}

Result<std::string> CommandLink::ask(const std::vector<std::string>& argv) {
  auto said = run_(argv, kPatience);
  silent_ = !said;
  if (!said) return tl::unexpected(said.error());
  if (said->status == 0) return std::move(said->out);
  const std::string& why = said->err.empty() ? said->out : said->err;
  silent_ = is_silence(why);
  if (is_without_slurm(why)) return without_slurm();
  // What comes before its last word are attempts.
  return fail(code_of_refusal(why), fmt::format("{}: {}", argv.front(), last_line(why)), {},
              why.find("Munge") == std::string::npos
                  ? ""
                  : "check that munged is running: munge -n | unmunge");
}

Result<Site> CommandLink::site() {
  const Time asked = wall_clock();
  const auto text = ask({"scontrol", "show", "config"});
  if (!text) return tl::unexpected(text.error());
  Site site{.parameters = config_in(*text),
            .skew = skew_in(*text, asked, wall_clock()),
            .uid = ::geteuid()};
  const auto value = [&](const char* key) {
    const auto found = site.parameters.find(key);
    return found == site.parameters.end() ? std::string() : found->second;
  };
  site.version = value("SLURM_VERSION");
  site.cluster = value("ClusterName");
  site.controller = value("SlurmctldHost[0]");
  if (site.version.empty()) {
    return fail(Code::invalid, "scontrol show config prints no SLURM_VERSION", {},
                "check that this scontrol is Slurm's");
  }
  if (site.skew != kNoDuration) skew_ = site.skew;
  works_out_priorities_ = value("PriorityType") == "priority/multifactor";
  keeps_shares_ = value("AccountingStorageType") == "accounting_storage/slurmdbd";
  // A site without topology/tree has none to show, and may say so as an error.
  const auto topology = ask({"scontrol", "show", "topology", "-o"});
  auto switches = topology ? switches_in(*topology) : std::map<std::string, std::string>();
  if (!switches) return tl::unexpected(switches.error());
  switches_ = std::move(*switches);
  const auto federation = ask({"scontrol", "show", "federation"});
  site.federated = federation && federation->find("Federation:") != std::string::npos;
  site.is_operator = site.uid == 0 || is_user(value("SlurmUser"), site.uid);
  // sacctmgr knows users by their names only.
  const passwd* const user = *site.is_operator ? nullptr : ::getpwuid(site.uid);
  if (user != nullptr) {
    const auto level = ask({"sacctmgr", "-nP", "show", "user", user->pw_name, "format=adminlevel"});
    site.is_operator = level && (level->find("Operator") != std::string::npos ||
                                 level->find("Administrator") != std::string::npos);
  }
  tell_facts(site);
  return site;
}

void CommandLink::renew_associations() {
  const Time now = wall_clock();
  if (!keeps_shares_) return;
  if (associations_seen_ != kNoTime && now - associations_seen_ < kSharesPause) return;
  associations_seen_ = now;
  const auto said =
      run_({"sshare", "-n", "-a", "-P", fmt::format("--format={}", kShareColumns)}, kPatience);
  // Users without rights, and sites without fair share, are told nothing: then there are no shares.
  if (!said || said->status != 0) return;
  if (auto told = associations_in(said->out)) associations_ = std::move(*told);
}

Result<Picture> CommandLink::picture() {
  Picture made;
  const auto jobs_text = ask({"squeue", "--json", "--all", "--states=all"});
  if (!jobs_text) return tl::unexpected(jobs_text.error());
  made.at = wall_clock() + skew_;
  const auto release = read_release(*jobs_text);
  if (!release) return tl::unexpected(release.error());
  auto jobs = read_jobs(*jobs_text);
  if (!jobs) return tl::unexpected(jobs.error());
  made.jobs = std::move(*jobs);
  if (works_out_priorities_) {
    const auto told = ask({"sprio", "--noheader", "--format=%i %Y %A %B %F %J %P %Q %S %N %T"});
    if (!told) return tl::unexpected(told.error());
    tell_own_priorities(made.jobs, own_priorities_in(*told));
  }

  const auto nodes_text = year_of(*release) >= kScontrolHasJson
                              ? ask({"scontrol", "show", "nodes", "--json"})
                              : ask({"sinfo", "--json"});
  if (!nodes_text) return tl::unexpected(nodes_text.error());
  auto nodes = read_nodes(*nodes_text);
  if (!nodes) return tl::unexpected(nodes.error());
  made.nodes = std::move(*nodes);
  for (slurm::Node& node : made.nodes) {
    const auto found = switches_.find(node.name);
    if (found != switches_.end()) node.switches = found->second;
  }

  const auto show = [&](const char* what, auto&& read, auto& into) -> Result<void> {
    const auto text = ask({"scontrol", "show", what, "-o"});
    if (!text) return tl::unexpected(text.error());
    auto records = read(*text);
    if (!records) return tl::unexpected(records.error());
    into = std::move(*records);
    return {};
  };
  if (auto told = show("partition", partitions_in, made.partitions); !told) {
    return tl::unexpected(told.error());
  }
  if (auto told = show("reservation", reservations_in, made.reservations); !told) {
    return tl::unexpected(told.error());
  }
  if (auto told = show("license", licences_in, made.licences); !told) {
    return tl::unexpected(told.error());
  }
  renew_associations();
  made.associations = associations_;
  return made;
}

Result<News> CommandLink::news() {
  auto made = picture();
  if (!made) {
    differences_.forget();
    return tl::unexpected(made.error());
  }
  return differences_.to(std::move(*made));
}

Result<void> CommandLink::change_one(const JobChange& change) {
  const std::string job = number_of(change.job);
  std::vector<std::string> update{"scontrol", "update", "jobid=" + job};
  const bool is_usual = change.priority == JobChange::kUsual;
  if (change.required_nodes) update.push_back("ReqNodeList=" + *change.required_nodes);
  if (change.comment) update.push_back("AdminComment=" + *change.comment);
  if (change.shards) update.push_back(fmt::format("Gres=shard:{}", *change.shards));
  if (change.begins) {
    const bool is_past = *change.begins <= wall_clock() + skew_;
    update.push_back("StartTime=" + (is_past ? "now" : in_uts(*change.begins)));
  }
  if (change.site_factor) update.push_back(fmt::format("SiteFactor={}", *change.site_factor));
  if (change.priority && !is_usual) update.push_back(fmt::format("Priority={}", *change.priority));
  std::vector<std::vector<std::string>> commands;
  // A job that is held takes no priority before it is released; one that is released may start at
  // once, so what says where goes before.
  const bool to_release = change.held == false || is_usual;
  if (to_release && change.priority && !is_usual) {
    const std::string priority = std::move(update.back());
    update.pop_back();
    if (update.size() > 3) commands.push_back(update);
    commands.push_back({"scontrol", "release", job});
    commands.push_back({"scontrol", "update", "jobid=" + job, priority});
  } else {
    if (update.size() > 3) commands.push_back(update);
    if (to_release) commands.push_back({"scontrol", "release", job});
  }
  if (change.held == true) {
    commands.push_back({"scontrol", change.of_user ? "uhold" : "hold", job});
  }
  for (const auto& command : commands) {
    if (auto done = ask(command); !done) return tl::unexpected(done.error());
  }
  return {};
}

std::vector<Result<void>> CommandLink::change(std::span<const JobChange> changes) {
  return change_each(changes, silent_, [this](const JobChange& each) { return change_one(each); });
}

Result<void> CommandLink::end(JobNumber job, Fate fate) {
  const std::string number = number_of(job);
  Result<std::string> done;
  switch (fate) {
    case Fate::requeue:
      // Else Slurm would run one that has ended once more.
      done = ask({"scontrol", "requeue", "Incomplete", number});
      break;
    case Fate::suspend:
      done = ask({"scontrol", "suspend", number});
      break;
    case Fate::resume:
      done = ask({"scontrol", "resume", number});
      break;
    case Fate::cancel:
      done = ask({"scancel", number});
      break;
  }
  if (!done) return tl::unexpected(done.error());
  return {};
}

Result<void> CommandLink::power(std::span<const std::string> nodes, bool on) {
  return update(nodes, on ? "state=power_up" : "state=power_down");
}

Result<void> CommandLink::weigh(std::span<const std::string> nodes, std::uint32_t weight) {
  return update(nodes, fmt::format("weight={}", weight));
}

Result<void> CommandLink::update(std::span<const std::string> nodes, const std::string& what) {
  while (!nodes.empty()) {
    const auto some = nodes.first(std::min(nodes.size(), kNodesAtOnce));
    nodes = nodes.subspan(some.size());
    const auto done = ask({"scontrol", "update", "nodename=" + text::join_hosts(some), what});
    if (!done) return tl::unexpected(done.error());
  }
  return {};
}

Result<void> CommandLink::ended(Time from, Time until, const TakeEnded& take) {
  const std::string delimiter = fmt::format("|{:08x}|", std::random_device{}());
  const auto said =
      run_({"sacct", "--allusers", "--allocations", "--duplicates", "--noheader", "--parsable2",
            "--delimiter=" + delimiter, "--state", kEndedStates, "--starttime", in_uts(from),
            "--endtime", in_uts(until + 1s), "--format", std::string(kAccountingColumns)},
           kAccountingPatience);
  if (!said) return tl::unexpected(said.error());
  if (said->status != 0) {
    return fail(code_of_refusal(said->err), "sacct: " + first_line(said->err), {},
                "without accounting (slurmdbd) there is no history to learn from");
  }
  std::vector<Job> jobs;
  unread_rows_ = 0;
  for (const std::string_view row : accounting_rows(said->out, delimiter)) {
    if (auto job = accounting_in(row, delimiter)) {
      jobs.push_back(std::move(*job));
    } else {
      ++unread_rows_;
    }
  }
  keep_ended(jobs, from, until);
  for (Job& job : jobs) {
    if (auto taken = take(std::move(job)); !taken) return taken;
  }
  return {};
}

}  // namespace almanac::slurm
