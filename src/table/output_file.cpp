// SPDX-License-Identifier: Apache-2.0
#include "table/output_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <functional>
#include <new>
#include <random>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

namespace almanac::table {
namespace {

constexpr std::size_t kGzipBlock = std::size_t{256} << 10;
constexpr int kGzipLevel = 6;
constexpr int kZstdLevel = 3;

/// Where packed bytes go.
using Sink = std::function<void(const char*, std::size_t)>;

/// Turns bytes into a packed form; the last call says so.
class Packer {
 public:
  virtual ~Packer() = default;
  virtual void pack(std::string_view bytes, bool last, const Sink& sink) = 0;
};

class GzipPacker final : public Packer {
 public:
  GzipPacker() : block_(kGzipBlock) {
    // zlib writes no name and no time into the header, so that equal content gives equal bytes.
    constexpr int kDefaultMemory = 8;
    if (deflateInit2(&state_, kGzipLevel, Z_DEFLATED, 16 + MAX_WBITS, kDefaultMemory,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
      throw std::bad_alloc();
    }
  }
  GzipPacker(const GzipPacker&) = delete;
  GzipPacker& operator=(const GzipPacker&) = delete;
  ~GzipPacker() override { deflateEnd(&state_); }

  void pack(std::string_view bytes, bool last, const Sink& sink) override {
    do {
      const std::string_view part = bytes.substr(0, kGzipBlock);
      bytes.remove_prefix(part.size());
      state_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(part.data()));
      state_.avail_in = static_cast<uInt>(part.size());
      do {
        state_.next_out = reinterpret_cast<Bytef*>(block_.data());
        state_.avail_out = static_cast<uInt>(block_.size());
        deflate(&state_, last && bytes.empty() ? Z_FINISH : Z_NO_FLUSH);
        sink(block_.data(), block_.size() - state_.avail_out);
      } while (state_.avail_out == 0);
    } while (!bytes.empty());
  }

 private:
  z_stream state_{};
  std::vector<char> block_;
};

class ZstdPacker final : public Packer {
 public:
  ZstdPacker() : state_(ZSTD_createCCtx()), block_(ZSTD_CStreamOutSize()) {
    if (state_ == nullptr) throw std::bad_alloc();
    ZSTD_CCtx_setParameter(state_, ZSTD_c_compressionLevel, kZstdLevel);
    ZSTD_CCtx_setParameter(state_, ZSTD_c_checksumFlag, 1);
  }
  ZstdPacker(const ZstdPacker&) = delete;
  ZstdPacker& operator=(const ZstdPacker&) = delete;
  ~ZstdPacker() override { ZSTD_freeCCtx(state_); }

  void pack(std::string_view bytes, bool last, const Sink& sink) override {
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    for (bool done = false; !done;) {
      ZSTD_outBuffer out{block_.data(), block_.size(), 0};
      const std::size_t left =
          ZSTD_compressStream2(state_, &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
      sink(block_.data(), out.pos);
      done = last ? left == 0 : in.pos == in.size;
    }
  }

 private:
  ZSTD_CCtx* state_;
  std::vector<char> block_;
};

std::unique_ptr<Packer> make_packer(const std::string& path) {
  const std::string_view name = path;
  if (name.ends_with(".gz")) return std::make_unique<GzipPacker>();
  if (name.ends_with(".zst")) return std::make_unique<ZstdPacker>();
  return nullptr;
}

/// The file that `path` stands for: where it is a symbolic link, what that points to, there or not.
std::string target_of(std::string path) {
  constexpr int kMostLinks = 40;
  for (int links = 0; links < kMostLinks; ++links) {
    std::error_code failed;
    const std::filesystem::path target = std::filesystem::read_symlink(path, failed);
    if (failed) break;
    path = (std::filesystem::path(path).parent_path() / target).string();
  }
  return path;
}

}  // namespace

struct OutputFile::State {
  std::string path;
  std::string temporary;  // empty = nothing to rename
  int descriptor = -1;
  std::unique_ptr<Packer> packer;
  int error = 0;

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (descriptor >= 0 && descriptor != STDOUT_FILENO) ::close(descriptor);
    if (!temporary.empty()) ::unlink(temporary.c_str());
  }

  void put(const char* bytes, std::size_t size) {
    while (size > 0 && error == 0) {
      const ssize_t count = ::write(descriptor, bytes, size);
      if (count < 0) {
        if (errno != EINTR) error = errno;
        continue;
      }
      bytes += count;
      size -= static_cast<std::size_t>(count);
    }
  }
  void add(std::string_view bytes, bool last) {
    if (packer) {
      packer->pack(bytes, last, [this](const char* data, std::size_t n) { put(data, n); });
    } else {
      put(bytes.data(), bytes.size());
    }
  }
};

OutputFile::OutputFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
OutputFile::OutputFile(OutputFile&&) noexcept = default;
OutputFile& OutputFile::operator=(OutputFile&&) noexcept = default;
OutputFile::~OutputFile() = default;

Result<OutputFile> OutputFile::create(const std::string& path) {
  auto state = std::make_unique<State>();
  state->path = path;
  state->packer = make_packer(path);
  struct stat there {};
  if (::stat(path.c_str(), &there) == 0 && !S_ISREG(there.st_mode) && !S_ISDIR(there.st_mode)) {
    // A device or a pipe must not be replaced by a file: that would be the end of /dev/null.
    state->descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (state->descriptor < 0) {
      return fail(Code::unavailable, fmt::format("cannot write there: {}", std::strerror(errno)),
                  {path});
    }
    return OutputFile(std::move(state));
  }
  // A link stays a link: what it points to is replaced.
  state->path = target_of(path);
  const std::filesystem::path folder = std::filesystem::path(state->path).parent_path();
  if (std::error_code failed; !folder.empty()) {
    std::filesystem::create_directories(folder, failed);
    if (failed) {
      return fail(
          Code::unavailable,
          fmt::format("cannot create its folder, {}: {}", folder.string(), failed.message()),
          {path});
    }
  }
  // Not mkostemp, which makes files for one's own eyes: an output gets the rights of any new file.
  std::string name;
  do {
    name = fmt::format("{}.part-{:08x}", state->path, std::random_device{}());
    state->descriptor = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (state->descriptor < 0 && errno == EEXIST);
  if (state->descriptor < 0) {
    return fail(Code::unavailable, fmt::format("cannot write the file: {}", std::strerror(errno)),
                {path});
  }
  state->temporary = std::move(name);
  return OutputFile(std::move(state));
}

OutputFile OutputFile::standard_output() {
  auto state = std::make_unique<State>();
  state->path = "standard output";
  std::fflush(stdout);
  state->descriptor = STDOUT_FILENO;
  return OutputFile(std::move(state));
}

void OutputFile::write(std::string_view bytes) {
  if (!bytes.empty()) state_->add(bytes, false);
}

Result<void> OutputFile::commit() {
  State& file = *state_;
  if (file.packer) file.add({}, true);
  if (!file.temporary.empty()) {
    if (::close(std::exchange(file.descriptor, -1)) != 0 && file.error == 0) file.error = errno;
    if (file.error == 0 && ::rename(file.temporary.c_str(), file.path.c_str()) != 0) {
      file.error = errno;
    }
  }
  if (file.error != 0) {
    return fail(Code::unavailable,
                fmt::format("cannot write the file: {}", std::strerror(file.error)), {file.path});
  }
  file.temporary.clear();
  return {};
}

const std::string& OutputFile::path() const { return state_->path; }

Result<void> write_file(const std::string& path, std::string_view content) {
  auto file = OutputFile::create(path);
  if (!file) return tl::unexpected(std::move(file.error()));
  file->write(content);
  return file->commit();
}

}  // namespace almanac::table
