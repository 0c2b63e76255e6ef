import { computed, effect, signal, type ReadonlySignal } from '@preact/signals'
import { chainInfo } from '../data/chain.ts'
import { settings } from '../data/settings.ts'
import { listenForWallets } from './announcements.ts'
import type { WalletOption } from './provider.ts'
import { sandboxWallets } from './sandboxWallet.ts'
import { openSession, restoreSession } from './session.ts'

export type { WalletOption } from './provider.ts'

const announced = signal<readonly WalletOption[]>([])

const sandbox = computed(() =>
  sandboxWallets(settings.value?.sandbox?.accounts ?? [], () => {
    const { chainId, rpcUrl } = chainInfo.peek() ?? { chainId: 0, rpcUrl: null }
    return { chainId, rpcUrl }
  }),
)

/** Wallets that were announced so far, and the accounts of the sandbox. */
export const wallets: ReadonlySignal<readonly WalletOption[]> = computed(() => [...announced.value, ...sandbox.value])

/** Connects a wallet. What goes wrong is in `sessionProblem`. */
export const connect = (option: WalletOption): Promise<void> => openSession(option)

/** Starts to listen to wallets, and connects the one of before a reload as soon as it is there. Returns how to stop. */
export function startWallets(): () => void {
  const found = listenForWallets(window as Parameters<typeof listenForWallets>[0])
  const stops = [effect(() => void (announced.value = found.value)), effect(() => void restoreSession(wallets.value))]
  return () => stops.forEach((stop) => stop())
}
