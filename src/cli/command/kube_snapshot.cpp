// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac kube snapshot: writes queues, workloads and nodes of a Kueue cluster as files for
/// --queues, as a job log and for --cluster; of a cluster with Volcano or KAI the latter two. It
/// changes nothing on the cluster.
#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/kube_options.h"
#include "kube/pod_groups.h"
#include "kube/snapshot.h"
#include "text/human.h"

namespace almanac::cli {
namespace {

struct KubeSnapshotOptions {
  KubeOptions kube;
  std::string folder = "site";
  std::string user_label;
};

Result<int> kube_snapshot(const KubeSnapshotOptions& options) {
  auto client = options.kube.client();
  if (!client) return tl::unexpected(client.error());
  const auto picture = kube::take_picture_of_any(*client, options.user_label);
  if (!picture) return tl::unexpected(picture.error());
  for (const std::string& each : picture->notes) note(each);
  const auto written = kube::write_snapshot(*picture, options.folder);
  if (!written) return tl::unexpected(written.error());
  for (const std::string& each : written->notes) note(each);
  fmt::print("Wrote {} to {}: {}\n", text::counted(written->files.size(), "file"), options.folder,
             fmt::join(written->files, ", "));
  const bool has_kueue = !picture->objects_json.empty();
  fmt::print(
      "{}, {}, {}\n",
      text::counted(picture->objects.setup.queues.size(), has_kueue ? "ClusterQueue" : "queue"),
      text::counted(picture->workloads.size(), has_kueue ? "workload" : "PodGroup"),
      text::counted(picture->nodes.size(), "node"));
  const bool has_nodes =
      std::count(written->files.begin(), written->files.end(), "cluster.toml") > 0;
  if (!has_kueue) {
    fmt::print("Use them: almanac study {0}/jobs.csv, almanac advise {0}/jobs.csv{1}\n",
               options.folder,
               has_nodes ? fmt::format(" --cluster {}/cluster.toml", options.folder) : "");
    return kDone;
  }
  fmt::print("Use them: almanac simulate {0}/jobs.csv --queues {0}/queues.json{1} --policy kueue\n",
             options.folder,
             has_nodes ? fmt::format(" --cluster {}/cluster.toml", options.folder) : "");
  return kDone;
}

}  // namespace

void register_kube_snapshot(Program& program) {
  CLI::App& command = *kube_noun(program).add_subcommand(
      "snapshot", "Write queues, workloads and nodes as files for other commands");
  const auto options = std::make_shared<KubeSnapshotOptions>();
  options->kube.add_to(command);
  command.add_option("--out", options->folder, "Folder to write")
      ->type_name("DIR")
      ->capture_default_str();
  command
      .add_option("--user-label", options->user_label,
                  "Label of workloads that names the user (default: the namespace is the user)")
      ->type_name("LABEL");
  add_example(command, "almanac kube snapshot --out site");
  program.on(command, [options] { return kube_snapshot(*options); });
}

}  // namespace almanac::cli
