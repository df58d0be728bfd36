// Decoupled look-back as an exclusive scan of tile sums, against the same scan on the host: few
// tiles and many, grids of any size, calls that follow each other on one workspace, and looks that
// must reach as far back as one can.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "../test_size.hpp"
#include "core/look_back.cuh"
#include "support.cuh"

namespace warpath::core_test {
namespace {

constexpr unsigned largest_sum = (1u << 25) - 1;  // of a tile

/// What the scan says of a tile.
struct Found {
  std::uint64_t before = 0;  ///< sum of all tiles before it
  std::uint32_t visits = 0;  ///< how often the tile was drawn
  std::uint32_t tiles = 0;   ///< how many there are
  bool operator==(const Found&) const = default;
};

void PrintTo(const Found& found, std::ostream* out) {
  *out << "{before " << found.before << ", visits " << found.visits << ", tiles " << found.tiles
       << "}";
}

/// One warp a block: draws tiles one by one.
__global__ void scan_kernel(LookBack look_back, const unsigned* sums, Found* found) {
  do {
    const TileTicket ticket = look_back.draw();
    if (ticket.tile < 0) return;
    const unsigned sum = sums[ticket.tile];
    if (lane_index() == 0) look_back.publish(ticket, sum);
    look_back.clear(ticket);
    const std::uint64_t before = look_back.sum_before(ticket, sum);
    if (lane_index() == 0) {
      found[ticket.tile].before = before;
      found[ticket.tile].tiles = static_cast<std::uint32_t>(look_back.tiles());
      atomicAdd(&found[ticket.tile].visits, 1u);
    }
  } while (!look_back.draws_once());
}

/// How far a look must reach in the worst case: to the 31st row before the own one.
constexpr int longest_look = 32 * warp_threads;
struct Drawn {
  TileTicket tickets[longest_look];
};

/// One block of one warp: draws many tiles, publishes all their sums, and only then looks back,
/// from the last of them on. So the first look finds no checkpoint nearer than the begin of what
/// was drawn.
__global__ void late_scan_kernel(LookBack look_back, const unsigned* sums, Found* found) {
  TileTicket* tickets = dynamic_shared<Drawn>().tickets;
  bool is_last = false;
  while (!is_last) {
    int drawn = 0;
    while (drawn < longest_look && !is_last) {
      const TileTicket ticket = look_back.draw();
      is_last = ticket.tile < 0;
      if (is_last) break;
      if (lane_index() == 0) {
        tickets[drawn] = ticket;
        look_back.publish(ticket, sums[ticket.tile]);
      }
      look_back.clear(ticket);
      ++drawn;
      is_last = look_back.draws_once();
    }
    __syncwarp();
    for (int i = drawn - 1; i >= 0; --i) {
      const TileTicket ticket = tickets[i];
      const std::uint64_t before = look_back.sum_before(ticket, sums[ticket.tile]);
      if (lane_index() == 0) {
        Found& own = found[ticket.tile];
        own = {before, own.visits + 1, static_cast<std::uint32_t>(look_back.tiles())};
      }
    }
    __syncwarp();
  }
}

std::vector<unsigned> random_sums(std::int64_t tiles, std::uint64_t seed, unsigned largest) {
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<unsigned> sum(0, largest);
  std::vector<unsigned> sums(static_cast<std::size_t>(tiles));
  std::generate(sums.begin(), sums.end(), [&] { return sum(random); });
  return sums;
}

std::vector<Found> oracle(const std::vector<unsigned>& sums) {
  std::vector<Found> found(sums.size());
  std::uint64_t before = 0;
  for (std::size_t tile = 0; tile < sums.size(); ++tile) {
    found[tile] = {before, 1, static_cast<std::uint32_t>(sums.size())};
    before += sums[tile];
  }
  return found;
}

/// One scan whose result is looked at later, when others may have followed it.
class Scan {
 public:
  Scan(std::vector<unsigned> sums, cudaStream_t stream)
      : sums_(std::move(sums)),
        stream_(stream),
        in_(on_device(sums_, stream)),
        found_(on_device(std::vector<Found>(sums_.size()), stream)) {}

  void start(Workspace& workspace, unsigned blocks) {
    launch({blocks, warp_threads, 0, stream_}, scan_kernel, workspace.look_back(stream_, tiles()),
           in_.data(), found_.data());
  }
  void start_late(Workspace& workspace) {
    launch({1, warp_threads, sizeof(Drawn), stream_}, late_scan_kernel,
           workspace.look_back(stream_, tiles()), in_.data(), found_.data());
  }
  void expect_right() const {
    const std::vector<Found> found = on_host(found_, stream_);
    const std::vector<Found> expected = oracle(sums_);
    const auto [wrong, right] = std::mismatch(found.begin(), found.end(), expected.begin());
    if (wrong == found.end()) return;
    ADD_FAILURE() << "tile " << wrong - found.begin() << " of " << tiles() << ": "
                  << testing::PrintToString(*wrong) << ", expected "
                  << testing::PrintToString(*right);
  }
  [[nodiscard]] std::int64_t tiles() const { return static_cast<std::int64_t>(sums_.size()); }

 private:
  std::vector<unsigned> sums_;
  cudaStream_t stream_;
  DeviceBuffer<unsigned> in_;
  DeviceBuffer<Found> found_;
};

std::vector<std::int64_t> tile_counts() {
  if (is_small()) return {1, 2, 31, 32, 33, 300};
  return {1, 2, 31, 32, 33, 1023, 1024, 1025, 5000};
}

TEST(LookBack, ScansAnyNumberOfTilesInAnyGrid) {
  for (const std::int64_t tiles : tile_counts()) {
    const auto count = static_cast<unsigned>(tiles);
    for (const unsigned blocks : {1u, 7u, count / 2 + 1, count, count + 5}) {
      SCOPED_TRACE(std::to_string(tiles) + " tiles (also the seed), " + std::to_string(blocks) +
                   " blocks");
      Workspace workspace;
      Scan scan(random_sums(tiles, count, largest_sum), nullptr);
      scan.start(workspace, blocks);
      scan.expect_right();
    }
  }
}

TEST(LookBack, CarriesTotalsBeyond32Bits) {
  for (const std::int64_t tiles : tile_counts()) {
    SCOPED_TRACE(std::to_string(tiles) + " tiles");
    Workspace workspace;
    Scan scan(std::vector<unsigned>(static_cast<std::size_t>(tiles), largest_sum), nullptr);
    scan.start(workspace, 64);
    scan.expect_right();
  }
}

TEST(LookBack, TellsEmptyTilesFromUnpublishedOnes) {
  Workspace workspace;
  for (const std::int64_t tiles : tile_counts()) {
    SCOPED_TRACE(std::to_string(tiles) + " tiles");
    Scan scan(std::vector<unsigned>(static_cast<std::size_t>(tiles), 0), nullptr);
    scan.start(workspace, 16);
    scan.expect_right();
  }
}

// The longest look: 31 full rows without a checkpoint, whose sum passes 32 bits as well.
TEST(LookBack, ReachesAllTilesWithoutACheckpoint) {
  for (const std::int64_t tiles : {1, 32, 33, 127, 160, 1000, 1023, 1024, 1025, 2048, 3000}) {
    if (is_small() && tiles > 1025) continue;
    SCOPED_TRACE(std::to_string(tiles) + " tiles");
    Workspace workspace;
    Scan full(std::vector<unsigned>(static_cast<std::size_t>(tiles), largest_sum), nullptr);
    full.start_late(workspace);
    full.expect_right();
    Scan random(random_sums(tiles, 7, largest_sum), nullptr);
    random.start_late(workspace);
    random.expect_right();
  }
}

// Each call must find its half clear, whatever the calls before it left there.
TEST(LookBack, FollowsCallsOfAnyOtherSize) {
  Workspace workspace;
  std::uint64_t seed = 0;
  for (const std::int64_t tiles : {1,  1,    1024, 1,  1,  33,  32, 1025, 1024, 31,   2,   900,
                                   64, 1026, 5,    40, 40, 400, 1,  3,    700,  1030, 2000}) {
    if (is_small() && tiles > 100) continue;
    SCOPED_TRACE("call " + std::to_string(++seed) + " (also the seed): " + std::to_string(tiles) +
                 " tiles");
    Scan scan(random_sums(tiles, seed, largest_sum), nullptr);
    scan.start(workspace, 9);
    scan.expect_right();
  }
}

TEST(LookBack, FollowsRandomCallsWithoutWaitingForThem) {
  for (std::uint64_t seed = 1; seed <= (is_small() ? 2 : 8); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const Stream stream;
    Workspace workspace;
    std::vector<Scan> scans;
    for (int call = 0; call < 20; ++call) {
      const auto most = std::int64_t{1} << random() % (is_small() ? 8 : 12);
      const auto tiles = 1 + static_cast<std::int64_t>(random() % most);
      scans.emplace_back(random_sums(tiles, random(), largest_sum), stream);
    }
    for (Scan& scan : scans) scan.start(workspace, 1 + random() % 40);
    for (std::size_t call = 0; call < scans.size(); ++call) {
      SCOPED_TRACE("call " + std::to_string(call));
      scans[call].expect_right();
    }
  }
}

// A block of a call with no more tiles than blocks draws once. Whoever draws last gives the other
// half to the next call, however many there are of both.
TEST(LookBack, TakesAsManyTilesAsThereAreBlocks) {
  constexpr std::int64_t most = 9;
  constexpr std::uint64_t half_bit = 1ull << 63;
  DeviceBuffer<unsigned char> memory =
      on_device(std::vector<unsigned char>(static_cast<std::size_t>(LookBack::bytes(most)), 0));
  std::uint64_t expected = 0;
  for (std::int64_t tiles = 1; tiles <= most; ++tiles) {
    for (unsigned blocks = 1; blocks <= most; ++blocks) {
      SCOPED_TRACE(std::to_string(tiles) + " tiles, " + std::to_string(blocks) + " blocks");
      const std::vector<unsigned> sums = random_sums(tiles, blocks, largest_sum);
      const DeviceBuffer<unsigned> in = on_device(sums);
      DeviceBuffer<Found> found = on_device(std::vector<Found>(static_cast<std::size_t>(tiles)));
      launch({blocks, warp_threads}, scan_kernel, LookBack(memory.data(), most, tiles), in.data(),
             found.data());
      const std::vector<Found> results = on_host(found);
      std::uint64_t before = 0;
      for (std::size_t i = 0; i < sums.size(); ++i) {
        EXPECT_EQ(results[i], (Found{before, 1, static_cast<std::uint32_t>(tiles)}))
            << "tile " << i;
        before += sums[i];
      }
      const std::vector<unsigned char> words = on_host(memory);
      std::uint64_t next_draw = 0;
      std::memcpy(&next_draw, words.data(), sizeof next_draw);
      expected ^= half_bit;
      ASSERT_EQ(next_draw, expected);
    }
  }
}

// One call leaves its half dirty; many rows must then be cleared by few tiles, and the reverse.
TEST(LookBack, ClearsManyRowsWithFewTiles) {
  const std::int64_t many = is_small() ? 300 : 5000;
  for (const std::int64_t few : {1, 2, 3, 31, 33}) {
    SCOPED_TRACE(std::to_string(few) + " tiles after " + std::to_string(many));
    Workspace workspace;
    for (const std::int64_t tiles : {many, few, many, many, few, few, many}) {
      Scan scan(random_sums(tiles, static_cast<std::uint64_t>(few), largest_sum), nullptr);
      scan.start(workspace, 4);
      scan.expect_right();
    }
  }
}

// The same, where a look that reaches far back would take what was left there for an answer.
TEST(LookBack, TakesNothingFromCallsBefore) {
  const std::int64_t most = is_small() ? 320 : 2048;
  for (std::uint64_t seed = 1; seed <= (is_small() ? 2 : 6); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    Workspace workspace;
    std::ignore = workspace.look_back(nullptr, most);  // it need not grow, and be cleared, later
    for (int call = 0; call < 16; ++call) {
      const auto tiles = static_cast<std::int64_t>(
          random() % 2 == 0 ? 1 + random() % most : 32 * (1 + random() % (most / 32)));
      SCOPED_TRACE("call " + std::to_string(call) + ": " + std::to_string(tiles) + " tiles");
      Scan scan(random_sums(tiles, random(), largest_sum), nullptr);
      if (random() % 3 == 0) {
        scan.start(workspace, 4);
      } else {
        scan.start_late(workspace);
      }
      scan.expect_right();
    }
  }
}

// Each call leaves one half of the status words zero for the next one; its own is dirty.
TEST(LookBack, ClearsTheOtherHalf) {
  constexpr std::int64_t capacity = 1100;
  constexpr std::int64_t header = 256;
  const auto bytes = LookBack::bytes(capacity);
  DeviceBuffer<unsigned char> memory =
      on_device(std::vector<unsigned char>(static_cast<std::size_t>(bytes), 0));
  int call = 0;
  for (const std::int64_t tiles : {1100, 1, 32, 1100, 31, 1024, 1100, 33, 2, 64, 1, 1, 1099}) {
    SCOPED_TRACE("call " + std::to_string(call) + ": " + std::to_string(tiles) + " tiles");
    const DeviceBuffer<unsigned> sums = on_device(random_sums(tiles, 3, largest_sum));
    DeviceBuffer<Found> found = on_device(std::vector<Found>(static_cast<std::size_t>(tiles)));
    launch({3, warp_threads}, scan_kernel, LookBack(memory.data(), capacity, tiles), sums.data(),
           found.data());
    const std::vector<unsigned char> words = on_host(memory);
    const auto middle = words.begin() + header + (bytes - header) / 2;
    const auto is_zero = [](unsigned char byte) { return byte == 0; };
    const bool is_first_clear = std::all_of(words.begin() + header, middle, is_zero);
    const bool is_second_clear = std::all_of(middle, words.end(), is_zero);
    EXPECT_EQ(is_first_clear, call % 2 == 1);
    EXPECT_EQ(is_second_clear, call % 2 == 0);
    ++call;
  }
}

/// scan_kernel for two sums of each tile: `sums` and `found` have those of all tiles, and then the
/// others.
__global__ void two_sums_kernel(LookBack look_back, const unsigned* sums, Found* found) {
  do {
    const TileTicket ticket = look_back.draw();
    if (ticket.tile < 0) return;
    for (int which = 0; which < 2; ++which) {
      const unsigned sum = sums[which * look_back.tiles() + ticket.tile];
      if (lane_index() == 0) look_back.publish(ticket, sum, which);
    }
    look_back.clear(ticket);
    for (int which = 0; which < 2; ++which) {
      const std::int64_t i = which * look_back.tiles() + ticket.tile;
      const std::uint64_t before = look_back.sum_before(ticket, sums[i], which);
      if (lane_index() == 0) {
        found[i] = {before, found[i].visits + 1, static_cast<std::uint32_t>(look_back.tiles())};
      }
    }
  } while (!look_back.draws_once());
}

// Calls with one sum, and with two, follow each other on one workspace: the rows of all sums must
// be clear for each.
TEST(LookBack, TilesHaveSeveralSums) {
  Workspace workspace;
  std::uint64_t seed = 1;
  for (const std::int64_t tiles : {1, 31, 32, 33, 64, 100, 1100, 1024, 3, 1100, 2}) {
    SCOPED_TRACE(std::to_string(tiles) + " tiles");
    const std::vector<unsigned> first = random_sums(tiles, seed++, largest_sum);
    const std::vector<unsigned> second = random_sums(tiles, seed++, largest_sum);
    std::vector<unsigned> sums = first;
    sums.insert(sums.end(), second.begin(), second.end());
    std::vector<Found> expected = oracle(first);
    const std::vector<Found> others = oracle(second);
    expected.insert(expected.end(), others.begin(), others.end());
    const DeviceBuffer<unsigned> in = on_device(sums);
    DeviceBuffer<Found> found = on_device(std::vector<Found>(sums.size()));
    launch({3, warp_threads}, two_sums_kernel, workspace.look_back(nullptr, tiles, 2), in.data(),
           found.data());
    EXPECT_EQ(on_host(found), expected);
    Scan one_sum(first, nullptr);
    one_sum.start(workspace, 2);
    one_sum.expect_right();
  }
}

TEST(LookBack, KeepsItsMemoryUntilItMustGrow) {
  Workspace workspace;
  const auto bytes_after = [&](std::int64_t tiles) {
    Scan scan(random_sums(tiles, 1, 10), nullptr);
    scan.start(workspace, 2);
    scan.expect_right();
    return workspace.bytes();
  };
  const std::int64_t at_first = bytes_after(100);
  EXPECT_EQ(at_first, LookBack::bytes(100));
  EXPECT_EQ(bytes_after(1), at_first);
  EXPECT_EQ(bytes_after(100), at_first);
  EXPECT_EQ(bytes_after(1000), LookBack::bytes(1000));
  EXPECT_EQ(bytes_after(3), LookBack::bytes(1000));
  static_cast<void>(workspace.look_back(nullptr, 480, 2));  // 2 x 16 rows: 1000 tiles have 32
  EXPECT_EQ(workspace.bytes(), LookBack::bytes(1000));
  static_cast<void>(workspace.look_back(nullptr, 512, 2));
  EXPECT_EQ(workspace.bytes(), LookBack::bytes(LookBack::capacity_for(512, 2)));
}

TEST(LookBack, NeedsAtMost16BytesATile) {
  for (std::int64_t tiles = 0; tiles <= 3000; ++tiles) {
    ASSERT_LE(LookBack::bytes(tiles), 16 * tiles + 4096) << tiles << " tiles";
    ASSERT_LE(LookBack::bytes(tiles), LookBack::bytes(tiles + 1)) << tiles << " tiles";
  }
  for (int power = 12; power <= 40; ++power) {
    const std::int64_t tiles = std::int64_t{1} << power;
    EXPECT_LE(LookBack::bytes(tiles), 16 * tiles + 4096) << tiles << " tiles";
  }
}

}  // namespace
}  // namespace warpath::core_test
