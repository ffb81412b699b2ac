// SPDX-License-Identifier: Apache-2.0

/// \file
/// Reads the JSON that Slurm's commands (--json) and slurmrestd print, of 22.05 (v0.0.38) to 24.11
/// (v0.0.42). What a release does not tell is missing in the record.
///
/// Names may be any bytes: what is no UTF-8 becomes U+FFFD. A text that is no JSON is corrupt; one
/// that is none of Slurm's, or a record that cannot be right (a job without number or state), is
/// invalid. What Slurm lists under "errors" is not looked at where there are records.
///
/// Source   src/plugins/openapi/v0.0.38 and src/plugins/data_parser/v0.0.39 .. v0.0.42 of Slurm.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "slurm/job.h"
#include "slurm/node.h"

namespace almanac::slurm {

/// Of squeue --json, scontrol show jobs --json, /jobs.
Result<std::vector<Job>> read_jobs(std::string_view json);
/// Of sinfo --json until 22.05, scontrol show nodes --json later, /nodes.
Result<std::vector<Node>> read_nodes(std::string_view json);
Result<std::vector<Partition>> read_partitions(std::string_view json);
Result<std::vector<Reservation>> read_reservations(std::string_view json);
Result<std::vector<Licence>> read_licences(std::string_view json);
/// Of /slurmdb/.../jobs and sacct --json: those that have ended, in the order given, and how many
/// records could not be read.
struct AccountingRows {
  std::vector<Job> jobs{};
  std::int64_t unread = 0;
};
Result<AccountingRows> read_accounting(std::string_view json);
/// Of /shares, which v0.0.40 (23.11) is the first to know.
Result<std::vector<Association>> read_shares(std::string_view json);
/// The release that wrote it, "22.05.8"; "" where it does not say.
Result<std::string> read_release(std::string_view json);
/// What it says went wrong, in one line; "" where nothing did.
Result<std::string> read_trouble(std::string_view json);

}  // namespace almanac::slurm
