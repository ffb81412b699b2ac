// SPDX-License-Identifier: Apache-2.0
#include "cluster/room_set.h"

#include <array>
#include <optional>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace almanac::cluster {
namespace {

RC_GTEST_PROP(RoomSet, FindsWhatAWalkFinds, ()) {
  const auto count = *rc::gen::inRange<std::uint32_t>(1, 40);
  RoomSet set(count);
  std::vector<std::optional<RoomSet::Room>> members(count);
  const auto steps = *rc::gen::container<std::vector<std::array<int, 4>>>(
      rc::gen::container<std::array<int, 4>>(rc::gen::inRange(0, 1000)));
  for (const auto& [what, member, cpus, memory] : steps) {
    const auto at = static_cast<std::uint32_t>(member) % count;
    if (what % 4 == 0) {
      set.erase(at);
      members[at].reset();
    } else {
      members[at] = RoomSet::Room{cpus % 20, memory % 20};
      set.insert(at, *members[at]);
    }
    const RoomSet::Room wanted{what % 20, (what + memory) % 20};
    std::uint32_t first = RoomSet::kNone;
    std::uint32_t roomiest = RoomSet::kNone;
    for (std::uint32_t each = count; each-- > 0;) {
      if (!members[each] || !members[each]->covers(wanted)) continue;
      first = each;
      const bool better =
          roomiest == RoomSet::kNone || members[each]->cpu_milli >= members[roomiest]->cpu_milli;
      if (better) roomiest = each;
    }
    RC_ASSERT(set.first(wanted) == first);
    RC_ASSERT(set.roomiest(wanted) == roomiest);
  }
}

}  // namespace
}  // namespace almanac::cluster
