// SPDX-License-Identifier: Apache-2.0

#include "serving/splitwise_instance.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

namespace almanac::inference::published {

void SplitwiseInstance::arrive(Task& task) {
  auto& tasks = tasks_[task.request];
  tasks.push_back(&task);
  put_pending(task);
  if (tasks.size() > 1) return;
  // A request whose prompt was elsewhere comes later than others that arrived after it.
  const auto after = std::find_if(pool_.begin(), pool_.end(), [&](RequestId other) {
    return first(other).arrival > task.arrival;
  });
  pool_.insert(after, task.request);
  if (task.is_prompt) prompts_.push_back(&task);
}

void SplitwiseInstance::put_pending(Task& task) {
  const auto before = [](const Task* one, const Task* other) {
    return std::pair(one->passed_over, one->arrival) <
           std::pair(other->passed_over, other->arrival);
  };
  // As Python's bisect.insort does; std::upper_bound asks for an order, and may search otherwise.
  std::size_t low = 0, high = pending_.size();
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (before(&task, pending_[middle])) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  pending_.insert(pending_.begin() + static_cast<std::ptrdiff_t>(low), &task);
}

bool SplitwiseInstance::fits(const Task& task) const {
  if (orca_) return batch_.size() < kMostRequests;
  return batch_.empty() ||
         (batch_.size() < kMostRequests && batch_tokens_ + task.tokens() <= kMostTokens);
}

void SplitwiseInstance::take(Task& task) {
  if (!task.started) memory_left_ -= task.memory;
  task.started = true;
  task.batched = true;
  batch_.push_back(&task);
  batch_tokens_ += task.tokens();
  batch_prompts_ += task.is_prompt;
}

template <typename Tasks>
void SplitwiseInstance::take_of(const Tasks& tasks, bool in_order) {
  for (Task* const task : tasks) {
    if (!fits(*task)) return;
    if (task->batched) continue;
    if (has_memory(*task)) {
      take(*task);
    } else if (in_order) {
      return;
    }
  }
}

void SplitwiseInstance::forget_batched() {
  const auto batched = [](const Task* task) { return task->batched; };
  std::erase_if(prompts_, batched);
  std::erase_if(blocked_, batched);
  std::erase_if(pending_, batched);
}

void SplitwiseInstance::select() {
  const std::vector<Task*> old = std::exchange(batch_, {});
  for (Task* const task : old) task->batched = false;
  batch_tokens_ = batch_prompts_ = 0;
  const auto rest = std::find_if(pending_.begin(), pending_.end(), [](const Task* task) {
    return task->passed_over < kMostPreemptions;
  });
  take_of(std::span(pending_.begin(), rest), false);
  take_of(prompts_, true);
  take_of(blocked_, true);
  take_of(old, true);
  for (const RequestId request : pool_) {
    Task& task = first(request);
    if (task.batched) continue;
    if (!fits(task) || !has_memory(task)) break;
    take(task);
  }
  // Those of the batch before stay the first of it: in this order the next one takes them.
  std::vector<Task*> made;
  for (Task* const task : old) {
    if (task->batched) {
      made.push_back(task);
    } else {
      blocked_.push_back(task);
      put_pending(*task);
    }
  }
  for (Task* const task : batch_) {
    if (std::find(old.begin(), old.end(), task) == old.end()) made.push_back(task);
  }
  batch_ = std::move(made);
  // Only now, since the place that a search by halves finds hangs on all that are in the queue.
  forget_batched();
  pass_over();
}

void SplitwiseInstance::select_orca() {
  for (const RequestId request : pool_) {
    Task& task = first(request);
    if (task.batched) continue;
    if (!fits(task) || !has_memory(task)) break;
    take(task);
  }
  forget_batched();
  pass_over();
}

void SplitwiseInstance::pass_over() {
  for (const RequestId request : pool_) {
    Task& task = first(request);
    if (!task.batched) ++task.passed_over;
  }
}

Micros SplitwiseInstance::start(Micros now) {
  orca_ ? select_orca() : select();
  if (batch_.empty()) return kNever;
  Batch made;
  iterations_ = std::numeric_limits<std::int32_t>::max();
  for (const Task* task : batch_) {
    if (task->is_prompt) {
      made.prefills.push_back({.done = 0, .fresh = task->size, .prompt = task->size});
      iterations_ = 1;
    } else {
      ++made.decodes;
      iterations_ = std::min(iterations_, task->left);
    }
  }
  began_ = now;
  iteration_ = (*times_)(made);
  paused_ = false;
  return now + iterations_ * iteration_;
}

bool SplitwiseInstance::asks_for_pause(const Task* task) const {
  const auto size = static_cast<std::int32_t>(batch_.size());
  const bool room = batch_.size() < kMostRequests;
  if (orca_) return room;
  if (task == nullptr) return room && batch_tokens_ < kMostTokens;
  if (room && batch_tokens_ + task->tokens() <= kMostTokens) return true;
  const std::int32_t decodes = size - batch_prompts_;
  return task->is_prompt && decodes > 0 && batch_tokens_ - decodes + task->tokens() <= kMostTokens;
}

Micros SplitwiseInstance::pause(Micros now) {
  if (batch_prompts_ > 0 || paused_) return kNever;
  paused_ = true;
  const auto iterations = static_cast<std::int32_t>(std::floor((now - began_) / iteration_)) + 1;
  iterations_ = std::min(iterations_, iterations);
  return began_ + iterations_ * iteration_;
}

std::vector<SplitwiseTask*> SplitwiseInstance::end() {
  std::vector<Task*> complete;
  for (Task* task : batch_) {
    task->left -= task->is_prompt ? task->left : iterations_;
    if (task->left == 0) complete.push_back(task);
  }
  std::erase_if(batch_, [](const Task* task) { return task->left == 0; });
  for (Task* const task : complete) task->batched = false;
  batch_tokens_ = batch_prompts_ = 0;
  for (const Task* task : batch_) batch_tokens_ += task->tokens();
  for (const Task* task : complete) {
    auto& tasks = tasks_.at(task->request);
    tasks.pop_front();
    if (tasks.empty()) {
      tasks_.erase(task->request);
      std::erase(pool_, task->request);
    }
  }
  return complete;
}

bool SplitwiseInstance::next_fits() const {
  return !pending_.empty() && has_memory(*pending_.front());
}

}  // namespace almanac::inference::published
