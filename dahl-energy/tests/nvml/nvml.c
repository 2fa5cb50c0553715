// A stand-in for libnvidia-ml.so.1: devices whose state a test sets by `fake_*`, in a copy of the library of its own.
#include <stdio.h>
#include <string.h>

enum { SUCCESS = 0, UNINITIALIZED = 1, INVALID = 2, NOT_SUPPORTED = 3, GPU_IS_LOST = 15, DRIVER_NOT_LOADED = 9 };

typedef struct {
    unsigned long long millijoules;
    unsigned milliwatts;
    int energy_result, power_result;
} Device;

typedef struct {
    char legacy[16];
    unsigned domain, bus, device, id, subsystem;
    char bus_id[32];
} PciInfo;

static Device devices[8];
static unsigned count = 0;
static int init_result = SUCCESS;
static int started = 0;

void fake_init(int result, unsigned devices_there) { init_result = result, count = devices_there; }
void fake_energy(unsigned index, unsigned long long millijoules, int result) {
    devices[index].millijoules = millijoules, devices[index].energy_result = result;
}
void fake_power(unsigned index, unsigned milliwatts, int result) {
    devices[index].milliwatts = milliwatts, devices[index].power_result = result;
}
int fake_started(void) { return started; }

int nvmlInit_v2(void) { return started += init_result == SUCCESS, init_result; }
int nvmlShutdown(void) { return started--, SUCCESS; }

const char *nvmlErrorString(int result) {
    switch (result) {
    case SUCCESS: return "Success";
    case NOT_SUPPORTED: return "Not Supported";
    case GPU_IS_LOST: return "GPU is lost";
    case DRIVER_NOT_LOADED: return "Driver Not Loaded";
    }
    return "Unknown Error";
}

int nvmlDeviceGetCount_v2(unsigned *value) { return !started ? UNINITIALIZED : (*value = count, SUCCESS); }

int nvmlDeviceGetHandleByIndex_v2(unsigned index, Device **device) {
    if (!started) return UNINITIALIZED;
    if (index >= count) return INVALID;
    return *device = &devices[index], SUCCESS;
}

int nvmlDeviceGetPciInfo_v3(Device *device, PciInfo *info) {
    memset(info, 0, sizeof *info);
    info->bus = (unsigned)(device - devices) + 1;
    snprintf(info->bus_id, sizeof info->bus_id, "%08X:%02X:%02X.0", info->domain, info->bus, info->device);
    return SUCCESS;
}

int nvmlDeviceGetName(Device *device, char *name, unsigned length) {
    snprintf(name, length, "Fake %d", (int)(device - devices));
    return SUCCESS;
}

int nvmlDeviceGetTotalEnergyConsumption(Device *device, unsigned long long *millijoules) {
    if (device->energy_result == SUCCESS) *millijoules = device->millijoules;
    return device->energy_result;
}

int nvmlDeviceGetPowerUsage(Device *device, unsigned *milliwatts) {
    if (device->power_result == SUCCESS) *milliwatts = device->milliwatts;
    return device->power_result;
}
