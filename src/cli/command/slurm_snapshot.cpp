// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac slurm snapshot: collects the description of a Slurm site in a folder, for --cluster. It
/// queries the controller and changes nothing.
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/program.h"
#include "cli/terminal.h"
#include "site/read.h"
#include "slurm/snapshot.h"
#include "text/human.h"

namespace almanac::cli {
namespace {

Result<int> snapshot(const std::string& folder) {
  const auto made = slurm::take_snapshot(folder);
  if (!made) return tl::unexpected(made.error());
  std::vector<const slurm::SnapshotFile*> missing;
  for (const auto& [file, trouble] : made->failed) missing.push_back(file);
  if (!made->written.empty()) {
    fmt::print("Wrote {} to {}: {}\n", text::counted(made->written.size(), "file"), folder,
               fmt::join(made->written, ", "));
  }
  for (const auto& [file, trouble] : made->failed) {
    print_message(fmt::format("not available: {}{}", file->name,
                              trouble.empty() ? "" : " (" + trouble + ")"));
  }
  if (!missing.empty()) {
    fmt::print("Run these commands on a machine of the cluster to add what is missing:\n\n{}\n",
               slurm::snapshot_script(folder, missing));
  }
  if (!made->is_enough()) return kCheckFailed;
  const auto site = site::read_site(folder);
  if (!site) return tl::unexpected(site.error());
  fmt::print("Slurm {} of cluster {}: {}, {}, {}, {}\n", site->config.version, site->config.cluster,
             text::counted(site->nodes.size(), "node"),
             text::counted(site->partitions.size(), "partition"),
             text::counted(site->qos.size(), "QOS", "QOS"),
             text::counted(site->associations.size(), "association"));
  for (const std::string& line : site->assumed) fmt::print("assumed: {}\n", line);
  for (const std::string& line : site->unknown) fmt::print("note: {}\n", line);
  fmt::print("Use it with --cluster {}\n", folder);
  return kDone;
}

}  // namespace

void register_slurm_snapshot(Program& program) {
  CLI::App& command =
      *program.noun(Purpose::run, "slurm", "Advise and steer a Slurm cluster")
           .add_subcommand("snapshot", "Collect the description of this Slurm site in a directory");
  const auto folder = std::make_shared<std::string>("site");
  command.add_option("--out", *folder, "Directory to write")
      ->type_name("DIR")
      ->capture_default_str();
  add_example(command, "almanac slurm snapshot --out site");
  add_example(command, "almanac advise sacct.txt --cluster site");
  add_exit_status(command, "1", "The settings, nodes or partitions are missing");
  program.on(command, [folder] { return snapshot(*folder); });
}

}  // namespace almanac::cli
