// SPDX-License-Identifier: Apache-2.0
#include "slurm/gateway_link.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "slurm/facts.h"

namespace almanac::slurm {
namespace {

/// Changes of one request: some tenths of a second, so that other questions come in between and a
/// controller that is slow is not taken for one that is gone.
constexpr std::size_t kChangesAtOnce = 200;
/// Hostnames of one request.
constexpr std::size_t kNodesPerRequest = 1000;

/// For questions that are answered by a mere yes.
Result<void> take_nothing(Answer&&) { return {}; }

/// All but the jobs is in the last part.
void merge(News&& part, News& into) {
  std::vector<Job> jobs = std::move(into.jobs);
  std::move(part.jobs.begin(), part.jobs.end(), std::back_inserter(jobs));
  into = std::move(part);
  into.jobs = std::move(jobs);
}

}  // namespace

Result<void> GatewayLink::start() {
  if (program_ && !program_->ended()) return {};
  program_.reset();
  whole_ = true;
  unanswered_ = 0;
  std::string path = setup_.program;
  if (path.empty()) {
    auto found = gateway_program();
    if (!found) return tl::unexpected(found.error());
    path = std::move(*found);
  }
  auto made = std::make_unique<GatewayProgram>(path);
  if (auto started = made->start(); !started) return started;
  program_ = std::move(made);
  std::optional<Hello> hello;
  auto greeted = exchange({.ask = Ask::hello}, [&](Answer&& answer) -> Result<void> {
    hello = std::move(answer.hello);
    return {};
  });
  if (greeted && !hello) {
    greeted = fail(Code::corrupt, path + " does not identify itself", {},
                   "check that ALMANAC_SLURM_GATEWAY is almanac-slurm-gateway");
  }
  // One that does not even greet is no help later.
  if (!greeted) {
    program_->kill();
    program_.reset();
  }
  return greeted;
}

Result<Answer> GatewayLink::answer_to(std::uint64_t id) {
  const auto deadline = GatewayProgram::Clock::now() + setup_.patience;
  for (;;) {
    const auto line = program_->receive(deadline);
    auto answer = line ? read_answer(*line) : tl::unexpected(line.error());
    // What speaks nonsense, or of another protocol, is not asked again; what is late is.
    if (!answer && answer.error().code != Code::unavailable) program_->kill();
    if (!answer || answer->id == id) return answer;
  }
}

Result<void> GatewayLink::exchange(Request&& request, const Take& take) {
  // The gateway answers one question after the other; questions behind a slow one are only late.
  while (unanswered_ != 0) {
    const auto late = answer_to(unanswered_);
    if (!late) return tl::unexpected(late.error());
    if (!late->more) unanswered_ = 0;
  }
  request.id = ++last_id_;
  const auto deadline = GatewayProgram::Clock::now() + setup_.patience;
  if (auto sent = program_->send(to_line(request), deadline); !sent) {
    // Half a request is no request, and all that follows would be its rest.
    program_->kill();
    return sent;
  }
  unanswered_ = request.id;
  for (;;) {
    auto answer = answer_to(request.id);
    if (!answer) return tl::unexpected(answer.error());
    if (!answer->more) unanswered_ = 0;
    if (answer->error) return to_failure(*answer->error);
    const bool more = answer->more;
    if (auto taken = take(std::move(*answer)); !taken) return taken;
    if (!more) return {};
  }
}

Result<void> GatewayLink::ask(Request&& request, const Take& take) {
  if (auto started = start(); !started) return started;
  return exchange(std::move(request), take);
}

Result<Site> GatewayLink::site() {
  std::optional<Site> told;
  auto done = ask({.ask = Ask::site}, [&](Answer&& answer) -> Result<void> {
    told = std::move(answer.site);
    return {};
  });
  if (!done) return tl::unexpected(done.error());
  if (!told) return fail(Code::corrupt, "almanac-slurm-gateway does not report the site");
  tell_facts(*told);
  return std::move(*told);
}

Result<News> GatewayLink::news() {
  if (auto started = start(); !started) return tl::unexpected(started.error());
  News told;
  auto done = ask({.ask = Ask::news, .whole = whole_}, [&](Answer&& answer) -> Result<void> {
    if (!answer.news) return fail(Code::corrupt, "almanac-slurm-gateway does not report news");
    merge(std::move(*answer.news), told);
    return {};
  });
  // What was told in an answer that never came is not told again.
  whole_ = !done;
  if (!done) return tl::unexpected(done.error());
  return told;
}

Result<std::vector<Result<void>>> GatewayLink::change_some(std::span<const JobChange> changes) {
  std::vector<Result<void>> each;
  Request request{.ask = Ask::change};
  request.changes.assign(changes.begin(), changes.end());
  auto done = ask(std::move(request), [&](Answer&& answer) -> Result<void> {
    if (answer.done.size() != changes.size()) {
      return fail(Code::corrupt, "almanac-slurm-gateway does not report the result of each change");
    }
    for (const auto& fault : answer.done) {
      if (fault) {
        each.emplace_back(to_failure(*fault));
      } else {
        each.emplace_back();
      }
    }
    return {};
  });
  if (!done) return tl::unexpected(done.error());
  return each;
}

std::vector<Result<void>> GatewayLink::change(std::span<const JobChange> changes) {
  std::vector<Result<void>> all;
  all.reserve(changes.size());
  while (!changes.empty()) {
    const auto some = changes.first(std::min(kChangesAtOnce, changes.size()));
    auto each = change_some(some);
    if (!each) {
      // The rest would fail as slowly, each.
      all.resize(all.size() + changes.size(), tl::unexpected(each.error()));
      return all;
    }
    std::move(each->begin(), each->end(), std::back_inserter(all));
    changes = changes.subspan(some.size());
  }
  return all;
}

Result<void> GatewayLink::end(JobNumber job, Fate fate) {
  return ask({.ask = Ask::end, .job = job, .fate = fate}, take_nothing);
}

Result<void> GatewayLink::power(std::span<const std::string> nodes, bool on) {
  return ask_of(nodes, {.ask = Ask::power, .on = on});
}

Result<void> GatewayLink::weigh(std::span<const std::string> nodes, std::uint32_t weight) {
  return ask_of(nodes, {.ask = Ask::weigh, .weight = weight});
}

Result<void> GatewayLink::ask_of(std::span<const std::string> nodes, const Request& what) {
  while (!nodes.empty()) {
    const auto some = nodes.first(std::min(kNodesPerRequest, nodes.size()));
    Request request = what;
    request.nodes.assign(some.begin(), some.end());
    if (auto done = ask(std::move(request), take_nothing); !done) return done;
    nodes = nodes.subspan(some.size());
  }
  return {};
}

Result<void> GatewayLink::ended(Time from, Time until, const TakeEnded& take) {
  return ask({.ask = Ask::ended, .from = from, .until = until},
             [&](Answer&& answer) -> Result<void> {
               for (Job& job : answer.ended) {
                 if (auto taken = take(std::move(job)); !taken) return taken;
               }
               return {};
             });
}

}  // namespace almanac::slurm
