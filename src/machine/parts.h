// SPDX-License-Identifier: Apache-2.0

/// \file
/// The components of the service of one machine.
#pragma once

#include <utility>
#include <vector>

#include "machine/job_views.h"
#include "machine/machine_cluster.h"
#include "machine/recovery.h"
#include "machine/watching.h"
#include "service/loop.h"
#include "service/notify.h"

namespace almanac::machine {

/// In the order of construction: each knows only earlier components, and its threads use those.
struct Parts {
  /// The service's time is never earlier than `floor`. `clock` must outlive it.
  Parts(Opened opened, Time floor, const service::Clock& clock)
      : state(std::move(opened.config), std::move(opened.store), floor, clock),
        queue(state, std::move(opened.composition)) {}

  State state;
  Gate gate{state.config.limits};  ///< Counts the jobs in the book.
  Starter starter{};
  Accounts accounts{ask_for_user};
  Maintenance maintenance{};
  Forgetting forgetting{state.store, state.outbox, state.config.retention,
                        state.config.requeue_for};
  Queue queue;
  Line line{state, queue};
  Lifecycle lifecycle{state, queue, starter.jobs};
  Meter meter{state};
  Mover mover{state, queue, lifecycle, meter};
  Decider decider{state, queue, lifecycle, mover};
  StartFailures failures{state, queue, lifecycle, starter, accounts};
  Processes processes{state, queue, lifecycle, meter, mover, failures};
  Launcher launcher{state, lifecycle, failures, starter, processes, gate};
  Saving saving{state, line, gate};
  Answers answers{state};
  Requests requests{state, queue, lifecycle, gate, saving, answers};
  Submissions submissions{state, queue, gate, saving, answers};
  Admitter admitter{state, queue, lifecycle, accounts, maintenance};
  MaintenanceWindows windows{state, queue, requests, maintenance};
  OutOfService out_of_service{state, queue, requests};
  Succession succession{{.state = state,
                         .queue = queue,
                         .line = line,
                         .lifecycle = lifecycle,
                         .admitter = admitter,
                         .decider = decider,
                         .out_of_service = out_of_service,
                         .requests = requests}};
  JobViews jobs{{.state = state,
                 .queue = queue,
                 .line = line,
                 .admitter = admitter,
                 .starter = starter,
                 .accounts = accounts,
                 .maintenance = maintenance,
                 .out_of_service = out_of_service}};
  ClusterViews cluster{{.state = state,
                        .queue = queue,
                        .line = line,
                        .meter = meter,
                        .starter = starter,
                        .accounts = accounts,
                        .maintenance = maintenance,
                        .forgetting = forgetting,
                        .out_of_service = out_of_service,
                        .succession = succession}};
  Observer observer{{.state = state,
                     .queue = queue,
                     .meter = meter,
                     .mover = mover,
                     .processes = processes,
                     .requests = requests,
                     .views = cluster}};
  Recovery recovery{{.state = state,
                     .queue = queue,
                     .lifecycle = lifecycle,
                     .gate = gate,
                     .forgetting = forgetting,
                     .mover = mover,
                     .processes = processes,
                     .launcher = launcher,
                     .requests = requests,
                     .submissions = submissions,
                     .maintenance = windows,
                     .out_of_service = out_of_service,
                     .succession = succession}};
  MachineCluster steps{{.state = state,
                        .queue = queue,
                        .line = line,
                        .meter = meter,
                        .mover = mover,
                        .decider = decider,
                        .starter = starter,
                        .accounts = accounts,
                        .windows = maintenance,
                        .failures = failures,
                        .processes = processes,
                        .launcher = launcher,
                        .saving = saving,
                        .answers = answers,
                        .requests = requests,
                        .submissions = submissions,
                        .admitter = admitter,
                        .maintenance = windows,
                        .succession = succession,
                        .forgetting = forgetting,
                        .observer = observer}};
  service::Watchdog watchdog{};
  service::Loop loop{steps, state.bell, watchdog};
  Watching watching{{.state = state,
                     .lifecycle = lifecycle,
                     .processes = processes,
                     .observer = observer,
                     .out_of_service = out_of_service,
                     .jobs = jobs,
                     .cluster = cluster}};
};

}  // namespace almanac::machine
