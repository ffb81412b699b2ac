// SPDX-License-Identifier: Apache-2.0

#include "inference/published/splitwise_instance.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace almanac::inference::published {

void SplitwiseInstance::arrive(Task& task) {
  auto& tasks = tasks_[task.request];
  tasks.push_back(&task);
  put_pending(task);
  if (tasks.size() > 1) return;
  pool_.push_back(task.request);
  if (task.is_prompt) prompts_.push_back(&task);
}

void SplitwiseInstance::put_pending(Task& task) {
  const auto before = [](const Task* one, const Task* other) {
    return std::pair(one->passed_over, one->request) <
           std::pair(other->passed_over, other->request);
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

bool SplitwiseInstance::in_batch(const Task& task) const {
  return std::find(batch_.begin(), batch_.end(), &task) != batch_.end();
}

bool SplitwiseInstance::fits(const Task& task) const {
  if (orca_) return batch_.size() < kMostRequests;
  return batch_.empty() ||
         (batch_.size() < kMostRequests && batch_tokens_ + task.tokens() <= kMostTokens);
}

void SplitwiseInstance::take(Task& task) {
  if (!task.started) memory_left_ -= task.memory;
  task.started = true;
  batch_.push_back(&task);
  batch_tokens_ += task.tokens();
  batch_prompts_ += task.is_prompt;
}

void SplitwiseInstance::select() {
  const std::vector<Task*> old = std::exchange(batch_, {});
  batch_tokens_ = batch_prompts_ = 0;
  for (Task* const task : pending_) {
    if (task->passed_over < kMostPreemptions || !fits(*task)) break;
    if (has_memory(*task)) take(*task);
  }
  std::erase_if(prompts_, [&](const Task* task) { return in_batch(*task); });
  while (!prompts_.empty() && fits(*prompts_.front()) && has_memory(*prompts_.front())) {
    take(*prompts_.front());
    prompts_.pop_front();
  }
  const auto go_on = [&](const auto& held) {
    for (Task* task : held) {
      if (in_batch(*task)) continue;
      if (!fits(*task)) break;
      take(*task);
    }
  };
  go_on(blocked_);
  go_on(old);
  for (const RequestId request : pool_) {
    Task& task = first(request);
    if (in_batch(task)) continue;
    if (!fits(task) || !has_memory(task)) break;
    take(task);
  }
  std::erase_if(prompts_, [&](const Task* task) { return in_batch(*task); });
  std::erase_if(blocked_, [&](const Task* task) { return in_batch(*task); });
  std::vector<Task*> kept;
  for (Task* task : old) {
    if (in_batch(*task)) {
      kept.push_back(task);
    } else {
      blocked_.push_back(task);
      put_pending(*task);
    }
  }
  // Only now, since the place that a search by halves finds hangs on all that are in the queue.
  std::erase_if(pending_, [&](const Task* task) { return in_batch(*task); });
  // Those of the batch before stay the first of it: in this order the next one takes them.
  std::erase_if(
      batch_, [&](Task* task) { return std::find(kept.begin(), kept.end(), task) != kept.end(); });
  batch_.insert(batch_.begin(), kept.begin(), kept.end());
  for (const RequestId request : pool_) {
    Task& task = first(request);
    if (!in_batch(task)) ++task.passed_over;
  }
}

void SplitwiseInstance::select_orca() {
  for (const RequestId request : pool_) {
    Task& task = first(request);
    if (in_batch(task)) continue;
    if (!fits(task) || !has_memory(task)) break;
    take(task);
  }
  std::erase_if(prompts_, [&](const Task* task) { return in_batch(*task); });
  std::erase_if(pending_, [&](const Task* task) { return in_batch(*task); });
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
  if (iterations >= iterations_) return kNever;
  iterations_ = iterations;
  return began_ + iterations_ * iteration_;
}

std::vector<SplitwiseTask*> SplitwiseInstance::end() {
  std::vector<Task*> complete;
  for (Task* task : batch_) {
    task->left -= task->is_prompt ? task->left : iterations_;
    if (task->left == 0) complete.push_back(task);
  }
  std::erase_if(batch_, [](const Task* task) { return task->left == 0; });
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
