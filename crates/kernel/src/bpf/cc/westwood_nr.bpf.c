#include "controller.h"
#include "cc/westwood_nr.h"

char LICENSE[] SEC("license") = "GPL";

struct westwood_nr_params params;

#define CONTROLLER westwood_nr
#define PARAMS &params
#include "cc/hooks.h"
