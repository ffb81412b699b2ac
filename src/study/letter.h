// SPDX-License-Identifier: Apache-2.0

/// \file
/// The text for a user on what the user's jobs used, made from a template.
///
/// A template is plain text with placeholders in braces: {user}, {jobs} (their number),
/// {gpu_hours}, {idle_gpu_hours}, {summary}, {alerts}, {requests} and {table}. Everything else is
/// kept. A placeholder for which there is nothing to say becomes nothing, and a line that held
/// nothing else is left out with the blank line before it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "study/alerts.h"
#include "study/efficiency.h"
#include "study/right_size.h"

namespace almanac::study {

/// The text if a site has none of its own.
std::string_view default_letter();

/// Fails with invalid, naming the line, for a placeholder that does not exist. `path` is the name
/// of the template in errors.
Result<void> check_letter(std::string_view letter, const std::string& path);

/// What letters are made from.
struct Correspondence {
  const std::vector<JobUse>& jobs;
  const std::vector<RightSize>& sizes;
  const std::vector<Alert>& alerts;
  const Norms& norms;
  const Prices& prices;
};

/// Returns the letter for a user. Requires that check_letter() accepts it.
std::string write_letter(std::string_view letter, const UserUse& user, const Correspondence& about);

}  // namespace almanac::study
