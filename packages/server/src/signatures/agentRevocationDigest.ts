import { AGENT_REVOCATION_FIELDS, type SigningDomain } from '@bezel/protocol'
import { typedDataDigest } from './typedDataDigest.ts'
import { addressWord, uint256Word } from './typedDataWord.ts'
import { typeHash } from './typeHash.ts'

/** Which agent a trader revokes, and when (epoch ms). */
export interface AgentRevocation {
  readonly agent: string
  readonly timestamp: number
}

const TYPE_HASH = typeHash('AgentRevocation', AGENT_REVOCATION_FIELDS)

/** What a trader signs to revoke an agent; `undefined` when a value can't be encoded. */
export function agentRevocationDigest(domain: SigningDomain, of: AgentRevocation): Uint8Array | undefined {
  return typedDataDigest(domain, TYPE_HASH, [addressWord(of.agent), uint256Word(of.timestamp)])
}
