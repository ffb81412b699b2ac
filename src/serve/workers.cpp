// SPDX-License-Identifier: Apache-2.0
#include "serve/workers.h"

#include <algorithm>
#include <utility>

#include "serve/exchange.h"

namespace almanac::serve {

namespace {

/// Long answers of one client are not to take more than half of the processors.
int most_of_one(int count) {
  const int half = static_cast<int>(std::thread::hardware_concurrency()) / 2;
  return std::clamp(half, 1, std::max(1, count - 2));
}

}  // namespace

Workers::Workers(int count, Handler handler, std::function<void()> ring)
    : handler_(std::move(handler)), ring_(std::move(ring)), most_of_one_(most_of_one(count)) {
  try {
    for (int i = 0; i < count; ++i) threads_.emplace_back([this] { work(); });
  } catch (...) {  // no thread is to be had: those that there are end first
    end();
    throw;
  }
}

Workers::~Workers() { end(); }

void Workers::end() {
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
    const std::uint64_t client = task.peer.client;
    Line& line = lines_[client];
    if (line.tasks.empty()) turns_.push_back(client);
    line.tasks.push_back(std::move(task));
  }
  there_is_work_.notify_one();
}

std::vector<Workers::Done> Workers::collect() {
  const std::lock_guard lock(mutex_);
  return std::exchange(done_, {});
}

std::optional<Workers::Task> Workers::take() {
  const auto turn = std::find_if(turns_.begin(), turns_.end(), [&](std::uint64_t client) {
    return ends_ || lines_.at(client).answering < most_of_one_;
  });
  if (turn == turns_.end()) return std::nullopt;
  const std::uint64_t client = *turn;
  turns_.erase(turn);
  Line& line = lines_.at(client);
  Task task = std::move(line.tasks.front());
  line.tasks.pop_front();
  ++line.answering;
  if (!line.tasks.empty()) turns_.push_back(client);
  return task;
}

void Workers::work() {
  Exchange exchange(handler_);
  for (;;) {
    std::optional<Task> task;
    {
      std::unique_lock lock(mutex_);
      there_is_work_.wait(lock, [&] {
        task = take();
        return ends_ || task;
      });
    }
    if (!task) return;
    const std::string_view request = task->request;
    Exchange::Reply reply =
        exchange.answer(request.substr(0, task->head_size), request.substr(task->head_size),
                        task->peer, task->is_last);
    {
      const std::lock_guard lock(mutex_);
      done_.push_back({task->connection, std::move(reply.bytes), reply.closes});
      const auto line = lines_.find(task->peer.client);
      if (--line->second.answering == 0 && line->second.tasks.empty()) lines_.erase(line);
    }
    there_is_work_.notify_one();  // its client may have its turn now
    ring_();
  }
}

}  // namespace almanac::serve
