// SPDX-License-Identifier: Apache-2.0
#include "tick/goodput_book.h"

namespace almanac::elastic {

double GoodputBook::goodput(std::size_t job, const TickState& state, int nodes, int gpus) {
  Page& page = pages_[job];
  if (!(page.model == *state.model) || page.gradient.sqr != state.gradient.sqr ||
      page.gradient.var != state.gradient.var) {
    page = {.model = *state.model, .gradient = state.gradient};
  }
  const auto [found, is_new] = page.known.try_emplace(nodes * 65'536 + gpus);
  if (is_new) {
    found->second =
        best_goodput(page.model, page.gradient, *state.job->application, nodes, gpus).value;
  }
  return found->second;
}

}  // namespace almanac::elastic
