// SPDX-License-Identifier: Apache-2.0
#include "failure/patterns.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include <re2/re2.h>
#include <re2/set.h>

namespace almanac::failure {
namespace {

/// The automaton of all patterns together is larger than RE2's 8 MB allow; it is built as needed.
constexpr std::int64_t kSetBytes = std::int64_t{256} << 20;

re2::RE2::Options options() {
  re2::RE2::Options made(re2::RE2::Quiet);
  made.set_encoding(re2::RE2::Options::EncodingLatin1);  // logs are bytes of any encoding
  return made;
}

re2::RE2::Options set_options() {
  re2::RE2::Options made = options();
  made.set_max_mem(kSetBytes);
  return made;
}

re2::StringPiece piece(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace

struct Patterns::State {
  std::vector<std::unique_ptr<re2::RE2>> alone;
  re2::RE2::Set together{set_options(), re2::RE2::UNANCHORED};
};

Patterns::Patterns(std::unique_ptr<State> state) : state_(std::move(state)) {}
Patterns::Patterns(Patterns&&) noexcept = default;
Patterns& Patterns::operator=(Patterns&&) noexcept = default;
Patterns::~Patterns() = default;

Result<Patterns> Patterns::compile(std::span<const std::string> patterns) {
  auto state = std::make_unique<State>();
  for (const std::string& pattern : patterns) {
    const std::string by_lines = "(?m)" + pattern;
    state->alone.push_back(std::make_unique<re2::RE2>(by_lines, options()));
    const re2::RE2& compiled = *state->alone.back();
    if (!compiled.ok()) {
      return fail(Code::invalid, compiled.error(),
                  {.line = static_cast<std::int64_t>(state->alone.size()) - 1});
    }
    state->together.Add(by_lines, nullptr);
  }
  if (!patterns.empty() && !state->together.Compile()) {
    return fail(Code::invalid, "the patterns together need too much memory",
                {.line = static_cast<std::int64_t>(patterns.size())});
  }
  return Patterns(std::move(state));
}

void Patterns::each(std::string_view text, const Found& found) const {
  if (state_->alone.empty()) return;
  std::vector<int> matched;
  re2::RE2::Set::ErrorInfo error{};
  if (!state_->together.Match(piece(text), &matched, &error)) {
    if (error.kind == re2::RE2::Set::kNoError) return;
    // The automaton of all patterns outgrew its memory on this text; each alone falls back.
    matched.resize(state_->alone.size());
    std::iota(matched.begin(), matched.end(), 0);
  }
  std::sort(matched.begin(), matched.end());
  for (const int pattern : matched) {
    const re2::RE2& expression = *state_->alone[static_cast<std::size_t>(pattern)];
    re2::StringPiece match;
    for (std::size_t begin = 0; begin <= text.size();) {
      if (!expression.Match(piece(text), begin, text.size(), re2::RE2::UNANCHORED, &match, 1)) {
        break;
      }
      const auto end = static_cast<std::size_t>(match.data() - text.data()) + match.size();
      if (!found(static_cast<std::size_t>(pattern), end)) return;
      begin = match.empty() ? end + 1 : end;
    }
  }
}

bool Patterns::any(std::string_view text) const {
  bool found = false;
  each(text, [&](std::size_t, std::size_t) {
    found = true;
    return false;
  });
  return found;
}

bool Patterns::matches(std::string_view text, std::size_t pattern) const {
  return re2::RE2::PartialMatch(piece(text), *state_->alone[pattern]);
}

}  // namespace almanac::failure
