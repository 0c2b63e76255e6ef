import { WebSocket } from 'ws'
import { parseFrame, type FeedFrame } from './parseFrame.ts'

/** What one connection to the stream reports. */
export interface ConnectionEvents {
  onOpen(): void
  onFrame(frame: FeedFrame): void
  /** A message that is none of the feed's. */
  onGarbage(): void
  /** Once, however it ended. */
  onClose(): void
}

const HANDSHAKE_TIMEOUT_MS = 5_000

/** A frame with all pairs has 20 KB. */
const MAX_FRAME_BYTES = 1_000_000

/** One connection to the stream. It is cut when no frame comes for `silenceMs`: garbage is no sign of life. Returns what closes it. */
export function openConnection(url: string, silenceMs: number, events: ConnectionEvents): () => void {
  const socket = new WebSocket(url, {
    handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
    maxPayload: MAX_FRAME_BYTES,
    perMessageDeflate: false,
  })
  let silence: NodeJS.Timeout | undefined
  socket.on('open', () => {
    silence = setTimeout(() => socket.terminate(), silenceMs)
    events.onOpen()
  })
  socket.on('message', (data, isBinary) => {
    const frame = isBinary ? undefined : parseFrame(String(data))
    if (frame === undefined) return events.onGarbage()
    silence?.refresh()
    events.onFrame(frame)
  })
  // What went wrong is followed by 'close'; without a listener it would end the process.
  socket.on('error', () => undefined)
  socket.on('close', () => {
    clearTimeout(silence)
    events.onClose()
  })
  return () => socket.terminate()
}
