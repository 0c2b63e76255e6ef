import { computed, signal, type ReadonlySignal, type Signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { chainInfo } from '../data/chain.ts'
import { settings } from '../data/settings.ts'
import { browserStore, readStored, writeStored } from '../data/storage.ts'
import {
  memoryOfChain,
  noteChange,
  readSandboxMemory,
  type SandboxChange,
  type SandboxMemory,
} from './sandboxMemory.ts'
import { callNode } from './sandboxRpc.ts'

const STORED = 'sandbox'

const memory = signal<SandboxMemory>(readSandboxMemory(readStored(browserStore, STORED)))
const head = signal<ChainHead | null>(null)

/** The newest block of the local chain. */
export interface ChainHead {
  readonly number: number
  readonly timestampMs: number
}

/** The controls as they were set from this browser. */
export const sandboxMemory: ReadonlySignal<SandboxMemory> = memory

/** The newest block of the active chain; null while its node is not known or does not answer. */
export const chainHead: ReadonlySignal<ChainHead | null> = head

/** The market that the controls of prices are about. */
export const sandboxMarket: Signal<string> = signal('BTC/USD')

/** URL of the local chain's node; null on live chains, where nothing can be controlled. */
export const sandboxUrl: ReadonlySignal<string | null> = computed(() =>
  settings.value === null || settings.value.sandbox === null ? null : (chainInfo.value?.rpcUrl ?? null),
)

/** Remembers a control that was set. */
export function rememberChange(change: SandboxChange): void {
  keep(noteChange(memory.peek(), change))
}

const HEAD_POLL_MS = 1_000

/** Follows the head of the local chain while a component is mounted, and notices another start of it. */
export function useChainHead(): void {
  const url = sandboxUrl.value
  useEffect(() => {
    head.value = null
    if (url === null) return
    let isGone = false
    const look = async (): Promise<void> => {
      const found = await readHead(url).catch(() => null)
      if (!isGone) head.value = found
    }
    void look()
    void noticeStart(url).catch(() => undefined)
    const timer = setInterval(() => document.hidden || void look(), HEAD_POLL_MS)
    return () => {
      isGone = true
      clearInterval(timer)
    }
  }, [url])
}

interface Block {
  readonly number: string
  readonly timestamp: string
  readonly hash: string
}

async function readHead(url: string): Promise<ChainHead> {
  const { number, timestamp } = (await callNode(url, 'eth_getBlockByNumber', ['latest', false])) as Block
  return { number: Number(number), timestampMs: Number(timestamp) * 1_000 }
}

async function noticeStart(url: string): Promise<void> {
  // All chains start together, so the first one stands for all.
  const first = settings.peek()?.chains[0]?.rpcUrl ?? url
  const { hash } = (await callNode(first, 'eth_getBlockByNumber', ['0x0', false])) as Block
  keep(memoryOfChain(memory.peek(), hash))
}

function keep(next: SandboxMemory): void {
  if (next === memory.peek()) return
  memory.value = next
  writeStored(browserStore, STORED, next)
}
