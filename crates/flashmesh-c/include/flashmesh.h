/* The C interface of flashmesh: a simulated drive that is stepped. See docs/how-to/step-a-drive.md. */

#ifndef FLASHMESH_H
#define FLASHMESH_H

/* Generated from crates/flashmesh-c/src by `make generate`: do not edit. */

#include <stddef.h>
#include <stdint.h>

/*
 What a request asks of the drive.
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
   Forget the bytes.
   */
  FLASHMESH_OP_DEALLOCATE = 2,
  /*
   Complete when all that was written before is in the flash; it covers no bytes.
   */
  FLASHMESH_OP_FLUSH = 3,
  /*
   Make the bytes zeros, without data over the link.
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
 How a request ended.
 */
enum FlashmeshStatus
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint8_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /*
   It did what it was asked to.
   */
  FLASHMESH_STATUS_SUCCESS = 0,
  /*
   The drive does not know such requests.
   */
  FLASHMESH_STATUS_INVALID_OPCODE = 1,
  /*
   It is longer than the drive moves in one command.
   */
  FLASHMESH_STATUS_INVALID_FIELD = 2,
  /*
   Its stream is attached to no namespace.
   */
  FLASHMESH_STATUS_INVALID_NAMESPACE = 3,
  /*
   It reaches beyond its namespace.
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
 A request.
 */
typedef struct FlashmeshRequest {
  /*
   When it arrives, in picoseconds.
   */
  uint64_t time_ps;
  /*
   Where it begins in the namespace of its stream, in bytes: a multiple of the sector size.
   */
  uint64_t offset;
  /*
   How many bytes it covers, a positive multiple of the sector size; 0 for a flush.
   */
  uint64_t bytes;
  /*
   The stream that it comes from, from 0.
   */
  uint32_t stream;
  /*
   What it asks: a `FlashmeshOp`.
   */
  uint8_t op;
} FlashmeshRequest;

/*
 A completed request.
 */
typedef struct FlashmeshCompletion {
  /*
   Its id, as it was given when it was submitted.
   */
  uint64_t id;
  /*
   When its completion reached the host, in picoseconds.
   */
  uint64_t time_ps;
  /*
   From its arrival to its completion, in picoseconds.
   */
  uint64_t latency_ps;
  /*
   How it ended: a `FlashmeshStatus`.
   */
  uint8_t status;
} FlashmeshCompletion;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/*
 The version of the library.
 */
const char *flashmesh_version(void);

/*
 Builds the drive that the configuration in the file at `path` describes, at time 0. `overrides` are `count` texts such as
 "geometry.channels=4", which come after the file; it may be null where `count` is 0. Null where it fails.

 # Safety
 The texts end with a byte 0.
 */
struct FlashmeshDrive *flashmesh_drive_open(const char *path,
                                            const char *const *overrides,
                                            size_t count);

/*
 As `flashmesh_drive_open`, with the text of the configuration (TOML) in place of a file; an empty text is the configuration by default.

 # Safety
 The texts end with a byte 0.
 */
struct FlashmeshDrive *flashmesh_drive_from_text(const char *toml,
                                                 const char *const *overrides,
                                                 size_t count);

/*
 Frees a drive; nothing happens with a null pointer.

 # Safety
 `drive` was given by this library, and is not used any more.
 */
void flashmesh_drive_free(struct FlashmeshDrive *drive);

/*
 Submits a request, and puts its id into `id` unless that is null: ids count from 0. `op` is a `FlashmeshOp`.

 # Safety
 `drive` was given by this library; `id` is null or points to a number.
 */
int flashmesh_submit(struct FlashmeshDrive *drive,
                     uint64_t time_ps,
                     uint8_t op,
                     uint64_t offset,
                     uint64_t bytes,
                     uint32_t stream,
                     uint64_t *id);

/*
 Submits `count` requests, all of them or, where one is refused, none. Puts the id of the first into `first_id` unless that is null; the others
 follow it.

 # Safety
 `drive` was given by this library; `requests` points to `count` requests; `first_id` is null or points to a number.
 */
int flashmesh_submit_batch(struct FlashmeshDrive *drive,
                           const struct FlashmeshRequest *requests,
                           size_t count,
                           uint64_t *first_id);

/*
 Puts the time of the next event into `time_ps`, in picoseconds: 1 where there is one, 0 where none comes until a request is submitted, -1 where it
 fails.

 # Safety
 `drive` was given by this library; `time_ps` points to a number.
 */
int flashmesh_next_event(struct FlashmeshDrive *drive,
                         uint64_t *time_ps);

/*
 Simulates all that happens up to `time_ps`, at that time included. `completions` is set to the `count` requests that completed, in that order;
 they stay until the next call with this drive. Either may be null.

 # Safety
 `drive` was given by this library; `completions` and `count` are null or point to a pointer and a number.
 */
int flashmesh_advance(struct FlashmeshDrive *drive,
                      uint64_t time_ps,
                      const struct FlashmeshCompletion **completions,
                      size_t *count);

/*
 As `flashmesh_advance`, but no further than the time at which the next request completes; with `UINT64_MAX` until then, however late that is.

 # Safety
 As `flashmesh_advance`.
 */
int flashmesh_advance_to_completion(struct FlashmeshDrive *drive,
                                    uint64_t time_ps,
                                    const struct FlashmeshCompletion **completions,
                                    size_t *count);

/*
 As `flashmesh_advance`, until all requests have completed.

 # Safety
 As `flashmesh_advance`.
 */
int flashmesh_drain(struct FlashmeshDrive *drive, const struct FlashmeshCompletion **completions, size_t *count);

/*
 The time to which the drive was advanced, in picoseconds; 0 for a null pointer.

 # Safety
 `drive` was given by this library.
 */
uint64_t flashmesh_now_ps(struct FlashmeshDrive *drive);

/*
 The bytes that a stream sees; 0 where there is no such stream.

 # Safety
 `drive` was given by this library.
 */
uint64_t flashmesh_capacity(struct FlashmeshDrive *drive, uint32_t stream);

/*
 What a run would report that ends here, as JSON, to be freed with `flashmesh_string_free`: that of a whole run when all requests have completed, and
 of an interrupted one before that. Null where it fails. The drive stays as it is.

 # Safety
 `drive` was given by this library.
 */
char *flashmesh_report(struct FlashmeshDrive *drive);

/*
 Frees a text; nothing happens with a null pointer.

 # Safety
 `string` was given by `flashmesh_report`, and is not used any more.
 */
void flashmesh_string_free(char *string);

/*
 A copy of the whole state of the drive; null where it fails.

 # Safety
 `drive` was given by this library.
 */
struct FlashmeshSnapshot *flashmesh_snapshot(struct FlashmeshDrive *drive);

/*
 Has the drive go back to the state of a snapshot, which stays as it is; refused where it is of a drive with another configuration.

 # Safety
 Both were given by this library.
 */
int flashmesh_restore(struct FlashmeshDrive *drive,
                      const struct FlashmeshSnapshot *snapshot);

/*
 Frees a snapshot; nothing happens with a null pointer.

 # Safety
 `snapshot` was given by this library, and is not used any more.
 */
void flashmesh_snapshot_free(struct FlashmeshSnapshot *snapshot);

/*
 Why the last call of this thread failed; an empty text before one has. Stays until the next call of this thread that fails.
 */
const char *flashmesh_last_error(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* FLASHMESH_H */
