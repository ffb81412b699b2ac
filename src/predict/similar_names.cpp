// SPDX-License-Identifier: Apache-2.0
#include "predict/similar_names.h"

#include <algorithm>
#include <cstdlib>

#include <edlib.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/check.h"

namespace almanac::predict {
namespace {

void count(std::uint8_t& counter) {
  if (counter < 255) ++counter;
}

/// The sum of |a - b| over all counts.
std::size_t difference(const std::array<std::uint8_t, 32>& a,
                       const std::array<std::uint8_t, 32>& b) {
#ifdef __SSE2__
  const auto half = [&](std::size_t from) {
    return _mm_sad_epu8(_mm_load_si128(reinterpret_cast<const __m128i*>(a.data() + from)),
                        _mm_load_si128(reinterpret_cast<const __m128i*>(b.data() + from)));
  };
  const __m128i sums = _mm_add_epi64(half(0), half(16));
  return static_cast<std::size_t>(_mm_cvtsi128_si64(sums)) +
         static_cast<std::size_t>(_mm_cvtsi128_si64(_mm_srli_si128(sums, 8)));
#else
  std::size_t sum = 0;
  for (std::size_t at = 0; at < a.size(); ++at) {
    sum += static_cast<std::size_t>(std::abs(int{a[at]} - int{b[at]}));
  }
  return sum;
#endif
}

/// The edit distance, or nothing when it is above `most`.
std::optional<std::size_t> distance_within(std::string_view a, std::string_view b,
                                           std::size_t most) {
  const EdlibAlignConfig config =
      edlibNewAlignConfig(static_cast<int>(most), EDLIB_MODE_NW, EDLIB_TASK_DISTANCE, nullptr, 0);
  const EdlibAlignResult result = edlibAlign(a.data(), static_cast<int>(a.size()), b.data(),
                                             static_cast<int>(b.size()), config);
  ALMANAC_CHECK(result.status == EDLIB_STATUS_OK, "edlib: status {}", result.status);
  const int distance = result.editDistance;
  edlibFreeAlignResult(result);
  if (distance < 0) return std::nullopt;
  return static_cast<std::size_t>(distance);
}

}  // namespace

SimilarNames::Bag SimilarNames::bag_of(std::string_view name) {
  Bag bag;
  std::uint32_t before = 0;
  for (const char letter : name) {
    const auto code = static_cast<std::uint32_t>(static_cast<unsigned char>(letter));
    count(bag.letters[code % 32]);
    if (before != 0) count(bag.pairs[((before * 31 + code) * 0x9e3779b1U) >> 27]);
    before = code;
  }
  return bag;
}

/// One edit changes the counts of letters by two (one, if it changes the length), those of pairs of
/// letters by four.
bool SimilarNames::is_too_far(const Bag& a, const Bag& b, std::size_t length_gap,
                              std::size_t most) {
  return difference(a.letters, b.letters) + length_gap > 2 * most ||
         difference(a.pairs, b.pairs) > 4 * most;
}

void SimilarNames::add(std::string_view name, Id id) {
  if (name.size() >= shelves_.size()) shelves_.resize(name.size() + 1);
  Shelf& shelf = shelves_[name.size()];
  shelf.bags.push_back(bag_of(name));
  shelf.entries.push_back({std::string(name), id, static_cast<std::uint32_t>(size_)});
  ++size_;
}

std::optional<SimilarNames::Match> SimilarNames::nearest(std::string_view name) const {
  const Bag bag = bag_of(name);
  const std::size_t length = name.size();
  std::optional<Match> best;
  std::uint32_t best_order = 0;
  // Outwards from its own length: the gap in length is a bound that grows.
  for (std::size_t gap = 0; gap <= length / 2 + 1; ++gap) {
    if (best && gap > best->distance) break;
    for (const bool longer : {false, true}) {
      if ((gap == 0 && longer) || (!longer && gap > length)) continue;
      const std::size_t other = longer ? length + gap : length - gap;
      if (other >= shelves_.size()) continue;
      std::size_t most = tolerance(std::max(length, other));
      if (best) most = std::min(most, best->distance);
      if (gap > most) continue;
      const Shelf& shelf = shelves_[other];
      for (std::size_t at = 0; at < shelf.bags.size(); ++at) {
        if (is_too_far(bag, shelf.bags[at], gap, most)) continue;
        const Entry& entry = shelf.entries[at];
        const auto distance = distance_within(name, entry.name, most);
        if (!distance) continue;
        const bool nearer = !best || *distance < best->distance ||
                            (*distance == best->distance && entry.order > best_order);
        if (!nearer) continue;
        best = Match{entry.id, *distance};
        best_order = entry.order;
        most = *distance;
      }
    }
  }
  return best;
}

}  // namespace almanac::predict
