// SPDX-License-Identifier: Apache-2.0

/// \file
/// Cuts what Slurm's commands print into records of fields, which have their keys in lower case.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "site/values.h"

namespace almanac::site {

/// Returns the records of scontrol show, in blocks or with -o: "Key=Value Key=Value". A value may
/// have blanks. A record begins at a line that begins with `key` ("NodeName"). Other lines before
/// the first record are skipped.
std::vector<Record> scontrol_records(const std::string& path, std::string_view text,
                                     std::string_view key);

/// Returns the rows of a table with a header as sacctmgr and sshare print it: split by "|" (-P,
/// -p), or in columns above a line of dashes. Keys are the column names in lower case, without
/// blanks ("def qos" is "defqos"). Leading blanks of a value stay: they are the depth in a tree.
/// Fails with `invalid` if there is no header, or a row has more fields than that.
Result<std::vector<Record>> table_rows(const std::string& path, std::string_view text);

}  // namespace almanac::site
