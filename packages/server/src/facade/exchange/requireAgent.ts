import type { Address } from '@bezel/protocol'
import type { AgentRecord } from '../../trading/agentRecord.ts'
import type { SignatureEngine } from '../../signatures/signatureEngine.ts'
import type { Envelope } from '../signing/envelope.ts'
import { l1SignerCandidates } from '../signing/l1SignerCandidates.ts'
import { HYPERLIQUID_CHAINS, type PhantomSource } from '../signing/phantomSource.ts'
import { ExchangeErr } from './exchangeErr.ts'

/** How an agent is told from its signature. */
export interface AgentLookup {
  readonly engine: SignatureEngine
  readonly sources: readonly PhantomSource[]
  /** Of the chain the envelope was sent to. */
  readonly agentOf: (signer: Address) => AgentRecord | undefined
}

/**
 * The agent that signed an L1 action: the first candidate that is registered. Throws an `ExchangeErr` when none is, or when the action is older than its
 * registration, because it was then meant for somebody else: the same key may have been used elsewhere before.
 */
export function requireAgent(lookup: AgentLookup, envelope: Envelope): AgentRecord {
  const found: Address[] = []
  for (const signer of l1SignerCandidates(lookup.engine, envelope, lookup.sources)) {
    found.push(signer)
    const agent = lookup.agentOf(signer)
    if (agent === undefined) continue
    if (envelope.nonce < agent.signedAtMs) throw olderThanRegistration(agent)
    return agent
  }
  throw wrongNetwork(lookup, envelope) ?? unknownSigner(lookup.sources, found)
}

function olderThanRegistration({ agent, signedAtMs }: AgentRecord): ExchangeErr {
  return new ExchangeErr(
    `Invalid nonce: it is older than the registration of API Wallet ${agent.toLowerCase()} at ${signedAtMs}.`,
  )
}

/** The commonest mistake on live chains, which would otherwise show as the address of nobody. */
function wrongNetwork({ engine, sources, agentOf }: AgentLookup, envelope: Envelope): ExchangeErr | undefined {
  for (const source of ['a', 'b'] as const) {
    if (sources.includes(source)) continue
    const agent = [...l1SignerCandidates(engine, envelope, [source])].map(agentOf).find((known) => known !== undefined)
    if (agent === undefined) continue
    return new ExchangeErr(
      `User or API Wallet ${agent.agent.toLowerCase()} signed for ${HYPERLIQUID_CHAINS[source]}, which is not accepted here: switch the network of the client.`,
    )
  }
  return undefined
}

/**
 * Names whom the signature recovers to: that is how a mistake in signing shows. Where both networks are accepted nobody can tell which one was
 * meant, so both are named.
 */
function unknownSigner(sources: readonly PhantomSource[], [first, second]: readonly Address[]): ExchangeErr {
  if (first === undefined)
    return new ExchangeErr('User or API Wallet does not exist: r and s are no signature, or s is in the upper half.')
  const text = `User or API Wallet ${first.toLowerCase()} does not exist.`
  const [, other] = sources
  if (other === undefined || second === undefined) return new ExchangeErr(text)
  return new ExchangeErr(`${text} Signed for ${HYPERLIQUID_CHAINS[other]} it is ${second.toLowerCase()}.`)
}
