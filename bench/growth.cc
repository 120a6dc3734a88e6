// `./run bench growth`: what a claim costs against the size of the inbox, for ids with and without a time.
//
// At each size the inbox is filled up by the shortest way, everything is written out (so that the full-page images that
// follow a checkpoint are in the figure), and new ids are claimed through the store, without effects.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "bench/store/store_shape.h"
#include "bench/work/postgres_database.h"
#include "bench/work/report.h"
#include "bench/work/sqlite_database.h"
#include "onceward/claim.h"

namespace onceward::bench {
namespace {

struct Options {
  std::string rows = "10M";
  std::string claims = "100k";
  std::size_t batch = 1000;
  std::string store = "all";
  std::string output = "table";
  std::string directory;
};

struct Point {
  std::string store;
  Ids ids;
  std::uint64_t rows;
  double per_second;
  double wal_bytes;    // a claim
  double inbox_bytes;  // a row
};

std::string_view name(Ids ids) { return ids == Ids::random ? "random" : "time"; }

std::vector<std::uint64_t> sizes_up_to(std::uint64_t rows) {
  std::vector<std::uint64_t> sizes;
  for (const std::uint64_t size : {100'000, 1'000'000, 2'000'000, 5'000'000}) {
    if (size < rows) sizes.push_back(size);
  }
  for (std::uint64_t size = 10'000'000; size < rows; size *= 2) sizes.push_back(size);
  sizes.push_back(rows);
  return sizes;
}

void claim_all(Store& store, const Enrolled& consumer, std::span<const Claimant> claimants, std::size_t batch) {
  for (std::size_t from = 0; from < claimants.size(); from += batch) {
    const auto unit = store.begin(consumer);
    unit->claim(claimants.subspan(from, std::min(batch, claimants.size() - from)));
    if (!unit->first(0)) throw std::runtime_error("a new id was not new");
    if (unit->commit() != Commit::committed) throw std::runtime_error("the commit was not confirmed");
  }
}

class Grower {
 public:
  Grower(Database& database, Ids ids, const Options& options)
      : database_(database), ids_(ids), claims_(parse_count(options.claims)), batch_(options.batch) {
    database_.reset();
    database_.open()->enroll(declaration_of(ids));
  }

  Point measure_at(std::uint64_t rows) {
    if (rows > rows_) database_.fill(ids_, rows_, rows);
    rows_ = std::max(rows, rows_);
    const std::uint64_t measured_at = rows_;
    const auto envelopes = new_envelopes();
    const Declaration declaration = declaration_of(ids_);
    std::vector<Claimant> claimants;
    for (const Envelope& envelope : envelopes) claimants.push_back(std::get<Claimant>(identify(envelope, declaration)));
    const double row_bytes = static_cast<double>(database_.inbox_bytes()) / static_cast<double>(rows_);
    auto store = database_.open();
    const Enrolled consumer = store->enroll(declaration);
    database_.checkpoint();
    const std::uint64_t wal_before = database_.wal_bytes();
    const auto start = std::chrono::steady_clock::now();
    claim_all(*store, consumer, claimants, batch_);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const auto count = static_cast<double>(claims_);
    const double wal_bytes = static_cast<double>(database_.wal_bytes() - wal_before) / count;
    rows_ += claims_;
    return {database_.name(), ids_, measured_at, count / seconds, wal_bytes, row_bytes};
  }

 private:
  std::vector<Envelope> new_envelopes() const {
    std::vector<Envelope> envelopes;
    for (const std::string& id : make_ids(ids_, claims_, rows_ + 7, rows_)) {
      EnvelopeFields fields;
      fields.producer = Producer(producer_name);
      fields.message_id = MessageId(id);
      fields.payload = id;
      envelopes.push_back(Envelope::copy_of(fields));
    }
    return envelopes;
  }

  Database& database_;
  Ids ids_;
  std::size_t claims_;
  std::size_t batch_;
  std::uint64_t rows_ = 0;
};

void measure(Database& database, const Options& options, Progress& progress, std::vector<Point>& points) {
  for (const Ids ids : {Ids::random, Ids::time}) {
    Grower grower(database, ids, options);
    for (const std::uint64_t rows : sizes_up_to(parse_count(options.rows))) {
      progress.say(
          fmt::format("{}: {} ids, {} rows", database.name(), name(ids), short_number(static_cast<double>(rows))));
      points.push_back(grower.measure_at(rows));
    }
  }
}

void print(const std::vector<Point>& points) {
  fmt::print("{:<9} {:<7} {:>9} {:>10} {:>18} {:>16}\n", "store", "ids", "rows", "claims/s", "WAL bytes a claim",
             "bytes a row");
  for (const Point& point : points) {
    fmt::print("{:<9} {:<7} {:>9} {:>10.0f} {:>18.0f} {:>16.0f}\n", point.store, name(point.ids),
               short_number(static_cast<double>(point.rows)), point.per_second, point.wal_bytes, point.inbox_bytes);
  }
}

void print_json(const std::vector<Point>& points) {
  auto list = nlohmann::ordered_json::array();
  for (const Point& point : points) {
    list.push_back({{"store", point.store},
                    {"ids", name(point.ids)},
                    {"rows", point.rows},
                    {"per_second", point.per_second},
                    {"wal_bytes", point.wal_bytes},
                    {"inbox_bytes", point.inbox_bytes}});
  }
  fmt::print("{}\n", list.dump(2));
}

void run(const Options& options) {
  const bool json = options.output == "json";
  if (!json) {
    fmt::print("{} claims at each size, in batches of {}, right after a checkpoint\n", options.claims, options.batch);
  }
  Progress progress;
  std::vector<Point> points;
  const auto measure_in = [&](Database& database) {
    if (!json) {
      for (const std::string& setting : database.settings()) fmt::print("{}\n", setting);
    }
    measure(database, options, progress, points);
  };
  if (options.store != "sqlite") {
    const char* const server = std::getenv("ONCEWARD_TEST_POSTGRES");
    if (server == nullptr) throw std::runtime_error("ONCEWARD_TEST_POSTGRES is not set; ./run bench growth sets it");
    measure_in(*postgres_database(server));
  }
  if (options.store != "postgres") measure_in(*sqlite_database(options.directory));
  progress.say("");
  json ? print_json(points) : print(points);
}

}  // namespace
}  // namespace onceward::bench

int main(int argc, char** argv) {
  onceward::bench::Options options;
  CLI::App app("What a claim costs against the size of the inbox, for random ids and for ids that carry a time.");
  app.add_option("-o,--output", options.output, "table or json")->check(CLI::IsMember({"table", "json"}));
  app.add_option("--rows", options.rows, "The largest inbox, like 10M")->capture_default_str();
  app.add_option("--claims", options.claims, "New ids claimed at each size")->capture_default_str();
  app.add_option("--batch", options.batch, "Claims a transaction")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  app.add_option("--store", options.store, "postgres, sqlite or all")
      ->check(CLI::IsMember({"postgres", "sqlite", "all"}))
      ->capture_default_str();
  app.add_option("--directory", options.directory, "Where the SQLite file is made; the disk that is measured");
  app.footer(
      "PostgreSQL is the server in ONCEWARD_TEST_POSTGRES, which ./run bench growth starts.\n"
      "Example: ./run bench growth --rows 10M --store postgres");
  CLI11_PARSE(app, argc, argv);
  try {
    onceward::bench::run(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench growth: {}\n", error.what());
    return 1;
  }
}
