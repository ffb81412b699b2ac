// SPDX-License-Identifier: Apache-2.0

/// \file
/// Starts a program of a bundle (packaging/bundle) with the libraries that came with it, by their
/// own loader, so that neither the machine's C library nor a variable like LD_LIBRARY_PATH, which
/// jobs would inherit, has a say. Linked statically with musl, which makes it small: it needs
/// nothing.
///
/// Where the machine's C library is at least as new as ours (ALMANAC_GLIBC_MINOR), it and its
/// loader are taken: what a machine adds to it (names of users, the GPU driver) fits no older one.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__aarch64__)
#define DEBIAN_FOLDER "/lib/aarch64-linux-gnu"
#define LOADER "ld-linux-aarch64.so.1"
#define MACHINE_LOADER "/lib/" LOADER
#else
#define DEBIAN_FOLDER "/lib/x86_64-linux-gnu"
#define LOADER "ld-linux-x86-64.so.2"
#define MACHINE_LOADER "/lib64/" LOADER
#endif

/// Links followed, so that one from ~/bin finds the rest.
static void own_path(char* path) {
  const ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
  const char* const started = (const char*)getauxval(AT_EXECFN);
  if (length > 0) {
    path[length] = '\0';
  } else if (realpath(started, path) == NULL) {
    snprintf(path, PATH_MAX, "%s", started);
  }
}

/// The minor version that a C library says in its text; 0 = it says none, or is not there.
static int minor_of(const char* path) {
  static const char says[] = "stable release version 2.";
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  int minor = 0;
  struct stat about;
  if (fstat(file, &about) == 0 && about.st_size > 0) {
    const size_t size = (size_t)about.st_size;
    char* const text = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (text != MAP_FAILED) {
      const char* at = memmem(text, size, says, sizeof says - 1);
      if (at != NULL) {
        for (at += sizeof says - 1; at < text + size && *at >= '0' && *at <= '9'; ++at)
          minor = 10 * minor + (*at - '0');
      }
      munmap(text, size);
    }
  }
  close(file);
  return minor;
}

/// 36 for glibc 2.36; 0 = there is none.
static int minor_of_machine(void) {
  static const char* const paths[] = {"/lib64/libc.so.6", DEBIAN_FOLDER "/libc.so.6",
                                      "/usr/lib64/libc.so.6", "/usr/lib/libc.so.6"};
  int minor = 0;
  if (access(MACHINE_LOADER, X_OK) != 0) return 0;
  for (size_t at = 0; minor == 0 && at < sizeof paths / sizeof *paths; ++at)
    minor = minor_of(paths[at]);
  return minor;
}

int main(int argc, char** argv) {
  static char own[PATH_MAX], root[PATH_MAX], program[3 * PATH_MAX], libraries[3 * PATH_MAX],
      loader[2 * PATH_MAX];
  own_path(own);
  const char* const slash = strrchr(own, '/');
  const char* const name = slash == NULL ? own : slash + 1;
  snprintf(root, sizeof root, "%s", own);
  // Of all folders above, the first that has the program.
  do {
    char* const end = strrchr(root, '/');
    if (end == NULL) break;
    *end = '\0';
    snprintf(program, sizeof program, "%s/lib/almanac/%s", root, name);
  } while (access(program, X_OK) != 0);
  if (minor_of_machine() >= ALMANAC_GLIBC_MINOR) {
    snprintf(loader, sizeof loader, "%s", MACHINE_LOADER);
    snprintf(libraries, sizeof libraries, "%s/lib/almanac/lib", root);
  } else {
    snprintf(loader, sizeof loader, "%s/lib/almanac/glibc/" LOADER, root);
    snprintf(libraries, sizeof libraries, "%s/lib/almanac/glibc:%s/lib/almanac/lib", root, root);
  }
  // Programs of the bundle are next to this one; the loader's own place would not show them.
  if (strcmp(name, "almanac") == 0) setenv("ALMANAC_LAUNCHER", own, 1);

  const char* const first[] = {loader,    "--library-path",          libraries,
                               "--argv0", argc > 0 ? argv[0] : name, program};
  const size_t count = sizeof first / sizeof *first;
  char** const words = calloc(count + (size_t)argc + 1, sizeof *words);
  if (words != NULL) {
    memcpy(words, first, sizeof first);
    if (argc > 1) memcpy(words + count, argv + 1, (size_t)(argc - 1) * sizeof *argv);
    execv(loader, words);
  }
  fprintf(stderr, "%s: cannot start %s: %s (install it again)\n", name, loader, strerror(errno));
  return 71;
}
