// SPDX-License-Identifier: Apache-2.0
#include "machine/start_trouble.h"

#include <algorithm>
#include <chrono>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "text/datetime.h"

namespace almanac::machine {

using store::JobNumber;

Duration pause_before_start(int failures) {
  constexpr Duration kAtMost = 5min;
  constexpr int kDoublings = 9;
  return std::min(Duration{1s} * (1 << std::clamp(failures - 1, 0, kDoublings)), kAtMost);
}

JobStarts::Next JobStarts::failed(JobNumber job, const std::string& why, bool is_certain,
                                  Time now) {
  const auto [at, is_new] = jobs_.try_emplace(job);
  Failed& failed = at->second;
  ++failed.tries;
  if (is_new || is_certain || failed.seen != worked_) ++failed.blamed;
  failed.seen = worked_;
  failed.why = why;
  if (!is_certain && last_ != job) ++since_worked_;
  if (!is_certain) last_ = job;
  const Next next{now + pause_before_start(failed.tries), failed.blamed >= kTries};
  if (next.gives_up) jobs_.erase(at);
  return next;
}

void JobStarts::worked(JobNumber job) {
  jobs_.erase(job);
  ++worked_;
  since_worked_ = 0;
  last_.reset();
}

const std::string* JobStarts::why(JobNumber job) const {
  const auto found = jobs_.find(job);
  return found == jobs_.end() ? nullptr : &found->second.why;
}

Result<void> ask_for_user(std::uint32_t uid) {
  const auto groups = process::groups_of({.uid = uid, .gid = uid});
  if (!groups) return tl::unexpected(groups.error());
  return {};
}

Accounts::Accounts(Ask ask) : ask_(ask) {}

void Accounts::close(Account& account, const Error& why, Time now) {
  ++account.tries;
  if (why.code == Code::not_found) ++account.unknown;
  account.why = why.message;
  account.is_closed = true;
  account.again = now + pause_before_start(account.tries);
}

bool Accounts::failed(std::uint32_t uid, const std::string& user, const std::string& why,
                      Time now) {
  Account& account = accounts_[uid];
  if (account.is_closed) return false;  // others that were started together with the first
  account.user = user;
  close(account, {Code::unavailable, why, {}, {}}, now);
  return true;
}

void Accounts::worked(std::uint32_t uid) {
  const auto found = accounts_.find(uid);
  if (found != accounts_.end() && !found->second.is_closed) accounts_.erase(found);
}

bool Accounts::is_closed(std::uint32_t uid) const {
  const auto found = accounts_.find(uid);
  return found != accounts_.end() && found->second.is_closed;
}

std::string Accounts::why(std::uint32_t uid) const {
  const auto found = accounts_.find(uid);
  if (found == accounts_.end()) return {};
  return fmt::format("{}; next lookup of the user at {}", found->second.why,
                     text::format_datetime(ceil<std::chrono::seconds>(found->second.again)));
}

std::vector<std::string> Accounts::warnings() const {
  constexpr std::size_t kShown = 3;
  std::vector<std::string> made;
  for (const auto& [uid, account] : accounts_) {
    if (!account.is_closed || made.size() == kShown) continue;
    made.push_back(fmt::format("jobs of {} cannot be started: {}", account.user, account.why));
  }
  return made;
}

Accounts::News Accounts::look(Time now) {
  News news;
  for (auto at = accounts_.begin(); at != accounts_.end();) {
    auto& [uid, account] = *at;
    if (account.is_closed && gives_up(account)) {
      news.given_up.emplace(uid, account.why);
      at = accounts_.erase(at);
      continue;
    }
    if (account.is_closed && !account.answer.valid() && account.again <= now) {
      account.asks = std::make_shared<std::promise<Result<void>>>();
      account.answer = account.asks->get_future();
      try {
        // No thread waits for the answer: a directory service on the network may take very long.
        std::thread([asks = account.asks, ask = ask_, asked = uid] {
          asks->set_value(ask(asked));
        }).detach();
      } catch (const std::system_error&) {
        account.answer = {};  // no thread is to be had
        account.again = now + pause_before_start(account.tries);
      }
    }
    if (account.answer.valid() &&
        account.answer.wait_for(std::chrono::seconds(0)) == std::future_status::ready) {
      const Result<void> known = std::exchange(account.answer, {}).get();
      if (known) {
        account.is_closed = false;  // its failures count until a job has begun
        news.open.push_back(uid);
      } else {
        close(account, known.error(), now);
        continue;  // it may have been the last try
      }
    }
    ++at;
  }
  return news;
}

Time Accounts::due(Time now) const {
  constexpr Duration kAsked = 50ms;  // a question is out
  Time next = kNever;
  for (const auto& [uid, account] : accounts_) {
    if (!account.is_closed) continue;
    next = std::min(next, account.answer.valid() ? now + kAsked : std::max(account.again, now));
  }
  return next;
}

}  // namespace almanac::machine
