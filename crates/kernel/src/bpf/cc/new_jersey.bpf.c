#include "controller.h"
#include "cc/new_jersey.h"

char LICENSE[] SEC("license") = "GPL";

struct new_jersey_params params;

#define CONTROLLER new_jersey
#define PARAMS &params
#include "cc/hooks.h"
