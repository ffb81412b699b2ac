// SPDX-License-Identifier: Apache-2.0

/// \file
/// Requests of other threads to the deciding thread. Each waits for its answer.
#pragma once

#include <deque>
#include <future>
#include <mutex>
#include <optional>
#include <utility>

#include "base/result.h"
#include "process/bell.h"

namespace almanac::service {

/// Requests of type Asked, answered with a Result of Given. Thread-safe.
template <typename Asked, typename Given>
class Inbox {
 public:
  /// A request that was taken out. Its holder must set the answer once.
  struct Request {
    Asked asked;
    std::promise<Result<Given>> answer{};
  };

  /// Rings `bell` when there is something to take. `bell` must outlive it.
  explicit Inbox(process::Bell& bell) : bell_(bell) {}

  /// Puts a request in and waits for its answer. Fails with unavailable once the inbox is closed.
  Result<Given> ask(Asked asked) {
    Request request{.asked = std::move(asked)};
    auto answer = request.answer.get_future();
    {
      const std::lock_guard lock(mutex_);
      if (is_closed_) return is_ending();
      requests_.push_back(std::move(request));
    }
    bell_.ring();
    return answer.get();
  }

  /// Puts in a request without waiting for an answer; a closed inbox drops it.
  void post(Asked asked) {
    {
      const std::lock_guard lock(mutex_);
      if (is_closed_) return;
      requests_.push_back({.asked = std::move(asked)});
    }
    bell_.ring();
  }

  std::deque<Request> take_all() {
    const std::lock_guard lock(mutex_);
    return std::exchange(requests_, {});
  }
  /// Takes the first request, and rings again if there are more.
  std::optional<Request> take_one() {
    const std::lock_guard lock(mutex_);
    if (requests_.empty()) return std::nullopt;
    std::optional<Request> first(std::move(requests_.front()));
    requests_.pop_front();
    if (!requests_.empty()) bell_.ring();
    return first;
  }
  /// Puts a request that was taken back, behind the others.
  void put_back(Request request) {
    {
      const std::lock_guard lock(mutex_);
      requests_.push_back(std::move(request));
    }
    bell_.ring();
  }

  /// Refuses all present and later requests.
  void close() {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
    for (Request& request : requests_) request.answer.set_value(is_ending());
    requests_.clear();
  }

 private:
  static tl::unexpected<Error> is_ending() {
    return fail(Code::unavailable, "the service is shutting down");
  }

  process::Bell& bell_;
  std::mutex mutex_;
  std::deque<Request> requests_;
  bool is_closed_ = false;
};

}  // namespace almanac::service
