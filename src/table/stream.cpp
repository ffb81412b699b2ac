// SPDX-License-Identifier: Apache-2.0
#include "table/stream.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

namespace almanac::table {
namespace {

constexpr std::size_t kBlock = std::size_t{256} << 10;

std::atomic<std::uint64_t> taken_by_all = 0;

[[noreturn]] void damaged(const std::string& path, std::string what, std::string hint = {}) {
  throw StreamFailure{Error{Code::corrupt, std::move(what), {path}, std::move(hint)}};
}

constexpr const char* kCopyAgain = "copy or download it again";

/// The bytes as they lie on disk, in blocks, with a look at the next ones.
class File {
 public:
  File(std::string path, int descriptor)
      : path_(std::move(path)), descriptor_(descriptor), block_(kBlock) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { ::close(descriptor_); }

  /// What is left of the block, or the next block; empty at the end.
  std::pair<const char*, std::size_t> available() {
    if (begin_ == end_) {
      begin_ = 0;
      end_ = fill();
    }
    return {block_.data() + begin_, end_ - begin_};
  }
  void take(std::size_t size) { begin_ += size; }
  bool starts_with(const char* magic, std::size_t size) {
    const auto [bytes, count] = available();
    return count >= size && std::memcmp(bytes, magic, size) == 0;
  }
  const std::string& path() const { return path_; }

 private:
  std::size_t fill() {
    for (;;) {
      const ssize_t count = ::read(descriptor_, block_.data(), block_.size());
      if (count >= 0) {
        taken_by_all.fetch_add(static_cast<std::uint64_t>(count), std::memory_order_relaxed);
        return static_cast<std::size_t>(count);
      }
      if (errno != EINTR) damaged(path_, fmt::format("cannot be read: {}", std::strerror(errno)));
    }
  }

  std::string path_;
  int descriptor_;
  std::vector<char> block_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

class PlainStream final : public Stream {
 public:
  explicit PlainStream(std::unique_ptr<File> file) : file_(std::move(file)) {}

  std::size_t read(char* buffer, std::size_t size) override {
    const auto [bytes, count] = file_->available();
    const std::size_t taken = std::min(count, size);
    std::memcpy(buffer, bytes, taken);
    file_->take(taken);
    return taken;
  }

 private:
  std::unique_ptr<File> file_;
};

/// A gzip file: one member after the other, as `cat a.gz b.gz` makes.
class GzipStream final : public Stream {
 public:
  explicit GzipStream(std::unique_ptr<File> file) : file_(std::move(file)) {
    if (inflateInit2(&state_, 16 + MAX_WBITS) != Z_OK) throw std::bad_alloc();
  }
  GzipStream(const GzipStream&) = delete;
  GzipStream& operator=(const GzipStream&) = delete;
  ~GzipStream() override { inflateEnd(&state_); }

  std::size_t read(char* buffer, std::size_t size) override {
    while (!finished_) {
      const auto [bytes, count] = file_->available();
      if (count == 0) damaged(file_->path(), "the gzip file ends too early", kCopyAgain);
      const auto room = static_cast<uInt>(std::min<std::size_t>(size, kBlock));
      state_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes));
      state_.avail_in = static_cast<uInt>(count);
      state_.next_out = reinterpret_cast<Bytef*>(buffer);
      state_.avail_out = room;
      const int status = inflate(&state_, Z_NO_FLUSH);
      file_->take(count - state_.avail_in);
      if (status == Z_STREAM_END) {
        next_member();
      } else if (status != Z_OK && status != Z_BUF_ERROR) {
        damaged(file_->path(),
                fmt::format("the gzip file is damaged: {}", state_.msg ? state_.msg : "no detail"),
                kCopyAgain);
      }
      if (state_.avail_out < room) return room - state_.avail_out;
    }
    return 0;
  }

 private:
  void next_member() {
    if (file_->available().second == 0) {
      finished_ = true;
    } else if (file_->starts_with("\x1f", 1)) {
      inflateReset(&state_);
    } else {
      skip_padding();
    }
  }
  // Tapes pad with zeros, and gzip(1) takes that.
  void skip_padding() {
    finished_ = true;
    for (;;) {
      const auto [bytes, count] = file_->available();
      if (count == 0) return;
      if (std::any_of(bytes, bytes + count, [](char c) { return c != '\0'; })) {
        damaged(file_->path(), "the gzip file has extra bytes at its end", kCopyAgain);
      }
      file_->take(count);
    }
  }

  std::unique_ptr<File> file_;
  z_stream state_{};
  bool finished_ = false;
};

/// A zstd file of one or more frames.
class ZstdStream final : public Stream {
 public:
  explicit ZstdStream(std::unique_ptr<File> file)
      : file_(std::move(file)), state_(ZSTD_createDStream()) {
    if (state_ == nullptr) throw std::bad_alloc();
  }
  ZstdStream(const ZstdStream&) = delete;
  ZstdStream& operator=(const ZstdStream&) = delete;
  ~ZstdStream() override { ZSTD_freeDStream(state_); }

  std::size_t read(char* buffer, std::size_t size) override {
    for (;;) {
      const auto [bytes, count] = file_->available();
      ZSTD_inBuffer in{bytes, count, 0};
      ZSTD_outBuffer out{buffer, size, 0};
      if (count == 0 && wanted_ == 0) return 0;
      const std::size_t status = ZSTD_decompressStream(state_, &out, &in);
      if (ZSTD_isError(status) != 0) {
        damaged(file_->path(),
                fmt::format("the zstd file is damaged: {}", ZSTD_getErrorName(status)), kCopyAgain);
      }
      file_->take(in.pos);
      wanted_ = status;
      if (out.pos > 0) return out.pos;
      if (count == 0 && wanted_ != 0) {
        damaged(file_->path(), "the zstd file ends too early", kCopyAgain);
      }
    }
  }

 private:
  std::unique_ptr<File> file_;
  ZSTD_DStream* state_;
  std::size_t wanted_ = 0;  // 0 = at the end of a frame
};

/// The line that byte `offset` of the unpacked file is in. Reads it again: only errors pay.
std::int64_t line_of_byte(const std::string& path, std::uint64_t offset) {
  auto stream = open_stream(path);
  std::int64_t line = 1;
  std::vector<char> block(kBlock);
  while (stream && offset > 0) {
    const std::size_t wanted = static_cast<std::size_t>(std::min<std::uint64_t>(offset, kBlock));
    const std::size_t count = (*stream)->read(block.data(), wanted);
    if (count == 0) break;
    line += std::count(block.data(), block.data() + count, '\n');
    offset -= count;
  }
  return line;
}

class TextStream final : public Stream {
 public:
  TextStream(std::unique_ptr<Stream> bytes, std::string path)
      : bytes_(std::move(bytes)), path_(std::move(path)) {}

  std::size_t read(char* buffer, std::size_t size) override {
    const std::size_t count = bytes_->read(buffer, size);
    if (const void* nul = std::memchr(buffer, '\0', count)) {
      const auto at =
          position_ + static_cast<std::uint64_t>(static_cast<const char*>(nul) - buffer);
      throw StreamFailure{Error{Code::corrupt,
                                "the file has a NUL byte: not a text file",
                                {path_, line_of_byte(path_, at)},
                                "UTF-16 must be converted to UTF-8 first"}};
    }
    position_ += count;
    return count;
  }

 private:
  std::unique_ptr<Stream> bytes_;
  std::string path_;
  std::uint64_t position_ = 0;
};

Result<std::string> read_up_to(Result<std::unique_ptr<Stream>> stream, std::size_t limit) try {
  if (!stream) return tl::unexpected(std::move(stream.error()));
  std::string content;
  while (content.size() < limit) {
    const std::size_t had = content.size();
    content.resize(had + std::min(limit - had, std::max(kBlock, had)));
    const std::size_t count = (*stream)->read(content.data() + had, content.size() - had);
    content.resize(had + count);
    if (count == 0) break;
  }
  return content;
} catch (StreamFailure& failure) {
  return tl::unexpected(std::move(failure.error));
}

}  // namespace

std::uint64_t bytes_taken() { return taken_by_all.load(std::memory_order_relaxed); }

Result<std::unique_ptr<Stream>> open_stream(const std::string& path) try {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    return fail(Code::not_found, fmt::format("cannot open the file: {}", std::strerror(errno)),
                {path});
  }
  auto file = std::make_unique<File>(path, descriptor);
  struct stat status {};
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    if (S_ISDIR(status.st_mode)) {
      return fail(Code::not_found, "must be a file, found a folder", {path},
                  "give the path of a file in it");
    }
    return fail(
        Code::not_found, "must be a file, found a pipe or device", {path},
        "save its content to a file first; job logs are also read from standard input, as -");
  }
  if (file->available().second == 0) return fail(Code::corrupt, "the file is empty", {path});
  if (file->starts_with("\x1f\x8b", 2)) return std::make_unique<GzipStream>(std::move(file));
  if (file->starts_with("\x28\xb5\x2f\xfd", 4)) {
    return std::make_unique<ZstdStream>(std::move(file));
  }
  return std::make_unique<PlainStream>(std::move(file));
} catch (StreamFailure& failure) {
  return tl::unexpected(std::move(failure.error));
}

Result<std::unique_ptr<Stream>> open_text(const std::string& path) {
  auto stream = open_stream(path);
  if (!stream) return stream;
  return std::make_unique<TextStream>(std::move(*stream), path);
}

Result<std::string> read_file(const std::string& path) {
  return read_up_to(open_stream(path), std::string::npos);
}

Result<std::string> read_text_file(const std::string& path) {
  return read_up_to(open_text(path), std::string::npos);
}

Result<std::string> read_head(const std::string& path, std::size_t size) {
  return read_up_to(open_stream(path), size);
}

}  // namespace almanac::table
