// SPDX-License-Identifier: Apache-2.0
#include "slurm/snapshot.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cluster/slurm_words.h"
#include "slurm/read_text.h"
#include "table/output_file.h"
#include "table/stream.h"

namespace almanac::slurm {
namespace {

namespace fs = std::filesystem;

constexpr Duration kPatience = 2min;

constexpr const char* kAssociationColumns =
    "format=Cluster,Account,User,Partition,ParentName,ID,Share,Priority,DefaultQOS,QOS,GrpJobs,"
    "GrpJobsAccrue,GrpSubmit,GrpWall,GrpTRES,GrpTRESMins,GrpTRESRunMins,MaxJobs,MaxJobsAccrue,"
    "MaxSubmit,MaxWall,MaxTRES,MaxTRESPerNode,MaxTRESMins";
constexpr const char* kQosColumns =
    "format=Name,Priority,GraceTime,Preempt,PreemptExemptTime,PreemptMode,Flags,UsageThres,"
    "UsageFactor,LimitFactor,GrpTRES,GrpTRESMins,GrpTRESRunMins,GrpJobs,GrpJobsAccrue,GrpSubmit,"
    "GrpWall,MaxTRES,MaxTRESPerNode,MaxTRESMins,MaxWall,MaxTRESPU,MaxJobsPU,MaxJobsAccruePU,"
    "MaxSubmitPU,MaxTRESPA,MaxJobsPA,MaxJobsAccruePA,MaxSubmitPA,MinTRES";

std::vector<SnapshotFile> files() {
  const std::vector<std::string> qos{"sacctmgr", "-P", "show", "qos"};
  const std::vector<std::string> tree{"sacctmgr", "-P", "show", "assoc", "tree"};
  const auto with = [](std::vector<std::string> command, std::string word) {
    command.push_back(std::move(word));
    return command;
  };
  const std::string columns = kAssociationColumns;
  return {
      {"config.txt", {{"scontrol", "show", "config"}}, true},
      {"nodes.txt", {{"scontrol", "show", "node", "-o"}}, true},
      {"partitions.txt", {{"scontrol", "show", "partition", "-o"}}, true},
      {"reservations.txt", {{"scontrol", "show", "reservation", "-o"}}},
      {"licenses.txt", {{"scontrol", "show", "licenses", "-o"}}},
      {"topology.txt", {{"scontrol", "show", "topology", "-o"}}},
      {"tres.txt", {{"sacctmgr", "-P", "show", "tres"}}},
      {"qos.txt", {with(qos, kQosColumns), qos}},
      // The order of exact ties: by lineage from 23.11 on, by LFT until then.
      {"associations.txt", {with(tree, columns + ",Lineage"), with(tree, columns + ",LFT"), tree}},
      {"shares.txt", {{"sshare", "-alP"}}},
      {"events.txt",
       {{"sacctmgr", "-P", "show", "event", "start=now-60days",
         "format=NodeName,TimeStart,TimeEnd,State,Reason"}}},
      {"sdiag.txt", {{"sdiag"}}},
  };
}

/// Copies a configuration file, and what it includes, by their last names.
class ConfCopier {
 public:
  ConfCopier(std::string folder, Snapshot& made) : folder_(std::move(folder)), made_(made) {}

  Result<void> copy(const fs::path& path) {
    const std::string name = path.filename().string();
    if (!copied_.insert(name).second) return {};
    // A user who may not read the file still has the output of the commands.
    const auto text = table::read_text_file(path.string());
    if (!text) return {};
    std::string kept;
    std::string_view rest = *text;
    while (!rest.empty()) {
      const std::string_view line = cluster::take_line(rest);
      const std::string lower = cluster::in_lower_case(cluster::without_blanks(line));
      std::string packed = lower;  // Slurm allows blanks around the equals sign
      std::erase_if(packed, [](char each) { return each == ' ' || each == '\t'; });
      if (packed.find("pass=") != std::string::npos) continue;
      kept.append(line).push_back('\n');
      constexpr std::string_view kInclude = "include ";
      if (!lower.starts_with(kInclude)) continue;
      fs::path other(std::string{
          cluster::without_blanks(cluster::without_blanks(line).substr(kInclude.size()))});
      if (other.is_relative()) other = path.parent_path() / other;
      if (auto done = copy(other); !done) return done;
    }
    if (auto done = table::write_file(folder_ + "/" + name, kept); !done) return done;
    made_.written.push_back(name);
    return {};
  }

 private:
  std::string folder_;
  Snapshot& made_;
  std::set<std::string> copied_;
};

/// A word as a shell takes it.
std::string quoted(const std::string& word) {
  constexpr std::string_view kPlain = "-_./=,:";
  const bool is_plain = !word.empty() && std::all_of(word.begin(), word.end(), [&](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || kPlain.find(c) != kPlain.npos;
  });
  if (is_plain) return word;
  std::string made = "'";
  for (const char c : word) c == '\'' ? made += "'\\''" : made += c;
  return made + "'";
}

}  // namespace

std::span<const SnapshotFile> snapshot_files() {
  static const std::vector<SnapshotFile> all = files();
  return all;
}

bool Snapshot::is_enough() const {
  return std::none_of(failed.begin(), failed.end(),
                      [](const auto& each) { return each.first->is_needed; });
}

Result<Snapshot> take_snapshot(const std::string& folder, const RunCommand& run) {
  Snapshot made;
  std::string conf_path;
  for (const SnapshotFile& file : snapshot_files()) {
    std::string trouble;
    bool is_written = false;
    for (const std::vector<std::string>& command : file.commands) {
      const auto printed = run(command, kPatience);
      if (printed && printed->status == 0) {
        if (auto done = table::write_file(folder + "/" + file.name, printed->out); !done) {
          return tl::unexpected(done.error());
        }
        if (file.name == "config.txt") conf_path = config_in(printed->out)["SLURM_CONF"];
        is_written = true;
        break;
      }
      trouble =
          printed ? printed->err.substr(0, printed->err.find('\n')) : to_string(printed.error());
    }
    if (is_written)
      made.written.push_back(file.name);
    else
      made.failed.emplace_back(&file, std::move(trouble));
  }
  if (conf_path.empty()) return made;
  ConfCopier copier(folder, made);
  for (const char* const name : {"slurm.conf", "gres.conf", "topology.conf"}) {
    const fs::path beside = fs::path(conf_path).parent_path() / name;
    if (auto done = copier.copy(beside); !done) return tl::unexpected(done.error());
  }
  return made;
}

std::string snapshot_script(const std::string& folder, std::span<const SnapshotFile* const> files) {
  std::string made = fmt::format("mkdir -p {}\nexport SLURM_TIME_FORMAT=%s\n", quoted(folder));
  for (const SnapshotFile* const file : files) {
    // The last form is the one that every release has.
    std::vector<std::string> words;
    for (const std::string& word : file->commands.back()) words.push_back(quoted(word));
    made += fmt::format("{} > {}\n", fmt::join(words, " "), quoted(folder + "/" + file->name));
  }
  return made;
}

}  // namespace almanac::slurm
