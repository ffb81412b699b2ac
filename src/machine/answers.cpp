// SPDX-License-Identifier: Apache-2.0
#include "machine/answers.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <malloc.h>

namespace almanac::machine {

using store::JobNumber;

void Answers::answer_kept(Lock& lock) {
  constexpr std::size_t kVeryMany = 10'000;
  bool were_very_many = false;
  std::erase_if(awaited_, [&](const Awaited& each) {
    const auto open = state_.outbox.journal().open().find(each.number);
    if (open == state_.outbox.journal().open().end() || !state_.outbox.trouble().empty()) {
      each.answer({});
      were_very_many = were_very_many || each.jobs >= kVeryMany;
      return true;
    }
    const std::vector<JobNumber>& left = open->second.jobs;
    const bool all_are_refused = std::all_of(
        left.begin(), left.end(), [this](JobNumber job) { return state_.outbox.is_refused(job); });
    if (!all_are_refused) return false;
    each.answer(
        fail(Code::invalid,
             fmt::format("the store cannot save job {}{}", left.front(),
                         left.size() == 1 ? "" : fmt::format(" and {} more", left.size() - 1)),
             {}, "it is tried again each minute; the service's log says why"));
    return true;
  });
  if (!were_very_many) return;
  // Their records were in memory several times until now. Giving that back takes some time.
  lock.unlock();
  ::malloc_trim(0);
  lock.lock();
}

void Answers::answer_all() {
  for (const Awaited& each : std::exchange(awaited_, {})) each.answer({});
}

}  // namespace almanac::machine
