#include "apps/daemon/supervisor.h"

#include <systemd/sd-daemon.h>

namespace onceward::daemon {

// An answer is not waited for: a supervisor that is gone changes nothing.
void tell_ready() { sd_notify(0, "READY=1\nSTATUS=working"); }
void tell_stopping() { sd_notify(0, "STOPPING=1\nSTATUS=draining"); }

}  // namespace onceward::daemon
