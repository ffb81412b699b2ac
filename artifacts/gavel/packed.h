// SPDX-License-Identifier: Apache-2.0

/// \file
/// Gavel's policies that put two jobs on the same GPUs.
///
/// Source   Narayanan et al., OSDI'20 (Gavel), section 4.2 (space sharing), and its published
///          program, whose reading of Gandiva (Xiao et al., OSDI'18) draws pairs at random.
#pragma once

#include <cstdint>
#include <vector>

#include "gavel/engine.h"
#include "gavel/mersenne.h"
#include "gavel/rule.h"

namespace almanac::gavel {

/// In order of number each job has the type where it is fastest of those with room; when none has,
/// the next in line shares with the job of as many GPUs beside which both together are fastest, and
/// the line ends where that is no more than one and a half jobs alone.
class FifoPacked final : public Rule {
 public:
  explicit FifoPacked(const Speeds& speeds) : speeds_(speeds) {}
  Allocation allocate(const State& state) override;
  bool leaves_idle() const override { return true; }
  bool pairs() const override { return true; }

 private:
  const Speeds& speeds_;
};

/// The program `packed_max_min_fairness`, over models: what it gives to two models is spread evenly
/// over the pairs of their jobs.
class MaxMinPacked final : public Rule {
 public:
  explicit MaxMinPacked(const Speeds& speeds) : speeds_(speeds) {}
  Allocation allocate(const State& state) override;
  bool pairs() const override { return true; }

 private:
  const Speeds& speeds_;
};

/// Equal time for all; where there are not enough GPUs for all, for pairs drawn at random and for
/// those that are left over. Fault: a pair is parted where its rates beside those alone are below 1
/// in sum over all types, which with three types few are.
class GandivaPacked final : public Rule {
 public:
  GandivaPacked(const Speeds& speeds, std::uint32_t seed) : speeds_(speeds), draws_(seed) {}
  Allocation allocate(const State& state) override;
  bool pairs() const override { return true; }

 private:
  struct Pair {
    int one = 0;  // numbers
    int other = 0;
  };

  const Speeds& speeds_;
  Mersenne draws_;
  std::vector<Pair> pairs_;
};

}  // namespace almanac::gavel
