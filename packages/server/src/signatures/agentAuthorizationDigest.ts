import { AGENT_AUTHORIZATION_FIELDS, type SigningDomain } from '@bezel/protocol'
import { typedDataDigest } from './typedDataDigest.ts'
import { addressWord, stringWord, uint256Word } from './typedDataWord.ts'
import { typeHash } from './typeHash.ts'

/** What a trader lets an agent do, in the values of the request body. */
export interface AgentAuthorization {
  readonly agent: string
  readonly name: string | null
  readonly markets: 'all' | readonly string[]
  readonly maxLeverage: string | null
  readonly dailySpendCapUsd: string | null
  /** Epoch ms. Never = null, which signs the same as 0. */
  readonly expiresAt: number | null
  readonly permissions: string
  /** Epoch ms. */
  readonly timestamp: number
}

const TYPE_HASH = typeHash('AgentAuthorization', AGENT_AUTHORIZATION_FIELDS)

/** What a trader signs to authorise an agent; `undefined` when a value can't be encoded. */
export function agentAuthorizationDigest(domain: SigningDomain, of: AgentAuthorization): Uint8Array | undefined {
  return typedDataDigest(domain, TYPE_HASH, [
    addressWord(of.agent),
    stringWord(of.name ?? ''),
    stringWord(of.markets === 'all' ? '*' : of.markets.join(',')),
    stringWord(of.maxLeverage ?? ''),
    stringWord(of.dailySpendCapUsd ?? ''),
    uint256Word(of.expiresAt ?? 0),
    stringWord(of.permissions),
    uint256Word(of.timestamp),
  ])
}
