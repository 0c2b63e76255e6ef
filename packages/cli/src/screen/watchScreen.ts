import type { AccountEvent, BezelClient, LogEvent, PricesEvent, StreamSubscription } from '@bezel/sdk'
import type { PromptInput } from '../keys/readPassword.ts'
import type { Typing } from '../output/advice.ts'
import type { Terminal } from '../output/createOutput.ts'
import type { Style } from '../output/text.ts'
import { drawFrame } from './drawFrame.ts'
import { openScreen, type Screen } from './openScreen.ts'
import { emptyScreen, withEvent, withLogged, withStatus, type ScreenState } from './screenState.ts'

interface WatchScreenOptions {
  readonly client: Pick<BezelClient, 'chain' | 'stream'>
  /** The account as answers name it. */
  readonly account: string
  /** Markets whose prices are shown beside the account's own; `undefined` for all. */
  readonly markets: readonly string[] | undefined
  /** Events that the log begins with. */
  readonly past: readonly AccountEvent[]
  /** The way in which commands are spelled. */
  readonly typing: Typing
  readonly terminal: Terminal
  readonly input: PromptInput
  readonly style: Style
  /** Clock in epoch milliseconds. */
  readonly now: () => number
  /** Ends it as the user does. */
  readonly signal: AbortSignal
  /** Called with what gives the terminal back, which must happen before anything else is printed. */
  readonly onOpen: (close: () => void) => void
}

/** Throttles frames: what changes meanwhile is drawn together. */
const FRAME_MS = 50

const TICK_MS = 1000

/**
 * Shows the account on the whole terminal until the user leaves. Rejects when the service ends the stream for good; a
 * connection that is lost comes back by itself.
 */
export async function watchScreen({ client, account, markets, past, now, ...of }: WatchScreenOptions): Promise<void> {
  const start = emptyScreen({ account, chain: client.chain, typing: of.typing, chosen: markets, nowMs: now() })
  let state: ScreenState = withLogged(start, past)
  let frame: ReturnType<typeof setTimeout> | undefined

  function change(after: (before: ScreenState) => ScreenState): void {
    state = after({ ...state, nowMs: now() })
    frame ??= setTimeout(draw, FRAME_MS)
  }

  function draw(): void {
    frame = undefined
    screen.draw(drawFrame(state, screen.size(), of.style))
  }

  const left = Promise.withResolvers<void>()
  of.signal.addEventListener('abort', () => left.resolve())
  const screen: Screen = openScreen({ ...of, onLeave: left.resolve, onChange: draw })
  of.onOpen(screen.close)
  draw()
  const tick = setInterval(() => change((before) => before), TICK_MS)
  const stream = client.stream({ onStatus: (status) => change((before) => withStatus(before, status)) })
  async function follow(events: StreamSubscription<LogEvent | PricesEvent>): Promise<void> {
    for await (const event of events) change((before) => withEvent(before, event))
  }
  try {
    const channels = [stream.prices(), stream.positions(), stream.orders(), stream.fills(), stream.account()]
    await Promise.race([left.promise, ...channels.map(follow)])
  } finally {
    // Closing the stream tells a last status, so the timers are cleared after it.
    stream.close()
    clearInterval(tick)
    clearTimeout(frame)
    screen.close()
  }
}
