/* What a task costs in StarPU: submission to end of empty tasks, and the memory of those that wait.
 *
 *     empty_tasks GRAPH WORKERS ROUNDS
 *
 * The counterpart of benches/task_overhead.rs, with the same tasks on the same handles: `independent`, `chain`, `random`,
 * `independent-1us`. A line of JSON: the median of the rounds, after one that is not counted. Tasks are made by
 * starpu_task_create, which costs less than starpu_task_insert; the codelets have no performance model. */

#include <inttypes.h>
#include <starpu.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TASKS = 200000, HANDLES = 64, MOST_ROUNDS = 100 };

static const double WORK_NS = 1000;

static double now_ns(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

static void nothing(void *buffers[], void *argument)
{
	(void)buffers;
	(void)argument;
}

static void work(void *buffers[], void *argument)
{
	(void)buffers;
	(void)argument;
	double begin = now_ns();
	while (now_ns() - begin < WORK_NS)
		;
}

static struct starpu_codelet empty_codelet = {
	.cpu_funcs = { nothing }, .nbuffers = 3, .modes = { STARPU_R, STARPU_R, STARPU_W }, .name = "empty"
};
static struct starpu_codelet touch_codelet = {
	.cpu_funcs = { nothing }, .nbuffers = 1, .modes = { STARPU_RW }, .name = "touch"
};
static struct starpu_codelet work_codelet = {
	.cpu_funcs = { work }, .nbuffers = 1, .modes = { STARPU_RW }, .name = "work"
};

static float numbers[HANDLES];
static starpu_data_handle_t handles[HANDLES];

static void check(int result, const char *what)
{
	if (result != 0) {
		fprintf(stderr, "%s: %s\n", what, strerror(-result));
		exit(1);
	}
}

static void submit_to(struct starpu_codelet *codelet, starpu_data_handle_t handle)
{
	struct starpu_task *task = starpu_task_create();
	task->cl = codelet;
	task->handles[0] = handle;
	check(starpu_task_submit(task), "starpu_task_submit");
}

static void independent(void)
{
	for (int i = 0; i < TASKS; i++)
		submit_to(&touch_codelet, handles[i % HANDLES]);
}

static void chain(void)
{
	for (int i = 0; i < TASKS; i++)
		submit_to(&touch_codelet, handles[0]);
}

static void independent_1us(void)
{
	for (int i = 0; i < TASKS; i++)
		submit_to(&work_codelet, handles[i % HANDLES]);
}

/* xorshift64, as in the Rust program. */
static uint64_t random_state;

static unsigned below(unsigned bound)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (unsigned)(random_state % bound);
}

static void random_ones(void)
{
	random_state = UINT64_C(0x9e3779b97f4a7c15);
	for (int i = 0; i < TASKS; i++) {
		struct starpu_task *task = starpu_task_create();
		unsigned out = below(HANDLES);
		task->cl = &empty_codelet;
		task->handles[0] = handles[(out + 1 + below(HANDLES - 1)) % HANDLES];
		task->handles[1] = handles[(out + 1 + below(HANDLES - 1)) % HANDLES];
		task->handles[2] = handles[out];
		check(starpu_task_submit(task), "starpu_task_submit");
	}
}

static const struct {
	const char *name;
	void (*submit)(void);
} graphs[] = {
	{ "independent", independent },
	{ "chain", chain },
	{ "random", random_ones },
	{ "independent-1us", independent_1us },
};

/* Memory that the process has, in bytes, or 0 where the system does not tell. */
static double resident_bytes(void)
{
	char line[256];
	long kib = 0;
	FILE *status = fopen("/proc/self/status", "r");
	if (!status)
		return 0;
	while (fgets(line, sizeof line, status))
		if (strncmp(line, "VmRSS:", 6) == 0)
			kib = strtol(line + 6, NULL, 10);
	fclose(status);
	return 1024.0 * (double)kib;
}

/* Bytes of each task that is submitted and has not begun: all of them, while the workers pause. */
static double bytes_in_flight(void (*submit)(void))
{
	starpu_pause();
	double before = resident_bytes();
	submit();
	double after = resident_bytes();
	starpu_resume();
	check(starpu_task_wait_for_all(), "starpu_task_wait_for_all");
	return (after - before) / TASKS;
}

static int ascending(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;
	return (left > right) - (left < right);
}

static double ns_per_task(void (*submit)(void), int rounds)
{
	double times[MOST_ROUNDS];
	for (int round = -1; round < rounds; round++) {
		double begin = now_ns();
		submit();
		check(starpu_task_wait_for_all(), "starpu_task_wait_for_all");
		if (round >= 0)
			times[round] = (now_ns() - begin) / TASKS;
	}
	qsort(times, (size_t)rounds, sizeof times[0], ascending);
	return times[rounds / 2];
}

int main(int argc, char **argv)
{
	void (*submit)(void) = NULL;
	int workers = argc > 2 ? atoi(argv[2]) : 0;
	int rounds = argc > 3 ? atoi(argv[3]) : 0;
	for (size_t i = 0; argc > 1 && i < sizeof graphs / sizeof graphs[0]; i++)
		if (strcmp(argv[1], graphs[i].name) == 0)
			submit = graphs[i].submit;
	if (!submit || workers < 1 || rounds < 1 || rounds > MOST_ROUNDS) {
		fprintf(stderr, "empty_tasks independent|chain|random|independent-1us WORKERS ROUNDS\n");
		return 2;
	}

	struct starpu_conf conf;
	starpu_conf_init(&conf);
	conf.ncpus = workers;
	conf.ncuda = 0;
	conf.nopencl = 0;
	check(starpu_init(&conf), "starpu_init");
	for (int i = 0; i < HANDLES; i++)
		starpu_variable_data_register(&handles[i], STARPU_MAIN_RAM, (uintptr_t)&numbers[i], sizeof numbers[i]);
	submit_to(&touch_codelet, handles[0]);
	check(starpu_task_wait_for_all(), "starpu_task_wait_for_all");

	/* The memory first: what a round has touched, the next one uses again. */
	double bytes = bytes_in_flight(submit);
	double ns = ns_per_task(submit, rounds);

	int version[3];
	starpu_get_version(&version[0], &version[1], &version[2]);
	printf("{\"graph\": \"%s\", \"workers\": %u, \"ns_per_task\": %.1f, \"bytes_per_task\": %.1f, "
	       "\"scheduler\": \"%s\", \"version\": \"%d.%d.%d\"}\n",
	       argv[1], starpu_cpu_worker_get_count(), ns, bytes, starpu_sched_ctx_get_sched_policy(0)->policy_name,
	       version[0], version[1], version[2]);

	for (int i = 0; i < HANDLES; i++)
		starpu_data_unregister(handles[i]);
	starpu_shutdown();
	return 0;
}
