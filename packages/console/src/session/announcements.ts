import { signal, type ReadonlySignal } from '@preact/signals'
import type { Eip1193Provider, WalletOption } from './provider.ts'

/** The window, as far as wallets announce themselves to it. */
export interface WalletWindow {
  addEventListener(type: string, listener: (event: Event) => void): void
  dispatchEvent(event: Event): boolean
  /** The wallet of before EIP-6963. */
  readonly ethereum?: Eip1193Provider
}

/** The announcement of EIP-6963. */
interface Announcement {
  readonly info: { readonly uuid: string; readonly name: string; readonly icon: string; readonly rdns: string }
  readonly provider: Eip1193Provider
}

/** Time after which a page without announcements looks for `window.ethereum`. */
const FALLBACK_MS = 500

/**
 * Listens to wallets that announce themselves (EIP-6963), however late, and asks those that are there already. A wallet
 * that does not announce itself is taken from `window.ethereum`, unless others have.
 */
export function listenForWallets(page: WalletWindow): ReadonlySignal<readonly WalletOption[]> {
  const found = signal<readonly WalletOption[]>([])
  const isInjected = ({ id }: WalletOption): boolean => id === INJECTED

  function onAnnounce(event: Event): void {
    const option = optionOf((event as CustomEvent<unknown>).detail)
    if (option === undefined || found.peek().some(({ id }) => id === option.id)) return
    found.value = [...found.peek().filter((known) => !isInjected(known)), option]
  }

  page.addEventListener('eip6963:announceProvider', onAnnounce)
  page.dispatchEvent(new Event('eip6963:requestProvider'))
  setTimeout(() => {
    const { ethereum } = page
    if (found.peek().length > 0 || ethereum === undefined) return
    found.value = [{ id: INJECTED, name: 'Browser wallet', icon: null, kind: 'extension', provider: ethereum }]
  }, FALLBACK_MS)
  return found
}

const INJECTED = 'injected'

/** Returns the wallet of an announcement; undefined when something is missing, because any page script can announce. */
function optionOf(detail: unknown): WalletOption | undefined {
  const { info, provider } = (detail ?? {}) as Partial<Announcement>
  if (typeof provider?.request !== 'function' || typeof info?.name !== 'string') return undefined
  const id = typeof info.rdns === 'string' && info.rdns !== '' ? info.rdns : info.uuid
  // Other addresses would be requests to other hosts.
  const icon = typeof info.icon === 'string' && info.icon.startsWith('data:image/') ? info.icon : null
  return { id, name: info.name, icon, kind: 'extension', provider }
}
