#include "controller.h"
#include "cc/westwood_vt.h"

char LICENSE[] SEC("license") = "GPL";

struct westwood_vt_params params;

#define CONTROLLER westwood_vt
#define PARAMS &params
#include "cc/hooks.h"
