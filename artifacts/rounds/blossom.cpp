// SPDX-License-Identifier: Apache-2.0
#include "rounds/blossom.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <limits>

namespace almanac::rounds {
namespace {

/// Names of vertices count from 1, for that program uses 0 as "none" and reads the weights and the
/// dual of 0. Blossoms (odd cycles shrunk to one vertex) are named from `vertices_` + 1.
class PublishedMatcher {
 public:
  explicit PublishedMatcher(const OrderedWeights& weight)
      : vertices_(static_cast<int>(weight.size())),
        used_(vertices_),
        size_(static_cast<std::size_t>(vertices_ + vertices_ / 2 + 2)) {
    edges_.assign(size_ * size_, {});
    through_.assign(size_ * size_, 0);
    match_.assign(size_, 0);
    top_.assign(size_, 0);
    parent_.assign(size_, 0);
    slack_.assign(size_, 0);
    seen_.assign(size_, 0);
    label_.assign(size_, Label::free);
    cycle_.assign(size_, {});
    double heaviest = 0;
    for (int a = 0; a <= vertices_; ++a) {
      top_[index(a)] = a;
      through(a, a) = a;
      for (int b = 0; b <= vertices_; ++b) {
        const double w = a > 0 && b > 0 ? weight[index(a - 1)][index(b - 1)] : 0;
        edge(a, b) = {a, b, w};
        heaviest = std::max(heaviest, w);
      }
    }
    dual_.assign(size_, heaviest);
    has_edges_ = heaviest > 0;
  }

  std::vector<int> solve() {
    while (has_edges_ && augment()) {
    }
    std::vector<int> mates(index(vertices_), -1);
    for (int a = 1; a <= vertices_; ++a) {
      // Rounding can leave a vertex with a mate that has another.
      const int mate = match_[index(a)];
      if (mate > 0 && match_[index(mate)] == a) mates[index(a - 1)] = mate - 1;
    }
    return mates;
  }

 private:
  enum class Label : std::uint8_t { free, outer, inner };
  struct Edge {
    int from = 0;
    int to = 0;
    double weight = 0;
  };

  static std::size_t index(int at) { return static_cast<std::size_t>(at); }
  Edge& edge(int a, int b) { return edges_[index(a) * size_ + index(b)]; }
  /// The member of blossom `b` that holds vertex `v`.
  int& through(int b, int v) { return through_[index(b) * size_ + index(v)]; }
  int top(int a) const { return top_[index(a)]; }
  Label label(int a) const { return label_[index(a)]; }
  double gap(const Edge& e) {
    return dual_[index(e.from)] + dual_[index(e.to)] - edge(e.from, e.to).weight * 2.0;
  }
  /// Fault: slacks below zero count as none, those above never, however small.
  static bool is_tight(double gap) { return gap <= 0; }

  void keep_slack(int from, int blossom) {
    int& slack = slack_[index(blossom)];
    if (slack == 0 || gap(edge(from, blossom)) < gap(edge(slack, blossom))) slack = from;
  }
  void find_slack(int blossom) {
    slack_[index(blossom)] = 0;
    for (int v = 1; v <= vertices_; ++v) {
      if (edge(v, blossom).weight > 0 && top(v) != blossom && label(top(v)) == Label::outer) {
        keep_slack(v, blossom);
      }
    }
  }
  /// Puts the vertices of `b` into the queue, those of outer cycles first.
  void enqueue(int b) {
    std::deque<int> open{b};
    for (; !open.empty(); open.pop_front()) {
      const int at = open.front();
      if (at <= vertices_) {
        queue_.push_back(at);
      } else {
        open.insert(open.end(), cycle_[index(at)].begin(), cycle_[index(at)].end());
      }
    }
  }
  void set_top(int b, int blossom) {
    top_[index(b)] = blossom;
    if (b <= vertices_) return;
    for (const int member : cycle_[index(b)]) set_top(member, blossom);
  }
  /// The place of `member` in the cycle of `blossom`, which is turned so that it is even.
  std::size_t even_place(int blossom, int member) {
    std::vector<int>& all = cycle_[index(blossom)];
    const auto place =
        static_cast<std::size_t>(std::find(all.begin(), all.end(), member) - all.begin());
    if (place % 2 == 0) return place;
    std::reverse(all.begin() + 1, all.end());
    return all.size() - place;
  }
  void match(int a, int b) {
    const Edge e = edge(a, b);
    match_[index(a)] = e.to;
    if (a <= vertices_) return;
    const int member = through(a, e.from);
    const std::size_t place = even_place(a, member);
    std::vector<int>& all = cycle_[index(a)];
    for (std::size_t i = 0; i < place; ++i) match(all[i], all[i ^ 1]);
    match(member, b);
    std::rotate(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(place), all.end());
  }
  void flip_path(int a, int b) {
    for (;;) {
      const int before = top(match_[index(a)]);
      match(a, b);
      if (before == 0) return;
      const int next = top(parent_[index(before)]);
      match(before, next);
      a = next;
      b = before;
    }
  }
  int common_ancestor(int a, int b) {
    ++visit_;
    for (; a != 0 || b != 0; std::swap(a, b)) {
      if (a == 0) continue;
      if (seen_[index(a)] == visit_) return a;
      seen_[index(a)] = visit_;
      a = top(match_[index(a)]);
      if (a != 0) a = top(parent_[index(a)]);
    }
    return 0;
  }

  void shrink(int a, int root, int b) {
    int blossom = vertices_ + 1;
    while (blossom <= used_ && top(blossom) != 0) ++blossom;
    used_ = std::max(used_, blossom);
    dual_[index(blossom)] = 0;
    label_[index(blossom)] = Label::outer;
    match_[index(blossom)] = match_[index(root)];
    std::vector<int>& all = cycle_[index(blossom)];
    all = {root};
    const auto climb = [&](int from) {
      for (int each = from; each != root;) {
        all.push_back(each);
        const int inner = top(match_[index(each)]);
        all.push_back(inner);
        enqueue(inner);
        each = top(parent_[index(inner)]);
      }
    };
    climb(a);
    std::reverse(all.begin() + 1, all.end());
    climb(b);
    set_top(blossom, blossom);
    for (int other = 1; other <= used_; ++other) {
      edge(blossom, other).weight = edge(other, blossom).weight = 0;
    }
    for (int v = 1; v <= vertices_; ++v) through(blossom, v) = 0;
    for (const int member : all) {
      for (int other = 1; other <= used_; ++other) {
        if (edge(blossom, other).weight <= 0 ||
            gap(edge(member, other)) < gap(edge(blossom, other))) {
          edge(blossom, other) = edge(member, other);
          edge(other, blossom) = edge(other, member);
        }
      }
      for (int v = 1; v <= vertices_; ++v) {
        if (through(member, v) != 0) through(blossom, v) = member;
      }
    }
    find_slack(blossom);
  }

  void expand(int blossom) {
    const std::vector<int>& all = cycle_[index(blossom)];
    for (const int member : all) set_top(member, member);
    const int entry = through(blossom, edge(blossom, parent_[index(blossom)]).from);
    const std::size_t place = even_place(blossom, entry);
    for (std::size_t i = 0; i < place; i += 2) {
      parent_[index(all[i])] = edge(all[i + 1], all[i]).from;
      label_[index(all[i])] = Label::inner;
      label_[index(all[i + 1])] = Label::outer;
      slack_[index(all[i])] = 0;
      find_slack(all[i + 1]);
      enqueue(all[i + 1]);
    }
    label_[index(entry)] = Label::inner;
    parent_[index(entry)] = parent_[index(blossom)];
    for (std::size_t i = place + 1; i < all.size(); ++i) {
      label_[index(all[i])] = Label::free;
      find_slack(all[i]);
    }
    top_[index(blossom)] = 0;
  }

  /// An edge without slack leads out of a tree. True = the matching has grown.
  bool take_edge(const Edge e) {
    const int a = top(e.from);
    const int b = top(e.to);
    if (label(b) == Label::free) {
      parent_[index(b)] = e.from;
      label_[index(b)] = Label::inner;
      const int next = top(match_[index(b)]);
      slack_[index(b)] = slack_[index(next)] = 0;
      label_[index(next)] = Label::outer;
      enqueue(next);
    } else if (label(b) == Label::outer) {
      const int root = common_ancestor(a, b);
      if (root == 0) {
        flip_path(a, b);
        flip_path(b, a);
        return true;
      }
      shrink(a, root, b);
    }
    return false;
  }

  bool grow_trees() {
    while (!queue_.empty()) {
      const int v = queue_.front();
      queue_.pop_front();
      if (label(top(v)) == Label::inner) continue;
      for (int other = 1; other <= vertices_; ++other) {
        if (edge(v, other).weight <= 0 || top(v) == top(other)) continue;
        if (is_tight(gap(edge(v, other)))) {
          if (take_edge(edge(v, other))) return true;
        } else {
          keep_slack(v, top(other));
        }
      }
    }
    return false;
  }

  /// The least change of the duals after which a tree grows or a blossom ends.
  double step() {
    double least = std::numeric_limits<double>::infinity();
    for (int b = vertices_ + 1; b <= used_; ++b) {
      if (top(b) == b && label(b) == Label::inner) least = std::min(least, dual_[index(b)] / 2.0);
    }
    for (int b = 1; b <= used_; ++b) {
      const int from = slack_[index(b)];
      if (top(b) != b || from == 0) continue;
      if (label(b) == Label::free) least = std::min(least, gap(edge(from, b)));
      if (label(b) == Label::outer) least = std::min(least, gap(edge(from, b)) / 2.0);
    }
    return least;
  }
  /// False = a dual would fall to zero; those before it have changed already.
  bool change_duals(double by) {
    constexpr double kAlike = 1e-5;
    for (int v = 1; v <= vertices_; ++v) {
      double& dual = dual_[index(v)];
      if (label(top(v)) == Label::outer) {
        const bool alike = std::abs(dual - by) <= kAlike * std::max(std::abs(dual), std::abs(by));
        if (alike || dual <= by) return false;
        dual -= by;
      } else if (label(top(v)) == Label::inner) {
        dual += by;
      }
    }
    for (int b = vertices_ + 1; b <= used_; ++b) {
      if (top(b) != b) continue;
      if (label(b) == Label::outer) dual_[index(b)] += by * 2;
      if (label(b) == Label::inner) dual_[index(b)] -= by * 2;
    }
    return true;
  }

  /// Grows the matching by an edge; false = it does not grow any more.
  bool augment() {
    queue_.clear();
    std::fill(label_.begin(), label_.end(), Label::free);
    std::fill(slack_.begin(), slack_.end(), 0);
    for (int b = 1; b <= used_; ++b) {
      if (top(b) != b || match_[index(b)] != 0) continue;
      parent_[index(b)] = 0;
      label_[index(b)] = Label::outer;
      enqueue(b);
    }
    if (queue_.empty()) return false;
    // Each change grows a tree, shrinks or expands a blossom, or is one that rounding asks for.
    for (std::size_t changes = 0; changes < 4 * size_; ++changes) {
      if (grow_trees()) return true;
      if (!change_duals(step())) return false;
      queue_.clear();
      // Those that come up on the way are not looked at.
      const int known = used_;
      for (int b = 1; b <= known; ++b) {
        const int from = slack_[index(b)];
        if (top(b) != b || from == 0 || top(from) == b || !is_tight(gap(edge(from, b)))) continue;
        if (take_edge(edge(from, b))) return true;
      }
      for (int b = vertices_ + 1; b <= used_; ++b) {
        if (top(b) == b && label(b) == Label::inner && is_tight(dual_[index(b)])) expand(b);
      }
    }
    return false;
  }

  int vertices_;
  int used_;          // the last name of a blossom so far
  std::size_t size_;  // of the tables below
  std::vector<Edge> edges_;
  std::vector<int> through_;
  std::vector<double> dual_;
  std::vector<int> match_;
  std::vector<int> top_;
  std::vector<int> parent_;
  std::vector<int> slack_;
  std::vector<int> seen_;
  std::vector<Label> label_;
  std::vector<std::vector<int>> cycle_;
  std::deque<int> queue_;
  int visit_ = 0;
  bool has_edges_ = false;
};

}  // namespace

std::vector<int> published_matching(const OrderedWeights& weight) {
  if (weight.empty()) return {};
  return PublishedMatcher(weight).solve();
}

}  // namespace almanac::rounds
