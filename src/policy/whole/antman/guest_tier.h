// SPDX-License-Identifier: Apache-2.0

/// \file
/// The running jobs of a virtual cluster in which guests use free GPUs, or what other jobs leave
/// unused on theirs (Config::yields). Everything else is decided as if there were no guests.
///
/// A decision has four steps. lift() takes the guests off the ledger. start() and promote() give
/// jobs GPUs of their own. lay_guests() lets guests continue next to these if there are enough
/// cores and memory; then new guests start and join(). settle() writes the result into the plan. A
/// GPU has at most one guest. A job that requests a part of a GPU shares it with no other job.
///
/// Source   Xiao et al., OSDI'20 (AntMan), section 5.
/// Cost     One step per running job and decision; join() takes one per GPU.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

#include "policy/contract/contract.h"

namespace almanac::policy {

class GuestTier {
 public:
  void add(JobId job, bool is_guest) {
    running_[job].is_guest = is_guest;
    is_mixed_ = true;
  }
  void remove(JobId job);
  /// Keeps is_mixed() true until guests are laid again, because nodes have changed.
  void look_again() { is_mixed_ = true; }

  /// Whether guests may be on other jobs' GPUs, or may have been since they were last laid. If not,
  /// each guest has its GPUs to itself, and lift() and lay_guests() would change nothing.
  bool is_mixed() const { return is_mixed_; }
  /// Forgets which job is on which GPU. For decisions that do not lift guests.
  void forget_places() {
    hosts_.clear();
    guests_.clear();
  }

  /// Returns the jobs that are not guests, by job number.
  std::vector<JobId> owners() const;
  /// Returns the guests that can move.
  std::vector<JobId> guests() const;

  /// Takes all guests off the ledger, and gives the other jobs their GPUs whole. Nodes that accept
  /// no new jobs stay as they are.
  void lift(const View& view, cluster::Ledger& ledger);
  /// Gives a guest the GPUs that it is on to itself. Returns false if they are not free.
  bool promote(JobId job, cluster::Ledger& ledger);
  /// Starts a job on `grants`, which are already taken from the ledger.
  void start(JobId job, bool is_guest, std::vector<cluster::Grant> grants, const View& view,
             Plan& plan);
  /// Puts the guests back on their GPUs, with half of each GPU that has another job. Forgets and
  /// returns the guests for which that fails; the caller must stop them.
  std::vector<JobId> lay_guests(const View& view, cluster::Ledger& ledger);
  /// Starts a guest next to other jobs, on the node predicted to leave it the most (View::speeds)
  /// and at least `least` of its solo speed. Returns false if it does not start.
  bool join(VcId vc, JobId job, double least, const View& view, Plan& plan);
  /// Writes into the plan what jobs hold from now on, if it differs from what they hold.
  void settle(const View& view, Plan& plan) const;

 private:
  /// What a running job will hold.
  struct Held {
    std::vector<cluster::Grant> grants{};
    bool is_guest = false;
    bool is_part = false;   // it requests a part of a GPU, or none
    bool is_fixed = false;  // its nodes accept no new jobs, so it stays as it is

    bool may_share() const { return !is_part && !is_fixed; }
  };
  struct Gpu {
    NodeId node{};
    int number = 0;

    bool operator==(const Gpu&) const = default;
  };
  struct GpuHash {
    std::size_t operator()(const Gpu& gpu) const {
      return index(gpu.node) * cluster::kMaxGpusPerNode + static_cast<std::size_t>(gpu.number);
    }
  };
  using Holders = std::unordered_map<Gpu, JobId, GpuHash>;
  using Known = std::map<SpeedModelId, double>;

  template <typename Visit>
  static void each_gpu(std::span<const cluster::Grant> grants, Visit&& visit);
  void note(JobId job, const Held& held);
  bool lay(JobId job, Held& guest, const View& view, cluster::Ledger& ledger);
  double left_on(const Gpu& gpu, JobId guest, Known& known, const View& view,
                 const cluster::Ledger& ledger) const;

  bool is_mixed_ = true;
  std::map<JobId, Held> running_;  // in order of number
  Holders hosts_;                  // of this decision
  Holders guests_;                 // likewise
};

}  // namespace almanac::policy
