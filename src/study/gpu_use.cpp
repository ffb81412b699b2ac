// SPDX-License-Identifier: Apache-2.0
#include "study/gpu_use.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "study/utilization_file.h"

namespace almanac::study {
namespace {

using Minute = std::int32_t;
constexpr std::size_t kNone = SIZE_MAX;
constexpr std::size_t kMaxGpus = 64;

Minute whole_minute(Time time) {
  return static_cast<Minute>(
      std::chrono::floor<std::chrono::minutes>(time.time_since_epoch()).count());
}

/// An attempt on one GPU: the minutes from ..< to.
struct Hold {
  Minute from;
  Minute to;
  std::uint32_t attempt;
};

/// What counts a sample of an attempt.
struct Attempt {
  std::size_t size = kNone;  ///< Position in kUseSizes.
  std::optional<Ending> ending{};
  int gpus = 0;
  int machines = 0;
  bool seen = false;  ///< Some minute of it was measured.
};

/// The holds of one GPU in order of time, and where the last sample was: files go forward in time.
struct Gpu {
  std::vector<Hold> holds;
  std::size_t at = 0;

  /// The attempt that has the GPU in `minute`, or nothing.
  const Hold* find(Minute minute) {
    if (holds.empty()) return nullptr;
    if (at >= holds.size() || holds[at].from > minute) {
      const auto after = std::upper_bound(holds.begin(), holds.end(), minute,
                                          [](Minute m, const Hold& hold) { return m < hold.from; });
      if (after == holds.begin()) return nullptr;
      at = static_cast<std::size_t>(after - holds.begin()) - 1;
    }
    while (at + 1 < holds.size() && holds[at + 1].from <= minute) ++at;
    return minute < holds[at].to ? &holds[at] : nullptr;
  }
};

class Join {
 public:
  explicit Join(const trace::Trace& trace) : trace_(trace), machines_(trace.names.size()) {
    for (std::uint32_t a = 0; a < trace.attempts.size(); ++a) add(a);
    for (auto& machine : machines_) {
      for (Gpu& gpu : machine) {
        std::stable_sort(gpu.holds.begin(), gpu.holds.end(),
                         [](const Hold& x, const Hold& y) { return x.from < y.from; });
      }
    }
  }

  void take(const UtilizationRow& row) {
    ++use_.rows;
    const auto name = trace_.names.find(row.machine);
    if (!name) return;
    auto& gpus = machines_[index(*name)];
    const Minute minute = whole_minute(row.at);
    for (std::size_t g = 0; g < std::min(gpus.size(), row.values.size()); ++g) {
      const double percent = row.values[g];
      if (std::isnan(percent)) continue;
      if (const Hold* hold = gpus[g].find(minute)) {
        count(attempts_[hold->attempt], percent);
      } else {
        ++use_.unmatched;
      }
    }
  }

  GpuUse&& result() { return std::move(use_); }

 private:
  void add(std::uint32_t a) {
    const trace::Attempt& given = trace_.attempts[a];
    const trace::Job& job = trace_.jobs[given.job];
    Attempt& attempt = attempts_.emplace_back();
    attempt.gpus = job.request.gpus;
    attempt.machines = static_cast<int>(given.num_pieces);
    attempt.ending = ending_of(job);
    const auto size = std::find(kUseSizes.begin(), kUseSizes.end(), attempt.gpus);
    if (size != kUseSizes.end()) attempt.size = static_cast<std::size_t>(size - kUseSizes.begin());
    if (given.start == kNoTime || given.end == kNoTime) return;
    for (std::uint32_t p = 0; p < given.num_pieces; ++p) {
      const trace::Piece& piece = trace_.pieces[given.first_piece + p];
      auto& gpus = machines_[index(piece.machine)];
      for (std::size_t g = 0; g < kMaxGpus; ++g) {
        if ((piece.gpu_mask >> g & 1) == 0) continue;
        if (gpus.size() <= g) gpus.resize(g + 1);
        gpus[g].holds.push_back({whole_minute(given.start), whole_minute(given.end), a});
        use_.held += gpus[g].holds.back().to - gpus[g].holds.back().from;
      }
    }
  }

  void count(Attempt& attempt, double percent) {
    ++use_.known;
    if (attempt.ending) {
      const auto ending = static_cast<std::size_t>(*attempt.ending);
      use_.of_all[ending].add(percent);
      if (attempt.size != kNone) use_.of_size[attempt.size][ending].add(percent);
    }
    if (attempt.gpus == 16) use_.of_16_by_machines[attempt.machines].add(percent);
    const bool eight = attempt.gpus == 8 && attempt.machines == 1;
    if (eight || (attempt.gpus == 16 && attempt.machines <= 2)) {
      const std::size_t which = eight ? 0 : 1;
      use_.dedicated[which].add(percent);
      if (!attempt.seen) ++use_.dedicated_attempts[which];
    }
    attempt.seen = true;
  }

  const trace::Trace& trace_;
  std::vector<std::vector<Gpu>> machines_;  // by NameId, then by GPU
  std::vector<Attempt> attempts_;
  GpuUse use_;
};

}  // namespace

Result<GpuUse> read_gpu_use(const std::string& path, const trace::Trace& trace) {
  if (trace.pieces.empty()) {
    return fail(Code::usage,
                "GPU utilization needs a job log with the machines of each attempt, such as "
                "Philly's cluster_job_log",
                {trace.path});
  }
  Join join(trace);
  const auto read = read_utilization(path, 1, [&](const UtilizationRow& row) { join.take(row); });
  if (!read) return tl::unexpected(read.error());
  return join.result();
}

}  // namespace almanac::study
