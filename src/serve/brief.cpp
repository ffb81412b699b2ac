// SPDX-License-Identifier: Apache-2.0
#include "serve/brief.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "store/ask.h"
#include "text/utf8.h"

namespace almanac::serve {
namespace {

std::size_t bytes_of(const std::string& text) { return text.size(); }
std::size_t bytes_of(const std::vector<std::string>& texts) {
  std::size_t sum = 0;
  for (const std::string& each : texts) sum += each.size() + 4;
  return sum;
}
std::size_t bytes_of(const std::vector<store::JobNumber>& jobs) { return 8 * jobs.size(); }

/// Whether something was left out.
bool shorten(std::vector<std::string>& texts) {
  std::size_t left = kMostBriefBytes;
  for (std::size_t at = 0; at < texts.size(); ++at) {
    if (texts[at].size() < left) {
      left -= texts[at].size() + 1;
      continue;
    }
    texts[at] = text::mend_utf8(std::string_view(texts[at]).substr(0, left)) + "...";
    texts.resize(at + 1);
    return true;
  }
  return false;
}
bool shorten(std::vector<store::JobNumber>& jobs) {
  if (jobs.size() <= kMostBriefJobs) return false;
  jobs.resize(kMostBriefJobs);
  return true;
}

}  // namespace

Brief::Shown Brief::of(const service::JobView& view) {
  constexpr std::size_t kRest = 1500;  // numbers, times, names of fields
  const auto [at, is_new] = known_.try_emplace(&*view.job.asked, Known{view.job.asked});
  Known& known = at->second;
  if (is_new) {
    store::Submission asked = *view.job.asked;
    bool is_shortened = false;
    known.bytes = kRest;
    store::each_ask([&](const auto& ask) {
      if (ask.audience != store::Audience::all) return;
      auto& value = asked.*ask.member;
      if constexpr (requires { shorten(value); }) is_shortened |= shorten(value);
      if constexpr (requires { bytes_of(value); }) known.bytes += bytes_of(value);
    });
    if (is_shortened) known.brief = std::move(asked);
  }
  if (!known.brief) return {.view = &view, .is_shortened = false, .bytes = known.bytes};
  shortened_ = view;
  shortened_.job.asked = *known.brief;
  return {.view = &shortened_, .is_shortened = true, .bytes = known.bytes};
}

}  // namespace almanac::serve
