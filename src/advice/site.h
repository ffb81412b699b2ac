// SPDX-License-Identifier: Apache-2.0

/// \file
/// A Slurm site as something to simulate: its nodes as a cluster, its accounting as a job log.
#pragma once

#include "accounting/past_job.h"
#include "advice/advise.h"
#include "base/result.h"
#include "base/time.h"
#include "cluster/cluster.h"
#include "manager/link.h"
#include "trace/trace.h"

namespace almanac::advice {

/// Returns the nodes with GPUs, including those out of service. Each partition with such nodes is a
/// virtual cluster if no two share a node; otherwise all nodes form one that takes every job. Fails
/// with `unavailable` if no node has GPUs.
Result<cluster::Cluster> cluster_of(const manager::News& news);

/// The jobs that ended in [from, until), all runs of one as one. Accounts and QOS own no nodes: a
/// log by these is for a cluster that takes every job. `limits` are those that the site enforces.
Result<experiment::Past> past_of(manager::Link& link, Time from, Time until, accounting::VcFrom vc,
                                 const manager::Limits& limits);

}  // namespace almanac::advice
