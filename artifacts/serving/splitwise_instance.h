// SPDX-License-Identifier: Apache-2.0

/// \file
/// One server of the simulator of Splitwise: what it batches next, and for how long. Times are
/// seconds, and the end of a run is computed step by step as the program does: its roundings decide
/// which of two events at the same time comes first.
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "inference/request.h"
#include "serving/token_table.h"

namespace almanac::serving {

/// Half of a request: its prompt in one iteration, or all tokens after the first.
struct SplitwiseTask {
  inference::RequestId request = 0;
  bool is_prompt = false;
  double memory = 0;      ///< Bytes, held from its first iteration to the end of the request.
  std::int32_t size = 0;  ///< Tokens of a prompt.
  std::int32_t left = 0;  ///< Tokens still to come.
  std::int32_t passed_over = 0;  ///< Batches that were formed without it.
  bool started = false;
  bool batched = false;  ///< In the batch that runs or is being formed.
  double arrival = 0;    ///< Of the request, in seconds.
  std::int32_t tokens() const { return is_prompt ? size : 1; }
};

class SplitwiseInstance {
 public:
  using Task = SplitwiseTask;
  static constexpr std::size_t kMostRequests = 512;
  static constexpr std::int32_t kMostTokens = 2048;
  static constexpr std::int32_t kMostPreemptions = 4;

  SplitwiseInstance(const TokenTable& times, double memory, bool orca)
      : times_(&times), memory_left_(memory), orca_(orca) {}

  // What schedulers look at.
  std::size_t requests() const { return pool_.size(); }
  bool idle() const { return batch_.empty(); }
  const std::vector<Task*>& batch() const { return batch_; }
  bool has_pending() const { return !pending_.empty(); }
  double memory_left() const { return memory_left_; }

  /// Takes a task. The second of a request is behind the first.
  void arrive(Task& task);
  /// Forms a batch. Returns when its run ends, or kNever if nothing can run.
  double start(double now);
  /// Whether `task`, which has arrived just now, or with null freed memory, may join before the run
  /// ends.
  bool asks_for_pause(const Task* task) const;
  /// Cuts the run after the current iteration. Returns the new end, which may equal the old one;
  /// kNever if the run holds a prompt or was cut before.
  double pause(double now);
  /// Ends the run; gives the tasks that are complete, in order of the batch.
  std::vector<Task*> end();
  /// The first task that waits fits into the memory.
  bool next_fits() const;
  void take_memory(double bytes) { memory_left_ -= bytes; }
  void free_memory(double bytes) { memory_left_ += bytes; }

 private:
  Task& first(inference::RequestId request) const { return *tasks_.at(request).front(); }
  bool fits(const Task& task) const;
  bool has_memory(const Task& task) const { return task.started || task.memory <= memory_left_; }
  void take(Task& task);
  /// Puts those of `tasks` that are not in the batch yet into it, in order, until one does not fit;
  /// one that is in it already ends this too, where it would not fit once more. What lacks memory
  /// is left out, or with `in_order` the end.
  template <typename Tasks>
  void take_of(const Tasks& tasks, bool in_order);
  void forget_batched();
  /// Counts what waits while a batch goes without it.
  void pass_over();
  /// Puts a task where a search by halves finds its place: by how often it was passed over, then by
  /// arrival. The counts of those in the queue have risen since they were put in, so the order is
  /// none, and the place is what that search makes of it.
  void put_pending(Task& task);
  void select();
  void select_orca();

  const TokenTable* times_;
  std::vector<inference::RequestId> pool_;
  std::unordered_map<inference::RequestId, std::deque<Task*>> tasks_;
  std::vector<Task*> pending_;
  std::deque<Task*> prompts_;
  std::deque<Task*> blocked_;
  std::vector<Task*> batch_;
  std::int32_t batch_tokens_ = 0;
  std::int32_t batch_prompts_ = 0;
  double memory_left_;
  double ends_ = 0;
  double iteration_ = 0;
  std::int32_t iterations_ = 0;
  bool paused_ = false;
  bool orca_;
};

}  // namespace almanac::serving
