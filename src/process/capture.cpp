// SPDX-License-Identifier: Apache-2.0
#include "process/capture.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include <fmt/format.h>
#include <poll.h>

#include "process/pipe.h"

namespace almanac::process {

Result<Captured> capture(Command command, Duration patience, const Bell* stop) {
  auto out = Pipe::create();
  if (!out) return tl::unexpected(out.error());
  auto err = Pipe::create();
  if (!err) return tl::unexpected(err.error());
  command.out = out->write.get();
  command.err = err->write.get();
  auto job = Job::start(command);
  if (!job) return tl::unexpected(job.error());
  out->write.close();
  err->write.close();

  const auto until = std::chrono::steady_clock::now() + patience;
  Captured made;
  bool out_open = true;
  bool err_open = true;
  // Reads until the job has ended and none of its processes holds a pipe. The end is checked once
  // per turn: an end noticed after the pipes were closed would leave nothing to wait for.
  for (;;) {
    const bool ended = job->ended().has_value();
    if (ended && !out_open && !err_open) break;
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        until - std::chrono::steady_clock::now());
    if (left.count() <= 0) {
      return fail(
          Code::unavailable,
          fmt::format("{} did not answer within {} s", command.argv.front(), seconds(patience)), {},
          "try again");
    }
    std::array<pollfd, 4> wait{pollfd{out_open ? out->read.get() : -1, POLLIN, 0},
                               pollfd{err_open ? err->read.get() : -1, POLLIN, 0},
                               pollfd{ended ? -1 : job->news(), POLLIN, 0},
                               pollfd{stop == nullptr ? -1 : stop->get(), POLLIN, 0}};
    const auto slice = std::min<std::chrono::milliseconds::rep>(left.count(), 60'000);
    ::poll(wait.data(), wait.size(), static_cast<int>(slice));
    if (wait.back().revents != 0) {
      return fail(Code::unavailable,
                  fmt::format("{} was stopped before it answered", command.argv.front()));
    }
    if (out_open) out_open = read_available(out->read, made.out);
    if (err_open) err_open = read_available(err->read, made.err);
  }
  made.ending = *job->ended();
  return made;
}

}  // namespace almanac::process
