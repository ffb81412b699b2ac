// SPDX-License-Identifier: Apache-2.0

/// \file
/// Reads the text output of scontrol and sacct, which has hardly changed between releases, for what
/// 22.05 has no JSON for.
///
/// Times must be requested as seconds since 1970 (SLURM_TIME_FORMAT=%s); otherwise they are in the
/// local time of the calling process.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "slurm/types.h"

namespace almanac::slurm {

using Fields = std::map<std::string, std::string>;

/// "Key=Value Key=Value ..." of one line of scontrol -o. A value may have blanks.
Fields read_fields(std::string_view line);

/// Reads scontrol show partition | reservation | license -o. Skips lines that are not records ("No
/// reservations in the system").
Result<std::vector<Partition>> partitions_in(std::string_view text);
Result<std::vector<Reservation>> reservations_in(std::string_view text);
Result<std::vector<Licence>> licences_in(std::string_view text);
/// The switches above each node (slurm/switches.h), of scontrol show topology -o.
Result<std::map<std::string, std::string>> switches_in(std::string_view text);
/// The fields of scontrol show config: "Key = Value" a line. "(null)" and "N/A" are "".
Fields config_in(std::string_view text);

/// Columns to request from sshare with --format, -n, -a and -P.
inline constexpr std::string_view kShareColumns =
    "Account,User,Partition,RawShares,RawUsage,GrpTRESRaw";
/// Reads that output: the tree by leading blanks of accounts. GPUs are in whole minutes.
Result<std::vector<Association>> associations_in(std::string_view text);

/// Columns to request from sacct with -o. The name, which may contain any bytes, is last.
inline constexpr std::string_view kAccountingColumns =
    "JobIDRaw,JobID,State,Submit,Eligible,Start,End,ElapsedRaw,TimelimitRaw,NNodes,AllocTRES,"
    "ReqTRES,Priority,UID,User,Account,Partition,QOS,JobName";
/// The rows of what sacct printed so: lines, but a name may have several. A user who gives a job
/// its name must not know the delimiter, or a part of the name passes for a row.
std::vector<std::string_view> accounting_rows(std::string_view text, std::string_view delimiter);
/// The job of a row.
Result<Job> accounting_in(std::string_view row, std::string_view delimiter);

}  // namespace almanac::slurm
