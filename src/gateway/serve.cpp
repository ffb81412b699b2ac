// SPDX-License-Identifier: GPL-3.0-or-later
#include "gateway/serve.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "gateway/accounting.h"
#include "gateway/change.h"
#include "gateway/mirror.h"
#include "gateway/site.h"
#include "slurm/lines.h"
#include "slurm/wire.h"

namespace almanac::gateway {
namespace {

using manager::News;
using slurm::Answer;
using slurm::Ask;
using slurm::Request;

/// So many jobs a line: the daemon reads the first while the next are written.
constexpr std::size_t kJobsALine = 1000;

class Service {
 public:
  explicit Service(int out) : out_(out) {}

  /// False once no process reads answers any more.
  bool take(std::string_view line) {
    const auto request = slurm::read_request(line);
    if (!request) {
      id_ = slurm::id_of(line);
      return refuse(request.error());
    }
    id_ = request->id;
    return answer(*request);
  }
  bool take_too_long() {
    id_ = 0;
    return refuse(
        {Code::invalid, fmt::format("a request of more than {} bytes", slurm::kLongestRequest)});
  }

 private:
  bool answer(const Request& request) {
    switch (request.ask) {
      case Ask::hello:
        return say({.hello = slurm::Hello{ALMANAC_VERSION, library_version()}});
      case Ask::site: {
        auto told = site();
        return told ? say({.site = std::move(*told)}) : refuse(told.error());
      }
      case Ask::news: {
        auto news = mirror_.news(request.whole);
        return news ? say_news(std::move(*news)) : refuse(news.error());
      }
      case Ask::change: {
        Answer answer;
        for (const auto& done : change(request.changes)) {
          answer.done.push_back(done ? std::nullopt : std::optional(slurm::to_fault(done.error())));
        }
        return say(std::move(answer));
      }
      case Ask::end:
        return say_done(end(request.job, request.fate));
      case Ask::power:
        return say_done(power(request.nodes, request.on));
      case Ask::weigh:
        return say_done(weigh(request.nodes, request.weight));
      case Ask::ended:
        return say_ended(request);
    }
    return false;
  }

  bool say_news(News&& news) {
    std::vector<manager::Job> jobs = std::exchange(news.jobs, {});
    const bool whole = news.whole;
    std::size_t told = 0;
    for (; jobs.size() - told > kJobsALine; told += kJobsALine) {
      Answer part{.more = true, .news = News{.whole = whole}};
      move_some(jobs, told, told + kJobsALine, part.news->jobs);
      if (!say(std::move(part))) return false;
    }
    move_some(jobs, told, jobs.size(), news.jobs);
    return say({.news = std::move(news)});
  }

  bool say_ended(const Request& request) {
    bool heard = true;
    const auto done = ended(request.from, request.until, [&](std::vector<manager::Job>&& jobs) {
      return heard = say({.more = true, .ended = std::move(jobs)});
    });
    return heard && say_done(done);
  }

  static void move_some(std::vector<manager::Job>& from, std::size_t begin, std::size_t end,
                        std::vector<manager::Job>& to) {
    to.assign(std::make_move_iterator(from.begin() + static_cast<std::ptrdiff_t>(begin)),
              std::make_move_iterator(from.begin() + static_cast<std::ptrdiff_t>(end)));
  }

  bool say_done(const Result<void>& done) { return done ? say({}) : refuse(done.error()); }
  bool refuse(const Error& error) { return say({.error = slurm::to_fault(error)}); }

  bool say(Answer&& answer) {
    answer.id = id_;
    const std::string line = slurm::to_line(answer);
    for (std::size_t sent = 0; sent < line.size();) {
      const ssize_t size = ::write(out_, line.data() + sent, line.size() - sent);
      if (size > 0) {
        sent += static_cast<std::size_t>(size);
      } else if (size < 0 && errno == EINTR) {
        continue;
      } else {
        return false;
      }
    }
    return true;
  }

  int out_;
  std::uint64_t id_ = 0;
  Mirror mirror_;
};

int signals_to_end_by() {
  sigset_t signals;
  ::sigemptyset(&signals);
  ::sigaddset(&signals, SIGTERM);
  ::sigprocmask(SIG_BLOCK, &signals, nullptr);
  // The terminal's are the daemon's business, and a daemon that is gone is noticed by writing.
  for (const int signal : {SIGINT, SIGHUP, SIGPIPE}) ::signal(signal, SIG_IGN);
  return ::signalfd(-1, &signals, SFD_CLOEXEC);
}

}  // namespace

int serve(int in, int out) {
  const int ended = signals_to_end_by();  // before there are threads, which inherit it
  Service service(out);
  slurm::Lines lines(slurm::kLongestRequest);
  bool goes_on = true;
  while (goes_on) {
    std::array<pollfd, 2> awaited{{{in, POLLIN, 0}, {ended, POLLIN, 0}}};
    if (::poll(awaited.data(), awaited.size(), -1) < 0 && errno != EINTR) break;
    if (awaited[1].revents != 0) break;
    if (awaited[0].revents == 0) continue;
    std::array<char, 65536> part{};
    const ssize_t size = ::read(in, part.data(), part.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) break;
    lines.add({part.data(), static_cast<std::size_t>(size)});
    while (goes_on) {
      const auto line = lines.next();
      if (!line) break;
      goes_on = line->too_long ? service.take_too_long() : service.take(line->text);
    }
  }
  return 0;
}

}  // namespace almanac::gateway
