// SPDX-License-Identifier: Apache-2.0

/// \file
/// In which ways a job is like earlier ones: the kinds of job whose history is kept.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/names.h"
#include "trace/job.h"

namespace almanac::predict {

/// From the closest likeness to the farthest, as far as that can be said.
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

/// "jobs of this user with this name": as a sentence about a prediction says it.
std::string_view words_of(Kind kind);

/// The same number = the same kind of job, in whatever log and session; 0 = not known (a job
/// without a user has no user's jobs).
using KindKeys = std::array<std::uint64_t, kKinds>;

/// Tells kinds of jobs of one pool of names.
class Kinds {
 public:
  explicit Kinds(const Names& names) : names_(names) {}
  /// A few hashes; a name is looked into once.
  KindKeys keys(const trace::Request& request);

 private:
  struct Hashes {
    std::uint64_t text = 0;  // 0 = not yet known
    std::uint64_t stem = 0;
  };
  Hashes hashes(NameId name);

  const Names& names_;
  std::vector<Hashes> hashes_;  // by NameId
};

/// What is left of a job's name without its digits and what parts words: "train_lr0.1-s3" and
/// "train_lr0.5-s12" are one experiment.
std::string stem_of(std::string_view name);

}  // namespace almanac::predict
