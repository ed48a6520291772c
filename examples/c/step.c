/*
 * Steps a drive from C: four readers, each of which waits for its read before it issues the next one.
 *
 *     cc -Icrates/flashmesh-c/include examples/c/step.c -Ltarget/release -lflashmesh_c -o step
 *     LD_LIBRARY_PATH=target/release ./step
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "flashmesh.h"

enum { READERS = 4, READS = 1000, PAGE = 4096 };

/* Ends the program with the message of the last error if a call has failed. */
static void require(int succeeded) {
  if (!succeeded) {
    fprintf(stderr, "error: %s\n", flashmesh_last_error());
    exit(1);
  }
}

/* Returns the byte offset of a pseudo-random page of the first 64 MiB. Equal states give equal sequences of pages. */
static uint64_t next_offset(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (*state >> 33) % 16384 * PAGE;
}

/* Completes `reads` reads, at most READERS of them at a time. Returns the sum of their latencies, in picoseconds. */
static uint64_t read_pages(FlashmeshDrive *drive, uint64_t state, int reads) {
  uint64_t latency_ps = 0;
  int issued = 0, completed = 0;
  while (completed < reads) {
    for (; issued < reads && issued - completed < READERS; issued++)
      require(flashmesh_submit(drive, flashmesh_now_ps(drive), FLASHMESH_OP_READ, next_offset(&state), PAGE, 0, NULL) == 0);
    const FlashmeshCompletion *done;
    size_t count;
    require(flashmesh_advance_to_completion(drive, UINT64_MAX, &done, &count) == 0);
    for (size_t i = 0; i < count; i++) latency_ps += done[i].latency_ps;
    completed += (int)count;
  }
  return latency_ps;
}

int main(void) {
  const char *overrides[] = {"geometry.channels=4", "geometry.blocks-per-plane=64"};
  FlashmeshDrive *drive = flashmesh_drive_from_text("preset = \"venice-z-nand\"", overrides, 2);
  require(drive != NULL);
  FlashmeshSnapshot *snapshot = flashmesh_snapshot(drive);
  require(snapshot != NULL);

  uint64_t first = read_pages(drive, 1, READS);
  printf("%d reads by %d readers: %.3f us on average, %.3f ms in all\n", READS, READERS, (double)first / READS / 1e6,
         (double)flashmesh_now_ps(drive) / 1e9);

  /* From the same state, the same requests have the same latencies. */
  require(flashmesh_restore(drive, snapshot) == 0);
  uint64_t again = read_pages(drive, 1, READS);
  printf("once more from the snapshot: %s\n", again == first ? "the same latencies" : "other latencies");

  char *report = flashmesh_report(drive);
  require(report != NULL);
  printf("the report begins with %.16s\n", report);

  flashmesh_string_free(report);
  flashmesh_snapshot_free(snapshot);
  flashmesh_drive_free(drive);
  return again == first ? 0 : 1;
}
