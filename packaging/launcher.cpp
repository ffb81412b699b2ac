// SPDX-License-Identifier: Apache-2.0

/// \file
/// Starts a program of a bundle (packaging/bundle) with the libraries that came with it, by their
/// own loader, so that neither the machine's C library nor a variable like LD_LIBRARY_PATH, which
/// jobs would inherit, has a say. Linked statically: it needs nothing.
///
/// Where the machine's C library is at least as new as ours (kOurs), it and its loader are taken:
/// what a machine adds to it (names of users, the GPU driver) fits no older one.
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <sys/auxv.h>
#include <unistd.h>

namespace {

constexpr int kOurs = ALMANAC_GLIBC_MINOR;  // of glibc 2
constexpr const char* kLoader = "/lib64/ld-linux-x86-64.so.2";

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

/// Links followed, so that one from ~/bin finds the rest.
std::string own_path() {
  char path[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  if (length > 0) return {path, static_cast<std::size_t>(length)};
  const auto* const started = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
  return realpath(started, path) != nullptr ? path : started;
}

/// Without streams, which would make the launcher twice as large; "" if the file cannot be read.
std::string content_of(const char* path) {
  std::string text;
  std::FILE* const file = std::fopen(path, "rb");
  if (file == nullptr) return text;
  char block[65536];
  for (std::size_t size = 0; (size = std::fread(block, 1, sizeof block, file)) > 0;)
    text.append(block, size);
  std::fclose(file);
  return text;
}

/// 36 for glibc 2.36; 0 = there is none.
int minor_of_machine() {
  if (access(kLoader, X_OK) != 0) return 0;
  for (const char* const path : {"/lib64/libc.so.6", "/lib/x86_64-linux-gnu/libc.so.6",
                                 "/usr/lib64/libc.so.6", "/usr/lib/libc.so.6"}) {
    const std::string text = content_of(path);
    constexpr std::string_view kSays = "stable release version 2.";
    const std::size_t at = text.find(kSays);
    if (at != std::string::npos) return std::atoi(text.c_str() + at + kSays.size());
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string own = own_path();
  const std::string name = own.substr(own.rfind('/') + 1);
  std::string root = folder_of(own);
  std::string program;
  do {
    root = folder_of(root);
    program = root + "/lib/almanac/" + name;
  } while (access(program.c_str(), X_OK) != 0 && !root.empty());
  const std::string glibc = root + "/lib/almanac/glibc";
  std::string libraries = root + "/lib/almanac/lib";
  std::string loader = kLoader;
  if (minor_of_machine() < kOurs) {
    libraries = glibc + ":" + libraries;
    loader = glibc + "/ld-linux-x86-64.so.2";
  }
  // Those that come with almanac lie beside it; of the loader's own place it could not tell.
  if (name == "almanac") setenv("ALMANAC_LAUNCHER", own.c_str(), 1);
  std::vector<std::string> words = {loader, "--library-path", libraries, "--argv0",
                                    argc > 0 ? argv[0] : name, program};
  for (int at = 1; at < argc; ++at) words.emplace_back(argv[at]);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execv(loader.c_str(), arguments.data());
  std::fprintf(stderr, "%s: cannot start %s: %s (install it again)\n", name.c_str(),
               loader.c_str(), std::strerror(errno));
  return 71;
}
