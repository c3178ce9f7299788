/* Nacre for C programs: a simulated memory with real bytes and simulated time.
 *
 * Each operation starts when the previous operation is complete. nacre_latency returns the simulated time of the
 * last operation.
 * Functions that return int return 0, or -1 after an error, which nacre_error and nacre_error_code describe.
 * Threads that share a memory must take turns.
 */
#ifndef NACRE_H
#define NACRE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct nacre_memory nacre_memory;

/* Version of the library, e.g. "0.1.0". */
const char *nacre_version(void);

/* Opens the memory that the stack of a scenario describes.
 *
 * scenario: a TOML file, or the name of a built-in scenario, e.g. "envy".
 * settings: an array of overrides "path=value", e.g. "stack.segment=1 MiB", terminated by NULL. It may be NULL.
 * image: a file that stores data and state. It is created if it does not exist. If NULL, data is only in RAM.
 * error: set to a message if the memory cannot be opened. Free the message with nacre_free. It may be NULL.
 *
 * Returns NULL if the memory cannot be opened. */
nacre_memory *nacre_open(const char *scenario, const char *const *settings, const char *image, char **error);

/* Rolls back an open transaction, completes the image, and frees the memory, even if it returns -1.
 * error: as for nacre_open. */
int nacre_close(nacre_memory *memory, char **error);

/* Copies size bytes from address of the memory. Bytes that were never stored are 0. */
int nacre_load(nacre_memory *memory, uint64_t address, void *into, size_t size);

/* Copies size bytes to address of the memory. */
int nacre_store(nacre_memory *memory, uint64_t address, const void *from, size_t size);

/* Makes all stores durable: they survive nacre_power_fail and, with an image, a power loss of the host. */
int nacre_flush(nacre_memory *memory);

/* Starts, commits, or rolls back a transaction, if the device supports transactions. */
int nacre_begin(nacre_memory *memory);
int nacre_commit(nacre_memory *memory);
int nacre_abort(nacre_memory *memory);

/* Cuts and restores the power of the device. */
int nacre_power_fail(nacre_memory *memory);
int nacre_recover(nacre_memory *memory);

/* Advances simulated time, so that background work can run. */
int nacre_idle(nacre_memory *memory, uint64_t picoseconds);

/* Size of the memory and of one access, in bytes. */
uint64_t nacre_capacity(const nacre_memory *memory);
uint64_t nacre_word_bytes(const nacre_memory *memory);

/* Simulated time since the memory was new, and simulated time of the last operation, in picoseconds. */
uint64_t nacre_now(const nacre_memory *memory);
uint64_t nacre_latency(const nacre_memory *memory);

/* Returns statistics of the device since it was opened as JSON, as in a record. Free the text with nacre_free.
 * Returns NULL after an error. */
char *nacre_statistics(nacre_memory *memory);

/* Message and code (docs/errors.md) of the last error of the memory, or "" if there was none. The texts are valid
 * until the next call with this memory. */
const char *nacre_error(const nacre_memory *memory);
const char *nacre_error_code(const nacre_memory *memory);

/* Frees a text that a function returned. NULL is ignored. */
void nacre_free(char *text);

#ifdef __cplusplus
}
#endif

#endif
