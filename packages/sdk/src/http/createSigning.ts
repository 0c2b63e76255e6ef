import { CHAINS, type ChainInfo, type ChainSlug, type SigningDomain } from '@bezel/protocol/wire'
import { BezelConfigError, WrongChainError, WrongDiamondError } from '../errors/bezelError.ts'

/** The domain that signatures are bound to. It is read once. */
export interface Signing {
  /** Returns the pinned domain after the service confirmed it, or the domain that the service named first. */
  domain(): Promise<SigningDomain>
}

/** The part of the domain that the caller names itself. */
interface OwnDomain {
  readonly pinned: SigningDomain | undefined
  /** Address of the Diamond. Default: the live one of the chain. */
  readonly diamond: string | undefined
}

/**
 * Creates the source of the signing domain. A service that uses another domain than `pinned`, or another Diamond, is
 * refused; the name is remembered from the first answer unless it is pinned.
 */
export function createSigning(
  chain: ChainSlug,
  { pinned, diamond: ownDiamond }: OwnDomain,
  readInfo: () => Promise<ChainInfo>,
): Signing {
  let known: Promise<SigningDomain> | undefined
  async function read(): Promise<SigningDomain> {
    const { signing, chainId, diamond } = await readInfo()
    const { chainId: expectedId, liveDiamond } = CHAINS[chain]
    for (const found of [chainId, signing.domain.chainId]) requireChain(expectedId, found)
    if (pinned !== undefined) requireChain(pinned.chainId, chainId)
    const named = pinned?.verifyingContract ?? ownDiamond
    const expected = named ?? liveDiamond
    for (const found of [diamond, signing.domain.verifyingContract]) {
      if (found.toLowerCase() === expected.toLowerCase()) continue
      throw new WrongDiamondError(expected, found, named === undefined ? chain : undefined)
    }
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

function otherName(expected: string, found: string): BezelConfigError {
  const message = `The service signs for "${found}", but "${expected}" is pinned. Pin the name of the deployment you mean.`
  return new BezelConfigError('SIGNING_NAME_MISMATCH', message)
}
