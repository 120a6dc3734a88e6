// What a broker and PostgreSQL allow a relay: written by hand for rows that are all there, with libpq and the broker's own
// client. While one page is published and confirmed the next is read, and what is confirmed is passed in the same trip.
// It goes by position alone, so a row that commits late would be lost, and nothing that goes wrong is handled.
#pragma once

#include <memory>
#include <string>

#include "bench/broker/bare.h"
#include "bench/floor/outgoing.h"
#include "bench/work/shape.h"

namespace onceward::bench {

std::unique_ptr<Shape> bare_relay(BareBroker& broker, const std::string& url, Attributes attributes);

}  // namespace onceward::bench
