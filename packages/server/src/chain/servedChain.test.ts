import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { CHAINS, StartupError } from '@bezel/protocol'
import { readChainsFile, readFeedUrl } from './servedChain.ts'

const scratch = mkdtempSync(join(tmpdir(), 'bezel-chains-file-'))
after(() => rmSync(scratch, { recursive: true, force: true }))

const file = join(scratch, 'chains.json')
const base = { chainId: 8453, rpcUrl: 'https://node.example/key', diamond: CHAINS.base.liveDiamond }

function read(content: unknown): ReturnType<typeof readChainsFile> {
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
  return readChainsFile(file)
}

function refusal(content: unknown): string {
  try {
    read(content)
  } catch (error) {
    assert.ok(error instanceof StartupError, String(error))
    return error.message.replace(file, 'FILE')
  }
  return assert.fail('not refused')
}

describe('readChainsFile', () => {
  it('reads what the local chain or a person wrote, and leaves other keys alone', () => {
    const chains = read({
      chains: { base: { ...base, wsUrl: 'wss://node.example/', collaterals: [] } },
      accounts: [],
      feedUrl: 'x',
    })
    assert.deepEqual(chains, [
      {
        slug: 'base',
        chainId: 8453,
        testnet: false,
        diamond: CHAINS.base.liveDiamond,
        rpcUrls: [{ url: 'https://node.example/key' }],
        wsUrls: ['wss://node.example/'],
        backendUrl: undefined,
        requestTimeoutBlocks: undefined,
        writes: true,
        finality: 'tag',
        confirmFinality: true,
        relayer: {},
        startBlock: undefined,
      },
    ])
  })

  it('needs no WebSocket address, and any case of a Diamond', () => {
    const [chain] = read({ chains: { base: { ...base, diamond: base.diamond.toLowerCase() } } })
    assert.deepEqual(chain?.wsUrls, [])
    assert.equal(chain?.diamond, CHAINS.base.liveDiamond)
  })

  it('takes the address of a backend, without the slash at its end', () => {
    const [chain] = read({ chains: { base: { ...base, backendUrl: 'https://backend.example/' } } })
    assert.equal(chain?.backendUrl, 'https://backend.example')
  })

  it('takes what a person decides for a chain', () => {
    const [chain] = read({ chains: { base: { ...base, writes: false, finality: { blocks: 12 }, startBlock: 900 } } })
    assert.deepEqual([chain?.writes, chain?.finality, chain?.startBlock], [false, { blocks: 12 }, 900])
  })

  it('takes budgets of the relayer in native token', () => {
    const [chain] = read({ chains: { base: { ...base, relayer: { traderDay: '0.5', day: '10', lowBalance: '0' } } } })
    assert.deepEqual(chain?.relayer, {
      traderDayWei: 5n * 10n ** 17n,
      deploymentDayWei: 10n ** 19n,
      lowBalanceWei: 0n,
    })
    const relayer = { maxFeeGwei: '0.5', maxUnmined: 7 }
    assert.deepEqual(read({ chains: { base: { ...base, relayer } } })[0]?.relayer, {
      maxFeeWei: 500_000_000n,
      maxUnmined: 7,
    })
  })

  it('says what to do without a file', () => {
    assert.throws(
      () => readChainsFile(join(scratch, 'missing.json')),
      /can't be read \(ENOENT\): set BEZEL_CHAINS_FILE to the file that names your chains/,
    )
    assert.throws(() => readChainsFile(scratch), /can't be read \(EISDIR\)/)
  })

  it('refuses what is not JSON or names no chain', () => {
    for (const text of ['', 'garbage', '{"chains":'])
      assert.match(refusal(text), /^The chains file FILE is not valid JSON/)
    for (const content of [null, [], 1, {}, { chains: null }, { chains: {} }, { chains: 'base' }, { chains: [] }]) {
      assert.match(refusal(JSON.stringify(content)), /names no chain|names the chain "0"/)
    }
  })

  it('refuses each wrong entry with its place', () => {
    const withBase = (change: object): unknown => ({ chains: { base: { ...base, ...change } } })
    assert.match(refusal(withBase({ writes: 'no' })), /has neither true nor false at chains.base.writes/)
    for (const finality of [{ finalityDepth: 0 }, { finality: 64 }, { finality: 'tag', finalityDepth: 64 }]) {
      assert.match(refusal(withBase(finality)), /has neither "tag" nor .* at chains.base.finality\.$/)
    }
    for (const relayer of [
      { day: 1 },
      { day: '-1' },
      { day: 'much' },
      { dayly: '1' },
      { day: '0.0000000000000000001' },
    ]) {
      assert.match(refusal(withBase({ relayer })), /native token, as decimal text, at chains.base.relayer.day/)
    }
    assert.match(refusal(withBase({ relayer: '1' })), /at chains.base.relayer\./)
    assert.match(refusal(withBase({ startBlock: -1 })), /at least 0 at chains.base.startBlock/)
    assert.match(refusal(withBase({ requestTimeoutBlocks: '30' })), /at least 0 at chains.base.requestTimeoutBlocks/)
    assert.match(
      refusal(withBase({ startBlock: 900, firstBlock: 901 })),
      /has a block below 901, the firstBlock, at chains.base.startBlock/,
    )
    assert.match(refusal({ chains: { mars: base } }), /names the chain "mars", but only arbitrum, base/)
    assert.match(refusal({ chains: JSON.parse('{"__proto__": {}}') as unknown }), /names the chain "__proto__"/)
    assert.match(refusal({ chains: { base: null } }), /says chainId undefined for base, but it is 8453/)
    assert.match(refusal(withBase({ chainId: 1 })), /says chainId 1 for base, but it is 8453/)
    assert.match(refusal(withBase({ chainId: '8453' })), /says chainId "8453" for base/)
    for (const diamond of [undefined, null, 5, '', '0x12']) {
      assert.match(refusal(withBase({ diamond })), /no valid address at chains\.base\.diamond/)
    }
    for (const rpcUrl of [undefined, 5, '', 'node.example', 'ws://node.example', 'file:///etc/passwd']) {
      assert.match(refusal(withBase({ rpcUrl })), /no http or https address at chains\.base\.rpcUrl/)
    }
    for (const backendUrl of [5, '', 'backend.example', 'ftp://backend.example']) {
      assert.match(refusal(withBase({ backendUrl })), /no http or https address at chains\.base\.backendUrl/)
    }
    for (const wsUrl of [5, '', 'https://node.example']) {
      assert.match(refusal(withBase({ wsUrl })), /no ws or wss address at chains\.base\.wsUrl/)
    }
  })

  it('reads several providers with their limits, in their order', () => {
    const { rpcUrl: _, ...without } = base
    const limited = { url: 'https://second.example/', batch: 10, logRange: 2_000, unitsPerSecond: 500 }
    const [chain] = read({
      chains: { base: { ...without, rpcUrls: ['https://a.example/k', limited], wsUrls: ['wss://a/', 'wss://b/'] } },
    })
    assert.deepEqual(chain?.rpcUrls, [{ url: 'https://a.example/k' }, limited])
    assert.deepEqual(chain?.wsUrls, ['wss://a/', 'wss://b/'])
  })

  it('refuses lists of providers that can not be meant', () => {
    const { rpcUrl: _, ...without } = base
    const listed = (fields: object) => refusal({ chains: { base: { ...without, ...fields } } })
    const url = 'https://a.example/'
    assert.match(
      listed({ rpcUrl: url, rpcUrls: [url] }),
      /second list of addresses beside rpcUrl at chains\.base\.rpcUrls/,
    )
    assert.match(listed({ rpcUrls: [] }), /no list of addresses at chains\.base\.rpcUrls/)
    assert.match(listed({ rpcUrls: url }), /no list of addresses at chains\.base\.rpcUrls/)
    assert.match(listed({ rpcUrls: [url, 'ws://x'] }), /no http or https address at chains\.base\.rpcUrls\[1\]/)
    assert.match(listed({ rpcUrls: [url, { url }] }), /address for the second time at chains\.base\.rpcUrls\[1\]/)
    assert.match(listed({ rpcUrls: [{ url, batches: 5 }] }), /unknown setting at chains\.base\.rpcUrls\[0\]\.batches/)
    assert.match(
      listed({ rpcUrls: [{ url, batch: 0 }] }),
      /whole number of at least 1 at chains\.base\.rpcUrls\[0\]\.batch/,
    )
    assert.match(
      listed({ rpcUrls: [url], wsUrls: ['wss://a/', url] }),
      /no ws or wss address at chains\.base\.wsUrls\[1\]/,
    )
    assert.match(
      listed({ rpcUrls: [url], confirmFinality: 1 }),
      /neither true nor false at chains\.base\.confirmFinality/,
    )
  })

  it('never quotes the address of a node, which may hold a key', () => {
    assert.doesNotMatch(refusal({ chains: { base: { ...base, rpcUrl: 'ftp://user:secret@node' } } }), /secret/)
  })
})

describe('readFeedUrl', () => {
  const feedUrl = (value: unknown) => {
    const folder = mkdtempSync(join(tmpdir(), 'bezel-feed-url-'))
    const path = join(folder, 'chains.json')
    writeFileSync(path, JSON.stringify({ chains: {}, feedUrl: value }))
    try {
      return readFeedUrl(path)
    } finally {
      rmSync(folder, { recursive: true })
    }
  }

  it('is the address without a slash at its end, or none', () => {
    assert.equal(feedUrl('http://127.0.0.1:8545/feed/'), 'http://127.0.0.1:8545/feed')
    assert.equal(feedUrl(undefined), undefined)
  })

  it('refuses what is no http address', () => {
    for (const value of ['', 'ws://feed', 5, null, 'feed']) {
      assert.throws(() => feedUrl(value), /has no http or https address at feedUrl\.$/)
    }
  })
})
