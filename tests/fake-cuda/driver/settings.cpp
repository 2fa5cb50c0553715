#include "settings.h"

#include <stdio.h>
#include <stdlib.h>

#include <sstream>

extern char **environ;

// The settings by name: `seed`, from FAKE_CUDA_SEED or from `text`.
static std::map<std::string, std::string> named(const char *text) {
    static const std::string PREFIX = "FAKE_CUDA_";
    std::map<std::string, std::string> named;
    for (char **variable = environ; *variable; variable++) {
        std::string whole = *variable;
        size_t equals = whole.find('=');
        if (whole.compare(0, PREFIX.size(), PREFIX) != 0 || equals + 1 == whole.size()) continue;
        std::string name = whole.substr(PREFIX.size(), equals - PREFIX.size());
        for (char &letter : name) letter = char(tolower(letter));
        named[name] = whole.substr(equals + 1);
    }
    std::istringstream words(text ? text : "");
    for (std::string word; words >> word;) {
        size_t equals = word.find('=');
        named[word.substr(0, equals)] = equals == std::string::npos ? "1" : word.substr(equals + 1);
    }
    return named;
}

static void not_understood(const std::string &name, const std::string &value) {
    fprintf(stderr, "fake CUDA: the setting %s=%s is not understood\n", name.c_str(), value.c_str());
}

Settings Settings::read(const char *text) {
    Settings settings;
    for (const auto &[name, value] : named(text)) {
        char *end = nullptr;
        uint64_t number = strtoull(value.c_str(), &end, 10);
        bool is_number = *end == 0;
        if (name == "seed" && is_number) {
            settings.seed = number;
        } else if (name == "devices" && is_number && number <= 16) {
            settings.devices = int(number);
        } else if (name == "memory_mb" && is_number && number <= 65536) {
            settings.memory_bytes = size_t(number) << 20;
        } else if (name == "peer" && is_number) {
            settings.peer_access = number != 0;
        } else if (name == "races" && is_number) {
            settings.races = number != 0;
        } else if (name == "uninitialised" && is_number) {
            settings.uninitialised = number != 0;
        } else if (name == "trace" && is_number) {
            settings.trace = number != 0;
        } else if (name == "thread" && is_number) {
            settings.thread = number ? Yes : No;
        } else if (name == "findings" && (value == "error" || value == "report" || value == "abort")) {
            settings.findings = value == "error" ? Error : value == "report" ? Report : Abort;
        } else if (name == "version" && is_number && number <= 99999) {
            settings.version = int(number);
        } else if (name == "fail") {
            settings.fail = value;
        } else {
            not_understood(name, value);
        }
    }
    return settings;
}
