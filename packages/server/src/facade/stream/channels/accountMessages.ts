import type { Address } from '@bezel/protocol'
import type { FacadeReads } from '../../facadeReads.ts'
import { activeAssetData } from '../../info/activeAssetData.ts'
import { assetCtxTexts } from '../../info/assetCtx.ts'
import { accountState } from '../../info/clearinghouseState.ts'
import { extraAgents } from '../../info/extraAgents.ts'
import { frontendOpenOrders } from '../../info/frontendOpenOrders.ts'
import { lower, type InfoRequest } from '../../info/infoRequest.ts'
import { meta } from '../../info/meta.ts'
import { channelText } from '../facadeTexts.ts'

// Messages about a user's account, each whole. The main exchange has the empty name among those within the exchange.

const MAIN_DEX = ''

export async function clearinghouseStateMessage(reads: FacadeReads, user: Address): Promise<string> {
  const state = await accountState(user, reads)
  return channelText(
    'clearinghouseState',
    JSON.stringify({ dex: MAIN_DEX, user: lower(user), clearinghouseState: state }),
  )
}

export async function openOrdersMessage(reads: FacadeReads, user: Address): Promise<string> {
  const orders = await frontendOpenOrders({ user }, reads)
  return channelText('openOrders', JSON.stringify({ dex: MAIN_DEX, user: lower(user), orders }))
}

export async function activeAssetDataMessage(
  reads: FacadeReads,
  user: Address,
  { coin }: InfoRequest,
): Promise<string> {
  return channelText('activeAssetData', JSON.stringify(await activeAssetData({ user, coin }, reads)))
}

/** Everything that a page of the exchange shows. `shared`: whose answers are made once for all users. */
export async function webData2Message(reads: FacadeReads, user: Address, shared: FacadeReads): Promise<string> {
  const [agent] = extraAgents({ user }, reads) as { address: string; validUntil: number }[]
  const ofUser = {
    clearinghouseState: await accountState(user, reads),
    openOrders: await frontendOpenOrders({ user }, reads),
    leadingVaults: [],
    totalVaultEquity: '0.0',
    agentAddress: agent?.address ?? null,
    agentValidUntil: agent?.validUntil ?? null,
    cumLedger: '0.0',
    serverTime: reads.now(),
    isVault: false,
    user: lower(user),
    twapStates: [],
    spotState: { balances: [] },
    spotAssetCtxs: [],
    perpsAtOpenInterestCap: [],
  }
  const ofAll = `"meta":${meta({}, shared).text},"assetCtxs":[${assetCtxTexts(shared).join(',')}]`
  return channelText('webData2', `${JSON.stringify(ofUser).slice(0, -1)},${ofAll}}`)
}
