#include "controller.h"
#include "cc/hybla.h"

char LICENSE[] SEC("license") = "GPL";

struct hybla_params params;

#define CONTROLLER hybla
#define PARAMS &params
#include "cc/hooks.h"
