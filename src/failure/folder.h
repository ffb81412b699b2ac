// SPDX-License-Identifier: Apache-2.0

/// \file
/// Judges every log of a folder.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "failure/classifier.h"
#include "failure/log_name.h"
#include "failure/verdict.h"

namespace almanac::failure {

struct JudgedLog {
  std::string path{};  ///< Below the folder.
  LogName name{};
  Verdict verdict{};
  std::int64_t bytes = 0;  ///< Unpacked.
  std::string trouble{};   ///< Why it could not be read to its end; "" if it was.
};

/// Judges every regular file below `folder`, in order of paths; skips hidden files, decompresses
/// packed ones, does not follow links to folders. `folder` may be a single log. If a log becomes
/// unreadable, the earlier result counts. Fails with `not_found` if there is no log.
///
/// Cost: each byte once; on all cores, with the same result on any number of them.
Result<std::vector<JudgedLog>> judge_folder(const std::string& folder, const RuleSet& set);

/// Whether `a` says more of why their common attempt failed than `b`: the rule that goes before,
/// then the earlier path.
bool says_more(const RuleSet& set, const JudgedLog& a, const JudgedLog& b);

}  // namespace almanac::failure
