import { CHAINS, type ChainSlug } from '@bezel/protocol/wire'
import { BezelConfigError } from '../errors/bezelConfigError.ts'
import { WrongChainError } from '../errors/wrongChainError.ts'
import { WrongDiamondError } from '../errors/wrongDiamondError.ts'
import type { SigningDomain } from '../signing/signer.ts'
import type { ChainInfo } from './chainInfo.ts'

/** What signatures are bound to, known once and for all. */
export interface Signing {
  /** The pinned domain once the service was found to use it, or what the service said the first time. */
  domain(): Promise<SigningDomain>
}

/** `pinned` wins: a service that uses another one is refused. Without it the first answer is remembered. */
export function createSigning(
  chain: ChainSlug,
  pinned: SigningDomain | undefined,
  readInfo: () => Promise<ChainInfo>,
): Signing {
  let known: Promise<SigningDomain> | undefined
  async function read(): Promise<SigningDomain> {
    const { signing, chainId, diamond } = await readInfo()
    const { chainId: expectedId } = CHAINS[chain]
    for (const found of [chainId, signing.domain.chainId]) requireChain(expectedId, found)
    if (pinned !== undefined) requireChain(pinned.chainId, chainId)
    const expected = pinned?.verifyingContract ?? diamond
    for (const found of [diamond, signing.domain.verifyingContract]) requireDiamond(expected, found)
    if (pinned !== undefined && pinned.name !== signing.domain.name) throw otherName(pinned.name, signing.domain.name)
    return pinned ?? signing.domain
  }
  return {
    domain() {
      known ??= read().catch((error: unknown) => {
        known = undefined
        throw error
      })
      return known
    },
  }
}

function requireChain(expected: number, found: number): void {
  if (found !== expected) throw new WrongChainError({ who: 'The service', expected, found })
}

function requireDiamond(expected: string, found: string): void {
  if (found.toLowerCase() !== expected.toLowerCase()) throw new WrongDiamondError(expected, found)
}

function otherName(expected: string, found: string): BezelConfigError {
  const message = `The service signs for "${found}", but "${expected}" is pinned. Pin the name of the deployment you mean.`
  return new BezelConfigError('SIGNING_NAME_MISMATCH', message)
}
