import type { SigningDomain } from '@bezel/protocol'
import { freshNonce } from '@bezel/testkit/agentClient.ts'
import type { Actor } from './cast.ts'
import type { Knowledge } from './knowledge.ts'
import { ODD_TEXTS } from './oddities.ts'
import type { Random } from './random.ts'
import { signRequest, type SignedParts } from './signer.ts'
import type { CredentialHeaders, Operation } from './surface.ts'

export type Header = readonly [name: string, value: string]

/** The request to sign. */
export interface Asked {
  readonly operation: Operation
  readonly method: string
  readonly target: string
  readonly body: Uint8Array
}

/** The headers that identify the sender. */
export interface Credentials {
  readonly headers: readonly Header[]
  readonly how: string
  /** True when the credentials are invalid: any request with them must be refused. */
  readonly isRefused: boolean
  /** The trader whose account may be in the answer. */
  readonly trader: string | undefined
}

interface Signed extends SignedParts {
  readonly agent: string
  readonly signature: string
}

const WINDOW_MS = 30_000
const UINT256_END = 2n ** 256n
const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

/** Spoils valid credentials. `again` signs something else as the same agent. */
type Spoil = (
  good: Signed,
  names: CredentialHeaders,
  random: Random,
  again: (change: Partial<SignedParts>, domain?: Partial<SigningDomain>) => Signed,
) => readonly Header[]

const headersOf = (
  names: CredentialHeaders,
  of: Pick<Signed, 'agent' | 'timestamp' | 'nonce' | 'signature'>,
): Header[] => [
  [names.agent, of.agent],
  [names.timestamp, of.timestamp],
  [names.nonce, of.nonce],
  [names.signature, of.signature],
]

/** Returns printable text only, because anything else never becomes a header. */
const headerText = (random: Random): string =>
  random
    .pick(ODD_TEXTS)
    .replaceAll(/[^\x20-\x7e\xa0-\xff]/g, '?')
    .slice(0, 2_000)

function withSignature(names: CredentialHeaders, good: Signed, signature: string): Header[] {
  return headersOf(names, { ...good, signature })
}

function highS({ signature }: Signed): string {
  const s = CURVE_ORDER - BigInt(`0x${signature.slice(66, 130)}`)
  const v = signature.endsWith('1b') ? '1c' : '1b'
  return `${signature.slice(0, 66)}${s.toString(16).padStart(64, '0')}${v}`
}

function flippedNibble({ signature }: Signed, random: Random): string {
  const at = 2 + random.below(128)
  const flipped = (Number.parseInt(signature[at]!, 16) ^ (1 + random.below(15))).toString(16)
  return signature.slice(0, at) + flipped + signature.slice(at + 1)
}

const SPOILS: readonly (readonly [string, Spoil])[] = [
  ['none', () => []],
  ['one missing', (good, names, random) => headersOf(names, good).toSpliced(random.below(4), 1)],
  ['one alone', (good, names, random) => [random.pick(headersOf(names, good))]],
  [
    'one twice',
    (good, names, random) => {
      const all = headersOf(names, good)
      return [...all, random.pick(all)]
    },
  ],
  [
    'one malformed',
    (good, names, random) => {
      const all = headersOf(names, good)
      const at = random.below(4)
      return all.with(at, [all[at]![0], headerText(random)])
    },
  ],
  [
    'other prefix',
    (good, names) => headersOf(names, good).map(([name, value]) => [`X-Other-${name.slice(10)}`, value]),
  ],
  ['flipped', (good, names, random) => withSignature(names, good, flippedNibble(good, random))],
  ['high s', (good, names) => withSignature(names, good, highS(good))],
  ['zeros', (good, names) => withSignature(names, good, `0x${'0'.repeat(130)}`)],
  ['all ones', (good, names) => withSignature(names, good, `0x${'f'.repeat(130)}`)],
  ['short', (good, names) => withSignature(names, good, good.signature.slice(0, -2))],
  ['compact', (good, names) => withSignature(names, good, good.signature.slice(0, 130))],
  ['random', (good, names, random) => withSignature(names, good, `0x${random.hex(64)}1b`)],
  ['other v', (good, names) => withSignature(names, good, `${good.signature.slice(0, 130)}1d`)],
  ['other chain', (_good, names, _random, again) => headersOf(names, again({}, { chainId: 42161 }))],
  ['other name', (_good, names, _random, again) => headersOf(names, again({}, { name: 'Other Trading API' }))],
  [
    'other operation',
    (good, names, _random, again) => {
      const operation = good.operation === 'getOrder' ? 'cancelOrder' : 'getOrder'
      return headersOf(names, again({ operation }))
    },
  ],
  ['other method', (_good, names, _random, again) => headersOf(names, again({ method: 'PUT' }))],
  ['other path', (good, names, _random, again) => headersOf(names, again({ path: `${good.path}/` }))],
  ['query not signed', (good, names, _random, again) => headersOf(names, again({ path: `${good.path}?a=1` }))],
  [
    'other body',
    (good, names, _random, again) => {
      return headersOf(names, again({ body: Buffer.concat([good.body, Buffer.from(' ')]) }))
    },
  ],
  [
    'old',
    (_good, names, _random, again) => headersOf(names, again({ timestamp: String(Date.now() - WINDOW_MS - 5_000) })),
  ],
  [
    'ahead',
    (_good, names, _random, again) => headersOf(names, again({ timestamp: String(Date.now() + WINDOW_MS * 2) })),
  ],
  [
    'seconds',
    (_good, names, _random, again) => headersOf(names, again({ timestamp: String(Math.floor(Date.now() / 1000)) })),
  ],
  ['nonce beyond', (_good, names, _random, again) => headersOf(names, again({ nonce: String(UINT256_END) }))],
  ['nonce with zero', (good, names) => headersOf(names, { ...good, nonce: `0${good.nonce}` })],
  ['nonce not signed', (good, names) => headersOf(names, { ...good, nonce: freshNonce() })],
  ['agent not signed', (good, names, random) => headersOf(names, { ...good, agent: `0x${random.hex(20)}` })],
  ['unknown key', (_good, names, random) => [[names.apiKey, `bz_${random.hex(22).slice(0, 43)}`]]],
  ['malformed key', (_good, names, random) => [[names.apiKey, headerText(random)]]],
]

export function createCredentials(of: {
  readonly names: CredentialHeaders
  readonly domain: SigningDomain
  readonly knowledge: Knowledge
}) {
  const { names, domain, knowledge } = of

  function sign(
    { key }: Actor,
    asked: Asked,
    change: Partial<SignedParts> = {},
    other: Partial<SigningDomain> = {},
  ): Signed {
    const parts: SignedParts = {
      operation: asked.operation.id,
      method: asked.method,
      path: asked.target,
      body: asked.body,
      timestamp: String(Date.now()),
      nonce: freshNonce(),
      ...change,
    }
    const bound = Object.keys(other).length === 0 ? domain : { ...domain, ...other }
    return { ...parts, agent: key.address, signature: signRequest(key, bound, parts) }
  }

  return {
    /** Makes valid credentials, as the document demands them. */
    good(actor: Actor, asked: Asked, random: Random): Credentials {
      if (asked.operation.takesApiKey && random.chance(0.15) && knowledge.apiKeys.length > 0) {
        const { key, trader } = random.pick(knowledge.apiKeys)
        return { headers: [[names.apiKey, key]], how: 'key', isRefused: false, trader }
      }
      const headers = headersOf(names, sign(actor, asked))
      return { headers, how: actor.name, isRefused: false, trader: actor.trader }
    },
    /** Makes credentials as a sender without rights, or with a mistake, would. */
    bad(actor: Actor, asked: Asked, random: Random): Credentials {
      const [how, spoil] = random.pick(SPOILS)
      const good = sign(actor, asked)
      const headers = spoil(good, names, random, (change, other) => sign(actor, asked, change, other))
      return { headers, how: `${actor.name}, ${how}`, isRefused: asked.operation.isPrivate, trader: actor.trader }
    },
  }
}
