import type { Address } from '@bezel/protocol'
import type { SignatureEngine } from '../../signatures/recovery.ts'
import type { AgentRecord } from '../../trading/agentRecord.ts'
import type { Envelope } from '../signing/envelope.ts'
import { isInNonceWindow, NONCE_WINDOW_MS } from '../signing/facadeNonces.ts'
import { HYPERLIQUID_CHAINS, type PhantomSource } from '../signing/phantomAgent.ts'
import { l1SignerCandidates } from '../signing/signers.ts'
import { ExchangeErr } from './errStrings.ts'

/** The dependencies for finding the agent behind a signature. */
export interface AgentLookup {
  readonly engine: SignatureEngine
  readonly sources: readonly PhantomSource[]
  /** Looks up an agent of the chain that the envelope was sent to. */
  readonly agentOf: (signer: Address) => AgentRecord | undefined | Promise<AgentRecord | undefined>
}

/**
 * Returns the agent that signed an L1 action: the first candidate that is registered. Throws an `ExchangeErr` when none
 * is, or when the action is older than the registration, because the key may have been used elsewhere before and the
 * action was then meant for somebody else.
 */
export async function requireAgent(lookup: AgentLookup, envelope: Envelope): Promise<AgentRecord> {
  const found: Address[] = []
  for (const signer of l1SignerCandidates(lookup.engine, envelope, lookup.sources)) {
    found.push(signer)
    const agent = await lookup.agentOf(signer)
    if (agent === undefined) continue
    if (envelope.nonce < agent.signedAtMs) throw olderThanRegistration(agent)
    return agent
  }
  throw (await wrongNetwork(lookup, envelope)) ?? unknownSigner(lookup.sources, found)
}

function olderThanRegistration({ agent, signedAtMs }: AgentRecord): ExchangeErr {
  return new ExchangeErr(
    `Invalid nonce: it is older than the registration of API Wallet ${agent.toLowerCase()} at ${signedAtMs}.`,
  )
}

/**
 * Recognises a signature for the wrong network, the commonest mistake on live chains, which would otherwise show as an
 * unknown address.
 */
async function wrongNetwork(
  { engine, sources, agentOf }: AgentLookup,
  envelope: Envelope,
): Promise<ExchangeErr | undefined> {
  for (const source of ['a', 'b'] as const) {
    if (sources.includes(source)) continue
    const signers = [...l1SignerCandidates(engine, envelope, [source])]
    const agent = (await Promise.all(signers.map(agentOf))).find((known) => known !== undefined)
    if (agent === undefined) continue
    return new ExchangeErr(
      `User or API Wallet ${agent.agent.toLowerCase()} signed for ${HYPERLIQUID_CHAINS[source]}, which is not accepted here: switch the network of the client.`,
    )
  }
  return undefined
}

/**
 * Returns the refusal that names the recovered address, by which a mistake in signing shows. Where both networks are
 * accepted the intended one is unknown, so both addresses are named.
 */
function unknownSigner(sources: readonly PhantomSource[], signers: readonly Address[]): UnknownSignerError {
  const [first, second] = signers
  if (first === undefined) {
    const text = 'User or API Wallet does not exist: r and s are no signature, or s is in the upper half.'
    return new UnknownSignerError(text, signers)
  }
  const text = `User or API Wallet ${first.toLowerCase()} does not exist.`
  const [, other] = sources
  if (other === undefined || second === undefined) return new UnknownSignerError(text, signers)
  const both = `${text} Signed for ${HYPERLIQUID_CHAINS[other]} it is ${second.toLowerCase()}.`
  return new UnknownSignerError(both, signers)
}

/** The refusal of a signature of nobody who is registered. `signers` are the addresses that it may be of. */
export class UnknownSignerError extends ExchangeErr {
  readonly signers: readonly Address[]

  constructor(text: string, signers: readonly Address[]) {
    super(text)
    this.signers = signers
  }
}

/** Throws unless the nonce is close to the current time and the envelope has not expired. */
export function requireTimely({ nonce, expiresAfter }: Pick<Envelope, 'nonce' | 'expiresAfter'>, nowMs: number): void {
  if (!isInNonceWindow(nonce, nowMs)) {
    throw new ExchangeErr(
      `Invalid nonce: ${nonce} is more than ${NONCE_WINDOW_MS / 1000} s from server time ${nowMs}. Use the clock in milliseconds.`,
    )
  }
  if (expiresAfter !== null && expiresAfter < nowMs) {
    throw new ExchangeErr(`Action expired: expiresAfter ${expiresAfter} is before server time ${nowMs}.`)
  }
}

/** Returns the refusal of a nonce that `FacadeNonces` reports as used. */
export function nonceUsed(nonce: number): ExchangeErr {
  return new ExchangeErr(`Invalid nonce: ${nonce} was already used by this signer. Use a new one for each action.`)
}
