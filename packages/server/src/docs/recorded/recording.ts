import { readFileSync } from 'node:fs'

/** A request of a real run, with its answer. */
export interface RecordedCall {
  readonly method: string
  /** The path with its query, as sent. */
  readonly path: string
  readonly body?: unknown
  readonly status: number
  readonly answer: unknown
}

/** The answers and messages of a real run, from which all examples of the reference are taken. Long lists are cut. */
export interface Recording {
  /** Calls by operation. The first one is shown; the others have values that the first one lacks. */
  readonly operations: Readonly<Record<string, readonly RecordedCall[]>>
  /** Payloads of the WebSocket by the id of their message. */
  readonly messages: Readonly<Record<string, readonly unknown[]>>
}

export const RECORDING_FILE = new URL('recording.json', import.meta.url)

let recording: Recording | undefined

/** Reads the recording, once. `npm run reference -- --record` makes it anew. */
export function readRecording(): Recording {
  recording ??= JSON.parse(readFileSync(RECORDING_FILE, 'utf8')) as Recording
  return recording
}
