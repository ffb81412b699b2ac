// SPDX-License-Identifier: Apache-2.0

/// \file
/// A Slurm site as something to be played: its nodes as a cluster, its accounting as a job log.
#pragma once

#include "accounting/past_job.h"
#include "advice/advise.h"
#include "base/result.h"
#include "base/time.h"
#include "cluster/cluster.h"
#include "slurm/link.h"
#include "trace/trace.h"

namespace almanac::advice {

/// The nodes with GPUs, those out of service too: each partition that has some is a virtual
/// cluster, if none shares a node with another; else all are one, which takes every job. Fails with
/// unavailable where no node has GPUs.
Result<cluster::Cluster> cluster_of(const slurm::News& news);

/// The jobs that ended in [from, until), all runs of one as one. Accounts and QOS own no nodes: a
/// log by these is for a cluster that takes every job. `limits` are those that the site enforces.
Result<experiment::Past> past_of(slurm::Link& link, Time from, Time until, accounting::VcFrom vc,
                                 const slurm::Limits& limits);

}  // namespace almanac::advice
