#include "bench/floor/relay.h"

#include <deque>
#include <thread>
#include <utility>

#include "bench/broker/belt.h"
#include "bench/floor/wire.h"

namespace onceward::bench {
namespace {

using Clock = std::chrono::steady_clock;
using Page = Result;

// Only the columns that the work's rows have something in.
constexpr const char* read_sql =
    "SELECT position, id, type, key, aggregate_type, aggregate_id, correlation_id, causation_id, content_type, payload,"
    " aggregate_version FROM onceward.outbox WHERE position > $1::int8 ORDER BY position LIMIT $2::int8";
constexpr const char* pass_sql = "INSERT INTO onceward.relay_move (slots, tick, position) VALUES (65535, 2, $1::int8)";

std::string_view text_in(const Page& page, int row, int column) {
  return {PQgetvalue(page.get(), row, column), static_cast<std::size_t>(PQgetlength(page.get(), row, column))};
}

std::int64_t number_in(const Page& page, int row, int column) {
  std::uint64_t swapped = 0;
  std::memcpy(&swapped, PQgetvalue(page.get(), row, column), sizeof swapped);
  return static_cast<std::int64_t>(__builtin_bswap64(swapped));
}

OutgoingRow row_in(const Page& page, int row) {
  return {.id = text_in(page, row, 1),
          .type = text_in(page, row, 2),
          .key = text_in(page, row, 3),
          .aggregate_type = text_in(page, row, 4),
          .aggregate_id = text_in(page, row, 5),
          .correlation_id = text_in(page, row, 6),
          .causation_id = text_in(page, row, 7),
          .content_type = text_in(page, row, 8),
          .payload = text_in(page, row, 9),
          .version = number_in(page, row, 10)};
}

class BareRelay final : public Shape {
 public:
  BareRelay(BareBroker& broker, std::string url, Attributes attributes)
      : broker_(broker), url_(std::move(url)), attributes_(attributes) {}

  double run(std::span<const Index>, std::size_t batch) override {
    const auto start = Clock::now();
    Belt<Page> belt(1);
    const auto publisher = broker_.open_publisher();  // its end is not the relay's work, and may take a second
    std::jthread publishing([&] { publish(*publisher, belt); });
    Wire wire(url_);
    wire.prepare("read", read_sql);
    wire.prepare("pass", pass_sql);
    read(wire, belt, batch);
    belt.close();
    publishing.join();
    pass(wire, belt.prefix());
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    effort_ = {.round_trips = wire.trips, .statements = wire.statements};
    return seconds;
  }
  Effort effort() const override { return effort_; }

 private:
  // The next page and what was confirmed meanwhile, in one trip; the page is handed on before the commit is answered.
  void read(Wire& wire, Belt<Page>& belt, std::size_t batch) {
    const std::string most = binary(static_cast<std::int64_t>(batch));
    std::uint64_t count = 0;
    for (std::int64_t position = 0;;) {
      wire.send("read", {binary(position), most});
      const bool passes = send_pass(wire, belt.prefix());
      wire.flush();
      Page page = wire.next();
      const int rows = PQntuples(page.get());
      if (rows > 0) {
        position = number_in(page, rows - 1, 0);
        while (!belt.has_room()) belt.await_change(count, true);
        belt.put({count, static_cast<std::uint64_t>(rows), std::move(page)});
        count += static_cast<std::uint64_t>(rows);
        read_.push_back({count, position});
      }
      if (passes) wire.next();
      wire.finish();
      if (rows == 0) return;
    }
  }

  // Pages of which all is confirmed.
  bool send_pass(Wire& wire, std::uint64_t confirmed) {
    std::int64_t position = 0;
    for (; !read_.empty() && read_.front().count <= confirmed; read_.pop_front()) position = read_.front().position;
    if (position == 0) return false;
    wire.send("pass", {binary(position)});
    return true;
  }
  void pass(Wire& wire, std::uint64_t confirmed) {
    if (!send_pass(wire, confirmed)) return;
    wire.flush();
    wire.next();
    wire.finish();
  }

  void publish(BarePublisher& publisher, Belt<Page>& belt) const {
    Composer composer(broker_, attributes_);
    std::deque<std::pair<std::uint64_t, std::uint64_t>> under_way;  // the first of each load, and how many
    const auto settle = [&](std::uint64_t confirmed) {
      for (; !under_way.empty(); under_way.pop_front()) {
        const auto [before, count] = under_way.front();
        if (before + count > confirmed) return;
        belt.through(before, count);
      }
    };
    while (const auto load = belt.take()) {
      publisher.begin_burst();
      for (int row = 0; row < static_cast<int>(load->count); ++row) {
        publisher.publish(composer.compose(row_in(load->cargo, row)));
      }
      publisher.end_burst();
      under_way.push_back({load->before, load->count});
      settle(publisher.confirmed());
    }
    publisher.await_confirms();
    settle(publisher.confirmed());
  }

  struct Read {
    std::uint64_t count;    // of rows up to the end of the page
    std::int64_t position;  // of the last of them
  };

  BareBroker& broker_;
  const std::string url_;
  const Attributes attributes_;
  std::deque<Read> read_;  // and not passed
  Effort effort_;
};

}  // namespace

std::unique_ptr<Shape> bare_relay(BareBroker& broker, const std::string& url, Attributes attributes) {
  return std::make_unique<BareRelay>(broker, url, attributes);
}

}  // namespace onceward::bench
