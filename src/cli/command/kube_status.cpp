// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac kube status: the queues of a Kueue cluster, what they hold and what waits in them.
#include <algorithm>
#include <map>
#include <memory>

#include "cli/kube_options.h"
#include "cli/list_options.h"
#include "kueue/logged_jobs.h"

namespace almanac::cli {
namespace {

struct KubeStatusOptions {
  KubeOptions kube;
  ListOptions list;
};

struct QueueStatus {
  const kueue::ClusterQueue* queue = nullptr;
  std::int64_t pending = 0;
  std::int64_t reserved = 0;  ///< Hold quota and wait for checks.
  std::int64_t admitted = 0;
  std::int64_t gpus = 0;  ///< Of those that hold quota.
  std::int64_t pending_gpus = 0;
  kueue::Amount nominal = 0;
  Time oldest = kNoTime;  ///< Creation of the workload that has waited longest.
};

std::vector<QueueStatus> statuses_of(const kube::Picture& picture) {
  std::vector<QueueStatus> made;
  for (const kueue::ClusterQueue& queue : picture.objects.setup.queues) {
    made.push_back({.queue = &queue, .nominal = kueue::nominal_gpus(queue)});
  }
  for (const kube::Workload& each : picture.workloads) {
    const auto at = picture.queue_at(picture.cluster_queue(each));
    if (!at || each.stage == kube::Stage::finished) continue;
    QueueStatus& of = made[*at];
    if (each.stage == kube::Stage::pending) {
      ++of.pending;
      of.pending_gpus += each.gpus();
      if (of.oldest == kNoTime || each.created < of.oldest) of.oldest = each.created;
    } else {
      ++(each.stage == kube::Stage::admitted ? of.admitted : of.reserved);
      of.gpus += each.gpus();
    }
  }
  return made;
}

figure::Listing status_rows(const std::vector<QueueStatus>& statuses, Time now) {
  figure::Rows rows(statuses);
  rows.add("queue", "QUEUE", [](const QueueStatus& of) { return of.queue->name; });
  rows.add("cohort", "COHORT", [](const QueueStatus& of) {
    return of.queue->cohort.empty() ? figure::Cell::nothing("-") : figure::Cell(of.queue->cohort);
  });
  rows.add("pending", "PENDING", &QueueStatus::pending);
  rows.add("reserved", "RESERVED", &QueueStatus::reserved).detail();
  rows.add("admitted", "ADMITTED", &QueueStatus::admitted);
  rows.add("gpus", "GPUS", &QueueStatus::gpus);
  rows.add("nominal_gpus", "NOMINAL", &QueueStatus::nominal);
  rows.add("borrowed_gpus", "BORROWED",
           [](const QueueStatus& of) { return std::max<std::int64_t>(0, of.gpus - of.nominal); });
  rows.add("pending_gpus", "GPUS PENDING", &QueueStatus::pending_gpus);
  rows.add("longest_wait_s", "LONGEST WAIT", [now](const QueueStatus& of) {
    return of.oldest == kNoTime ? figure::Cell::nothing("-")
                                : figure::Cell(std::max(Duration{0}, now - of.oldest));
  });
  rows.add("strategy", "STRATEGY",
           [](const QueueStatus& of) {
             return of.queue->is_strict ? "StrictFIFO" : "BestEffortFIFO";
           })
      .detail();
  rows.add("stopped", "STOPPED",
           [](const QueueStatus& of) {
             return figure::Cell(of.queue->is_stopped, of.queue->is_stopped ? "yes" : "no");
           })
      .detail();
  return rows;
}

Result<int> kube_status(const KubeStatusOptions& options) {
  auto client = options.kube.client();
  if (!client) return tl::unexpected(client.error());
  const auto picture = kube::take_picture(*client);
  if (!picture) return tl::unexpected(picture.error());
  say_notes(*picture);
  return options.list.print(status_rows(statuses_of(*picture), picture->at));
}

}  // namespace

void register_kube_status(Program& program) {
  CLI::App& command = *kube_noun(program).add_subcommand(
      "status", "Show the queues of a Kueue cluster: quota, workloads, waits");
  const auto options = std::make_shared<KubeStatusOptions>();
  options->kube.add_to(command);
  options->list.add_to(command);
  add_example(command, "almanac kube status");
  options->list.on(program, command, [options] { return kube_status(*options); });
}

}  // namespace almanac::cli
