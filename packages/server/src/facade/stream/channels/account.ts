import type { Address } from '@bezel/protocol'
import type { FacadeReads } from '../../facadeReads.ts'
import type { InfoRequest } from '../../info/infoRequest.ts'
import { createCalmWallets } from '../calmWallets.ts'
import type { FacadeCounts } from '../facadeCounts.ts'
import type { FacadeStreamSources } from '../facadeStreamSources.ts'
import {
  activeAssetDataMessage,
  clearinghouseStateMessage,
  openOrdersMessage,
  webData2Message,
} from './accountMessages.ts'
import { createUserValues, type UserValues } from './userValues.ts'

/** Clients that share one subscription between two questions wait for the next message. */
const STATE_REPEAT_MS = 5_000
/** Long, because all markets are in it. */
const WEB_DATA_REPEAT_MS = 10_000

type AccountChannel = 'clearinghouseState' | 'openOrders' | 'webData2' | 'activeAssetData'

export type AccountChannels = Readonly<Record<AccountChannel, UserValues>> & { close(): void }

/** What users have and wait for. */
export function createAccountChannels(sources: FacadeStreamSources, counts: FacadeCounts): AccountChannels {
  const { reads, log } = sources
  const wallets = createCalmWallets(reads)
  // Before those who then look again.
  const stop = log.onAppend(wallets.forget)

  type Read = (reads: FacadeReads, user: Address, request: InfoRequest) => Promise<string>
  const open = (name: AccountChannel, repeatMs: number | undefined, read: Read): UserValues =>
    createUserValues({ ...sources, counts: counts[name], repeatMs, read: (user, of) => read(reads, user, of) })
  const calm =
    (read: Read): Read =>
    async (_reads, user, request) =>
      read({ ...reads, wallet: wallets.wallet }, user, request)

  const channels: Readonly<Record<AccountChannel, UserValues>> = {
    clearinghouseState: open('clearinghouseState', STATE_REPEAT_MS, calm(clearinghouseStateMessage)),
    openOrders: open('openOrders', undefined, openOrdersMessage),
    webData2: open(
      'webData2',
      WEB_DATA_REPEAT_MS,
      calm((of, user) => webData2Message(of, user, reads)),
    ),
    activeAssetData: open('activeAssetData', STATE_REPEAT_MS, calm(activeAssetDataMessage)),
  }
  return {
    ...channels,
    close() {
      stop()
      for (const channel of Object.values(channels)) channel.close()
    },
  }
}
