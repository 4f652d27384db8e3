#include "controller.h"
#include "cc/spectcp.h"

char LICENSE[] SEC("license") = "GPL";

#define CONTROLLER spectcp
#define PARAMS NULL
#include "cc/hooks.h"
