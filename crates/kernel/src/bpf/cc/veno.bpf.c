#include "controller.h"
#include "cc/veno.h"

char LICENSE[] SEC("license") = "GPL";

struct veno_params params;

#define CONTROLLER veno
#define PARAMS &params
#include "cc/hooks.h"
