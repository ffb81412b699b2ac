// SPDX-License-Identifier: Apache-2.0

#include "inference/log_blocks.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "text/human.h"

namespace almanac::inference {
namespace {

constexpr std::int32_t kLargest = 1 << 16;
/// Share of the requests whose ids must fit.
constexpr double kMost = 0.9;
constexpr const char* kHint =
    "correct or remove the ids, or set block_tokens = N in a column map (--columns FILE)";

enum class Rounding { up, down };

/// Whether a prompt has as many ids as its blocks of `size` tokens, full or not.
bool fits(const Request& request, std::int32_t size, const BlockRule& rule) {
  const auto ids = static_cast<std::int32_t>(request.blocks);
  const std::int32_t needed = (request.prompt + size - 1) / size;
  return ids == needed || ids == request.prompt / size || (rule.only_heads && ids < needed);
}

/// How many requests fit each size. Requests of one id are counted apart: they fit every size from
/// their length on, so many of them must not outvote those that tell sizes from each other.
class SizeCounts {
 public:
  SizeCounts(const Requests& requests, Rounding rounding)
      : several_(kLargest + 2), single_(kLargest + 2) {
    for (const Request& each : requests.all) {
      const auto ids = static_cast<std::int32_t>(each.blocks);
      if (ids == 0) continue;
      auto& counts = ids == 1 ? single_ : several_;
      ++(ids == 1 ? singles_ : severals_);
      const std::int32_t prompt = each.prompt;
      std::int32_t low = (prompt + ids - 1) / ids;
      std::int32_t high = ids == 1 ? kLargest : (prompt - 1) / (ids - 1);
      if (rounding == Rounding::down) {
        low = prompt / (ids + 1) + 1;
        high = prompt / ids;
      }
      low = std::max(low, 1);
      high = std::min(high, kLargest);
      if (low > high) continue;
      ++counts[static_cast<std::size_t>(low)];
      --counts[static_cast<std::size_t>(high) + 1];
    }
    for (std::size_t size = 1; size < several_.size(); ++size) {
      several_[size] += several_[size - 1];
      single_[size] += single_[size - 1];
    }
  }

  /// Sizes that nearly all requests fit, ascending.
  std::vector<std::int32_t> fitting() const {
    std::vector<std::int32_t> made;
    for (std::int32_t size = 1; size <= kLargest; ++size) {
      const auto at = static_cast<std::size_t>(size);
      const auto several = static_cast<double>(several_[at]);
      const auto all = several + static_cast<double>(single_[at]);
      if (several >= kMost * severals_ && all >= kMost * (severals_ + singles_)) {
        made.push_back(size);
      }
    }
    return made;
  }
  /// The size that most requests fit.
  std::int32_t best() const {
    std::size_t best = 1;
    for (std::size_t size = 1; size <= kLargest; ++size) {
      if (several_[size] + single_[size] > several_[best] + single_[best]) best = size;
    }
    return static_cast<std::int32_t>(best);
  }

 private:
  std::vector<std::int64_t> several_, single_;  // by size
  double severals_ = 0, singles_ = 0;
};

/// The one size that is meant by `sizes`: the only one, or the only power of two among them.
std::optional<std::int32_t> meant(const std::vector<std::int32_t>& sizes) {
  if (sizes.size() == 1) return sizes.front();
  std::optional<std::int32_t> found;
  for (const std::int32_t size : sizes) {
    if (!std::has_single_bit(static_cast<std::uint32_t>(size))) continue;
    if (found) return std::nullopt;
    found = size;
  }
  return found;
}

/// How many different numbers of ids, above one, the requests have.
std::size_t kinds(const Requests& requests) {
  std::set<std::uint32_t> made;
  for (const Request& each : requests.all) {
    if (each.blocks > 1) made.insert(each.blocks);
  }
  return made.size();
}

struct Misfits {
  std::size_t all = 0, with_ids = 0;
  std::size_t first = 0;  // request
};

Misfits misfits(const Requests& requests, std::int32_t size, const BlockRule& rule) {
  Misfits made;
  for (std::size_t id = 0; id < requests.size(); ++id) {
    const Request& each = requests.all[id];
    if (each.blocks == 0) continue;
    ++made.with_ids;
    if (!fits(each, size, rule) && made.all++ == 0) made.first = id;
  }
  return made;
}

bool is_good(const Misfits& found) {
  return static_cast<double>(found.all) <= (1 - kMost) * static_cast<double>(found.with_ids) + 1e-9;
}

std::string counted_ids(std::uint32_t ids) { return text::counted(ids, "block id"); }

tl::unexpected<Error> no_fit(const Requests& requests, std::span<const std::int64_t> lines,
                             const std::string& path, std::int32_t size, const BlockRule& rule) {
  const Misfits found = misfits(requests, size, rule);
  const Request& first = requests.all[found.first];
  const std::string only = rule.is_told ? "" : "no block size fits the ids: ";
  return fail(
      Code::invalid,
      fmt::format(
          "{}{} for a prompt of {} tokens, which has {} of {} tokens; {} of {} requests do not fit",
          only, counted_ids(first.blocks), first.prompt,
          text::counted(static_cast<std::uint64_t>((first.prompt + size - 1) / size), "block"),
          size, found.all, found.with_ids),
      {.file = path, .line = lines[found.first]}, kHint);
}

Result<std::int32_t> size_of(const Requests& requests, std::span<const std::int64_t> lines,
                             const std::string& path, const BlockRule& rule) {
  if (rule.is_told) {
    if (is_good(misfits(requests, rule.tokens, rule))) return rule.tokens;
    return no_fit(requests, lines, path, rule.tokens, rule);
  }
  const SizeCounts counts[] = {{requests, Rounding::up}, {requests, Rounding::down}};
  for (const SizeCounts& each : counts) {
    const auto sizes = each.fitting();
    if (rule.tokens > 0 && std::binary_search(sizes.begin(), sizes.end(), rule.tokens)) {
      return rule.tokens;
    }
  }
  // Ids of heads alone fit some size by chance where there are few numbers of them.
  constexpr std::size_t kTelling = 3;
  const bool may_be_heads =
      rule.only_heads && rule.tokens > 0 && is_good(misfits(requests, rule.tokens, rule));
  if (may_be_heads && kinds(requests) < kTelling) return rule.tokens;
  for (const SizeCounts& each : counts) {
    const auto sizes = each.fitting();
    if (sizes.empty()) continue;
    if (const auto size = meant(sizes)) return *size;
    if (may_be_heads) return rule.tokens;
    return fail(
        Code::invalid,
        fmt::format("the number of tokens of a block is unclear: all prompts fit {} to {} tokens",
                    sizes.front(), sizes.back()),
        {.file = path}, "set block_tokens = N in a column map (--columns FILE)");
  }
  if (may_be_heads) return rule.tokens;
  const std::int32_t shown = rule.tokens > 0 ? rule.tokens : counts[0].best();
  return no_fit(requests, lines, path, shown, rule);
}

}  // namespace

Result<void> settle_blocks(Requests& requests, std::span<const std::int64_t> lines,
                           const std::string& path, const BlockRule& rule) {
  if (requests.blocks.empty()) return {};
  const auto size = size_of(requests, lines, path, rule);
  if (!size) return tl::unexpected(size.error());
  requests.tokens_per_block = *size;
  BlockRule found = rule;
  if (*size != rule.tokens) {
    found.only_heads = false;
    requests.notes.push_back(
        fmt::format("a block id stands for {} tokens, because the prompts have that many ids{}",
                    *size, rule.tokens > 0 ? fmt::format(", not {} as usual", rule.tokens) : ""));
  }
  const Misfits bad = misfits(requests, *size, found);
  if (bad.all == 0) return {};
  const Request& first = requests.all[bad.first];
  requests.notes.push_back(fmt::format(
      "{} of {} requests have ids that do not fit their prompts in blocks of {} tokens; their ids "
      "are not used (first in line {}: {} for {} tokens)",
      bad.all, bad.with_ids, *size, lines[bad.first], counted_ids(first.blocks), first.prompt));
  for (Request& each : requests.all) {
    if (each.blocks > 0 && !fits(each, *size, found)) each.blocks = 0;
  }
  return {};
}

}  // namespace almanac::inference
