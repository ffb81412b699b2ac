// SPDX-License-Identifier: Apache-2.0
#include "table/lines.h"

#define CSV_IO_NO_THREAD
#include <utility>

#include <csv.h>
#include <fmt/format.h>

#include "table/stream.h"

namespace almanac::table {
namespace {

/// Feeds the line reader as it needs it: full blocks until the end, and a newline at the very end,
/// for without one it compares a byte behind its data.
class Source final : public io::ByteSourceBase {
 public:
  explicit Source(std::unique_ptr<Stream> stream) : stream_(std::move(stream)) {}

  int read(char* buffer, int size) override {
    const auto wanted = static_cast<std::size_t>(size);
    std::size_t have = 0;
    while (have < wanted && !ended_) {
      const std::size_t count = stream_->read(buffer + have, wanted - have);
      have += count;
      ended_ = count == 0;
    }
    if (have > 0) last_ = buffer[have - 1];
    if (ended_ && last_ != '\n' && have < wanted) buffer[have++] = last_ = '\n';
    return static_cast<int>(have);
  }

 private:
  std::unique_ptr<Stream> stream_;
  bool ended_ = false;
  char last_ = '\n';
};

}  // namespace

struct Lines::State {
  State(const std::string& name, std::unique_ptr<Stream> stream)
      : path(name), reader(name, std::make_unique<Source>(std::move(stream))) {}

  std::string path;
  io::LineReader reader;
};

Lines::Lines(std::unique_ptr<State> state) : state_(std::move(state)) {}
Lines::Lines(Lines&&) noexcept = default;
Lines& Lines::operator=(Lines&&) noexcept = default;
Lines::~Lines() = default;

Result<Lines> Lines::open(const std::string& path) try {
  auto stream = open_text(path);
  if (!stream) return tl::unexpected(std::move(stream.error()));
  return Lines(std::make_unique<State>(path, std::move(*stream)));
} catch (StreamFailure& failure) {
  return tl::unexpected(std::move(failure.error));
}

Result<char*> Lines::next() try {
  return state_->reader.next_line();
} catch (StreamFailure& failure) {
  return tl::unexpected(std::move(failure.error));
} catch (const io::error::line_length_limit_exceeded&) {
  return fail(Code::corrupt, "a line of more than 16 MB: not a table", {path(), line()});
}

std::int64_t Lines::line() const { return state_->reader.get_file_line(); }
const std::string& Lines::path() const { return state_->path; }

}  // namespace almanac::table
