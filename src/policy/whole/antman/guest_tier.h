// SPDX-License-Identifier: Apache-2.0

/// \file
/// The jobs that run in a virtual cluster, where guests run on free GPUs or beside other jobs, in
/// what these leave (Config::yields). All else is decided as if no guest were there.
///
/// A decision has four steps: lift() takes the guests off the ledger, start() and promote() let
/// jobs have GPUs to themselves, lay_guests() lets the guests go on beside these where there are
/// cores and memory, and after it guests start and join(). settle() plans what has come of it. One
/// guest is on a GPU at a time, and a job that asks a part of a GPU shares it with none.
///
/// Source   Xiao et al., OSDI'20 (AntMan), section 5.
/// Cost     a step a decision for each job that runs; join() one for each GPU.
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
  /// Sees to it that is_mixed() holds until guests are laid next: nodes have changed.
  void look_again() { is_mixed_ = true; }

  /// Whether guests may be on GPUs of others, or have been since they were laid: else each has its
  /// GPUs to itself, and lift() and lay_guests() would leave all as it is.
  bool is_mixed() const { return is_mixed_; }
  /// Forgets who is on which GPU, where guests are not lifted.
  void forget_places() {
    hosts_.clear();
    guests_.clear();
  }

  /// Those that are no guests, in order of number.
  std::vector<JobId> owners() const;
  /// Those that are, and can be moved.
  std::vector<JobId> guests() const;

  /// Takes all guests off the ledger, and lets the others have their GPUs whole. What is on nodes
  /// that take nothing new stays as it is.
  void lift(const View& view, cluster::Ledger& ledger);
  /// Lets a guest have the GPUs that it is on to itself; false = they are not free.
  bool promote(JobId job, cluster::Ledger& ledger);
  /// Starts a job on `grants`, which are taken.
  void start(JobId job, bool is_guest, std::vector<cluster::Grant> grants, const View& view,
             Plan& plan);
  /// Lets the guests hold their GPUs, half of each that is another's, and forgets and gives those
  /// that cannot: they are to be stopped.
  std::vector<JobId> lay_guests(const View& view, cluster::Ledger& ledger);
  /// Starts a guest beside others, on the node that leaves it most, which is predicted
  /// (View::speeds); `least` of its speed alone at the least. False = it does not start.
  bool join(VcId vc, JobId job, double least, const View& view, Plan& plan);
  /// Says in the plan what all hold that do not hold it yet.
  void settle(const View& view, Plan& plan) const;

 private:
  /// What a job that runs is to hold.
  struct Held {
    std::vector<cluster::Grant> grants{};
    bool is_guest = false;
    bool is_part = false;   // it asks a part of a GPU, or none
    bool is_fixed = false;  // its nodes take nothing new, and it stays as it is

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
