#include "src/common/timestamp.h"

#include <fmt/format.h>

namespace onceward {
namespace {

using namespace std::chrono;

constexpr Timestamp kLowest{};
constexpr Timestamp kEnd = sys_days{January / 1 / 10000};

// Reads a text from the left; once something did not fit, it stays failed.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  int digits(std::size_t count) {
    int value = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const char c = take();
      if (c < '0' || c > '9') failed_ = true;
      value = value * 10 + (c - '0');
    }
    return failed_ ? 0 : value;
  }
  char one_of(std::string_view allowed) {
    const char c = take();
    if (allowed.find(c) == std::string_view::npos) failed_ = true;
    return c;
  }
  bool next_is(char c) const { return !rest_.empty() && rest_[0] == c; }
  bool next_is_digit() const { return !rest_.empty() && rest_[0] >= '0' && rest_[0] <= '9'; }
  bool complete() const { return !failed_ && rest_.empty(); }

 private:
  char take() {
    if (rest_.empty()) {
      failed_ = true;
      return '\0';
    }
    const char c = rest_[0];
    rest_.remove_prefix(1);
    return c;
  }

  std::string_view rest_;
  bool failed_ = false;
};

microseconds fraction(Scanner& scan) {
  if (!scan.next_is('.')) return microseconds{0};
  scan.one_of(".");
  int value = scan.digits(1);
  int count = 1;
  for (; count < 9 && scan.next_is_digit(); ++count) {
    const int digit = scan.digits(1);
    if (count < 6) value = value * 10 + digit;
  }
  for (; count < 6; ++count) value *= 10;
  return microseconds{value};
}

// Nothing for hours past 23 or minutes past 59.
std::optional<minutes> offset(Scanner& scan) {
  const char sign = scan.one_of("Zz+-");
  if (sign != '+' && sign != '-') return minutes{0};
  const int hour = scan.digits(2);
  scan.one_of(":");
  const int minute = scan.digits(2);
  if (hour > 23 || minute > 59) return std::nullopt;
  const minutes east{hour * 60 + minute};
  return sign == '+' ? east : -east;
}

}  // namespace

std::optional<Timestamp> read_timestamp(std::string_view text) {
  Scanner scan(text);
  const int year_number = scan.digits(4);
  scan.one_of("-");
  const int month_number = scan.digits(2);
  scan.one_of("-");
  const int day_number = scan.digits(2);
  scan.one_of("Tt");
  const int hour = scan.digits(2);
  scan.one_of(":");
  const int minute = scan.digits(2);
  scan.one_of(":");
  const int second = scan.digits(2);
  const microseconds part = fraction(scan);
  const auto east = offset(scan);
  const year_month_day date{year{year_number}, month{static_cast<unsigned>(month_number)},
                            day{static_cast<unsigned>(day_number)}};
  if (!scan.complete() || !east || !date.ok() || hour > 23 || minute > 59 || second > 59) return std::nullopt;
  const Timestamp time = sys_days{date} + hours{hour} + minutes{minute} + seconds{second} + part - *east;
  if (!writable(time)) return std::nullopt;
  return time;
}

bool writable(Timestamp time) { return time >= kLowest && time < kEnd; }

std::string write_timestamp(Timestamp time) {
  const auto date = floor<days>(time);
  const year_month_day calendar{date};
  const hh_mm_ss<microseconds> clock{time - date};
  std::string text = fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", static_cast<int>(calendar.year()),
                                 static_cast<unsigned>(calendar.month()), static_cast<unsigned>(calendar.day()),
                                 clock.hours().count(), clock.minutes().count(), clock.seconds().count());
  if (clock.subseconds().count() != 0) text += fmt::format(".{:06}", clock.subseconds().count());
  return text + "Z";
}

}  // namespace onceward
