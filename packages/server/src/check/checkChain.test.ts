import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CHAINS } from '@bezel/protocol'
import { testChain } from '@bezel/testkit/servedChain.ts'
import { healthyAnswer, startStandInNode } from '@bezel/testkit/standInNode.ts'
import { readServerConfig } from '../settings/config.ts'
import { checkChain, judgeBalance, judgeHeads } from './checkChain.ts'
import { judgeSilence } from './checkSocket.ts'
import { sameAddressBefore } from './configured.ts'

describe('the addresses of a chain', () => {
  it('are the same whatever their spelling, and differ by their key', () => {
    const urls = [
      'https://A.example/key',
      'https://a.example/key/',
      'https://a.example/other',
      'https://a.example/key?x',
    ]
    assert.deepEqual(
      urls.map((_, at) => sameAddressBefore(urls, at)),
      [undefined, 1, undefined, undefined],
    )
  })
})

describe('checkChain', () => {
  it('names an address that is given twice, and asks it once', async () => {
    const node = await startStandInNode(healthyAnswer(CHAINS.base.chainId))
    const urls = [node.url, `${node.url}/`]
    const { sections } = await checkChain({
      chain: testChain('base'),
      providers: urls.map((url) => ({ url })),
      sockets: [],
      config: readServerConfig({}),
      prices: undefined,
      relayer: undefined,
      pricePerMillionUnits: undefined,
      now: Date.now,
      progress: () => undefined,
    })
    await node.close()
    const { host } = new URL(node.url)
    assert.deepEqual(sections[1], {
      subject: `provider 2 (${host})`,
      findings: [
        {
          check: 'address',
          mark: 'failure',
          text: 'It has the address of provider 1, so it is no second one: take one of the two out of the chains file.',
        },
      ],
    })
    assert.equal(node.calls.filter((method) => method === 'eth_chainId').length, 1)
  })
})

describe('judgeHeads', () => {
  const headOf = (timestampMs: number) => ({ timestampMs }) as never
  const entry = (timestampMs: number | undefined, at: number) => ({
    probe: { url: `http://${at}.example` },
    usable: timestampMs === undefined ? undefined : { head: headOf(timestampMs) },
  })
  const judge = (...times: (number | undefined)[]) => judgeHeads('base', times.map(entry))

  it('compares two or more', () => {
    assert.deepEqual([judge(0), judge(0, undefined)], [[], []])
    assert.deepEqual(
      judge(10_000, 0).map(({ mark }) => mark),
      ['ok'],
    )
  })

  it('names each that is behind', () => {
    const [first, ...others] = judge(0, 600_000, undefined)
    assert.deepEqual([first!.mark, others], ['warning', []])
    assert.match(first!.text, /^The newest block of provider 1 \(0\.example\) is 10 minutes older/)
  })
})

describe('judgeBalance', () => {
  it('fails with nothing, and warns below the low balance', () => {
    assert.deepEqual(
      [0n, 5n, 10n].map((wei) => judgeBalance(wei, 10n).mark),
      ['failure', 'warning', 'ok'],
    )
  })
})

describe('judgeSilence', () => {
  it('tells a socket that stands still from a chain that does', () => {
    const silence = { waitMs: 5_000, isAccepted: true }
    assert.equal(judgeSilence({ ...silence, blocks: 0 }).mark, 'warning')
    assert.match(judgeSilence({ ...silence, blocks: 1 }).text, /while HTTP has 1 new block:/)
    assert.equal(judgeSilence({ ...silence, blocks: undefined }).mark, 'failure')
    assert.match(judgeSilence({ ...silence, isAccepted: false, blocks: 3 }).text, /does not answer eth_subscribe/)
  })
})
