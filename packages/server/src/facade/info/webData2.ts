import type { Address } from '@bezel/protocol'
import type { FacadeReads } from '../facadeReads.ts'
import { assetCtxTexts } from './assetCtx.ts'
import { readClearinghouseState } from './clearinghouseState.ts'
import { extraAgentsOf } from './extraAgents.ts'
import { waitingOrders } from './frontendOpenOrders.ts'
import { lower, userRequest, type UserRequest } from './infoRequest.ts'
import { defineInfo, type Written } from './infoType.ts'
import { metaOf } from './meta.ts'

/** Everything that a page of the exchange shows of a user and of the markets. */
export const webData2 = defineInfo<UserRequest, unknown>({
  parse: userRequest,
  answer: async (request, reads, meter): Promise<Written<unknown>> => {
    const { bytes } = await waitingOrders(request, reads, meter)
    return { bytes: Buffer.from(await webData2Text(reads, request.user, reads, bytes.toString())) }
  },
})

/**
 * Returns the answer as JSON. `shared` are the reads whose answers are cached once for all users, `openOrders` is the
 * JSON of `frontendOpenOrders`.
 */
export async function webData2Text(
  reads: FacadeReads,
  user: Address,
  shared: FacadeReads,
  openOrders: string,
): Promise<string> {
  const ofUser = {
    clearinghouseState: await readClearinghouseState(user, reads),
    leadingVaults: [],
    totalVaultEquity: '0.0',
    ...(await webUserState(reads, user)),
    twapStates: [],
    spotState: { balances: [] },
    spotAssetCtxs: [],
    perpsAtOpenInterestCap: [],
  }
  const ofAll = `"meta":${metaOf(shared).text},"assetCtxs":[${assetCtxTexts(shared).join(',')}]`
  return `${JSON.stringify(ofUser).slice(0, -1)},"openOrders":${openOrders},${ofAll}}`
}

/** Returns the part of the page about the user alone, which the stream's `webData3` sends too. */
export async function webUserState(reads: FacadeReads, user: Address) {
  const [agent] = await extraAgentsOf(reads, user)
  return {
    agentAddress: agent?.address ?? null,
    agentValidUntil: agent?.validUntil ?? null,
    cumLedger: '0.0',
    serverTime: reads.now(),
    isVault: false,
    user: lower(user),
  }
}
