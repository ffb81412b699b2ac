// SPDX-License-Identifier: Apache-2.0

#include "serving/splitwise_instance.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

namespace almanac::serving {

using namespace inference;
namespace {

/// a // b of Python, for b > 0: floor(a / b) differs where a is a multiple of b but for a rounding.
double floor_divide(double a, double b) {
  const double rest = std::fmod(a, b);
  return std::round((a - rest) / b) - (rest < 0 ? 1 : 0);
}

}  // namespace

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

double SplitwiseInstance::start(double now) {
  orca_ ? select_orca() : select();
  if (batch_.empty()) return kNever;
  iterations_ = std::numeric_limits<std::int32_t>::max();
  for (const Task* task : batch_) {
    iterations_ = std::min(iterations_, task->is_prompt ? 1 : task->left);
  }
  iteration_ = times_->iteration_s(batch_tokens_, batch_prompts_,
                                   static_cast<std::int32_t>(batch_.size()) - batch_prompts_);
  paused_ = false;
  ends_ = now + iteration_ * iterations_;
  return ends_;
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

double SplitwiseInstance::pause(double now) {
  if (batch_prompts_ > 0 || paused_) return kNever;
  paused_ = true;
  const double began = ends_ - iteration_ * iterations_;
  const double elapsed = now - began;
  iterations_ =
      std::min(iterations_, static_cast<std::int32_t>(floor_divide(elapsed, iteration_)) + 1);
  ends_ = now + (iteration_ * iterations_ - elapsed);
  return ends_;
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

}  // namespace almanac::serving
