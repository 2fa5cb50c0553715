// Modules: images of device code, in which this library reads only the names of kernels. It looks them up among those
// that g++ compiled.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "api.h"
#include "entry.h"

struct Function {
    Module *module;
    const dahl::on_cpu::Entry *entry;
    const dahl::on_cpu::Library *library;
    std::map<int, int> attributes; // that were set
};

struct Module {
    std::string image; // its PTX; empty if it is machine code
    const dahl::on_cpu::Library *library;
    std::map<std::string, std::unique_ptr<Function>> functions;
};
