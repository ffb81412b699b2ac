// SPDX-License-Identifier: Apache-2.0

/// \file
/// Reads the JSON of Slurm's commands (--json) and slurmrestd, from 22.05 (v0.0.38) to 24.11
/// (v0.0.42). What a release does not report is missing in the record.
///
/// Names may contain any bytes: invalid UTF-8 becomes U+FFFD. Text that is not JSON is `corrupt`.
/// JSON that is not Slurm's, or a record that cannot be right (a job without number or state), is
/// `invalid`. Slurm's "errors" are ignored if there are records.
///
/// Source   src/plugins/openapi/v0.0.38 and src/plugins/data_parser/v0.0.39 .. v0.0.42 of Slurm.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "slurm/types.h"

namespace almanac::slurm {

/// Reads squeue --json, scontrol show jobs --json, /jobs.
Result<std::vector<Job>> read_jobs(std::string_view json);
/// Reads sinfo --json until 22.05, scontrol show nodes --json later, /nodes.
Result<std::vector<Node>> read_nodes(std::string_view json);
Result<std::vector<Partition>> read_partitions(std::string_view json);
Result<std::vector<Reservation>> read_reservations(std::string_view json);
Result<std::vector<Licence>> read_licences(std::string_view json);
/// Reads /slurmdb/.../jobs and sacct --json: ended jobs in the given order, and the number of
/// records that could not be read.
struct AccountingRows {
  std::vector<Job> jobs{};
  std::int64_t unread = 0;
};
Result<AccountingRows> read_accounting(std::string_view json);
/// Reads /shares, available since v0.0.40 (23.11).
Result<std::vector<Association>> read_shares(std::string_view json);
/// Returns the release that wrote it, "22.05.8"; "" if unknown.
Result<std::string> read_release(std::string_view json);
/// Returns its error message in one line; "" if there is none.
Result<std::string> read_trouble(std::string_view json);

}  // namespace almanac::slurm
