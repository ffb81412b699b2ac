// SPDX-License-Identifier: Apache-2.0
#include "failure/classifier.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "failure/quote.h"

namespace almanac::failure {
namespace {

constexpr std::size_t kBlock = std::size_t{256} << 10;
constexpr std::size_t kOverlap = std::size_t{4} << 10;
/// How much of a line is looked at to tell whether a pattern begins it.
constexpr std::size_t kLongestStart = 1000;

/// Position of the last `c` in `text`, or npos; memrchr is many times faster than rfind.
std::size_t find_last(std::string_view text, char c) {
  const void* const found = ::memrchr(text.data(), c, text.size());
  if (found == nullptr) return std::string_view::npos;
  return static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
}

bool contains(std::string_view text, char c) {
  return !text.empty() && std::memchr(text.data(), c, text.size()) != nullptr;
}

/// `text` with blanks for colors and newlines for carriage returns; positions stay.
void make_plain(std::string_view text, std::string& plain) {
  plain.assign(text);
  std::replace(plain.begin(), plain.end(), '\r', '\n');
  for (std::size_t at = plain.find('\x1b'); at != std::string::npos; at = plain.find('\x1b', at)) {
    std::size_t end = at + 1;
    if (end < plain.size() && plain[end] == '[') {
      ++end;
      // Parameters, then a final byte of '@' to '~' (ECMA-48, 5.4).
      while (end < plain.size() && plain[end] >= ' ' && plain[end] <= '?') ++end;
      if (end < plain.size() && plain[end] >= '@' && plain[end] <= '~') ++end;
    }
    std::fill(plain.begin() + static_cast<std::ptrdiff_t>(at),
              plain.begin() + static_cast<std::ptrdiff_t>(end), ' ');
  }
}

/// Compiles a pattern for each rule; an error names the rule.
Result<Patterns> compile_rules(const Rules& rules, const std::vector<std::string>& patterns) {
  auto compiled = Patterns::compile(patterns);
  if (compiled) return compiled;
  const auto at = static_cast<std::size_t>(compiled.error().where.line);
  if (at >= patterns.size()) return fail(Code::invalid, compiled.error().message);
  return fail(Code::invalid,
              fmt::format("the pattern of rule {} is invalid: {}", rules.rules[at].id,
                          compiled.error().message),
              rules.rules[at].where);
}

}  // namespace

Result<RuleSet> RuleSet::compile(Rules rules) {
  // Two sets, because looking for labels everywhere would cost twenty times as much as looking for
  // the words and then at the few lines that have them.
  const std::string labels =
      rules.label.empty() ? "" : fmt::format("(?:{})*", fmt::join(rules.label, "|"));
  std::vector<std::string> anywhere;
  std::vector<std::string> behind_labels;
  std::vector<std::size_t> start_of;
  for (const Rule& rule : rules.rules) {
    anywhere.push_back(rule.pattern);
    start_of.push_back(behind_labels.size());
    if (rule.start) behind_labels.push_back(fmt::format("^{}(?:{})", labels, rule.pattern));
  }
  auto patterns = compile_rules(rules, anywhere);
  if (!patterns) return tl::unexpected(patterns.error());
  auto starts = Patterns::compile(behind_labels);
  if (!starts) {
    return fail(Code::invalid,
                fmt::format("label and start make an invalid pattern: {}", starts.error().message));
  }
  auto ignore = Patterns::compile(rules.ignore);
  if (!ignore) {
    const auto at = static_cast<std::size_t>(ignore.error().where.line);
    return fail(Code::invalid, fmt::format("the pattern {} of ignore is invalid: {}",
                                           at < rules.ignore.size() ? rules.ignore[at] : "",
                                           ignore.error().message));
  }
  return RuleSet{std::move(rules), std::move(*patterns), std::move(*starts), std::move(start_of),
                 std::move(*ignore)};
}

bool RuleSet::precedes(std::size_t a, std::size_t b) const {
  const Rule& first = rules.rules[a];
  const Rule& second = rules.rules[b];
  if (first.kind != second.kind) return first.kind == Kind::root;
  return first.rank > second.rank;
}

Classifier::Classifier(const RuleSet& set) : set_(&set), buffer_(kBlock, '\0') {}

void Classifier::feed(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t count = std::min(bytes.size(), kBlock - filled_);
    std::memcpy(buffer_.data() + filled_, bytes.data(), count);
    filled_ += count;
    bytes.remove_prefix(count);
    if (filled_ < kBlock) return;
    // Blocks end where lines do, so that a line is searched as a whole.
    std::size_t last = find_last(buffer_, '\n');
    if (last == std::string_view::npos) last = find_last(buffer_, '\r');
    const bool cut = last == std::string_view::npos;
    scan(cut ? kBlock : last + 1);
    const std::size_t keep = cut ? kOverlap : kBlock - (last + 1);
    std::memmove(buffer_.data(), buffer_.data() + kBlock - keep, keep);
    before_ += kBlock - keep;
    filled_ = keep;
    continued_ = cut;
  }
}

Verdict Classifier::finish() {
  scan(filled_);
  filled_ = 0;
  continued_ = false;
  lines_ = 0;
  before_ = 0;
  return std::exchange(best_, {});
}

void Classifier::scan(std::size_t size) {
  const std::string_view raw(buffer_.data(), size);
  text_ = raw;
  if (contains(raw, '\r') || contains(raw, '\x1b')) {
    make_plain(raw, plain_);
    text_ = plain_;
  }
  line_begin_ = line_end_ = 0;
  set_->patterns.each(text_, [this](std::size_t rule, std::size_t end) {
    judge(rule, end);
    return true;
  });
  lines_ += std::count(raw.begin(), raw.end(), '\n');
}

void Classifier::judge(std::size_t rule, std::size_t end) {
  if (best_.rule && set_->precedes(*best_.rule, rule)) return;
  const bool equal = best_.rule && !set_->precedes(rule, *best_.rule);
  if (equal && before_ + end > best_end_) return;  // a later line
  look_at_line(end);
  if (line_ignored_ || !beats_best(rule, before_ + line_begin_)) return;
  if (set_->rules.rules[rule].start && !begins_line(rule)) return;
  best_.rule = rule;
  best_.line =
      1 + lines_ +
      std::count(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(line_begin_), '\n');
  best_.quote = quote(text_.substr(line_begin_, line_end_ - line_begin_), end - line_begin_);
  best_begin_ = before_ + line_begin_;
  best_end_ = before_ + line_end_;
}

bool Classifier::beats_best(std::size_t rule, std::uint64_t line_begin) const {
  if (!best_.rule || set_->precedes(rule, *best_.rule)) return true;
  return line_begin < best_begin_ || (line_begin == best_begin_ && rule < *best_.rule);
}

bool Classifier::begins_line(std::size_t rule) {
  if (continued_ && line_begin_ == 0) return false;
  const std::size_t size = std::min(line_end_ - line_begin_, kLongestStart);
  return set_->starts.matches(text_.substr(line_begin_, size), set_->start_of[rule]);
}

void Classifier::look_at_line(std::size_t end) {
  if (end > line_begin_ && end <= line_end_) return;
  const std::size_t last = find_last(text_.substr(0, end), '\n');
  line_begin_ = last == std::string_view::npos ? 0 : last + 1;
  line_end_ = std::min(text_.find('\n', end), text_.size());
  line_ignored_ = set_->ignore.any(text_.substr(line_begin_, line_end_ - line_begin_));
}

}  // namespace almanac::failure
