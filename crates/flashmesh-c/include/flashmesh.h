/* The C interface of flashmesh: a simulated drive that is stepped. See docs/how-to/step-a-drive.md. */

#ifndef FLASHMESH_H
#define FLASHMESH_H

/* Generated from crates/flashmesh-c/src by `make generate`: do not edit. */

#include <stddef.h>
#include <stdint.h>

/*
 Operation of a request.
 */
enum FlashmeshOp
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint8_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /*
   Read the bytes.
   */
  FLASHMESH_OP_READ = 0,
  /*
   Write the bytes.
   */
  FLASHMESH_OP_WRITE = 1,
  /*
   Deallocate the bytes: their data is lost.
   */
  FLASHMESH_OP_DEALLOCATE = 2,
  /*
   Complete when all earlier writes are on flash. Covers no bytes.
   */
  FLASHMESH_OP_FLUSH = 3,
  /*
   Set the bytes to zero, without a data transfer.
   */
  FLASHMESH_OP_WRITE_ZEROES = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum FlashmeshOp FlashmeshOp;
#else
typedef uint8_t FlashmeshOp;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/*
 Completion status of a request.
 */
enum FlashmeshStatus
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint8_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /*
   The request was executed.
   */
  FLASHMESH_STATUS_SUCCESS = 0,
  /*
   The drive does not support the operation.
   */
  FLASHMESH_STATUS_INVALID_OPCODE = 1,
  /*
   The request exceeds the maximum transfer size of a command.
   */
  FLASHMESH_STATUS_INVALID_FIELD = 2,
  /*
   The stream of the request is attached to no namespace.
   */
  FLASHMESH_STATUS_INVALID_NAMESPACE = 3,
  /*
   The request exceeds its namespace.
   */
  FLASHMESH_STATUS_LBA_OUT_OF_RANGE = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum FlashmeshStatus FlashmeshStatus;
#else
typedef uint8_t FlashmeshStatus;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/*
 A simulated drive that is stepped.
 */
typedef struct FlashmeshDrive FlashmeshDrive;

/*
 A copy of the whole state of a drive.
 */
typedef struct FlashmeshSnapshot FlashmeshSnapshot;

/*
 A request to submit.
 */
typedef struct FlashmeshRequest {
  /*
   Arrival time, in picoseconds.
   */
  uint64_t time_ps;
  /*
   Offset in the namespace of the stream, in bytes: a multiple of the sector size.
   */
  uint64_t offset;
  /*
   Size in bytes: a positive multiple of the sector size; 0 for a flush.
   */
  uint64_t bytes;
  /*
   Index of the stream, from 0.
   */
  uint32_t stream;
  /*
   Operation: a `FlashmeshOp`.
   */
  uint8_t op;
} FlashmeshRequest;

/*
 A completed request.
 */
typedef struct FlashmeshCompletion {
  /*
   Id that was returned at submission.
   */
  uint64_t id;
  /*
   Time at which the completion reached the host, in picoseconds.
   */
  uint64_t time_ps;
  /*
   Time from arrival to completion, in picoseconds.
   */
  uint64_t latency_ps;
  /*
   Completion status: a `FlashmeshStatus`.
   */
  uint8_t status;
} FlashmeshCompletion;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/*
 Returns the version of the library as a text, which must not be freed.
 */
const char *flashmesh_version(void);

/*
 Builds a drive at time 0 from the configuration file at `path`. `overrides` are `count` texts such as "geometry.channels=4", which take precedence
 over the file; the pointer may be null if `count` is 0. Returns null on failure. Free the drive with `flashmesh_drive_free`.

 # Safety
 The texts are NUL-terminated.
 */
struct FlashmeshDrive *flashmesh_drive_open(const char *path,
                                            const char *const *overrides,
                                            size_t count);

/*
 Like `flashmesh_drive_open`, but takes the text of the configuration (TOML) in place of a file. An empty text is the default configuration.

 # Safety
 The texts are NUL-terminated.
 */
struct FlashmeshDrive *flashmesh_drive_from_text(const char *toml,
                                                 const char *const *overrides,
                                                 size_t count);

/*
 Frees a drive. A null pointer is ignored.

 # Safety
 `drive` was created by this library and is not used afterwards.
 */
void flashmesh_drive_free(struct FlashmeshDrive *drive);

/*
 Submits a request and stores its id in `id`, unless that is null. Ids count from 0. `op` is a `FlashmeshOp`. Returns 0, or -1 if the request is
 refused.

 # Safety
 `drive` was created by this library; `id` is null or points to a number.
 */
int flashmesh_submit(struct FlashmeshDrive *drive,
                     uint64_t time_ps,
                     uint8_t op,
                     uint64_t offset,
                     uint64_t bytes,
                     uint32_t stream,
                     uint64_t *id);

/*
 Submits `count` requests: all of them, or none if one is refused. Stores the id of the first in `first_id`, unless that is null; the others have
 consecutive ids. Returns 0, or -1 on refusal.

 # Safety
 `drive` was created by this library; `requests` points to `count` requests; `first_id` is null or points to a number.
 */
int flashmesh_submit_batch(struct FlashmeshDrive *drive,
                           const struct FlashmeshRequest *requests,
                           size_t count,
                           uint64_t *first_id);

/*
 Stores the time of the next event, in picoseconds, in `time_ps`. Returns 1 if there is an event, 0 if none is pending until a request is
 submitted, -1 on failure.

 # Safety
 `drive` was created by this library; `time_ps` points to a number.
 */
int flashmesh_next_event(struct FlashmeshDrive *drive,
                         uint64_t *time_ps);

/*
 Simulates all events up to and including `time_ps`. Sets `completions` to the array of the `count` requests that completed, in order of
 completion. The array is valid until the next call with this drive. Either pointer may be null. Returns 0, or -1 on failure.

 # Safety
 `drive` was created by this library; `completions` and `count` are null or point to a pointer and a number.
 */
int flashmesh_advance(struct FlashmeshDrive *drive,
                      uint64_t time_ps,
                      const struct FlashmeshCompletion **completions,
                      size_t *count);

/*
 Like `flashmesh_advance`, but stops at the time of the next completion, if that is earlier. With `UINT64_MAX` there is no limit on its time.

 # Safety
 Like `flashmesh_advance`.
 */
int flashmesh_advance_to_completion(struct FlashmeshDrive *drive,
                                    uint64_t time_ps,
                                    const struct FlashmeshCompletion **completions,
                                    size_t *count);

/*
 Like `flashmesh_advance`, but simulates until all requests have completed.

 # Safety
 Like `flashmesh_advance`.
 */
int flashmesh_drain(struct FlashmeshDrive *drive, const struct FlashmeshCompletion **completions, size_t *count);

/*
 Returns the simulated time of the drive, in picoseconds; 0 for a null pointer.

 # Safety
 `drive` was created by this library.
 */
uint64_t flashmesh_now_ps(struct FlashmeshDrive *drive);

/*
 Returns the capacity that a stream sees, in bytes; 0 if there is no such stream, or for a null pointer.

 # Safety
 `drive` was created by this library.
 */
uint64_t flashmesh_capacity(struct FlashmeshDrive *drive, uint32_t stream);

/*
 Returns the report of a run that ends now, as JSON: of a whole run if all requests have completed, otherwise of an interrupted one. Free it with
 `flashmesh_string_free`. Returns null on failure. The drive does not change.

 # Safety
 `drive` was created by this library.
 */
char *flashmesh_report(struct FlashmeshDrive *drive);

/*
 Frees a text. A null pointer is ignored.

 # Safety
 `string` was returned by `flashmesh_report` and is not used afterwards.
 */
void flashmesh_string_free(char *string);

/*
 Returns a copy of the whole state of the drive; null on failure. Free the copy with `flashmesh_snapshot_free`.

 # Safety
 `drive` was created by this library.
 */
struct FlashmeshSnapshot *flashmesh_snapshot(struct FlashmeshDrive *drive);

/*
 Restores the drive to the state of a snapshot, which can be used again. Returns 0, or -1 if the snapshot is of a drive with another configuration.

 # Safety
 Both were created by this library.
 */
int flashmesh_restore(struct FlashmeshDrive *drive,
                      const struct FlashmeshSnapshot *snapshot);

/*
 Frees a snapshot. A null pointer is ignored.

 # Safety
 `snapshot` was created by this library and is not used afterwards.
 */
void flashmesh_snapshot_free(struct FlashmeshSnapshot *snapshot);

/*
 Returns the message of the last failed call in this thread; an empty text if none has failed. The pointer is valid until
 the next call in this thread fails.
 */
const char *flashmesh_last_error(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* FLASHMESH_H */
