// SPDX-License-Identifier: Apache-2.0
#include "failure/patterns.h"

#include <utility>
#include <vector>

#include <hs/hs.h>

#include "base/check.h"

namespace almanac::failure {

struct Patterns::State {
  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { hs_free_database(database); }

  hs_database_t* database = nullptr;  // null = no patterns, which Hyperscan does not compile
};

Patterns::Patterns(std::unique_ptr<State> state) : state_(std::move(state)) {}
Patterns::Patterns(Patterns&&) noexcept = default;
Patterns& Patterns::operator=(Patterns&&) noexcept = default;
Patterns::~Patterns() = default;

Result<Patterns> Patterns::compile(std::span<const std::string> patterns) {
  auto state = std::make_unique<State>();
  if (patterns.empty()) return Patterns(std::move(state));
  std::vector<const char*> texts;
  std::vector<unsigned> flags;
  std::vector<unsigned> ids;
  for (const std::string& pattern : patterns) {
    texts.push_back(pattern.c_str());
    flags.push_back(HS_FLAG_MULTILINE);
    ids.push_back(static_cast<unsigned>(ids.size()));
  }
  hs_compile_error_t* error = nullptr;
  if (hs_compile_multi(texts.data(), flags.data(), ids.data(), static_cast<unsigned>(texts.size()),
                       HS_MODE_BLOCK, nullptr, &state->database, &error) != HS_SUCCESS) {
    const std::string message = error->message;
    const int position = error->expression;
    hs_free_compile_error(error);
    return fail(Code::invalid, message, {.line = position});
  }
  return Patterns(std::move(state));
}

struct Search::State {
  explicit State(const hs_database_t* searched) : database(searched) {
    if (database == nullptr) return;
    const hs_error_t status = hs_alloc_scratch(database, &scratch);
    ALMANAC_CHECK(status == HS_SUCCESS, "hs_alloc_scratch gives {}", status);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { hs_free_scratch(scratch); }

  const hs_database_t* database;
  hs_scratch_t* scratch = nullptr;
};

Search::Search(const Patterns& patterns)
    : state_(std::make_unique<State>(patterns.state().database)) {}
Search::Search(Search&&) noexcept = default;
Search& Search::operator=(Search&&) noexcept = default;
Search::~Search() = default;

void Search::each(std::string_view text, Found found, void* context) {
  if (state_->database == nullptr) return;
  struct Call {
    Found found;
    void* context;
  } call{found, context};
  const match_event_handler tell = [](unsigned pattern, unsigned long long, unsigned long long end,
                                      unsigned, void* raw) {
    const Call& to = *static_cast<const Call*>(raw);
    return to.found(to.context, pattern, end) ? 0 : 1;
  };
  const hs_error_t status =
      hs_scan(state_->database, text.data(), static_cast<unsigned>(text.size()), 0, state_->scratch,
              tell, &call);
  ALMANAC_CHECK(status == HS_SUCCESS || status == HS_SCAN_TERMINATED, "hs_scan gives {}", status);
}

bool Search::any(std::string_view text) {
  bool matched = false;
  each(
      text,
      [](void* flag, std::size_t, std::size_t) {
        *static_cast<bool*>(flag) = true;
        return false;
      },
      &matched);
  return matched;
}

bool Search::matches(std::string_view text, std::size_t pattern) {
  struct Wanted {
    std::size_t pattern;
    bool matched = false;
  } wanted{pattern};
  each(
      text,
      [](void* raw, std::size_t found, std::size_t) {
        Wanted& looked_for = *static_cast<Wanted*>(raw);
        looked_for.matched = found == looked_for.pattern;
        return !looked_for.matched;
      },
      &wanted);
  return wanted.matched;
}

}  // namespace almanac::failure
