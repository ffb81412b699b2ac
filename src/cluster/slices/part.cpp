// SPDX-License-Identifier: Apache-2.0
#include "cluster/slices/part.h"

#include <algorithm>

#include "cluster/slices/board.h"

namespace almanac::slices {

double least_part(std::string_view profile) {
  double least = 1;
  for (const Board& board : boards()) {
    const int at = board.find(profile);
    if (at >= 0) least = std::min(least, static_cast<double>(board[at].memory) / board.memory);
  }
  return least;
}

}  // namespace almanac::slices
