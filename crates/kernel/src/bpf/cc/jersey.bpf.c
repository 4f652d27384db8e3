#include "controller.h"
#include "cc/jersey.h"

char LICENSE[] SEC("license") = "GPL";

#define CONTROLLER jersey
#define PARAMS NULL
#include "cc/hooks.h"
