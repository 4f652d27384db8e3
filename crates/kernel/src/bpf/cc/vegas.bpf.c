#include "controller.h"
#include "cc/vegas.h"

char LICENSE[] SEC("license") = "GPL";

struct vegas_params params;

#define CONTROLLER vegas
#define PARAMS &params
#include "cc/hooks.h"
