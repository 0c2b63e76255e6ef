import { NodeUnavailableError } from '../../ground/unavailable.ts'
import { countOtherSenders, forgetRelayed } from '../../store/relayStore.ts'
import { createWaker } from '../../ground/waker.ts'
import { reconnectDelayMs } from '../../ground/reconnectDelay.ts'
import { utcDayOf } from '../../trading/spend.ts'
import { createRelaying } from './createRelaying.ts'
import type { Relayer } from './relayer.ts'
import type { OnRelayHash, RelayContext } from './relayContext.ts'
import type { RelayerKey } from './relayerKey.ts'

export interface RelayerOptions extends Omit<RelayContext, 'sender' | 'signer' | 'onHash'> {
  readonly key: RelayerKey
  readonly onHash?: OnRelayHash
}

/** Between two steps, however much there is to do: nodes behind one address that disagree would keep it spinning. */
const MIN_REST_MS = 10
/** Between two tries, however long it has failed. */
const MAX_RETRY_MS = 2_000
const FORGET_MS = 60_000
/** What is settled is kept so long, for whoever asks what became of it. */
const KEEP_DAYS = 7
const FORGET_PER_ROUND = 500

/**
 * Starts the one sender of a chain and returns once it has read what was left to do. Everything goes on from the store, whatever happened
 * before; a node that is away is waited for.
 */
export async function startRelayer({
  key,
  onHash = async () => undefined,
  ...options
}: RelayerOptions): Promise<Relayer> {
  const { chain, store, settings, now, log } = options
  const signer = key.signerOf(chain)
  const sender = { chain: chain.slug, sender: key.address }
  const relaying = createRelaying({ ...options, sender, signer, onHash })
  const waker = createWaker()
  const closing = new AbortController()
  const others = await countOtherSenders(store.read, sender)
  if (others > 0)
    log.error(
      { ...sender, others },
      'transactions of another relayer key are not settled: start with that key until they are',
    )
  const done = run()

  async function run(): Promise<void> {
    let failures = 0
    let forgottenAtMs = 0
    while (!closing.signal.aborted) {
      try {
        const isMore = await relaying.step()
        if (failures > 0) log.info({ ...sender, failures }, 'the relayer works again')
        failures = 0
        if (now() - forgottenAtMs >= FORGET_MS) forgottenAtMs = await forget()
        const restMs = relaying.health().unsettled > 0 ? settings.pollMs : settings.feesMs
        await waker.sleep(isMore ? MIN_REST_MS : restMs)
      } catch (error) {
        if (closing.signal.aborted) return
        const level = error instanceof NodeUnavailableError ? 'warn' : 'error'
        if (failures === 0) log[level]({ ...sender, err: error }, 'the relayer failed, and tries again')
        failures += 1
        await waker.pause(Math.min(reconnectDelayMs(failures - 1, Math.random()), MAX_RETRY_MS))
      }
    }
  }

  /** When. */
  async function forget(): Promise<number> {
    const beforeDay = utcDayOf(now()) - KEEP_DAYS
    const of = { beforeMs: beforeDay * 86_400_000, beforeDay, limit: FORGET_PER_ROUND }
    await store.transaction((sql) => forgetRelayed(sql, chain.slug, of))
    return now()
  }

  return {
    address: key.address,
    enqueue: (sql, of) => relaying.enqueue(sql, of),
    async broadcast(hash) {
      if (closing.signal.aborted) return
      const taken = relaying.taken(hash)
      waker.wake()
      await taken
    },
    onFailed: (hash, listener) => relaying.onFailed(hash, listener),
    health: () => relaying.health(),
    async close() {
      closing.abort()
      waker.close()
      await done
      relaying.release()
    },
  }
}
