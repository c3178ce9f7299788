/* Increments a counter in a simulated eNVy memory with transactions. The counter survives a power loss, and an image
 * stores it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nacre.h"

static void must(nacre_memory *memory, int status, const char *what)
{
    if (status == 0)
        return;
    fprintf(stderr, "%s: %s (%s)\n", what, nacre_error(memory), nacre_error_code(memory));
    exit(1);
}

static nacre_memory *opened(const char *image)
{
    static const char *const settings[] = {
        "stack.segments=5", "stack.segment=64 KiB", "stack.page=256 B",
        "stack.banks=1", "stack.buffer=8 KiB", "stack.cleaning=greedy", NULL};
    char *error = NULL;
    nacre_memory *memory = nacre_open("envy", settings, image, &error);
    if (memory == NULL) {
        fprintf(stderr, "%s\n", error);
        nacre_free(error);
        exit(1);
    }
    return memory;
}

int main(int count, char **arguments)
{
    const char *image = count > 1 ? arguments[1] : NULL;
    nacre_memory *memory = opened(image);
    printf("%" PRIu64 " bytes, words of %" PRIu64 "\n", nacre_capacity(memory), nacre_word_bytes(memory));

    uint64_t counter = 0;
    for (int i = 0; i < 3; i++) {
        must(memory, nacre_begin(memory), "begin");
        must(memory, nacre_load(memory, 0, &counter, sizeof counter), "load");
        counter++;
        must(memory, nacre_store(memory, 0, &counter, sizeof counter), "store");
        must(memory, nacre_commit(memory), "commit");
    }

    /* A transaction that the power loss interrupts is rolled back. */
    counter = 1000;
    must(memory, nacre_begin(memory), "begin");
    must(memory, nacre_store(memory, 0, &counter, sizeof counter), "store");
    must(memory, nacre_power_fail(memory), "power failure");
    if (nacre_load(memory, 0, &counter, sizeof counter) != 0)
        printf("%s: %s\n", nacre_error_code(memory), nacre_error(memory));
    must(memory, nacre_recover(memory), "recovery");

    must(memory, nacre_load(memory, 0, &counter, sizeof counter), "load");
    printf("counter %" PRIu64 ", loaded in %" PRIu64 " ns\n", counter, nacre_latency(memory) / 1000);

    must(memory, nacre_flush(memory), "flush");
    char *error = NULL;
    if (nacre_close(memory, &error) != 0) {
        fprintf(stderr, "%s\n", error);
        nacre_free(error);
        return 1;
    }
    return 0;
}
