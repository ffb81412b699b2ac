// SPDX-License-Identifier: Apache-2.0

/// \file
/// The kinds of job whose history is kept: the ways in which a job can be like earlier ones.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/names.h"
#include "trace/job.h"

namespace almanac::predict {

/// Roughly from the most to the least similar.
enum class Kind : std::uint8_t {
  user_name,
  user_stem,
  user_shape,
  user_limit,
  user_vc,
  user_gpus,
  user,
  name,
  stem,
  shape,
  vc_gpus,
  vc,
  gpus,
  all,
};
inline constexpr std::size_t kKinds = 14;

/// Returns, for example, "jobs of this user with this name", for sentences about a prediction.
std::string_view words_of(Kind kind);

/// Equal numbers mean the same kind of job in any log and session. 0 means unknown: a job without a
/// user has no kind by user.
using KindKeys = std::array<std::uint64_t, kKinds>;

/// Computes the kinds of jobs with names from one pool.
class Kinds {
 public:
  explicit Kinds(const Names& names) : names_(names) {}
  /// Returns the kinds of a job. Takes a few hashes; reads each name once.
  KindKeys keys(const trace::Request& request);

 private:
  struct Hashes {
    std::uint64_t text = 0;  // 0 if not yet known
    std::uint64_t stem = 0;
  };
  Hashes hashes(NameId name);

  const Names& names_;
  std::vector<Hashes> hashes_;  // by NameId
};

/// Returns a job's name without digits and separators: "train_lr0.1-s3" and "train_lr0.5-s12" are
/// one experiment.
std::string stem_of(std::string_view name);

}  // namespace almanac::predict
