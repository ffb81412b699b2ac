// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac kube queue: what waits in a Kueue cluster, why, and when it is expected to start.
#include <memory>

#include <fmt/format.h>

#include "cli/kube_options.h"
#include "cli/list_options.h"
#include "cli/wall_clock.h"

namespace almanac::cli {
namespace {

using figure::Cell;

struct KubeQueueOptions {
  OutlookOptions outlook;
  ListOptions list;
};

Cell start_cell(const kube::Outlook& of, Time start, Time now) {
  if (start == kNoTime) return Cell::nothing("unknown");
  if (start == kNever) return Cell::nothing(of.never_starts ? "never" : "not in 30 days");
  return Cell(start, start <= now ? "now" : clock_text(start, now));
}

figure::Listing kube_queue_rows(const kube::Picture& picture,
                                const std::vector<kube::Outlook>& outlooks) {
  figure::Rows rows(outlooks);
  const auto of = [&](const kube::Outlook& each) -> const kube::Workload& {
    return picture.workloads[each.workload];
  };
  rows.add("workload", "WORKLOAD", [&](const auto& each) { return of(each).full_name(); });
  rows.add("queue", "QUEUE", [](const kube::Outlook& each) {
    return each.cluster_queue.empty() ? Cell::nothing("-") : Cell(each.cluster_queue);
  });
  rows.add("owner", "OWNER", [&](const auto& each) { return of(each).owner; }).wide();
  rows.add("priority", "PRIORITY", [&](const auto& each) { return of(each).priority; }).detail();
  rows.add("gpus", "GPUS", [&](const auto& each) { return of(each).gpus(); });
  rows.add("waited_s", "WAITED", [&](const auto& each) { return Cell(picture.waited(of(each))); });
  rows.add("start_half_s", "START BY (50 %)",
           [&](const kube::Outlook& each) { return start_cell(each, each.start_half, picture.at); })
      .detail();
  rows.add(figure::Tier::key, "start_by_s", "START BY (90 %)",
           [&](const kube::Outlook& each) { return start_cell(each, each.start_by, picture.at); });
  rows.add("kueue_reason", "KUEUE SAYS",
           [&](const auto& each) {
             return of(each).reason.empty() ? Cell::nothing("-") : Cell(of(each).reason);
           })
      .detail();
  rows.add(figure::Tier::key, "reason", "REASON",
           [](const kube::Outlook& each) { return reason_text(each); });
  return rows;
}

Result<int> kube_queue(const KubeQueueOptions& options) {
  const auto picture = options.outlook.picture();
  if (!picture) return tl::unexpected(picture.error());
  const auto outlooks = options.outlook.outlook(*picture);
  if (!outlooks) return tl::unexpected(outlooks.error());
  return options.list.print(
      kube_queue_rows(*picture, *outlooks),
      "Expected starts follow Kueue's rules from now on, without workloads that are still to "
      "come. Nodes are not simulated.\n");
}

}  // namespace

void register_kube_queue(Program& program) {
  CLI::App& command = *kube_noun(program).add_subcommand(
      "queue", "Show pending workloads: why they wait, and when they are expected to start");
  const auto options = std::make_shared<KubeQueueOptions>();
  options->outlook.add_to(command);
  options->list.add_to(command);
  add_example(command, "almanac kube queue");
  add_example(command, "almanac kube queue --log jobs.csv -o wide");
  options->list.on(program, command, [options] { return kube_queue(*options); });
}

}  // namespace almanac::cli
