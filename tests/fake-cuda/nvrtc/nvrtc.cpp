// A fake `libnvrtc.so`: compiles CUDA with the compiler for the CPU, `c++` or what `CXX` names, into a library of kernels for x86-64
// that the fake driver's modules load. It is what `nvrtcGetPTX` and `nvrtcGetCUBIN` both return. The kernels and maps of dahl's operations,
// which were compiled with the fake driver, are not compiled again.
//
// The kernels are those that are `extern "C" __global__`. The program includes `dahl.cuh`, which has to be among its headers
// with `on_cpu.h` and `fibers.h`.
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

extern char **environ;

enum nvrtcResult : int { SUCCESS, OUT_OF_MEMORY, PROGRAM_CREATION_FAILURE, INVALID_INPUT, INVALID_PROGRAM, INVALID_OPTION, COMPILATION };

#define API extern "C" __attribute__((visibility("default")))

namespace {
struct Program {
    std::string source, name, log, code;
    std::vector<std::pair<std::string, std::string>> headers;
};

// A folder that is gone in the end.
struct Folder {
    std::filesystem::path path;

    Folder() {
        std::string made = (std::filesystem::temp_directory_path() / "dahl-kernels-XXXXXX").string();
        path = mkdtemp(made.data()) ? made : "";
    }
    ~Folder() {
        std::error_code ignored;
        if (!path.empty()) std::filesystem::remove_all(path, ignored);
    }
};
} // namespace

static std::string content(const std::filesystem::path &path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
}

// A text whose kernels are in the fake driver's libcuda already, and their names.
struct Known {
    uint64_t hash;
    const char *entries;
};
static const Known KNOWN[] = {
#include "maps.inc"
};

// FNV-1a
static uint64_t hash(const std::string &text) {
    uint64_t hash = 0xcbf29ce484222325;
    for (unsigned char byte : text) hash = (hash ^ byte) * 0x100000001b3;
    return hash;
}

// What `dahl_cuda::one_entry` puts before a text of which one kernel is wanted.
static const std::string ONE_ENTRY = "#define DAHL_ONE_ENTRY\n#define DAHL_ENTRY_";

// The kernel that is wanted; empty if all are.
static std::string one_entry(const std::string &source) {
    if (source.compare(0, ONE_ENTRY.size(), ONE_ENTRY) != 0) return "";
    return source.substr(ONE_ENTRY.size(), source.find('\n', ONE_ENTRY.size()) - ONE_ENTRY.size());
}

// PTX that only names the kernels of a program which is known; empty if it is not. dahl's own headers are those that the fake driver was
// built with.
static std::string known(const Program &program) {
    std::string one = one_entry(program.source);
    std::string text = one.empty() ? program.source : program.source.substr(program.source.find('\n', ONE_ENTRY.size()) + 1);
    for (const auto &[name, content] : program.headers) {
        if (name != "dahl.cuh" && name != "map.cuh" && name != "on_cpu.h" && name != "fibers.h") text += name + "\n" + content;
    }
    uint64_t wanted = hash(text);
    for (const Known &known : KNOWN) {
        if (known.hash != wanted) continue;
        std::string ptx = "// Compiled with the fake driver.\n.version 9.0\n.target sm_90\n.address_size 64\n";
        std::istringstream names(known.entries);
        for (std::string name; names >> name;) {
            if (one.empty() || name == one) ptx += ".visible .entry " + name + "() { ret; }\n";
        }
        return ptx + std::string(1, '\0');
    }
    return "";
}

// The names of the kernels.
static std::vector<std::string> entries(const std::string &source) {
    if (std::string one = one_entry(source); !one.empty()) return {one};
    static const std::string MARK = "extern \"C\" __global__ void ", BOUNDS = "__launch_bounds__(";
    std::vector<std::string> names;
    for (size_t at = source.find(MARK); at != std::string::npos; at = source.find(MARK, at)) {
        at += MARK.size();
        if (source.compare(at, BOUNDS.size(), BOUNDS) == 0) at = source.find_first_not_of(" \n", source.find(')', at) + 1);
        names.push_back(source.substr(at, source.find('(', at) - at));
    }
    return names;
}

// Runs the compiler; its messages go to `log`.
static bool run(std::vector<std::string> words, const std::filesystem::path &log) {
    std::vector<char *> arguments;
    for (std::string &word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 2, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    pid_t child;
    int status = -1;
    bool started = posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    return started && waitpid(child, &status, 0) == child && status == 0;
}

// What was compiled, by the text and its headers: tests make many runtimes that want the same kernels.
static std::mutex compiling;
static std::map<std::string, std::string> compiled_before;

static nvrtcResult compile(Program &program) {
    program.code = known(program);
    if (!program.code.empty()) return SUCCESS;
    std::string text = program.source;
    for (const auto &[name, content] : program.headers) text += '\0' + name + '\0' + content;
    std::lock_guard<std::mutex> lock(compiling);
    if (auto before = compiled_before.find(text); before != compiled_before.end()) {
        program.code = before->second;
        return SUCCESS;
    }
    Folder folder;
    if (folder.path.empty()) return PROGRAM_CREATION_FAILURE;
    for (const auto &[name, text] : program.headers) std::ofstream(folder.path / name) << text;
    std::ofstream(folder.path / program.name) << program.source;
    std::ofstream unit(folder.path / "unit.cpp");
    unit << "#include \"" << KERNELS << "/switch.cpp\"\n#include \"" << program.name << "\"\n";
    std::string space = program.source.find("namespace dahl_entries {") == std::string::npos ? "::" : "dahl_entries::";
    for (const std::string &entry : entries(program.source)) {
        unit << "static const dahl::on_cpu::Registered<&" << space << entry << "> " << entry << "_registered(\"" << entry << "\");\n";
    }
    unit.close();
    const char *compiler = getenv("CXX");
    bool compiled = run({compiler && *compiler ? compiler : "c++", "-std=c++17", "-O1", "-fPIC", "-shared", "-Wl,-Bsymbolic", "-fvisibility=hidden", "-ffp-contract=off",
                         "-fno-strict-aliasing", "-DDAHL_ON_CPU", "-DDAHL_CHECKED", "-w", "-I", folder.path, "-I", KERNELS, "-o", folder.path / "kernels.so",
                         folder.path / "unit.cpp"},
                        folder.path / "log");
    program.log = content(folder.path / "log");
    if (!compiled && program.log.empty()) program.log = "the compiler for the CPU does not run";
    if (!compiled) return COMPILATION;
    program.code = content(folder.path / "kernels.so");
    compiled_before.emplace(std::move(text), program.code);
    return SUCCESS;
}

API const char *nvrtcGetErrorString(nvrtcResult result) {
    switch (result) {
    case SUCCESS: return "NVRTC_SUCCESS";
    case OUT_OF_MEMORY: return "NVRTC_ERROR_OUT_OF_MEMORY";
    case PROGRAM_CREATION_FAILURE: return "NVRTC_ERROR_PROGRAM_CREATION_FAILURE";
    case INVALID_INPUT: return "NVRTC_ERROR_INVALID_INPUT";
    case INVALID_PROGRAM: return "NVRTC_ERROR_INVALID_PROGRAM";
    case INVALID_OPTION: return "NVRTC_ERROR_INVALID_OPTION";
    case COMPILATION: return "NVRTC_ERROR_COMPILATION";
    }
    return "NVRTC_ERROR_INTERNAL_ERROR";
}

// A version that does not exist, so that what was compiled is not kept as if it were for a device.
API nvrtcResult nvrtcVersion(int *major, int *minor) {
    *major = 13;
    *minor = 999;
    return SUCCESS;
}

API nvrtcResult nvrtcGetNumSupportedArchs(int *count) {
    *count = 1;
    return SUCCESS;
}

API nvrtcResult nvrtcGetSupportedArchs(int *archs) {
    *archs = 90;
    return SUCCESS;
}

API nvrtcResult nvrtcCreateProgram(Program **program, const char *source, const char *name, int headers, const char *const *contents, const char *const *names) {
    if (!program || !source) return INVALID_INPUT;
    *program = new Program{source, name ? name : "default_program.cu", "", "", {}};
    for (int i = 0; i < headers; i++) (*program)->headers.emplace_back(names[i], contents[i]);
    return SUCCESS;
}

API nvrtcResult nvrtcDestroyProgram(Program **program) {
    if (!program || !*program) return INVALID_PROGRAM;
    delete *program;
    *program = nullptr;
    return SUCCESS;
}

API nvrtcResult nvrtcCompileProgram(Program *program, int, const char *const *) { return program ? compile(*program) : INVALID_PROGRAM; }

// Sizes count a zero at the end of texts.
API nvrtcResult nvrtcGetProgramLogSize(Program *program, size_t *size) {
    *size = program->log.size() + 1;
    return SUCCESS;
}
API nvrtcResult nvrtcGetProgramLog(Program *program, char *log) {
    memcpy(log, program->log.c_str(), program->log.size() + 1);
    return SUCCESS;
}
API nvrtcResult nvrtcGetCUBINSize(Program *program, size_t *size) {
    *size = program->code.size();
    return program->code.empty() ? INVALID_PROGRAM : SUCCESS;
}
API nvrtcResult nvrtcGetCUBIN(Program *program, char *code) {
    memcpy(code, program->code.data(), program->code.size());
    return SUCCESS;
}
API nvrtcResult nvrtcGetPTXSize(Program *program, size_t *size) { return nvrtcGetCUBINSize(program, size); }
API nvrtcResult nvrtcGetPTX(Program *program, char *code) { return nvrtcGetCUBIN(program, code); }
API nvrtcResult nvrtcAddNameExpression(Program *, const char *) { return INVALID_INPUT; }
API nvrtcResult nvrtcGetLoweredName(Program *, const char *, const char **) { return INVALID_INPUT; }
