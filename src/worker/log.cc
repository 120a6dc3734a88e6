#include "onceward/log.h"

namespace onceward {

Log& silent_log() {
  class Silent final : public Log {
   public:
    bool wants(LogLevel) const noexcept override { return false; }
    void write(LogLevel, std::string_view, std::span<const LogField>) noexcept override {}
  };
  static Silent silent;
  return silent;
}

}  // namespace onceward
