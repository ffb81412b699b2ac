// SPDX-License-Identifier: Apache-2.0
#include "serve/workers.h"

#include <utility>

#include "serve/exchange.h"

namespace almanac::serve {

Workers::Workers(int count, Handler handler, std::function<void()> ring)
    : handler_(std::move(handler)), ring_(std::move(ring)) {
  for (int i = 0; i < count; ++i) threads_.emplace_back([this] { work(); });
}

Workers::~Workers() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  there_is_work_.notify_all();
  for (std::thread& each : threads_) each.join();
}

void Workers::give(Task task) {
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  there_is_work_.notify_one();
}

std::vector<Workers::Done> Workers::collect() {
  const std::lock_guard lock(mutex_);
  return std::exchange(done_, {});
}

void Workers::work() {
  Exchange exchange(handler_);
  for (;;) {
    Task task;
    {
      std::unique_lock lock(mutex_);
      there_is_work_.wait(lock, [&] { return ends_ || !tasks_.empty(); });
      if (tasks_.empty()) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    const std::string_view request = task.request;
    Exchange::Reply reply = exchange.answer(
        request.substr(0, task.head_size), request.substr(task.head_size), task.peer, task.is_last);
    {
      const std::lock_guard lock(mutex_);
      done_.push_back({task.connection, std::move(reply.bytes), reply.closes});
    }
    ring_();
  }
}

}  // namespace almanac::serve
