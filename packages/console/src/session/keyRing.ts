import { signal, type ReadonlySignal } from '@preact/signals'
import { readStored, writeStored, type KeyValueStore } from '../data/storage.ts'

/** The owner of a key: a trader on a chain. */
export interface KeyOwner {
  readonly chain: string
  readonly trader: string
}

/** A read-only key with the label under which the service lists it. */
export interface StoredKey {
  readonly apiKey: string
  readonly label: string
}

/** A message between the tabs of this browser. */
export type TabMessage =
  | ({ readonly kind: 'key-wanted' } & KeyOwner)
  | ({ readonly kind: 'key' } & KeyOwner & StoredKey)
  | ({ readonly kind: 'key-ended' } & KeyOwner & StoredKey)

/** The connection between the tabs. */
export interface TabChannel {
  post(message: TabMessage): void
  /** Sets the only listener. */
  listen(onMessage: (message: TabMessage) => void): void
}

/** The read-only keys of this tab. Tabs share them, because a second key of the same label would end the first. */
export interface KeyRing {
  /** Label of this browser's keys: `console-` and 6 hexadecimal digits. */
  readonly label: string
  /** Grows whenever a key comes or goes. */
  readonly version: ReadonlySignal<number>
  keyOf(owner: KeyOwner): StoredKey | null
  /** Keeps a new key and gives it to the other tabs. */
  keep(owner: KeyOwner, key: StoredKey): void
  /** Forgets a key. With `isEnded` the other tabs forget it as well. */
  drop(owner: KeyOwner, isEnded: boolean): void
  /** Asks the other tabs for their key. Returns null when none has one. */
  borrow(owner: KeyOwner): Promise<StoredKey | null>
  /** Lists the keys of a trader on all chains. */
  keysOf(trader: string): readonly (KeyOwner & StoredKey)[]
}

/** Options of a key ring. */
export interface KeyRingOptions {
  readonly tab: KeyValueStore
  readonly browser: KeyValueStore
  readonly channel: TabChannel
  readonly randomHex: (bytes: number) => string
  /** Told when another tab has ended a key of this one. */
  readonly onEndedElsewhere: (owner: KeyOwner) => void
  /** Time to wait for the other tabs. Default 150 ms. */
  readonly borrowMs?: number
}

const KEYS = 'keys'
const LABEL = 'keyLabel'
const LABEL_BYTES = 3
const BORROW_MS = 150

/** Creates the key ring of a tab. */
export function createKeyRing(options: KeyRingOptions): KeyRing {
  const { tab, channel, borrowMs = BORROW_MS } = options
  const version = signal(0)
  const wanted = new Map<string, (key: StoredKey) => void>()

  const read = (): Record<string, StoredKey> => (readStored(tab, KEYS) ?? {}) as Record<string, StoredKey>
  const keyOf = (owner: KeyOwner): StoredKey | null => read()[nameOf(owner)] ?? null
  function write(owner: KeyOwner, key: StoredKey | null): void {
    const { [nameOf(owner)]: _before, ...others } = read()
    writeStored(tab, KEYS, key === null ? others : { ...others, [nameOf(owner)]: key })
    version.value += 1
  }

  channel.listen((message) => {
    const owner = { chain: message.chain, trader: message.trader }
    const own = keyOf(owner)
    if (message.kind === 'key-wanted') {
      if (own !== null) channel.post({ kind: 'key', ...owner, ...own })
      return
    }
    const { apiKey, label } = message
    if (message.kind === 'key-ended') {
      if (own?.apiKey !== apiKey) return
      write(owner, null)
      options.onEndedElsewhere(owner)
      return
    }
    wanted.get(nameOf(owner))?.({ apiKey, label })
    // The new key of a label has ended the one of before.
    if (own !== null && own.label === label && own.apiKey !== apiKey) write(owner, { apiKey, label })
  })

  return {
    label: labelOf(options),
    version,
    keyOf,
    keep(owner, key) {
      write(owner, key)
      channel.post({ kind: 'key', ...owner, ...key })
    },
    drop(owner, isEnded) {
      const own = keyOf(owner)
      if (own === null) return
      write(owner, null)
      if (isEnded) channel.post({ kind: 'key-ended', ...owner, ...own })
    },
    borrow(owner) {
      const { promise, resolve } = Promise.withResolvers<StoredKey | null>()
      const timer = setTimeout(resolve, borrowMs, null)
      wanted.set(nameOf(owner), (key) => {
        clearTimeout(timer)
        wanted.delete(nameOf(owner))
        write(owner, key)
        resolve(key)
      })
      channel.post({ kind: 'key-wanted', ...owner })
      return promise
    },
    keysOf: (trader) =>
      Object.entries(read()).flatMap(([name, key]) => {
        const [chain = '', owner] = name.split(' ')
        return owner === trader.toLowerCase() ? [{ chain, trader, ...key }] : []
      }),
  }
}

function nameOf({ chain, trader }: KeyOwner): string {
  return `${chain} ${trader.toLowerCase()}`
}

/** Returns the label of this browser, and makes one the first time. */
function labelOf({ browser, randomHex }: KeyRingOptions): string {
  const known = readStored(browser, LABEL)
  if (typeof known === 'string' && /^console-[0-9a-f]{6}$/.test(known)) return known
  const label = `console-${randomHex(LABEL_BYTES)}`
  writeStored(browser, LABEL, label)
  return label
}

/** Returns the channel between the tabs of this browser; a silent one where there is none. */
export function openTabChannel(): TabChannel {
  if (typeof BroadcastChannel === 'undefined') return { post: () => undefined, listen: () => undefined }
  const channel = new BroadcastChannel('bezel.console')
  return {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- only tabs of this origin hear it
    post: (message) => channel.postMessage(message),
    listen: (onMessage) => channel.addEventListener('message', ({ data }: MessageEvent<TabMessage>) => onMessage(data)),
  }
}
