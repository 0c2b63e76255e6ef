import type { Writable } from 'node:stream'

/** A place for lines of the log that neither stops nor slows down whoever writes them. */
export interface LogStream {
  write(line: string): void
  /** Returns the number of lines that were lost. */
  lost(): number
}

/** Bytes that may wait for a reader who has stopped reading; later lines are lost. */
const MAX_WAITING_BYTES = 4 * 1024 * 1024

/**
 * Creates a stream that loses lines when its target is gone, full or takes none: a service must not end, nor fill its
 * memory, because nobody keeps its log. What can be written again later is.
 */
export function createLogStream(target: Pick<Writable, 'write' | 'writableLength' | 'listeners' | 'on'>): LogStream {
  let lost = 0
  function count(error?: Error | null): void {
    if (error) lost += 1
  }
  // An error without a listener ends the process. One is enough for all streams of a target.
  if (!target.listeners('error').includes(ignore)) target.on('error', ignore)
  return {
    write(line) {
      if (target.writableLength > MAX_WAITING_BYTES) lost += 1
      else target.write(line, count)
    },
    lost: () => lost,
  }
}

function ignore(): void {}
