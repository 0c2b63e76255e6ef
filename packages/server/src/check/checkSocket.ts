import { CHAINS, type ChainSlug } from '@bezel/protocol'
import { headNumberCall } from '../chain/blocks.ts'
import { counted, failure, lengthOf, ok, quoted, warning, type Finding } from './finding.ts'
import { firstResult, type Probe } from './probe.ts'
import { listenTo } from './sockets.ts'

/** Number of block times for which a new head is waited for, and the bounds of that wait. */
const WAIT_BLOCKS = 8
const MIN_WAIT_MS = 5_000
const MAX_WAIT_MS = 20_000

const SUBSCRIBE = '{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["newHeads"]}'

/**
 * Checks the WebSocket of a chain: it connects, accepts the subscription and tells of a new block. Whether there was
 * one to tell of is asked over HTTP. Never throws.
 */
export async function checkSocket(url: string, slug: ChainSlug, probe: Probe | undefined): Promise<readonly Finding[]> {
  const waitMs = Math.min(MAX_WAIT_MS, Math.max(MIN_WAIT_MS, WAIT_BLOCKS * CHAINS[slug].blockMs))
  const before = await readHeadNumber(probe)
  let isAccepted = false
  const heard = await listenTo({
    url,
    greeting: SUBSCRIBE,
    waitMs,
    look(text) {
      const message = parseMessage(text)
      if (message === 'accepted') isAccepted = true
      return message === 'accepted' ? undefined : message
    },
  })
  if (heard.kind === 'closed') {
    return [failure('connection', `It does not connect, or ends at once (${quoted(heard.words, url)}): ${CORRECT}.`)]
  }
  if (heard.kind === 'silent' && !heard.isOpen) {
    return [failure('connection', `It does not connect in ${lengthOf(waitMs)}: ${CORRECT}.`)]
  }
  const connected = ok('connection', 'It connects.')
  if (heard.kind === 'found' && heard.found.kind === 'refused') {
    const words = quoted(heard.found.words, url)
    return [
      connected,
      failure(
        'new heads',
        `It refuses eth_subscribe of newHeads (${words}): take a plan that has it, or take the address out of the chains file.`,
      ),
    ]
  }
  if (heard.kind === 'found') {
    return [connected, ok('new heads', `A new block was told after ${lengthOf(heard.elapsedMs)}.`)]
  }
  const after = await readHeadNumber(probe)
  const blocks = before === undefined || after === undefined ? undefined : after - before
  return [connected, judgeSilence({ waitMs, isAccepted, blocks })]
}

const CORRECT = 'correct its address in the chains file, or take it out: the service then asks for new blocks'

/** Judges a socket that told of no block. `blocks` is the number that came meanwhile by HTTP, where that is known. */
export function judgeSilence(of: {
  readonly waitMs: number
  readonly isAccepted: boolean
  readonly blocks: number | undefined
}): Finding {
  const wait = lengthOf(of.waitMs)
  if (!of.isAccepted) {
    return failure(
      'new heads',
      `It connects but does not answer eth_subscribe in ${wait}: take another address, or take it out of the chains file.`,
    )
  }
  if (of.blocks === 0) {
    return warning(
      'new heads',
      `The subscription is accepted, but the chain stood still for ${wait}, by HTTP too: run the check again when it moves.`,
    )
  }
  const came =
    of.blocks === undefined
      ? 'and HTTP does not say how many came'
      : `while HTTP has ${counted(of.blocks, 'new block')}`
  return failure(
    'new heads',
    `The subscription is accepted, but it told of no block in ${wait}, ${came}: take another address, or take it out of the chains file.`,
  )
}

type Message = { readonly kind: 'head' } | { readonly kind: 'refused'; readonly words: string }

/** Reads a message: the acceptance of the subscription, its refusal, or a new head; `undefined` for anything else. */
function parseMessage(text: string): Message | 'accepted' | undefined {
  try {
    const { method, result, error } = JSON.parse(text) as {
      readonly method?: unknown
      readonly result?: unknown
      readonly error?: { readonly message?: unknown }
    }
    if (error !== undefined) return { kind: 'refused', words: String(error.message) }
    if (method === 'eth_subscription') return { kind: 'head' }
    return result === undefined ? undefined : 'accepted'
  } catch {
    return undefined
  }
}

async function readHeadNumber(probe: Probe | undefined): Promise<number | undefined> {
  const number = probe && firstResult(await probe.askPatiently([headNumberCall]))
  return typeof number === 'string' ? Number(number) : undefined
}
